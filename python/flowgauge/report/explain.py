"""What each check means and what to do when it fails, for readers who meet it in a report for the first time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flowgauge.analysis.checks import EXPLANATIONS


@dataclass(frozen=True)
class Explanation:
    """`meaning`: what the check looks at and why it matters; `remedy`: what to do when it fails."""

    meaning: str
    remedy: str


REMEDIES: Mapping[str, str] = {
    "tester-loss": "Lower the rate, give the tester a core of its own, or use a faster port backend.",
    "tester-limited": "Read the figure as a bound on the switch; use a faster backend or host, or hardware timestamps.",
    "offered-load": "Read the offered load beside the figure; lower the rate, or free the tester's core.",
    "quantised": "Raise the probe rate.",
    "ramp": "Read the slope and the forwarding rate instead of the mean delay.",
    "order": "Send a single flow, so that all frames take one path.",
    "batches": "Do not take the delay for the device's at another load; compare several rates.",
    "few-samples": "Measure longer, or repeat more often (`--repeat`).",
    "dut-restart": "Look into the switch's log, and repeat the benchmark.",
    "channel-reset": "Look into the switch's log, and lower the message rate. For packet_out it may be the result.",
    "flow-rejected": "See the error's text; check the size of the table and the match fields that the switch supports.",
    "noisy-host": "Isolate the tester's cores, stop other work, set the performance governor, or use a bare-metal host.",
    "shared-core": "Use a host with a core more, so that the control channel does not run where the switch polls.",
}
"""Advice for each check in general; a check that failed brings its own."""


def explain(name: str, notes: Mapping[str, str] | None = None) -> Explanation | None:
    """The explanation of a check, or of a note on published values (`notes`: code -> meaning); None if unknown."""
    if name in EXPLANATIONS:
        return Explanation(EXPLANATIONS[name], REMEDIES.get(name, ""))
    if notes and name in notes:
        return Explanation(notes[name], "")
    return None
