"""The run directory: whole after a crash at any byte, one writer at a time, in the published schema."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowgauge.errors import RunDirectoryError, RunWriteError, UsageError
from flowgauge.model import Check, CheckState, Figure, Point, TrialRecord, trial_id
from flowgauge.results import durable, reader, samples, schema
from flowgauge.results.environment import environment
from flowgauge.results.numbers import plain, to_line
from flowgauge.results.schema import ConfigDocument, FigureDocument, RunDocument
from flowgauge.results.writer import RunWriter

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"
CHECK = Check("tester-limited", CheckState.FAIL, "the tester does no better", "Use a faster one.")


def record(n: int, status: str = "ok", **more: Any) -> TrialRecord:
    point = Point(rate_mbps=n + 0.5, frame_size=64)
    metrics = {"delay_mean_us": 1.5, "p99": None}
    return TrialRecord(
        trial_id("b", point, 0, "d"), "b", point, 0, status, metrics=metrics, checks=(CHECK,), **more
    )


def document(**more: Any) -> RunDocument:
    config = ConfigDocument(benchmarks=[], dut="embedded", openflow=None, seed=1, repeat=None)
    return RunDocument(id="x", suite="s", command=["flowgauge", "run"], config=config, **more)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of three trials."""
    writer = RunWriter.create(tmp_path / "run", document())
    for n in range(3):
        writer.add(record(n), {"latency.value_ns": np.arange(n)}, "2026-01-01T00:00:00Z", 1.0)
    writer.close()
    return tmp_path / "run"


def test_what_is_written_is_read(path: Path) -> None:
    assert reader.read_trials(path) == [record(n) for n in range(3)]
    assert samples.read(path / "samples", record(2).id)["latency.value_ns"].tolist() == [0, 1]
    assert not [p for p in path.rglob("*") if p.name.endswith(".tmp")]


def test_a_crash_at_any_byte_loses_at_most_the_last_trial(path: Path) -> None:
    file = path / "trials.jsonl"
    data = file.read_bytes()
    ends = [n for n in range(len(data) + 1) if n == 0 or data[n - 1 : n] == b"\n"]
    for cut in range(0, len(data) + 1, 7):
        file.write_bytes(data[:cut])
        whole = sum(end <= cut for end in ends) - 1
        assert len(reader.read_trials(path)) == whole
        writer = RunWriter.resume(path)
        assert len(writer.done) == whole
        writer.add(record(9), {}, "2026-01-01T00:00:00Z", 1.0)
        writer.close()
        assert reader.read_trials(path)[-1] == record(9)


def test_resuming_forgets_what_must_be_measured_again(path: Path) -> None:
    writer = RunWriter.resume(path)
    writer.add(record(7, "failed", reason="trial: it broke"), {}, "2026-01-01T00:00:00Z", 1.0)
    writer.add(record(8, "invalid", reason="tester-loss"), {}, "2026-01-01T00:00:00Z", 1.0)
    writer.close()
    assert len(reader.read_trials(path)) == 5
    writer = RunWriter.resume(path)
    writer.close()
    assert len(writer.done) == len(reader.read_trials(path)) == 3


def test_one_writer_at_a_time(path: Path) -> None:
    writer = RunWriter.resume(path)
    with pytest.raises(UsageError, match="is being written by another flowgauge"):
        RunWriter.resume(path)
    writer.close()
    RunWriter.resume(path).close()


def test_a_run_is_not_overwritten(path: Path) -> None:
    with pytest.raises(UsageError, match="holds a run already"):
        RunWriter.create(path, document())
    (path.parent / "empty").mkdir()
    RunWriter.create(path.parent / "empty", document()).close()


def test_a_directory_that_vanishes_is_one_clear_error(path: Path) -> None:
    writer = RunWriter.resume(path)
    path.rename(path.with_name("gone"))
    with pytest.raises(RunWriteError, match="can't be written: No such file or directory"):
        writer.add(record(4), {}, "2026-01-01T00:00:00Z", 1.0)
    with pytest.raises(RunWriteError):
        writer.save()
    writer.log("no reason to fail")
    writer.close()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run.json", "{", "run.json is damaged: "),
        ("run.json", "[]", "run.json: schema None; "),
        ("run.json", '{"schema": 99}', "schema 99; this version reads schema 1"),
        ("run.json", '{"schema": 1}', "run.json is damaged: id: Field required"),
        ("trials.jsonl", '{"id": 1}\n', "trials.jsonl, line 1 is damaged: "),
        ("trials.jsonl", "nonsense\n", "trials.jsonl, line 1 is damaged: "),
    ],
)
def test_damage_is_named(path: Path, name: str, text: str, message: str) -> None:
    (path / name).write_text(text)
    read = reader.read_document if name == "run.json" else reader.read_trials
    with pytest.raises(RunDirectoryError) as caught:
        read(path)
    assert message in caught.value.message


