"""Means and medians with intervals, and straight lines: a value, its interval and its count travel together.

Intervals are 95 %: Student's t for a mean, order statistics for a median. Fewer than 6 observations give
the observed range, labelled so: no method makes an honest 95 % interval of them (a percentile bootstrap
over five covers 76 %).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
FEWEST = 6


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; `interval` is "t", "order", "range" or "none" (as in `Figure`)."""

    value: float | None
    low: float | None
    high: float | None
    interval: str
    count: int

    def not_below(self, least: float) -> Estimate:
        """The interval cut at `least`, for quantities that can't be smaller (delays, ratios, counts)."""
        low = None if self.low is None else max(least, self.low)
        return Estimate(self.value, low, self.high, self.interval, self.count)


MISSING = Estimate(None, None, None, "none", 0)


def mean(values: Sequence[float | None]) -> Estimate:
    """Mean of the values that are there, with Student's t interval.

    >>> mean([1.0, 2.0, None])
    Estimate(value=1.5, low=1.0, high=2.0, interval='range', count=2)
    """
    x = _present(values)
    if len(x) == 0:
        return MISSING
    centre = float(np.mean(x))
    if len(x) < FEWEST:
        return _range(centre, x)
    half = student_t(len(x) - 1) * float(np.std(x, ddof=1)) / math.sqrt(len(x))
    return Estimate(centre, centre - half, centre + half, "t", len(x))


def median(values: Sequence[float | None]) -> Estimate:
    """Median of the values that are there, with the order-statistic interval (exact binomial ranks)."""
    x = np.sort(_present(values))
    if len(x) == 0:
        return MISSING
    centre = float(np.median(x))
    if len(x) < FEWEST:
        return _range(centre, x)
    rank = _binomial_rank(len(x))
    return Estimate(centre, float(x[rank]), float(x[len(x) - 1 - rank]), "order", len(x))


def between(
    middle: Sequence[float | None], low: Sequence[float | None], high: Sequence[float | None]
) -> Estimate:
    """Median of quantities that are only known to lie between bounds: the interval covers where their medians may be.

    >>> between([5.0] * 6, [4.0] * 6, [6.0] * 6)
    Estimate(value=5.0, low=4.0, high=6.0, interval='order', count=6)
    """
    centre, below, above = median(middle), median(low), median(high)
    found_low = below.low if below.low is not None else below.value
    found_high = above.high if above.high is not None else above.value
    kind = "range" if centre.interval == "none" and found_low is not None else centre.interval
    return Estimate(centre.value, found_low, found_high, kind, centre.count)


def share(found: Sequence[float], of: Sequence[float]) -> Estimate:
    """Mean of the ratios found/of over trials, with an interval that holds for rare events, too.

    Student's t says nothing when no trial, or few, saw the event; the exact binomial interval (Clopper and Pearson 1934) of all trials
    together says nothing of trials that differ. The interval covers both.

    >>> share([0] * 10, [1000] * 10).high > 1e-4
    True
    """
    there = [(f, o) for f, o in zip(found, of, strict=True) if o]
    by_trial = mean([f / o for f, o in there])
    if by_trial.interval != "t" or by_trial.low is None or by_trial.high is None:
        return by_trial
    low, high = _clopper_pearson(sum(f for f, _ in there), sum(o for _, o in there))
    return Estimate(by_trial.value, min(by_trial.low, low), max(by_trial.high, high), "t", by_trial.count)


def _clopper_pearson(found: float, of: float) -> tuple[float, float]:
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(found, of - found + 1, tail)) if found else 0.0
    high = float(betaincinv(found + 1, of - found, 1 - tail)) if found < of else 1.0
    return low, high


@dataclass(frozen=True)
class Line:
    """A least-squares line y = intercept + slope * x, each with its 95 % interval."""

    slope: Estimate
    intercept: Estimate


def line(x: Sequence[float], y: Sequence[float], error: Sequence[float] = ()) -> Line | None:
    """Fit a line through at least three points at two or more places; None where there is none to fit.

    `error`: how far each y may be off, in the same direction at every repetition; the intervals grow by what that can do at most.
    """
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    spread = float(np.sum((xs - xs.mean()) ** 2)) if len(xs) else 0.0
    if len(xs) < 3 or spread == 0:
        return None
    slope = float(np.sum((xs - xs.mean()) * (ys - ys.mean())) / spread)
    intercept = float(ys.mean() - slope * xs.mean())
    residual = ys - intercept - slope * xs
    off = np.asarray(error, float) if len(error) else np.zeros(len(xs))
    lever = (xs - xs.mean()) / spread
    at_zero = 1 / len(xs) - xs.mean() * lever
    halves = [
        _half(weight, residual, xs, 1 / len(xs) + (xs - xs.mean()) ** 2 / spread)
        + float(np.sum(np.abs(weight) * off))
        for weight in (lever, at_zero)
    ]
    slope_half, intercept_half = halves
    return Line(
        Estimate(slope, slope - slope_half, slope + slope_half, "t", len(xs)),
        Estimate(intercept, intercept - intercept_half, intercept + intercept_half, "t", len(xs)),
    )


def _half(
    weight: NDArray[np.float64],
    residual: NDArray[np.float64],
    x: NDArray[np.float64],
    hat: NDArray[np.float64],
) -> float:
    """Half of the interval of sum(weight * y): spreads may differ between places x (HC3, MacKinnon and White 1985), and the freedom is
    that of the places that weigh (Satterthwaite).
    """
    parts = (weight * residual / np.maximum(1e-9, 1 - hat)) ** 2
    places = [(float(parts[x == at].sum()), int((x == at).sum())) for at in np.unique(x)]
    total = sum(part for part, _ in places)
    below = sum(part**2 / (count - 1) for part, count in places if count > 1)
    alone = sum(part**2 for part, count in places if count == 1)
    below += alone / max(1, len(x) - 2)
    freedom = total**2 / below if below > 0 else len(x) - 2
    return student_t(max(1, round(freedom))) * math.sqrt(total)


def student_t(freedom: int) -> float:
    """Two-sided 95 % quantile of Student's t. SciPy is imported on first use: it is slow to load."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + CONFIDENCE / 2))


def _present(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.asarray([v for v in values if v is not None], dtype=np.float64)


def _range(centre: float, x: NDArray[np.float64]) -> Estimate:
    if len(x) == 1:
        return Estimate(centre, None, None, "none", 1)
    return Estimate(centre, float(x.min()), float(x.max()), "range", len(x))


def _binomial_rank(n: int) -> int:
    """The largest r with P(Binomial(n, 1/2) <= r - 1) <= 2.5 %: the interval is the (r+1)-th from each end."""
    tail, rank = 0.5**n, 0
    while rank + 1 < n / 2:
        tail_next = tail + math.comb(n, rank + 1) * 0.5**n
        if tail_next > (1 - CONFIDENCE) / 2:
            break
        tail, rank = tail_next, rank + 1
    return rank
