"""What the benchmarks share: the probe's headers, grids, and delay metrics with their checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from flowgauge.analysis import checks, statistics
from flowgauge.benchmarks.base import Params
from flowgauge.flows import FlowSet, Increment, Schedule
from flowgauge.model import Check, CheckState, Figure, Point, Scalar, TrialRecord
from flowgauge.testbed.interface import (
    ENTRIES,
    Entry,
    Latency,
    PlayResult,
    Reception,
    Stream,
    Testbed,
    TesterState,
)

SOURCE_SIZES = (100, 300, 500, 700, 900, 1100, 1300, 1500)
"""ALIEN's frame sizes in bytes."""


Rates = Annotated[
    tuple[Annotated[float, Field(gt=0)], ...],
    Field(min_length=1, description="layer-2 rates, Mbit/s of 10^6 bit"),
]
Sizes = Annotated[
    tuple[Annotated[int, Field(ge=64, le=9018)], ...],
    Field(min_length=1, description="frame sizes with FCS, bytes"),
]
Duration = Annotated[float, Field(gt=0, description="length of a trial, seconds")]


class GridParams(Params):
    """Rates by frame sizes, as ALIEN's probe tests have them."""

    rates_mbps: Rates = (10, 50, 100, 250, 500, 1000)
    frame_sizes: Sizes = SOURCE_SIZES
    duration_s: Duration = 60.0
    repeats: int = Field(1, ge=1, description="trials per point")
    settle_s: float = Field(0.5, ge=0, description="pause between the barrier and the first probe, seconds")
    binary_mbit: bool = Field(False, description="take 1 Mbit as 1024 * 1024 bit, as ALIEN's formula does")
    alien_gaps: bool = Field(
        False,
        description="space frames as ALIEN did: its formula's whole microseconds, taken as milliseconds, so that "
        "rates_mbps are labels about 1000 times too high; points whose gap is cut to 0 (unpaced) are left out",
    )

    def grid(self) -> Iterator[Point]:
        """Every rate with every size, as points."""
        for rate in self.rates_mbps:
            for size in self.frame_sizes:
                if not self.alien_gaps or alien_gap_ms(rate, size):
                    yield Point(rate_mbps=rate, frame_size=size)

    def schedule(self, point: Point) -> Schedule:
        """Constant rate of that point."""
        rate, size = point.number("rate_mbps"), point.integer("frame_size")
        if self.alien_gaps:
            return Schedule.cbr(Fraction(1000, alien_gap_ms(rate, size)))
        return Schedule.l2_mbps(rate, size, binary=self.binary_mbit)


def alien_gap_ms(label_mbps: float, frame_size: int) -> int:
    """The gap that ALIEN left between frames of a load label: its formula for microseconds, cut, in milliseconds.

    >>> alien_gap_ms(10, 1500), alien_gap_ms(1000, 100)
    (1144, 0)
    """
    return int(frame_size * 8_000_000 / (label_mbps * 1024 * 1024))


def probe_flows(count: int = 1) -> FlowSet:
    """UDP flows between RFC 2544's benchmarking networks that differ in the IPv4 destination."""
    return FlowSet(
        {
            "eth_src": "02:00:00:00:00:01",
            "eth_dst": "02:00:00:00:00:02",
            "eth_type": 0x0800,
            "ip_dscp": 0,
            "ip_proto": 17,
            "ipv4_src": "198.18.0.1",
            "ipv4_dst": Increment("198.19.0.1") if count > 1 else "198.19.0.1",
            "udp_src": 49152,
            "udp_dst": 7,
        },
        count=count,
    )


def set_miss(testbed: Testbed, *, punt: bool) -> None:
    """Empty the table and decide what happens to frames that match nothing.

    An OpenFlow 1.0 switch punts a miss by itself and needs a drop entry not to; a 1.3 switch drops by itself.
    """
    control = testbed.control
    control.delete_all()
    if punt and control.version != "1.0":
        control.install_table_miss("CONTROLLER:65535")
    elif not punt:
        control.install_table_miss("drop")


