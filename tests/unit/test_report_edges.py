"""Runs that went wrong, and directories that are none."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from fake_run import FakeRun, check, small_run
from rich.console import Console
from test_report_html import specs

from flowgauge.report import exporters, html, write_report
from flowgauge.report.charts import theme
from flowgauge.report.rundata import load_run
from flowgauge.report.terminal import print_run
from flowgauge.results.reader import RunDirectoryError


def everything(path: Path, drawn: bool = True) -> str:
    """Every format of a run, as one text; all charts of the page can be drawn."""
    out = io.StringIO()
    print_run(path, Console(file=out, width=100))
    text = out.getvalue() + "".join(exporters.render(load_run(path), form) for form in exporters.FORMATS)
    assert ("could not be drawn" in text.replace(page_script(), "")) != drawn
    for spec in specs(text):
        assert vl_convert.vegalite_to_svg(theme.resolve(spec)).startswith("<svg")
    return text


def page_script() -> str:
    """The page's own script, which has words for charts that fail."""
    return (Path(html.__file__).parent / "page.js").read_text()


def figure(value: float | None, name: str = "delay_median_us", **more: Any) -> dict[str, Any]:
    return {"benchmark": "packet_in", "name": name, "value": value, "unit": "us", "at": {}, "count": 1} | more


def test_nothing_measured(tmp_path: Path) -> None:
    path = FakeRun(tmp_path / "r").write(status="interrupted", reason="Ctrl-C", loopback=None, environment={})
    text = everything(path)
    assert "Nothing was measured" in text
    assert "interrupted (Ctrl-C)" in text


def test_only_failed_trials(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "r")
    run.trial(
        "packet_in",
        {"rate_mbps": 10, "frame_size": 64},
        0,
        {},
        [],
        status="failed",
        reason="dut-died: killed",
    )
    assert "dut-died: killed" in everything(run.write())


def test_no_reception_at_all(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "r")
    for size in (64, 1500):
        point = {"rate_mbps": 10, "frame_size": size}
        for name in ("delay_median_us", "delay_mean_us"):
            run.figure("packet_in", name, None, "us", point)
        run.figure("packet_in", "loss_ratio", 1.0, "", point)
        run.figure("packet_in", "received", 0, "frames", point)
    assert "100 %" in everything(run.write())


@pytest.mark.parametrize("value", [None, 0, -3.5, 1e-9, 1e18, 0.9999999])
def test_single_points_of_any_value(tmp_path: Path, value: float | None) -> None:
    run = FakeRun(tmp_path / "r")
    point = {"rate_mbps": 10, "frame_size": 64, "kind": "x", "flag": True, "none": None}
    run.figure("packet_in", "delay_median_us", value, "us", point)
    run.figure("other", "made_up_ratio", value, "", {"entries": 5})
    run.figure("another", "made_up", value, "furlongs", {})
    everything(run.write())


def test_zero_on_a_line_and_points_without_a_number(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "r")
    for n in (1, 10, 1000, 100_000):
        run.figure("b", "activation_us", 0.0 if n == 1 else float(n), "us", {"entries": n, "order": "random"})
    for case in ("eth_src", "eth_dst"):
        run.figure("match_fields", "forwarding_pps", 1e6, "pps", {"case": case})
    everything(run.write())


def test_checks_on_trials_alone_are_shown(tmp_path: Path) -> None:
    run = FakeRun(tmp_path / "r")
    point = {"entries": 5}
    run.trial("b", point, 0, {}, [check("noisy-host", "fail", "a stall of 3 ms", "isolate the core")])
    run.figure("b", "activation_us", 5.0, "us", point)
    assert "a stall of 3 ms" in everything(run.write())


def test_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = small_run(tmp_path / "r")
    whole = len(load_run(path).trials)
    with (path / "trials.jsonl").open("a") as file:
        file.write('{"id": "0123')
    assert len(load_run(path).trials) == whole


def test_missing_trials_file(tmp_path: Path) -> None:
    path = small_run(tmp_path / "r")
    (path / "trials.jsonl").unlink()
    everything(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no run.json"),
        ("", "run.json"),
        ("{", "run.json"),
        ("[]", "run.json"),
        ('{"schema": 99}', "schema 99"),
        ('{"schema": 1}', "run.json"),
        ('{"schema": 1, "id": "x", "suite": "s", "command": [], "config": {"benchmarks": [], "dut": "d"}, "figures": [{}]}',
         "figures.0"),
    ],
)  # fmt: skip
def test_directories_that_are_no_run(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunDirectoryError, match=said) as error:
        write_report(tmp_path)
    assert str(tmp_path) in str(error.value)
    assert not (tmp_path / "report.html").exists()


def test_missing_directory_and_file_instead(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no such directory"):
        load_run(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError):
        load_run(tmp_path / "file")


def test_damaged_lines_and_samples_name_their_place(tmp_path: Path) -> None:
    path = small_run(tmp_path / "r")
    trial = json.loads((path / "trials.jsonl").read_text().splitlines()[0])
    (path / "samples" / f"{trial['id']}.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(RunDirectoryError, match=trial["id"]):
        load_run(path).samples(trial["id"])
    assert "samples of trial" in everything(path, drawn=False), "a report is written all the same"
    (path / "trials.jsonl").write_text("{}\n")
    with pytest.raises(RunDirectoryError, match="line 1"):
        load_run(path)
