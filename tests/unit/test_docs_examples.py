"""The examples in the documentation work: the benchmark measures the embedded switch, the DUT file is read."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from flowgauge.duts import create
from flowgauge.model import TrialRecord
from flowgauge.testbed.interface import OpenOptions
from flowgauge.testbed.live import open_testbed

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_benchmark_measures_the_embedded_switch() -> None:
    module = load("table_load")
    benchmark = module.TableLoad()
    params = module.TableLoadParams(entries=(3,), duration_s=0.2, repeats=1)
    (point,) = benchmark.points(params, [])
    with open_testbed("embedded", OpenOptions()) as (_, testbed):
        trial = benchmark.trial(testbed, params, point)
    assert trial.metrics["sent"] == 200
    record = TrialRecord("0" * 16, benchmark.name, point, 0, "ok", trial.metrics, trial.checks)
    names = {figure.name for figure in benchmark.figures(params, [record])}
    assert "delay_median_us" in names


def test_the_example_sends_scapys_packets() -> None:
    module = load("raw_frames")
    result = module.send(module.Frames.of(*module.packets, probe=True), 80)
    assert (result.sent, result.received, result.lost) == (80, 80, 0)


def test_the_example_dut_file_is_read() -> None:
    assert create(str(EXAMPLES / "lab.toml")).name == "lab-switch"
