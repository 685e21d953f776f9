"""Data path delay: one flow entry, probes through it."""

from __future__ import annotations

from typing import ClassVar

from flowgauge.analysis import checks
from flowgauge.benchmarks.base import Params
from flowgauge.benchmarks.common import (
    Duration,
    GridParams,
    Rates,
    forward,
    frame_checks,
    histogram,
    probe_flows,
    reception_metrics,
)
from flowgauge.benchmarks.grid import GridBenchmark, grid_charts
from flowgauge.model import Point, Trial
from flowgauge.testbed.interface import Stream, Testbed

RECORDED = 1000
"""Arrivals that show whether frames come in batches."""


class DataPathDelayParams(GridParams):
    """Parameters of data_path_delay."""

    rates_mbps: Rates = (10, 100, 1000)
    duration_s: Duration = 30.0


class DataPathDelay(GridBenchmark[DataPathDelayParams]):
    """One-way delay from transmit to arrival through one entry in_port=1 -> output:2, and loss ratio.

    A DUT without OpenFlow, such as a bridge, forwards by the address that it has learnt.
    Source: ALIEN D5.3 IV, 1.1.3.
    """

    name: ClassVar[str] = "data_path_delay"
    params_type: ClassVar[type[Params]] = DataPathDelayParams
    features: ClassVar[tuple[str, ...]] = ("output.port",)
    abilities: ClassVar[tuple[str, ...]] = ()
    charts = grid_charts("Data path")
    rate_figure: ClassVar[str] = "forwarding_pps"

    def trial(self, testbed: Testbed, params: DataPathDelayParams, point: Point) -> Trial:
        """Install the entry, read it back, send probes through it."""
        size = point.integer("frame_size")
        flows = probe_flows()
        taken = forward(testbed, flows)
        stream = Stream(
            flows,
            size,
            params.schedule(point),
            source=0,
            sink=1,
            duration_s=params.duration_s,
            record=RECORDED,
        )
        testbed.clock.sleep(params.settle_s)
        transmission = testbed.transmit(stream)
        transmission.wait()
        probes = transmission.reception(0)
        found, slope = frame_checks(testbed, probes, transmission.tester, size)
        metrics = reception_metrics(probes, size) | {
            "delay_slope_us_per_s": slope,
            "timestamps": transmission.tester.timestamps,
        }
        rate = stream.schedule.rate
        batched = checks.batches(probes, float(1e9 / rate) if rate else 0.0)
        return Trial(metrics, histogram(probes.latency), (*found, batched, taken))