def forward(testbed: Testbed, flows: FlowSet) -> Check:
    """Let the DUT forward the flows from the first port to the second: by one entry, read back, and misses dropped.

    A DUT without OpenFlow forwards by itself, to where it has seen the flows' destination; so a few frames come from there.
    """
    control, (source, sink) = testbed.control, testbed.ports[:2]
    if ENTRIES not in control.abilities:
        back = FlowSet(
            {**flows.fields, "eth_src": flows.fields["eth_dst"], "eth_dst": flows.fields["eth_src"]}
        )
        stream = Stream(back, 64, Schedule.cbr(1000), source=sink.index, sink=source.index, duration_s=0.01)
        testbed.transmit(stream, drain_s=0.1).wait()
        return checks.not_evaluated("flow-rejected", "the DUT has no flow entries: it forwards by itself")
    set_miss(testbed, punt=False)
    before = control.count_entries()
    control.install(Entry(None, f"output:{sink.of_port}", in_port=source.of_port))
    return checks.flow_rejected((), installed=control.count_entries(), expected=before + 1)


def delay_metrics(latency: Latency) -> dict[str, Scalar]:
    """Delay statistics in us; a percentile with fewer than 10/(1-p) samples is missing."""
    metrics: dict[str, Scalar] = {
        "delay_min_us": _us(latency.min_ns),
        "delay_mean_us": _us(latency.mean_ns),
        "delay_median_us": _us(latency.percentile_ns(50)),
        "delay_std_us": _us(latency.std_ns) if latency.count > 1 else None,
        "delay_max_us": _us(latency.max_ns),
    }
    for p, name in ((90, "delay_p90_us"), (99, "delay_p99_us"), (99.9, "delay_p999_us")):
        enough = latency.count >= checks.samples_needed(p)
        metrics[name] = _us(latency.percentile_ns(p)) if enough else None
    return metrics


def reception_metrics(reception: Reception, frame_size: int, sent: int | None = None) -> dict[str, Scalar]:
    """Accounting, rates and delays of one stream. `sent` replaces the stream's own count (PACKET_OUTs that the switch took)."""
    sent = reception.sent if sent is None else sent
    seconds = reception.elapsed_ns / 1e9
    offered = sent / seconds if seconds else None
    lost = max(0, sent - reception.received)
    return {
        "requested": reception.requested,
        "sent": sent,
        "received": reception.received,
        "lost": lost,
        "duplicated": reception.duplicated,
        "reordered": reception.reordered,
        "late": reception.late,
        "misrouted": reception.misrouted,
        "loss_ratio": lost / sent if sent else None,
        "offered_pps": offered,
        "offered_l2_mbps": None if offered is None else offered * frame_size * 8 / 1e6,
        "forwarding_pps": reception.received / seconds if seconds else None,
        "gap_error_p99_ns": reception.gap_error_ns.get("p99"),
        **delay_metrics(reception.latency),
    }


def histogram(latency: Latency) -> dict[str, NDArray[Any]]:
    """The delay histogram as samples, from which a report draws the CDF."""
    return {"latency.value_ns": latency.values_ns, "latency.count": latency.counts}


def delay_figures(trials: Sequence[TrialRecord], names: Mapping[str, str]) -> list[Figure]:
    """One figure per point and name: the mean or the median (value of `names`) over the point's trials.

    Intervals of percentiles reach down by a bucket of the histogram, whose upper end is what a percentile is; those of the loss ratio
    and of what was received hold for losses that no trial happened to see.
    """
    figures = []
    for at, group in by_point(trials).items():
        sent, lost = ([number(t.metrics.get(k)) or 0.0 for t in group] for k in ("sent", "lost"))
        for name, kind in names.items():
            values = [number(t.metrics.get(name)) for t in group]
            if name == "loss_ratio":
                estimate = statistics.share(lost, sent)
            elif kind == "median":
                estimate = statistics.median(values)
            else:
                estimate = statistics.mean(values)
            if name in PERCENTILES:
                estimate = within_bucket(estimate)
            figures.append(figure(name, estimate.not_below(0), at, group))
    return figures


PERCENTILES = ("delay_median_us", "delay_p90_us", "delay_p99_us", "delay_p999_us")
BUCKET = 1 / 1024
"""Width of the widest bucket of a histogram with 3 significant digits, relative."""