def test_published_schemas_are_up_to_date() -> None:
    for name, text in schema.schemas().items():
        assert (SCHEMAS / name).read_text() == text, "run: python -m flowgauge.results.schema"


def test_files_follow_the_published_schema(path: Path) -> None:
    writer = RunWriter.resume(path)
    figure = Figure("delay_mean_us", 1 / 3, "us", Point(rate_mbps=1), 0.1, 0.2, "t", 3, (CHECK,), "note")
    found = FigureDocument.model_validate(plain(schema.figure_document("b", figure)))
    writer.update(figures=[found], status="complete", environment=environment())
    writer.close()
    run = json.loads((path / "run.json").read_text())
    assert run["figures"][0]["value"] == 0.333333333
    jsonschema.validate(run, json.loads((SCHEMAS / "run.schema.json").read_text()))
    for line in (path / "trials.jsonl").read_text().splitlines():
        jsonschema.validate(json.loads(line), json.loads((SCHEMAS / "trial.schema.json").read_text()))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_every_value_is_one_line_of_json(value: Any) -> None:
    line = to_line(value)
    assert line.count("\n") == 1
    assert json.loads(line) == plain(value) == plain(plain(value))


def test_samples_of_one_prefix_have_one_length(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="differ in length"):
        samples.write(tmp_path / "samples", "00", {"a.x": np.arange(2), "a.y": np.arange(3)})
    samples.write(tmp_path / "samples", "00", {"a.x": np.arange(2), "b.y": np.arange(3), "z": np.ones(1)})
    names = sorted(p.name for p in (tmp_path / "samples").iterdir())
    assert names == ["00.a.parquet", "00.b.parquet", "00.parquet"]
    assert samples.read(tmp_path / "samples", "00")["b.y"].tolist() == [0, 1, 2]


def test_a_replaced_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "x"
    durable.replace_text(file, "old")
    with pytest.raises(ZeroDivisionError):
        durable.replace(file, lambda handle: handle.write(b"new") / 0)
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_the_environment_of_another_host(tmp_path: Path) -> None:
    files = {
        "sys/devices/system/cpu/online": "0-3\n",
        "sys/devices/system/cpu/isolated": "2-3\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/vulnerabilities/meltdown": "Mitigation: PTI\n",
        "sys/devices/system/cpu/vulnerabilities/l1tf": "Not affected\n",
        "sys/devices/system/node/node0/cpulist": "0-1\n",
        "sys/devices/system/node/node1/cpulist": "2-3\n",
        "proc/cpuinfo": "processor : 0\nmodel name\t: Fast CPU\nflags : fpu hypervisor\n",
        "proc/meminfo": "MemTotal:  1000 kB\nHugePages_Total:   8\nHugepagesize:  2048 kB\n",
        "proc/cmdline": "isolcpus=2-3\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = environment(tmp_path / "sys", tmp_path / "proc")
    cpu = found["cpu"]
    assert (cpu["model"], cpu["isolated"], cpu["governors"]) == ("Fast CPU", "2-3", ["performance"])
    assert cpu["numa"] == {"node0": "0-1", "node1": "2-3"}
    assert cpu["mitigations"] == {"meltdown": "Mitigation: PTI"}
    assert found["memory"] == {
        "total_kib": 1000,
        "hugepages": 8,
        "hugepages_free": None,
        "hugepage_kib": 2048,
    }
    assert (found["boot_arguments"], found["virtual"]) == ("isolcpus=2-3", "yes")


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 1, "id"', "{}"])
def test_a_damaged_run_says_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunDirectoryError) as caught:
        reader.read_document(tmp_path)
    assert "run.json" in caught.value.message
    assert "attribute" not in caught.value.message
    assert caught.value.advice


def test_a_disk_that_is_full_at_the_start_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(durable, "replace_text", full)
    with pytest.raises(RunWriteError, match="No space left") as caught:
        RunWriter.create(tmp_path / "run", document())
    assert "-o" in (caught.value.advice or "")
    assert not (tmp_path / "run").exists()
