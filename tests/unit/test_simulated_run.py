"""Runs on simulated devices: the same twice, resumed, and like a live one in all but figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

SUITE = """
[[benchmark]]
name = "data_path_delay"
rates_mbps = [10]
frame_sizes = [100]
duration_s = 0.05
repeats = 2

[[benchmark]]
name = "packet_in"
rates_mbps = [10]
frame_sizes = [100]
duration_s = 0.05

[[benchmark]]
name = "packet_out"
rates_mbps = [10]
frame_sizes = [100]
duration_s = 0.05

[[benchmark]]
name = "control_channel_delay"
echo_rate = 100
duration_s = 0.1

[[benchmark]]
name = "flow_add"
entries = [1, 10]
repeats = 2
warm_up_s = 0.05

[[benchmark]]
name = "flow_mod"
entries = [1]
repeats = 1
warm_up_s = 0.05

[[benchmark]]
name = "flow_delete"
entries = [1]
repeats = 1
warm_up_s = 0.05
"""
NOISY = """
[forwarding]
service = { mean_ns = 900, kind = "exponential" }
loss = 0.01
[control]
delay = { mean_ns = 50000, std_ns = 9000, kind = "lognormal" }
message = { mean_ns = 20000, kind = "exponential" }
[control.packet_in]
service = { mean_ns = 70000, std_ns = 5000, kind = "normal" }
messages = 50
[table]
write = { mean_ns = 300000, std_ns = 20000, kind = "normal" }
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small suite and a noisy model."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "small.toml").write_text(f'title = "Small"\n{SUITE}')
    (folder / "noisy.toml").write_text(f'title = "Noisy"\n{NOISY}')
    return folder


def run(files: Path, dut: str, out: Path, *more: str) -> Path:
    """A run, which must succeed."""
    command = [
        sys.executable,
        "-m",
        "flowgauge",
        "run",
        str(files / "small.toml"),
        "--dut",
        dut,
        "-o",
        str(out),
    ]
    done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def noisy(files: Path) -> Path:
    """A finished run on the noisy device."""
    return run(files, f"sim:{files / 'noisy.toml'}", files / "noisy", "--seed", "7")


def samples(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((path / "samples").glob("*.parquet"))}


def test_one_seed_gives_the_same_results_to_the_byte(files: Path, noisy: Path) -> None:
    again = run(files, f"sim:{files / 'noisy.toml'}", files / "again", "--seed", "7")
    assert (noisy / "trials.jsonl").read_bytes() == (again / "trials.jsonl").read_bytes()
    assert samples(noisy) == samples(again) != {}
    document = [json.loads((path / "run.json").read_text()) for path in (noisy, again)]
    assert document[0]["figures"] == document[1]["figures"]


def test_another_seed_gives_others(files: Path, noisy: Path) -> None:
    other = run(files, f"sim:{files / 'noisy.toml'}", files / "other", "--seed", "8")
    assert (noisy / "trials.jsonl").read_bytes() != (other / "trials.jsonl").read_bytes()


def test_a_run_that_was_cut_off_is_resumed_with_the_same_results(files: Path, noisy: Path) -> None:
    half = run(files, f"sim:{files / 'noisy.toml'}", files / "half", "--seed", "7")
    trials = (half / "trials.jsonl").read_text().splitlines(keepends=True)
    (half / "trials.jsonl").write_text("".join(trials[:4]))
    resume = [sys.executable, "-m", "flowgauge", "run", "--resume", "-o", str(half)]
    done = subprocess.run(resume, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    ids = [json.loads(line)["id"] for line in trials]
    resumed = [json.loads(line)["id"] for line in (half / "trials.jsonl").read_text().splitlines()]
    assert sorted(resumed) == sorted(ids)


def shape(value: Any) -> Any:
    """Keys of nested documents; lists by the shapes of their elements."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value[:1]]
    return None


def test_a_live_and_a_simulated_run_differ_in_figures_alone(files: Path) -> None:
    live = run(files, "embedded", files / "live")
    simulated = run(files, "sim:ideal", files / "simulated")
    assert {p.name for p in live.iterdir()} == {p.name for p in simulated.iterdir()}
    documents = [json.loads((path / "run.json").read_text()) for path in (live, simulated)]
    # What the driver says of its DUT, and what the host is, is each one's own.
    own = ("dut", "environment", "figures")
    # The simulated tester has no highest rate.
    assert (len(documents[0]["loopback"].pop("max_pps")), documents[1]["loopback"].pop("max_pps")) == (3, {})
    shapes = [shape({k: v for k, v in d.items() if k not in own}) for d in documents]
    assert shapes[0] == shapes[1]
    named = [[(f["benchmark"], f["name"], f["unit"], f["at"]) for f in d["figures"]] for d in documents]
    assert named[0] == named[1] != []
    lines = [
        [json.loads(line) for line in (path / "trials.jsonl").read_text().splitlines()]
        for path in (live, simulated)
    ]
    key = ("benchmark", "point", "repeat", "has_samples")
    assert [[t.get(k) for k in key] for t in lines[0]] == [[t.get(k) for k in key] for t in lines[1]]
    assert [sorted(t["metrics"]) for t in lines[0]] == [sorted(t["metrics"]) for t in lines[1]]
    assert [[c["name"] for c in t["checks"]] for t in lines[0]] == [
        [c["name"] for c in t["checks"]] for t in lines[1]
    ]
    columns = []
    for path, trials in zip((live, simulated), lines, strict=True):
        ids = [t["id"] for t in trials if t["has_samples"]]
        tables = [sorted((path / "samples").glob(f"{one}*.parquet")) for one in ids]
        columns.append(
            [[(table.name[16:], parquet.read_schema(table).names) for table in some] for some in tables]
        )
    assert columns[0] == columns[1]
    assert all(columns[0])
    assert columns[0]
    sections = [_sections((path / "report.html").read_text()) for path in (live, simulated)]
    assert sections[0] == sections[1]


def test_the_feature_matrix_of_the_ideal_device_has_no_gap(files: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "flowgauge",
        "features",
        "--dut",
        "sim:ideal",
        "-o",
        str(files / "matrix"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = [json.loads(line) for line in (files / "matrix" / "trials.jsonl").read_text().splitlines()]
    results = {t["point"]["group"] + "." + t["point"]["feature"]: t["metrics"] for t in trials}
    assert {m["result"] for m in results.values()} == {"passed", "not applicable"}
    passed = sum(m["result"] == "passed" for m in results.values())
    assert passed > 250
    # It has no queues; apart from them it is the software switch.
    assert results["queue.set_queue"]["detail"] == "port 2 has no queues"


def _sections(html: str) -> list[str]:
    import re

    return re.findall(r"<h[12][^>]*>(.*?)</h[12]>", html)[1:]
