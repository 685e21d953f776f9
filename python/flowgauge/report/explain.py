"""What each check means and what to do when it fails, for readers who meet it in a report for the first time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """`meaning`: what the check looks at and why it matters; `remedy`: what to do when it fails."""

    meaning: str
    remedy: str


CHECKS: Mapping[str, Explanation] = {
    "tester-loss": Explanation(
        "The tester itself dropped frames (ring, socket or NIC), or its loop stood still for longer than its receive "
        "rings last. Loss and delay of such a trial say nothing about the DUT, so it is repeated and never used.",
        "Lower the rate, give the tester a core of its own, or use a faster port backend.",
    ),
    "tester-limited": Explanation(
        "The tester, looped back without a DUT, does no better than this figure (within 5 %), or its own delay is more "
        "than half of the delay reported. The figure is a bound on the DUT and not its value.",
        "Use a faster backend or host, or hardware timestamps; read the figure as a bound until then.",
    ),
    "offered-load": Explanation(
        "What left the tester differs from what was asked for by more than 0.1 %.",
        "Read the offered load beside the figure; lower the rate or free the tester's core.",
    ),
    "quantised": Explanation(
        "Probes were so far apart that the gap between two is more than 1/100 of the time found: the figure is good "
        "to one gap only.",
        "Raise the probe rate.",
    ),
    "ramp": Explanation(
        "Delay grew while the trial went on, as a queue does under overload. Its mean depends on how long the trial "
        "lasted.",
        "Read the slope and the forwarding rate instead of the mean delay.",
    ),
    "few-samples": Explanation(
        "Fewer than 30 samples for a mean, or fewer than 10/(1-p) for a percentile p.",
        "Measure longer or repeat more often (`--repeat`).",
    ),
    "dut-restart": Explanation(
        "The DUT stopped or started again during the trial.",
        "Look into the switch's log; repeat the benchmark.",
    ),
    "channel-reset": Explanation(
        "The switch closed or reset the OpenFlow channel. For some benchmarks that is the result.",
        "Look into the switch's log; lower the message rate.",
    ),
    "flow-rejected": Explanation(
        "The switch answered with an error, or holds other flow entries than were installed (read back after a "
        "barrier).",
        "See the error's text; check the table's size and the match fields that the switch supports.",
    ),
    "noisy-host": Explanation(
        "The host disturbed the tester: stalls above 100 µs or above 10 % of the reported p99, steal time, involuntary "
        "context switches, or frequency changes on its cores. High percentiles may be the tester's.",
        "Isolate the tester's cores, stop other work, set the performance governor, or use a bare-metal host.",
    ),
}


def explain(name: str, notes: Mapping[str, str] | None = None) -> Explanation | None:
    """The explanation of a check, or of a note on published values (`notes`: code -> meaning); None if unknown."""
    if name in CHECKS:
        return CHECKS[name]
    if notes and name in notes:
        return Explanation(notes[name], "")
    return None
