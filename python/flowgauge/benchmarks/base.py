"""What a benchmark is: which points to measure, the procedure of one trial, the figures.

A third party adds one by an entry point in the group `flowgauge.benchmarks`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from flowgauge.model import Figure, Point, Trial, TrialRecord
from flowgauge.testbed.interface import ENTRIES, Testbed


class Params(BaseModel):
    """Parameters of a benchmark; each field has a description and the source's default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


P = TypeVar("P", bound=Params)


class Benchmark(ABC, Generic[P]):
    """Base of all benchmarks. The class docstring says what is measured, after which source, in which units."""

    name: ClassVar[str]
    params_type: ClassVar[type[Params]]
    quick: ClassVar[Mapping[str, Any]] = {}
    """Parameter values of the `--quick` variant."""
    features: ClassVar[tuple[str, ...]] = ()
    """Features that the switch must support."""
    abilities: ClassVar[tuple[str, ...]] = (ENTRIES,)
    """Abilities of the control path that it needs (`flowgauge.testbed.interface`); where one is lacking, it is skipped."""
    ports: ClassVar[int] = 2
    """How many tester ports it needs."""
    charts: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    """How a report draws its figures; see `flowgauge.report.charts`."""

    @classmethod
    def summary(cls) -> str:
        """The first paragraph of the docstring, for lists and reports."""
        return " ".join((cls.__doc__ or "").split("\n\n")[0].split())

    def repeats(self, params: P) -> int:
        """How often each point is measured."""
        return int(getattr(params, "repeats", 1))

    @abstractmethod
    def points(self, params: P, earlier: Sequence[TrialRecord]) -> Iterator[Point]:
        """The points to measure; a generator that may look at results so far (`earlier` grows as trials end)."""

    @abstractmethod
    def trial(self, testbed: Testbed, params: P, point: Point) -> Trial:
        """Measure one point once. Raises TrialError or ChannelError when it can't be completed."""

    @abstractmethod
    def figures(self, params: P, trials: Sequence[TrialRecord]) -> list[Figure]:
        """What the valid trials say."""

    def seconds(self, params: P, point: Point) -> float:
        """Roughly how long a trial takes, for the remaining time."""
        return float(getattr(params, "duration_s", 1.0)) + 0.2
