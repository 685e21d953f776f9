"""Flow delete: how long until n deleted flow entries have ceased to work in the data plane."""

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


class FlowDelete(FlowTableBenchmark):
    """Time from the first byte of n strict deletes until the last entry ceases to forward, and until the barrier reply.

    n entries to port 2 are installed, then deleted one by one; the last matches the probes. The entry was gone between the transmit
    time of the last probe that was forwarded and that of the first that was not. Mirrors ALIEN's flow add (D5.3 IV, 1.1.4).
    """

    name: ClassVar[str] = "flow_delete"
    features: ClassVar[tuple[str, ...]] = ("flow_mod.delete.strict",)

    def once(self, testbed: Testbed, params: FlowTableParams, n: int, probe_pps: float) -> Trial:
        """Install, delete, and watch the probes vanish."""
        here, there = testbed.ports[0].of_port, testbed.ports[1].of_port
        set_miss(testbed, punt=params.punt)
        must_hold(*install_filled(testbed, probe_flows(n), f"output:{there}"), n)

        def play(flows: FlowSet) -> Play:
            return testbed.control.delete(Entry(flows, f"output:{there}", in_port=here))

        return measure(testbed, params, n, Batch(play, sink=1, ends=True), probe_pps)
