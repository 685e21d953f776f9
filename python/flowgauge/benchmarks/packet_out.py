"""PACKET_OUT: how long until a frame that the controller sends leaves the switch, and how many do."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from flowgauge.analysis import checks
from flowgauge.benchmarks.base import Params
from flowgauge.benchmarks.common import (
    GridParams,
    Rates,
    frame_checks,
    histogram,
    probe_flows,
    reception_metrics,
    shared_core,
)
from flowgauge.benchmarks.grid import GridBenchmark, grid_charts
from flowgauge.model import Point, Trial
from flowgauge.testbed.interface import CONTROL, PACKET_OUT, Stream, Testbed


class PacketOutParams(GridParams):
    """Parameters of packet_out."""

    rates_mbps: Rates = (10, 50, 100, 250)
    await_last: bool = Field(
        True,
        description="wait for frames under way at the end; without, the last one counts as lost, as in ALIEN's NetFPGA results",
    )


class PacketOut(GridBenchmark[PacketOutParams]):
    """Delay from sending a PACKET_OUT to the arrival of its frame on the data port, loss ratio and rate.

    The offered load is what the switch's TCP acknowledged. A channel that the switch closes under load is a result
    (check channel-reset), not a crash. Source: ALIEN D5.3 IV, 1.1.2.
    """

    name: ClassVar[str] = "packet_out"
    params_type: ClassVar[type[Params]] = PacketOutParams
    features: ClassVar[tuple[str, ...]] = ("packet.out.port",)
    abilities: ClassVar[tuple[str, ...]] = (PACKET_OUT,)
    charts = grid_charts("PACKET_OUT")
    rate_figure: ClassVar[str] = "message_rate"

    def trial(self, testbed: Testbed, params: PacketOutParams, point: Point) -> Trial:
        """Play PACKET_OUTs that carry probes, and receive the probes on port 1."""
        size = point.integer("frame_size")
        testbed.control.delete_all()
        stream = Stream(probe_flows(), size, params.schedule(point), source=CONTROL, sink=0)
        testbed.clock.sleep(params.settle_s)
        transmission = testbed.transmit(stream, drain_s=None if params.await_last else 0.0)
        play = testbed.control.packet_out(stream, testbed.ports[0].of_port, params.duration_s)
        result = play.wait()
        transmission.stop()
        probes = transmission.reception(0)
        found, slope = frame_checks(testbed, probes, transmission.tester, size, result)
        seconds = max(1e-9, params.duration_s)
        metrics = reception_metrics(probes, size, sent=result.acknowledged) | {
            "requested": result.requested,
            "offered_pps": result.acknowledged / seconds,
            "offered_l2_mbps": result.acknowledged / seconds * size * 8 / 1e6,
            "forwarding_pps": probes.received / seconds,
            "message_rate": result.acknowledged / seconds,
            "gap_error_p99_ns": result.gap_error_ns.get("p99"),
            "delay_slope_us_per_s": slope,
            "timestamps": transmission.tester.timestamps,
        }
        refused = checks.flow_rejected(result.errors, installed=None, expected=None)
        extra = (checks.channel(result),) if not result.errors else (checks.channel(result), refused)
        shared = shared_core(testbed)
        return Trial(metrics, histogram(probes.latency), (*found, *extra, *shared))
