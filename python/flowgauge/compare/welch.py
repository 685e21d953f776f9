"""Welch's t test: do the means of two sets of repeats differ, when their variances may?

B. L. Welch, "The generalization of Student's problem when several different population variances are involved",
Biometrika 34 (1947). Pure functions of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance


@dataclass(frozen=True)
class Welch:
    """`difference`: mean of the second minus mean of the first; `p`: probability of one as large by chance."""

    difference: float
    p: float


def welch(first: Sequence[float], second: Sequence[float]) -> Welch:
    """The two-sided test on two sets of at least two values each. Raises ValueError for fewer.

    Sets without any spread differ for sure when their means do (p = 0), and not at all when they agree (p = 1).

    >>> round(welch([1, 2, 3, 4, 5], [2, 3, 4, 5, 6]).p, 4)
    0.3466
    """
    if len(first) < 2 or len(second) < 2:
        raise ValueError("Welch's test needs at least two values on each side")
    from scipy.special import stdtr

    difference = fmean(second) - fmean(first)
    a, b = variance(first) / len(first), variance(second) / len(second)
    if a + b == 0:
        return Welch(difference, 0.0 if difference else 1.0)
    freedom = (a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1))
    return Welch(difference, float(2 * stdtr(freedom, -abs(difference) / sqrt(a + b))))
