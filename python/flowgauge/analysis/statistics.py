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


@dataclass(frozen=True)
class Line:
    """A least-squares line y = intercept + slope * x, each with its 95 % interval."""

    slope: Estimate
    intercept: Estimate


def line(x: Sequence[float], y: Sequence[float]) -> Line | None:
    """Fit a line through at least three points at two or more places; None where there is none to fit."""
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    spread = float(np.sum((xs - xs.mean()) ** 2)) if len(xs) else 0.0
    if len(xs) < 3 or spread == 0:
        return None
    slope = float(np.sum((xs - xs.mean()) * (ys - ys.mean())) / spread)
    intercept = float(ys.mean() - slope * xs.mean())
    residual = ys - intercept - slope * xs
    variance = float(np.sum(residual**2)) / (len(xs) - 2)
    t = student_t(len(xs) - 2)
    slope_half = t * math.sqrt(variance / spread)
    intercept_half = t * math.sqrt(variance * (1 / len(xs) + float(xs.mean()) ** 2 / spread))
    return Line(
        Estimate(slope, slope - slope_half, slope + slope_half, "t", len(xs)),
        Estimate(intercept, intercept - intercept_half, intercept + intercept_half, "t", len(xs)),
    )


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
