"""How many trials a run has, and how long it will take: from what benchmarks expect, corrected by what trials took so far."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from flowgauge.model import Point
from flowgauge.runner.plan import Item, Plan

MOST_POINTS = 10_000


@dataclass
class _Share:
    """One benchmark: the expected seconds of each trial in their order, and how many are done."""

    expected_s: list[float]
    exact: bool
    done: int = 0
    finished: bool = False

    @property
    def total(self) -> int:
        return self.done if self.finished else max(self.done, len(self.expected_s))

    @property
    def left_s(self) -> float:
        return 0.0 if self.finished else sum(self.expected_s[self.done :])


@dataclass(frozen=True)
class State:
    """Where a run stands. `total` may change while a search goes on (`exact` False); `per_minute` None: nothing measured yet."""

    done: int
    total: int
    exact: bool
    remaining_s: float
    per_minute: float | None


@dataclass
class Estimate:
    """Counts the trials of a run."""

    shares: dict[str, _Share]
    _measured: int = 0
    _spent_s: float = 0.0
    _expected_s: float = 0.0

    @staticmethod
    def of(plan: Plan) -> Estimate:
        """Before anything is measured."""
        return Estimate({item.name: _share(item, plan.repeats(item)) for item in plan.items})

    def kept(self, name: str) -> None:
        """A trial was there already."""
        self.shares[name].done += 1

    def measured(self, name: str, expected_s: float, spent_s: float) -> None:
        """A trial was measured."""
        self.shares[name].done += 1
        self._measured += 1
        self._expected_s += expected_s
        self._spent_s += spent_s

    def finished(self, name: str) -> None:
        """A benchmark has no more points, or was skipped."""
        self.shares[name].finished = True

    def state(self) -> State:
        """Now."""
        shares = self.shares.values()
        factor = self._spent_s / self._expected_s if self._expected_s > 0 else 1.0
        return State(
            done=sum(s.done for s in shares),
            total=sum(s.total for s in shares),
            exact=all(s.exact or s.finished for s in shares),
            remaining_s=factor * sum(s.left_s for s in shares),
            per_minute=60 * self._measured / self._spent_s if self._spent_s > 0 else None,
        )


def _share(item: Item, repeats: int) -> _Share:
    """What a benchmark says before it has seen any result; one that searches knows no better yet."""
    points: list[Point] = []
    try:
        for point in islice(item.benchmark.points(item.params, []), MOST_POINTS):
            points.append(point)
        exact = len(points) < MOST_POINTS
    except Exception:
        exact = False
    return _Share([expected_seconds(item, p) for p in points for _ in range(repeats)], exact)


def expected_seconds(item: Item, point: Point) -> float:
    """What the benchmark expects of one trial, 1 s when it can't say."""
    try:
        return max(0.001, item.benchmark.seconds(item.params, point))
    except Exception:
        return 1.0
