"""Interleaved pairs and their ratio."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flowgauge.analysis.statistics import median


class Unavailable(Exception):
    """This host lacks what the case needs; the message says what."""


@dataclass(frozen=True)
class Result:
    """Medians of both sides and of the pairs' ratios; ratio > 1 means that we are better. `peer` None: nobody else does it."""

    ours: float
    peer: float | None
    peer_name: str
    unit: str
    ratio: float | None
    n: int
    ci: tuple[float, float] | None

    def as_json(self) -> dict[str, object]:
        """As `make bench` prints it."""
        return {
            "ours": round(self.ours, 6),
            "peer": None if self.peer is None else round(self.peer, 6),
            "peer_name": self.peer_name,
            "unit": self.unit,
            "ratio": None if self.ratio is None else round(self.ratio, 4),
            "n": self.n,
            "ci": None if self.ci is None else [round(v, 4) for v in self.ci],
        }


def interleave(
    pairs: int,
    ours: Callable[[], float],
    peer: Callable[[], float],
    *,
    peer_name: str,
    unit: str,
    less_is_better: bool = False,
) -> Result:
    """Measure `pairs` times both sides, taking turns in who goes first; the interval is that of the median (order statistics)."""
    mine: list[float] = []
    theirs: list[float] = []
    for i in range(pairs):
        for side, values in ((ours, mine), (peer, theirs)) if i % 2 == 0 else ((peer, theirs), (ours, mine)):
            values.append(side())
        print(
            f"  pair {i + 1}/{pairs}: ours {mine[-1]:.6g}, {peer_name} {theirs[-1]:.6g} {unit}",
            file=sys.stderr,
        )
    return compare(mine, theirs, peer_name=peer_name, unit=unit, less_is_better=less_is_better)


def compare(
    mine: Sequence[float],
    theirs: Sequence[float],
    *,
    peer_name: str,
    unit: str,
    less_is_better: bool = False,
) -> Result:
    """The result of pairs that were measured."""
    ratios = [(b / a if less_is_better else a / b) for a, b in zip(mine, theirs, strict=True)]
    estimate = median(ratios)
    has_interval = estimate.interval == "order" and estimate.low is not None and estimate.high is not None
    return Result(
        statistics.median(mine),
        statistics.median(theirs),
        peer_name,
        unit,
        statistics.median(ratios),
        len(mine),
        (float(estimate.low or 0), float(estimate.high or 0)) if has_interval else None,
    )


def alone(mine: Sequence[float], *, why: str, unit: str) -> Result:
    """The result of measurements that have no peer, and why."""
    return Result(statistics.median(mine), None, why, unit, None, len(mine), None)
