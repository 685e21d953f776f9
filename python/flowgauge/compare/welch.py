"""Welch's t test: do the means of two sets of repeats differ, when their variances may?

B. L. Welch, "The generalization of Student's problem when several different population variances are involved",
Biometrika 34 (1947). Pure functions of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isnan, lgamma, log, log1p, nan, sqrt
from statistics import fmean, variance


@dataclass(frozen=True)
class Welch:
    """`difference`: mean of the second minus mean of the first; `p`: two-sided; `df`: degrees of freedom."""

    difference: float
    t: float
    df: float
    p: float


def welch(first: Sequence[float], second: Sequence[float]) -> Welch:
    """The test on two sets of at least two values each. Raises ValueError for fewer.

    Sets without any spread differ for sure when their means do (p = 0), and not at all when they agree (p = 1).

    >>> round(welch([1, 2, 3, 4, 5], [2, 3, 4, 5, 6]).p, 4)
    0.3466
    """
    if len(first) < 2 or len(second) < 2:
        raise ValueError("Welch's test needs at least two values on each side")
    difference = fmean(second) - fmean(first)
    a, b = variance(first) / len(first), variance(second) / len(second)
    if a + b == 0:
        return Welch(difference, inf if difference else 0.0, nan, 0.0 if difference else 1.0)
    t = difference / sqrt(a + b)
    df = (a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1))
    return Welch(difference, t, df, two_sided(t, df))


def two_sided(t: float, df: float) -> float:
    """Probability that Student's t with `df` degrees of freedom is at least as far from 0 as `t`.

    >>> round(two_sided(2.228, 10), 3)
    0.05
    """
    if isnan(t) or df <= 0:
        raise ValueError(f"no such t distribution: t {t}, df {df}")
    return incomplete_beta(df / 2, 0.5, df / (df + t * t))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for 0 <= x <= 1.

    Continued fraction, evaluated where it converges quickly (NIST DLMF 8.17.22).
    """
    if not 0 <= x <= 1:
        raise ValueError(f"x must be in 0..1, is {x}")
    if x in (0.0, 1.0):
        return float(x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's method on the continued fraction."""
    tiny = 1e-300
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for factor in (even, odd):
            d = 1 / _off_zero(1 + factor * d, tiny)
            c = _off_zero(1 + factor / c, tiny)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _off_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
