"""Flow modify: how long until n changed flow entries work in the data plane."""

from __future__ import annotations

from typing import ClassVar

from flowgauge.benchmarks.activation import (
    Batch,
    FlowTableBenchmark,
    FlowTableParams,
    install_filled,
    measure,
    must_hold,
)
from flowgauge.benchmarks.common import probe_flows, set_miss
from flowgauge.flows import FlowSet
from flowgauge.model import Trial
from flowgauge.testbed.interface import Entry, Play, Testbed


class FlowMod(FlowTableBenchmark):
    """Time from the first byte of n strict modifies until the last entry forwards to its new port, and until the barrier reply.

    n entries to port 2 are installed; all are modified to port 3; the last matches the probes. Source: ALIEN D5.3 IV, 1.1.5.
    """

    name: ClassVar[str] = "flow_mod"
    ports: ClassVar[int] = 3
    features: ClassVar[tuple[str, ...]] = ("flow_mod.modify.strict",)

    def once(self, testbed: Testbed, params: FlowTableParams, n: int, probe_pps: float) -> Trial:
        """Install, modify, and watch the probes change ports."""
        here, _, there = (port.of_port for port in testbed.ports[:3])
        set_miss(testbed, punt=params.punt)
        must_hold(*install_filled(testbed, probe_flows(n), f"output:{testbed.ports[1].of_port}"), n)

        def play(flows: FlowSet) -> Play:
            return testbed.control.modify(Entry(flows, f"output:{there}", in_port=here))

        return measure(testbed, params, n, Batch(play, sink=2), probe_pps)
