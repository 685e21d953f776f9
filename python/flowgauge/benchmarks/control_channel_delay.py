"""Control channel delay: round trips of ECHO_REQUESTs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from flowgauge.analysis import checks
from flowgauge.benchmarks.base import Benchmark, Params
from flowgauge.benchmarks.common import (
    DELAY_FIGURES,
    delay_figures,
    delay_metrics,
    histogram,
    shared_core,
    summary,
)
from flowgauge.flows import Schedule
from flowgauge.model import Figure, Point, Trial, TrialRecord
from flowgauge.testbed.interface import ECHO, Testbed


class ControlChannelDelayParams(Params):
    """Parameters of control_channel_delay."""

    echo_rate: float = Field(3.0, gt=0, description="ECHO_REQUESTs per second")
    duration_s: float = Field(60.0, gt=0, description="length of a trial, seconds")
    repeats: int = Field(1, ge=1, description="trials")


class ControlChannelDelay(Benchmark[ControlChannelDelayParams]):
    """Round-trip time of ECHO_REQUESTs that carry their send time; the payload must come back unchanged.

    Source: ALIEN D5.3 IV, 1.1.3.
    """

    name: ClassVar[str] = "control_channel_delay"
    params_type: ClassVar[type[Params]] = ControlChannelDelayParams
    quick: ClassVar[dict[str, Any]] = {"echo_rate": 100, "duration_s": 1.0, "repeats": 6}
    abilities: ClassVar[tuple[str, ...]] = (ECHO,)
    charts = ({"kind": "histogram", "title": "Echo round trip"}, {"kind": "cdf", "title": "Echo round trip"})

    def points(self, params: ControlChannelDelayParams, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        """One point."""
        yield Point(echo_rate=params.echo_rate)

    def trial(self, testbed: Testbed, params: ControlChannelDelayParams, point: Point) -> Trial:
        """Play echoes and subtract."""
        play = testbed.control.echo(Schedule.cbr(params.echo_rate), params.duration_s)
        result = play.wait()
        answered = (result.reply_ns >= 0) & (result.sent_ns >= 0)
        latency = summary((result.reply_ns - result.sent_ns)[answered])
        changed = int((answered & ~result.payload_intact).sum())
        received = int(answered.sum())
        metrics = delay_metrics(latency) | {
            "requested": result.requested,
            "sent": result.sent,
            "received": received,
            "lost": result.sent - received,
            "loss_ratio": (result.sent - received) / result.sent if result.sent else None,
            "payload_changed": changed,
            "gap_error_p99_ns": result.gap_error_ns.get("p99"),
        }
        found = (
            checks.offered_load(result.requested, result.sent),
            checks.echo_limited(testbed.loopback, latency.percentile_ns(50)),
            checks.few_samples(latency.count),
            checks.channel(result),
            *shared_core(testbed),
        )
        return Trial(metrics, histogram(latency), found)

    def figures(self, params: ControlChannelDelayParams, trials: Sequence[TrialRecord]) -> list[Figure]:
        """Round-trip statistics."""
        return delay_figures(trials, DELAY_FIGURES | {"payload_changed": "mean"})
