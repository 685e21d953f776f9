"""What may be said about two figures: that they differ, that no difference was found, or that nothing can be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from flowgauge.compare.welch import welch
from flowgauge.model import Figure

FEWEST = 6
"""Fewer trials give a range and not an interval (METHODS, statistics)."""
LEVEL = 0.05
MISSING_VALUE = "a value is missing"


class Verdict(StrEnum):
    """What a comparison of two figures found."""

    DIFFER = "differ"
    NOT_SHOWN = "no difference shown"
    APART = "intervals apart"
    OVERLAP = "intervals overlap"
    NONE = "not comparable"


@dataclass(frozen=True)
class Comparison:
    """`difference` and `ratio`: other against baseline, None when a value is missing (or the baseline is 0).

    `reason` says how the verdict was found, or why there is none; `p` is Welch's.
    """

    difference: float | None
    ratio: float | None
    verdict: Verdict
    reason: str
    p: float | None = None


def compare(
    base: Figure | None,
    other: Figure | None,
    first: Sequence[float],
    second: Sequence[float],
    published: bool = False,
) -> Comparison:
    """Compare two figures; `first` and `second` are the values of their valid trials.

    `published`: one of the two is copied from print, where a single value stands for a whole trial.
    """
    if base is None or other is None or base.value is None or other.value is None:
        return Comparison(None, None, Verdict.NONE, MISSING_VALUE)
    difference = other.value - base.value
    ratio = other.value / base.value if base.value else None
    if base.unit != other.unit:
        return Comparison(None, None, Verdict.NONE, f"units differ: {base.unit} and {other.unit}")
    if base.unit == "frames":
        return Comparison(difference, ratio, Verdict.NONE, "a count of frames")
    if published:
        return Comparison(difference, ratio, Verdict.NONE, "no repeats are published")
    if len(first) >= FEWEST and len(second) >= FEWEST:
        test = welch(first, second)
        verdict = Verdict.DIFFER if test.p < LEVEL else Verdict.NOT_SHOWN
        return Comparison(
            difference, ratio, verdict, f"Welch's t on {len(first)} and {len(second)} trials", test.p
        )
    if _has_interval(base) and _has_interval(other):
        return Comparison(difference, ratio, _intervals(base, other), "by their 95 % intervals")
    return Comparison(difference, ratio, Verdict.NONE, _why(len(first), len(second)))


def _has_interval(figure: Figure) -> bool:
    return figure.interval in ("t", "order") and figure.low is not None and figure.high is not None


def _intervals(base: Figure, other: Figure) -> Verdict:
    def below(a: Figure, b: Figure) -> bool:
        return a.high is not None and b.low is not None and a.high < b.low

    apart = below(base, other) or below(other, base)
    return Verdict.APART if apart else Verdict.OVERLAP


def _why(first: int, second: int) -> str:
    fewest = min(first, second)
    return "no repeated trials" if fewest == 0 else f"fewer than {FEWEST} trials ({first} and {second})"
