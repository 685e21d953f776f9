"""Runs benchmarks on drawn devices and sets their figures beside what they should be.

One process per core; a device is simulated in the process that judges it.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flowgauge import benchmarks
from flowgauge.benchmarks.base import Benchmark
from flowgauge.errors import FlowgaugeError
from flowgauge.model import CheckState, Figure, TrialRecord, trial_id
from flowgauge.models import flatten
from flowgauge.models.fitting import Fitted, write
from flowgauge.testbed import open_testbed
from flowgauge.testbed.interface import OpenOptions
from flowgauge.truth.devices import Device, draw, draw_breaking
from flowgauge.truth.expected import Expected

REPEATS = 12
FRAMES = 1020
PPS = 200
"""Probes per second: so few that none waits for another."""
ENTRIES = (1, 10, 100)
GRID = ("packet_in", "packet_out", "data_path_delay")
TABLE = ("flow_add", "flow_mod", "flow_delete")
SCALED_BY = {"barrier_lead_us": "activation_us"}
"""Figure that is a difference -> the figure that its errors are relative to."""
STAMP_US = 0.002
"""Stamps are whole nanoseconds: a delay may be off by one at either end."""


@dataclass(frozen=True)
class Judgement:
    """A figure beside its truth. `scale` is what errors and widths are relative to."""

    device: int
    benchmark: str
    figure: str
    truth: float
    value: float
    low: float
    high: float
    scale: float

    @property
    def covers(self) -> bool:
        """Whether the interval holds the truth."""
        slack = STAMP_US if "_us" in self.figure else 1e-9 * max(1.0, abs(self.truth))
        return self.low - slack <= self.truth <= self.high + slack


@dataclass(frozen=True)
class Flagged:
    """A device that breaks an assumption: whether a check said so, or it was refused; what was said."""

    device: int
    breaks: str
    flagged: bool
    said: str


def judge_all(seed: int, devices: int, cores: int | None = None) -> list[Judgement]:
    """All figures of `devices` drawn devices."""
    with _pool(cores) as pool:
        found = pool.map(judge, [seed] * devices, range(devices), chunksize=2)
        return [judgement for judgements in found for judgement in judgements]


def flag_all(seed: int, devices: int, cores: int | None = None) -> list[Flagged]:
    """As many devices that break an assumption."""
    with _pool(cores) as pool:
        return list(pool.map(flag, [seed] * devices, range(devices), chunksize=2))


def _pool(cores: int | None) -> ProcessPoolExecutor:
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(cores or len(os.sched_getaffinity(0)), mp_context=spawn)


def judge(seed: int, number: int) -> list[Judgement]:
    """All figures of one device."""
    device = draw(seed, number)
    size = frame_size(seed, number)
    found: list[Judgement] = []
    for name, settings in plans(size).items():
        truths = _truths(Expected(device.values), name, size)
        for figure in measure(device, name, settings)[1]:
            at = figure.at.get("entries", 0)
            truth = truths.get((figure.name, at))
            if truth is None or figure.value is None or figure.low is None or figure.high is None:
                continue
            scale = abs(truths[SCALED_BY.get(figure.name, figure.name), at]) or 1.0
            given = (truth, figure.value, figure.low, figure.high, scale)
            found.append(Judgement(number, name, figure.name, *given))
    return found


def frame_size(seed: int, number: int) -> int:
    """The size of a device's probes: any."""
    return 100 + (seed * 7919 + number * 104_729) % 1401


def plans(size: int) -> dict[str, dict[str, Any]]:
    """The benchmarks with the parameters that they are judged with."""
    grid = {
        "rates_mbps": (PPS * size * 8 / 1e6,),
        "frame_sizes": (size,),
        "duration_s": FRAMES / PPS,
        "repeats": REPEATS,
    }
    table = {"entries": ENTRIES, "frame_size": size, "repeats": REPEATS, "warm_up_s": 0.1, "timeout_s": 60.0}
    return {
        **dict.fromkeys(GRID, grid),
        "control_channel_delay": {"echo_rate": PPS, "duration_s": FRAMES / PPS, "repeats": REPEATS},
        **dict.fromkeys(TABLE, table),
    }


LIMIT_PLAN: Mapping[str, Any] = {
    "entries": (20, 100),
    "cap": 4096,
    "repeats": 1,
    "warm_up_s": 0.1,
    "timeout_s": 60.0,
}
"""Parameters of flow_add_max, which is not judged by intervals: it gives one number."""


def _truths(expected: Expected, benchmark: str, size: int) -> Mapping[Any, float]:
    if benchmark in TABLE:
        return dict(expected.entries(benchmark, ENTRIES, size))
    return {(name, 0): value for name, value in expected.delays(benchmark, size, FRAMES).items()}


def measure(device: Device, name: str, settings: Mapping[str, Any]) -> tuple[list[TrialRecord], list[Figure]]:
    """Run one benchmark on a device as the runner does, without a run directory. Trials that break are failed."""
    kind = benchmarks.load(name)
    benchmark, params = kind(), kind.params_type.model_validate(settings)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "device.toml"
        write(Fitted(f"device {device.number} of {device.seed}", dict(flatten(device.values))), path)
        options = OpenOptions(seed=device.seed)
        with open_testbed(f"sim:{path}", options) as (_, testbed):
            records = list(_trials(benchmark, params, testbed, f"device {device.number}"))
    return records, benchmark.figures(params, records)


def _trials(benchmark: Benchmark[Any], params: Any, testbed: Any, dut: str) -> Iterator[TrialRecord]:
    earlier: list[TrialRecord] = []
    for point in benchmark.points(params, earlier):
        for repeat in range(benchmark.repeats(params)):
            identity = trial_id(benchmark.name, point, repeat, dut)
            testbed.begin(identity)
            try:
                trial = benchmark.trial(testbed, params, point)
                record = TrialRecord(
                    identity, benchmark.name, point, repeat, "ok", trial.metrics, trial.checks
                )
            except FlowgaugeError as error:
                record = TrialRecord(identity, benchmark.name, point, repeat, "failed", reason=str(error))
            earlier.append(record)
            yield record


ASSUMED = {
    "batches": "data_path_delay",
    "parallel queues": "data_path_delay",
    "evicting tables": "flow_add_max",
    "overload": "packet_in",
}
"""Assumption -> the benchmark whose method makes it."""
USUAL = ("few-samples", "quantised", "tester-limited", "offered-load")
"""Checks that fail on sound devices, too."""


def flag(seed: int, number: int) -> Flagged:
    """Whether a device that breaks an assumption is noticed: a check fails that a sound device passes, or no figure comes."""
    device = draw_breaking(seed, number)
    name = ASSUMED[device.breaks]
    settings = plans(frame_size(seed, number)).get(name, LIMIT_PLAN)
    records, figures = measure(device, name, settings)
    said = {
        c.name: c.text
        for r in records
        for c in r.checks
        if c.state is CheckState.FAIL and c.name not in USUAL
    }
    refused = not any(f.value is not None for f in figures)
    return Flagged(
        number, device.breaks, bool(said) or refused, "; ".join(said.values()) or "refused" * refused
    )
