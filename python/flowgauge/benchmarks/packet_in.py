"""PACKET_IN: how long until a frame that matches nothing reaches the controller, and how many do."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from flowgauge.analysis import checks
from flowgauge.benchmarks.base import Params
from flowgauge.benchmarks.common import (
    GridParams,
    frame_checks,
    histogram,
    probe_flows,
    reception_metrics,
    set_miss,
    shared_core,
)
from flowgauge.benchmarks.grid import GridBenchmark, grid_charts
from flowgauge.flows import FlowSet, Schedule
from flowgauge.model import Point, Trial
from flowgauge.testbed.interface import CONTROL, PACKET_IN, Entry, Stream, Testbed


class PacketInParams(GridParams):
    """Parameters of packet_in."""

    one_in: int = Field(
        1, ge=1, description="only every n-th frame misses, the others match an entry (ALIEN: 1000)"
    )
    miss_send_len: int = Field(
        65535, ge=0, le=65535, description="bytes of a frame that the switch sends along"
    )


class PacketIn(GridBenchmark[PacketInParams]):
    """Delay from transmit to arrival of the PACKET_IN, loss ratio and message rate.

    The flow table is empty but for a table-miss entry to the controller (OpenFlow 1.0: none). UDP probes enter port 1;
    each PACKET_IN is matched to its probe. The delay includes the data path. Source: ALIEN D5.3 IV, 1.1.1.
    """

    name: ClassVar[str] = "packet_in"
    params_type: ClassVar[type[Params]] = PacketInParams
    features: ClassVar[tuple[str, ...]] = ("packet.in",)
    abilities: ClassVar[tuple[str, ...]] = (PACKET_IN,)
    charts = grid_charts("PACKET_IN")
    rate_figure: ClassVar[str] = "message_rate"

    def trial(self, testbed: Testbed, params: PacketInParams, point: Point) -> Trial:
        """Send probes that miss, and count them in the PACKET_INs."""
        size = point.integer("frame_size")
        set_miss(testbed, punt=True)
        testbed.control.set_miss_send_len(params.miss_send_len)
        flows = probe_flows(params.one_in)
        streams = [
            Stream(flows.last(), size, params.schedule(point), sink=CONTROL, duration_s=params.duration_s)
        ]
        if params.one_in > 1:
            streams = self._mix(testbed, params, streams[0], flows)
        testbed.clock.sleep(params.settle_s)
        transmission = testbed.transmit(*streams)
        transmission.wait()
        probes = transmission.reception(0)
        found, slope = frame_checks(testbed, probes, transmission.tester, size)
        metrics = reception_metrics(probes, size) | {
            "message_rate": probes.received / (probes.elapsed_ns / 1e9),
            "delay_slope_us_per_s": slope,
            "timestamps": transmission.tester.timestamps,
            "packet_in_bytes_min": probes.packet_in_bytes_min,
            "packet_in_buffered": probes.packet_in_buffered,
        }
        return Trial(metrics, histogram(probes.latency), (*found, checks.channel(), *shared_core(testbed)))

    def _mix(self, testbed: Testbed, params: PacketInParams, miss: Stream, flows: FlowSet) -> list[Stream]:
        """ALIEN's realistic mix: one_in - 1 of one_in frames match entries made from the same flow set."""
        hits = FlowSet(flows.fields, count=params.one_in - 1)
        out = testbed.ports[1].of_port
        testbed.control.install(Entry(hits, f"output:{out}", in_port=testbed.ports[0].of_port))
        rate = miss.schedule.rate
        assert rate is not None
        of = params.one_in
        return [
            Stream(
                miss.flows, miss.frame_size, Schedule.cbr(rate / of), sink=CONTROL, duration_s=miss.duration_s
            ),
            Stream(
                hits,
                miss.frame_size,
                Schedule.cbr(rate * (of - 1) / of),
                sink=1,
                duration_s=miss.duration_s,
                name="hits",
            ),
        ]
