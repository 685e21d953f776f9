"""Flow add: how long until n new flow entries work in the data plane."""

from __future__ import annotations

from typing import ClassVar

from flowgauge.analysis import checks
from flowgauge.benchmarks.activation import Batch, FlowTableBenchmark, FlowTableParams, measure, with_check
from flowgauge.benchmarks.common import set_miss
from flowgauge.flows import FlowSet
from flowgauge.model import Trial
from flowgauge.testbed.interface import Entry, Play, Testbed


def add_once(testbed: Testbed, params: FlowTableParams, n: int, probe_pps: float) -> Trial:
    """Clear the table, send n adds of which the last matches the probes, and read the entries back."""
    set_miss(testbed, punt=params.punt)
    before = testbed.control.count_entries()
    here, there = testbed.ports[0].of_port, testbed.ports[1].of_port

    def play(flows: FlowSet) -> Play:
        return testbed.control.add(Entry(flows, f"output:{there}", in_port=here))

    trial = measure(testbed, params, n, Batch(play, sink=1), probe_pps)
    held = testbed.control.count_entries() - before
    return with_check(trial, checks.flow_rejected((), installed=held, expected=n), held=held)


class FlowAdd(FlowTableBenchmark):
    """Time from the first byte of n FLOW_MOD adds until the last entry forwards (an interval), and until the barrier reply.

    Exact matches; only the last entry matches the probes that run all the time and outputs to port 2. Frames that match nothing
    are dropped by a lowest-priority entry (option punt: ALIEN's way). The entry became active between the transmit time of the last
    probe that was not forwarded and that of the first that was, plus nought to one path delay. Source: ALIEN D5.3 IV, 1.1.4.
    """

    name: ClassVar[str] = "flow_add"
    features: ClassVar[tuple[str, ...]] = ("output.port", "output.drop")

    def once(self, testbed: Testbed, params: FlowTableParams, n: int, probe_pps: float) -> Trial:
        """See `add_once`."""
        return add_once(testbed, params, n, probe_pps)
