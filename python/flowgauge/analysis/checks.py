"""Checks: reasons not to trust a figure, found by the tool itself.

Each function looks at what a trial saw and returns one `Check`: pass, fail (with figures and advice), or not evaluated (with the
reason). They are pure functions, so a simulated and a live trial are judged alike. `EXPLANATIONS` is what a report prints beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flowgauge.errors import FlowgaugeError
from flowgauge.model import Check, CheckState, Figure, TrialRecord
from flowgauge.testbed.interface import Loopback, PlayResult, Reception, TesterState

EXPLANATIONS: Mapping[str, str] = {
    "tester-loss": "The tester itself lost frames, or its loop stood still for longer than its rings last. "
    "Such a trial is invalid: it is repeated up to three times and never used.",
    "tester-limited": "The tester, looped back on the same backend, does no better than the figure, "
    "or its own delay is more than half of the delay reported: the figure describes the tester.",
    "offered-load": "What left the tester differs from what was asked for by more than 0.1 %.",
    "quantised": "The probe gap is more than 1/100 of the duration found, so the duration is known to one gap at best.",
    "ramp": "The delay grew while the trial lasted, as in an overloaded queue: its mean depends on the trial's length. "
    "Read the slope and the forwarding rate instead.",
    "order": "Frames arrived in another order than they left in, so that their delays are not of one queue or path.",
    "batches": "Frames that left the tester apart arrived together: the device handles them in batches, and a frame's delay "
    "depends on how many others it waits for.",
    "few-samples": "Fewer than 30 samples for a mean, or fewer than 10/(1-p) for a percentile p.",
    "dut-restart": "The switch stopped or started anew during the trial.",
    "channel-reset": "The switch closed or reset the OpenFlow channel during the trial.",
    "flow-rejected": "The switch answered with an error, or holds other flow entries than were installed.",
    "noisy-host": "The tester's loops stalled, lost the processor, or its cores changed their frequency during the trial.",
    "shared-core": "The control channel's thread has to share its core with the thread of the switch that polls, "
    "so that each waits for the other: times of control messages hold the scheduler's slices.",
}
"""Name of each check and what it means."""

LOAD_TOLERANCE = 0.001
LIMIT_TOLERANCE = 0.05
STALL_NS = 100_000


def passed(name: str, text: str) -> Check:
    """A check that found nothing wrong."""
    return Check(name, CheckState.PASS, text)


def failed(name: str, text: str, advice: str, *, invalidates: bool = False) -> Check:
    """A check that found a reason not to trust the figure."""
    return Check(name, CheckState.FAIL, text, advice, invalidates)


def not_evaluated(name: str, reason: str) -> Check:
    """A check that could not be made, with the reason."""
    return Check(name, CheckState.NOT_EVALUATED, reason)


def tester_loss(tester: TesterState) -> Check:
    """Whether the tester dropped frames itself, or stood still for longer than its receive rings last."""
    name = "tester-loss"
    if tester.rx_dropped > 0:
        text = f"the tester dropped {tester.rx_dropped} received frames"
        return failed(name, text, "Lower the load, or give the tester a core of its own.", invalidates=True)
    if tester.ring_ns is not None and tester.stall_max_ns > tester.ring_ns:
        text = f"a loop stood still for {_duration(tester.stall_max_ns)}, its rings last {_duration(tester.ring_ns)}"
        return failed(name, text, "Give the tester a core of its own (isolcpus).", invalidates=True)
    return passed(name, "the tester dropped no frame")


def tester_limited(
    loopback: Loopback | None,
    *,
    frame_size: int | None = None,
    pps: float | None = None,
    delay_ns: float | None = None,
) -> Check:
    """Whether a rate or a delay is the tester's rather than the DUT's."""
    name = "tester-limited"
    if loopback is None:
        return not_evaluated(name, "the tester's own loop-back was not measured")
    found = []
    limit = _nearest(loopback.max_pps, frame_size) if frame_size and pps else None
    if pps and limit:
        if pps >= limit * (1 - LIMIT_TOLERANCE):
            text = f"{pps:.4g} pps is within 5 % of the tester's own {limit:.4g} pps ({loopback.backend}, looped back)"
            return failed(name, text, "Use a faster backend or a faster tester.")
        found.append(f"the tester alone does {limit:.3g} pps, {limit / pps:.1f} times the figure")
    if delay_ns:
        share = loopback.delay_ns / delay_ns
        text = f"the tester's own delay, {_duration(loopback.delay_ns)}, is {share:.0%} of the delay reported"
        if share > 0.5:
            return failed(
                name, text, "Read the delay as an upper bound; use a backend with earlier timestamps."
            )
        found.append(text)
    return passed(name, "; ".join(found)) if found else not_evaluated(name, "nothing arrived")


def echo_limited(loopback: Loopback | None, delay_ns: float | None) -> Check:
    """The same for round trips on the control channel, against the tester's own channel over loopback."""
    name = "tester-limited"
    if loopback is None or loopback.echo_ns is None:
        return not_evaluated(name, "the tester's own control channel was not measured")
    if not delay_ns:
        return not_evaluated(name, "no reply arrived")
    share = loopback.echo_ns / delay_ns
    text = f"the tester's own round trip, {_duration(loopback.echo_ns)}, is {share:.0%} of the delay reported"
    if share > 0.5:
        return failed(name, text, "Read the delay as an upper bound.")
    return passed(name, text)