def within_bucket(estimate: statistics.Estimate) -> statistics.Estimate:
    """The interval, with the bucket in which its lower end lies."""
    low = None if estimate.low is None else estimate.low * (1 - BUCKET)
    return statistics.Estimate(estimate.value, low, estimate.high, estimate.interval, estimate.count)


DELAY_FIGURES = {
    "delay_mean_us": "mean",
    "delay_median_us": "median",
    "delay_std_us": "mean",
    "delay_p99_us": "median",
    "delay_max_us": "median",
    "loss_ratio": "mean",
    "sent": "mean",
    "received": "mean",
}
"""Figures of every benchmark that measures delays of frames, and how trials are condensed."""


def figure(name: str, estimate: statistics.Estimate, at: Point, trials: Sequence[TrialRecord]) -> Figure:
    """A figure with its unit and with the checks that failed in its trials."""
    from flowgauge.fields import FIELDS

    return Figure(
        name=name,
        value=estimate.value,
        unit=FIELDS[name].unit,
        at=at,
        low=estimate.low,
        high=estimate.high,
        interval=estimate.interval,
        count=estimate.count,
        checks=failing(trials),
    )


def failing(trials: Sequence[TrialRecord]) -> tuple[Check, ...]:
    """One failing check per name, the first of its kind, saying in how many of the trials it failed."""
    found: dict[str, list[Check]] = {}
    for trial in trials:
        for check in trial.checks:
            if check.state is CheckState.FAIL:
                found.setdefault(check.name, []).append(check)
    return tuple(
        Check(
            name,
            CheckState.FAIL,
            f"in {len(group)} of {len(trials)} trials: {group[0].text}",
            group[0].advice,
        )
        for name, group in found.items()
    )


def by_point(trials: Sequence[TrialRecord]) -> dict[Point, list[TrialRecord]]:
    """The usable trials, grouped by point in the order of measurement."""
    groups: dict[Point, list[TrialRecord]] = {}
    for trial in trials:
        if trial.status == "ok":
            groups.setdefault(trial.point, []).append(trial)
    return groups


def number(value: Scalar) -> float | None:
    """A metric as a float, None when it is missing or no number."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def frame_checks(
    testbed: Testbed,
    reception: Reception,
    tester: TesterState,
    frame_size: int,
    played: PlayResult | None = None,
) -> tuple[tuple[Check, ...], float | None]:
    """The checks of every trial that moves frames, and the slope of the delay in us/s (None when there is none).

    `played`: the PACKET_OUTs that carried the frames, where they came by the channel.
    """
    requested, offered = (
        (played.requested, played.acknowledged) if played else (reception.requested, reception.sent)
    )
    latency = reception.latency
    median_ns = latency.percentile_ns(50)
    grows, slope = checks.ramp(reception)
    pps = reception.received / (reception.elapsed_ns / 1e9) if reception.elapsed_ns else None
    return (
        checks.tester_loss(tester),
        checks.tester_limited(testbed.loopback, frame_size=frame_size, pps=pps, delay_ns=median_ns),
        checks.offered_load(requested, offered),
        grows,
        checks.order(reception),
        checks.few_samples(latency.count),
        checks.noisy_host(tester, latency.percentile_ns(99)),
    ), slope


def shared_core(testbed: Testbed) -> tuple[Check, ...]:
    """The check of control benchmarks on where the channel's thread runs, for switches that poll."""
    return checks.shared_core(getattr(testbed, "core_plan", None))


def summary(values_ns: NDArray[np.int64]) -> Latency:
    """Statistics of raw delays (for instance round trips of echoes), each value its own bucket."""
    x = np.sort(values_ns[values_ns >= 0])
    if len(x) == 0:
        empty = np.zeros(0, dtype=np.int64)
        return Latency(0, None, None, None, None, empty, empty)
    values, counts = np.unique(x, return_counts=True)
    std = float(np.std(x, ddof=1)) if len(x) > 1 else 0.0
    return Latency(len(x), float(x[0]), float(np.mean(x)), std, float(x[-1]), values, counts.astype(np.int64))


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1000
