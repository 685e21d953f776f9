"""Delay through one entry while n others are installed."""

from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.benchmarks.common import (
    DELAY_FIGURES,
    delay_figures,
    frame_checks,
    histogram,
    probe_flows,
    reception_metrics,
    set_miss,
)
from flowgauge.flows import Schedule
from flowgauge.model import Point, Trial
from flowgauge.testbed.interface import Entry, Stream


class TableLoadParams(Params):
    """Parameters of table_load."""

    entries: tuple[int, ...] = (1, 100, 10_000)
    pps: float = 1000.0
    duration_s: float = 2.0
    repeats: int = 6


class TableLoad(Benchmark[TableLoadParams]):
    """Delay of probes that hit the last of n entries made from one flow set."""

    name = "table_load"
    params_type = TableLoadParams
    quick = {"entries": (1, 100), "duration_s": 1.0}
    charts = ({"kind": "line_interval", "x": "entries", "y": ["delay_median_us"]},)

    def points(self, params, earlier):
        for n in params.entries:
            yield Point(entries=n)

    def trial(self, testbed, params, point):
        flows = probe_flows(point.integer("entries"))
        set_miss(testbed, punt=False)
        testbed.control.install(Entry(flows, f"output:{testbed.ports[1].of_port}", in_port=testbed.ports[0].of_port))
        probes = Stream(flows.last(), 100, Schedule.cbr(params.pps), source=0, sink=1, duration_s=params.duration_s)
        transmission = testbed.transmit(probes)
        transmission.wait()
        seen = transmission.reception(0)
        checks, _ = frame_checks(testbed, seen, transmission.tester, frame_size=100)
        return Trial(reception_metrics(seen, 100), histogram(seen.latency), checks)

    def figures(self, params, trials):
        return delay_figures(trials, DELAY_FIGURES)