def offered_load(requested: float, offered: float) -> Check:
    """Whether the offered load (frames or messages that left) is the requested one within 0.1 %, or one frame."""
    name = "offered-load"
    if requested <= 0:
        return not_evaluated(name, "no load was requested")
    error = (offered - requested) / requested
    text = f"{offered:.0f} of {requested:.0f} left ({error:+.3%})"
    if abs(error) > LOAD_TOLERANCE and abs(offered - requested) > 1:
        return failed(name, text, "Read figures against the offered load; lower the rate to reach it.")
    return passed(name, text)


def quantised(gap_ns: float, duration_ns: float | None) -> Check:
    """Whether the probe gap is small against the duration that was found with it."""
    name = "quantised"
    if duration_ns is None:
        return not_evaluated(name, "no duration was found")
    if gap_ns > duration_ns / 100:
        text = f"the probe gap of {_duration(gap_ns)} is not small against the {_duration(duration_ns)} found"
        return failed(name, text, "Read the interval, not the middle; raise probe_pps or add more entries.")
    return passed(
        name, f"the probe gap of {_duration(gap_ns)} is {gap_ns / duration_ns:.2%} of the duration found"
    )


def ramp(reception: Reception) -> tuple[Check, float | None]:
    """Whether the delay grew over the trial, and its slope in us per second.

    A ramp is a delay whose trend over the trial is more than half of its mean and explains most of its variation (r > 0.8) while
    frames were being lost or the delay at least doubled: a queue that fills.
    """
    name = "ramp"
    there = reception.windows_count > 0
    if there.sum() < 8:
        return not_evaluated(name, "fewer than 8 time slices hold frames"), None
    means = reception.windows_mean_ns[there]
    times = np.flatnonzero(there) * float(reception.window_ns)
    if float(np.std(means)) == 0:
        return passed(name, "the delay did not change"), 0.0
    slope = float(np.polyfit(times, means, 1)[0])
    r = float(np.corrcoef(times, means)[0, 1])
    growth, centre = slope * float(times[-1] - times[0]), float(np.mean(means))
    per_second = slope * 1e6
    quarter = max(1, len(means) // 4)
    grown = float(np.mean(means[-quarter:])) / max(1.0, float(np.mean(means[:quarter])))
    if r > 0.8 and growth > 0.5 * centre and (reception.lost > 0 or grown > 2):
        text = f"the delay grew by {_duration(per_second * 1000)} per second, to {grown:.1f} times its start"
        return failed(name, text, "Do not read the mean delay: it depends on the trial's length."), per_second
    return passed(
        name, f"no growth of the delay beyond its variation (slope {_duration(per_second * 1000)} per second)"
    ), per_second


def order(reception: Reception) -> Check:
    """Whether frames came in the order in which they left."""
    if reception.received == 0:
        return not_evaluated("order", "nothing arrived")
    if reception.reordered:
        text = f"{reception.reordered} of {reception.received} frames were overtaken"
        return failed(
            "order", text, "Frames took parallel queues or paths: the delay is a mixture of theirs."
        )
    return passed("order", "no frame was overtaken")


def batches(reception: Reception, gap_ns: float) -> Check:
    """Whether frames of a constant rate left the device in batches: then the delay depends on the load, and shows the batch.

    Evaluated where arrivals are recorded and frames left the tester at least 100 us apart: closer frames are batched on any host.
    """
    if len(reception.arrivals_rx_ns) < 30:
        return not_evaluated("batches", "fewer than 30 arrivals were recorded")
    if gap_ns < 100_000:
        return not_evaluated("batches", "frames left less than 100 us apart")
    gaps = np.diff(np.sort(reception.arrivals_rx_ns)).astype(np.float64)
    share = float(np.mean(gaps < gap_ns / 10))
    if share > 0.3:
        text = f"{share:.0%} of the frames came together with another, though they left {_duration(gap_ns)} apart"
        return failed("batches", text, "Do not take the delay for the device's at another load.")
    return passed("batches", f"{share:.0%} of the frames came together with another")


def few_samples(count: int, percentile: float | None = None) -> Check:
    """Whether there are enough samples for a mean (percentile None) or for a percentile (0..100)."""
    needed = 30 if percentile is None else samples_needed(percentile)
    what = "a mean" if percentile is None else f"p{percentile:g}"
    if count < needed:
        text = f"{count} samples, {what} needs {needed}"
        return failed("few-samples", text, "Measure longer, or more often (--repeat).")
    return passed("few-samples", f"{count} samples, {what} needs {needed}")


def samples_needed(percentile: float) -> int:
    """10 / (1 - p): the smallest sample of which ten values lie beyond the percentile.

    >>> samples_needed(99), samples_needed(99.9)
    (1000, 10000)
    """
    return round(10 / (1 - percentile / 100))


def dut_restart(*, watched: bool, connected: bool) -> Check:
    """Whether the switch ran on through a trial that ended: because its driver watched it, or its channel stayed `connected`."""
    name = "dut-restart"
    if watched:
        return passed(name, "the switch ran all the time")
    if connected:
        return passed(name, "the switch's channel stayed open all the time")
    return not_evaluated(name, "the switch is not ours to watch, and it had no open channel to us")


def of_error(error: FlowgaugeError) -> tuple[Check, ...]:
    """The check that failed when an error broke a trial: the switch died, its channel ended, or it refused what it was told."""
    by_name = {
        "dut-died": ("dut-restart", "Look into the switch's log, and repeat the benchmark."),
        "channel-closed": ("channel-reset", "Look into the switch's log; lower the message rate."),
        "garbage": ("channel-reset", "Look into the switch's log; lower the message rate."),
        "rejected": ("flow-rejected", "The switch does not support these entries, or its table is full."),
    }
    if error.name not in by_name:
        return ()
    name, advice = by_name[error.name]
    return (failed(name, error.message, error.advice or advice),)


def with_broken(figure: Figure, records: Sequence[TrialRecord]) -> Figure:
    """The figure with what broke other trials at its point beside it: they have no part in its value, but are a reason to doubt it."""
    here = [r for r in records if all(r.point.get(k) == v for k, v in figure.at.items())]
    shown = {check.name for check in figure.checks if check.state is CheckState.FAIL}
    found: dict[str, list[Check]] = {}
    for record in here:
        for check in record.checks if record.status == "failed" else ():
            if check.state is CheckState.FAIL and check.name not in shown:
                found.setdefault(check.name, []).append(check)
    more = (
        failed(
            name,
            f"{len(group)} of {len(here)} trials broke: {group[0].text}",
            group[0].advice or "",
        )
        for name, group in found.items()
    )
    return replace(figure, checks=(*figure.checks, *more))


def channel(play: PlayResult | None = None, closed: str | None = None) -> Check:
    """Whether the OpenFlow channel stayed open."""
    reason = closed or (play.closed if play else None)
    if reason:
        return failed("channel-reset", reason, "Look into the switch's log; lower the message rate.")
    return passed("channel-reset", "the channel stayed open")


def flow_rejected(
    errors: Sequence[tuple[int, int, int, str]], *, installed: int | None, expected: int | None
) -> Check:
    """Whether the switch took all entries: no errors, and reading back after a barrier gives as many as were installed."""
    name = "flow-rejected"
    if errors:
        index, kind, code, text = errors[0]
        found = (
            f"{len(errors)} messages were refused, first message {index}: {text} (type {kind}, code {code})"
        )
        return failed(name, found, "The switch does not support these entries, or its table is full.")
    if installed is None or expected is None:
        return not_evaluated(name, "entries were not read back")
    if installed != expected:
        text = f"the switch holds {installed} entries, {expected} were installed"
        return failed(name, text, "Entries were accepted and not installed, or installed by somebody else.")
    return passed(name, f"the switch holds the {expected} entries that were installed")


def noisy_host(tester: TesterState, p99_ns: float | None) -> Check:
    """Whether the tester's cores were disturbed enough to colour the figures."""
    name, reasons = "noisy-host", []
    if tester.stalls_over_100us:
        reasons.append(
            f"{tester.stalls_over_100us} stalls above 100 us (longest {_duration(tester.stall_max_ns)})"
        )
    elif p99_ns and tester.stall_max_ns > 0.1 * p99_ns:
        reasons.append(
            f"a stall of {_duration(tester.stall_max_ns)}, above 10 % of the p99 of {_duration(p99_ns)}"
        )
    if tester.steal_ns:
        reasons.append(f"{_duration(tester.steal_ns)} stolen by the hypervisor")
    if tester.involuntary_switches:
        reasons.append(f"{tester.involuntary_switches} involuntary context switches")
    if tester.frequency_changes:
        reasons.append(f"{tester.frequency_changes} frequency changes")
    if reasons:
        advice = "Look at medians; isolate the tester's cores, fix their frequency, stop other load."
        return failed(name, ", ".join(reasons), advice)
    return passed(name, "no stall, steal time or context switch")


def shared_core(plan: Mapping[str, Any] | None) -> tuple[Check, ...]:
    """Whether the channel's thread has to run where the DUT polls; nothing where the DUT has no thread that does."""
    name, polled = "shared-core", None if plan is None else plan.get("dut_pmd")
    if plan is None or polled is None:
        return ()
    if all(core == polled for core in plan["channel"]):
        text = f"the channel's thread shares core {polled} with the thread of the switch that polls"
        return (
            failed(name, text, "Use a host with three cores or more for control benchmarks of this switch."),
        )
    return (passed(name, f"the switch polls on core {polled}, the channel's thread runs elsewhere"),)


def _nearest(by_size: Mapping[int, float], size: int) -> float | None:
    """The rate measured for the frame size nearest to `size`."""
    return by_size[min(by_size, key=lambda s: abs(s - size))] if by_size else None


def _duration(ns: float) -> str:
    """With the unit that a reader would choose.

    >>> _duration(850), _duration(12_340), _duration(42_300_000)
    ('850 ns', '12.3 us', '42.3 ms')
    """
    for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if abs(ns) < limit:
            return f"{ns / divisor:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"
