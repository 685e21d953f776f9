"""Data path delay: one flow entry, probes through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from flowgauge.analysis import checks
from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.benchmarks.common import (
    DELAY_FIGURES,
    Duration,
    GridParams,
    Rates,
    delay_figures,
    frame_checks,
    histogram,
    probe_flows,
    reception_metrics,
    set_miss,
)
from flowgauge.model import Figure, Point, Trial, TrialRecord
from flowgauge.testbed.interface import Entry, Stream, Testbed


class DataPathDelayParams(GridParams):
    """Parameters of data_path_delay."""

    rates_mbps: Rates = (10, 100, 1000)
    duration_s: Duration = 30.0


class DataPathDelay(Benchmark[DataPathDelayParams]):
    """One-way delay from transmit to arrival through one entry in_port=1 -> output:2, and loss ratio.

    Source: ALIEN D5.3 IV, 1.1.3.
    """

    name: ClassVar[str] = "data_path_delay"
    params_type: ClassVar[type[Params]] = DataPathDelayParams
    quick: ClassVar[dict[str, Any]] = {
        "rates_mbps": (1, 10),
        "frame_sizes": (100, 1500),
        "duration_s": 0.8,
        "settle_s": 0.1,
        "repeats": 6,
    }
    charts = (
        {"kind": "delay_loss", "x": "frame_size", "panel": "rate_mbps", "title": "Data path by frame size"},
        {"kind": "cdf", "title": "Data path delay"},
    )

    def points(self, params: DataPathDelayParams, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        """Rates by sizes."""
        return params.grid()

    def trial(self, testbed: Testbed, params: DataPathDelayParams, point: Point) -> Trial:
        """Install the entry, read it back, send probes through it."""
        size = point.integer("frame_size")
        set_miss(testbed, punt=False)
        before = testbed.control.count_entries()
        entry = Entry(None, f"output:{testbed.ports[1].of_port}", in_port=testbed.ports[0].of_port)
        testbed.control.install(entry)
        taken = checks.flow_rejected((), installed=testbed.control.count_entries(), expected=before + 1)
        stream = Stream(
            probe_flows(), size, params.schedule(point), source=0, sink=1, duration_s=params.duration_s
        )
        testbed.clock.sleep(params.settle_s)
        transmission = testbed.transmit(stream)
        transmission.wait()
        probes = transmission.reception(0)
        found, slope = frame_checks(
            testbed,
            probes,
            transmission.tester,
            frame_size=size,
            requested=probes.requested,
            offered=probes.sent,
        )
        metrics = reception_metrics(probes, size) | {"delay_slope_us_per_s": slope}
        return Trial(metrics, histogram(probes.latency), (*found, taken))

    def figures(self, params: DataPathDelayParams, trials: Sequence[TrialRecord]) -> list[Figure]:
        """Delays, loss and forwarding rate per point."""
        return delay_figures(trials, DELAY_FIGURES | {"forwarding_pps": "mean"})
