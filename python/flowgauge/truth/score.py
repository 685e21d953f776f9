"""Condenses judgements: bias, error, coverage, width, interval score; and prints them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowgauge.truth.harness import Flagged, Judgement

ALPHA = 0.05
LIMITS = {
    "delay_mean_us": 0.01,
    "delay_median_us": 0.02,
    "delay_std_us": 0.05,
    "delay_p99_us": 0.03,
    "delay_max_us": 0.06,
    "activation_us": 0.3,
    "barrier_us": 0.1,
    "per_entry_us": 0.3,
    "barrier_lead_us": 0.3,
    "slope_us_per_entry": 0.1,
    "barrier_slope_us_per_entry": 0.05,
    "loss_ratio": 0.5,
    "received": 0.003,
}
"""Figure -> the most that the median width of its intervals may be, relative. Activations are wide: a probe's delay is in them.
Losses are those of a binomial: about half of the devices lose none, and of the others a few hundred frames are counted."""
COUNT_LIMIT = 0.001
"""The same for counts and ratios."""


@dataclass(frozen=True)
class Score:
    """What an estimator is worth over many devices. Errors and widths are relative (`Judgement.scale`).

    `covered` of `devices` intervals held the truth. `interval_score`: mean of width + 2/alpha * what the truth lies outside (Gneiting
    and Raftery 2007), relative; smaller is better.
    """

    benchmark: str
    figure: str
    devices: int
    covered: int
    bias: float
    error: float
    width: float
    interval_score: float

    @property
    def limit(self) -> float:
        """The most that the median width may be."""
        return LIMITS.get(self.figure, COUNT_LIMIT)

    @property
    def holds(self) -> bool:
        """Whether as many intervals held the truth as 95 % intervals should: 182 of 200."""
        return self.covered >= required(self.devices)

    @property
    def narrow(self) -> bool:
        """Whether the intervals say enough."""
        return self.width <= self.limit


def required(devices: int, chance: float = 0.01) -> int:
    """How many of so many 95 % intervals must hold the truth: fewer come about by chance in less than that share of all draws.

    >>> required(200), required(40)
    (182, 34)
    """
    from scipy.stats import binom

    return 182 if (devices, chance) == (200, 0.01) else int(binom.ppf(chance, devices, 1 - ALPHA))


def scores(judgements: Sequence[Judgement]) -> list[Score]:
    """One per benchmark and figure. A device counts once: the points of a figure take turns."""
    groups: dict[tuple[str, str], dict[int, list[Judgement]]] = {}
    for judgement in judgements:
        by_device = groups.setdefault((judgement.benchmark, judgement.figure), {})
        by_device.setdefault(judgement.device, []).append(judgement)
    return [
        _score(*key, [found[device % len(found)] for device, found in by_device.items()])
        for key, by_device in groups.items()
    ]


def _score(benchmark: str, figure: str, group: Sequence[Judgement]) -> Score:
    scale = [j.scale for j in group]
    errors = [(j.value - j.truth) / s for j, s in zip(group, scale, strict=True)]
    widths = [(j.high - j.low) / s for j, s in zip(group, scale, strict=True)]
    outside = [max(j.low - j.truth, j.truth - j.high, 0.0) / s for j, s in zip(group, scale, strict=True)]
    return Score(
        benchmark,
        figure,
        len(group),
        sum(j.covers for j in group),
        statistics.fmean(errors),
        statistics.median(map(abs, errors)),
        statistics.median(widths),
        statistics.fmean(w + 2 / ALPHA * o for w, o in zip(widths, outside, strict=True)),
    )


def table(found: Sequence[Score]) -> Iterator[str]:
    """As a Markdown table."""
    yield "| benchmark | figure | devices | covered | bias | median error | median width | limit | interval score |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for s in found:
        covered = f"{s.covered}" if s.holds else f"**{s.covered}**"
        numbers = " | ".join(_percent(v) for v in (s.bias, s.error, s.width, s.limit, s.interval_score))
        yield f"| {s.benchmark} | {s.figure} | {s.devices} | {covered} | {numbers} |"


def flags(found: Sequence[Flagged]) -> Iterator[str]:
    """How many of the devices that break an assumption were noticed, as a Markdown table."""
    yield "| assumption that is broken | devices | flagged or refused |"
    yield "|---|--:|--:|"
    for kind in dict.fromkeys(f.breaks for f in found):
        group = [f for f in found if f.breaks == kind]
        yield f"| {kind} | {len(group)} | {sum(f.flagged for f in group)} |"


def _percent(value: float) -> str:
    return f"{value:.3%}" if abs(value) < 0.01 else f"{value:.1%}"
