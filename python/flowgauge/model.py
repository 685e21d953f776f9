"""The values that a run is made of: point, check, trial, figure.

They are plain data: benchmarks make them, the run directory stores them, reports read them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from numpy.typing import NDArray

Scalar = float | int | str | bool | None


class Point(Mapping[str, Scalar]):
    """One combination of parameters, in a fixed order: `Point(rate_mbps=10, frame_size=64)`."""

    def __init__(self, **values: Scalar) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Scalar:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self._values) == dict(other)

    def __repr__(self) -> str:
        return "Point(" + ", ".join(f"{k}={v!r}" for k, v in self._values.items()) + ")"

    def __str__(self) -> str:
        return " ".join(f"{k}={v}" for k, v in self._values.items())

    def number(self, key: str) -> float:
        """The value of `key` as a float. Raises TypeError when it is not a number."""
        value = self._values[key]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        raise TypeError(f"{key} is {value!r}, not a number")

    def integer(self, key: str) -> int:
        """The value of `key` as an integer. Raises TypeError when it is not one."""
        value = self._values[key]
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise TypeError(f"{key} is {value!r}, not an integer")


class CheckState(StrEnum):
    """What a check found."""

    PASS = "pass"
    FAIL = "fail"
    NOT_EVALUATED = "not_evaluated"


@dataclass(frozen=True)
class Check:
    """A reason not to trust a figure, found by the tool itself.

    `name` is one of the names in `flowgauge.analysis.checks`; `text` says what was found, with figures; `advice`
    what to do about it. `invalidates` marks a trial that must be repeated and never be used (tester-loss).
    """

    name: str
    state: CheckState
    text: str
    advice: str | None = None
    invalidates: bool = False


@dataclass(frozen=True)
class Trial:
    """One measurement at a point.

    `metrics`: name -> value; names and units stand in `flowgauge.fields`; None is "missing", never 0.
    `samples`: name -> 1-D arrays, stored as Parquet; arrays of one name prefix (`arrivals.`) have one length.
    """

    metrics: Mapping[str, Scalar]
    samples: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    @property
    def invalid(self) -> bool:
        """Whether a failed check says that this trial must not be used."""
        return any(c.invalidates and c.state is CheckState.FAIL for c in self.checks)


@dataclass(frozen=True)
class TrialRecord:
    """A trial as it stands in a run: with its place, its id, and the reason if it failed.

    `status`: "ok", "failed" (the procedure broke: `reason` says why) or "invalid" (the tester disturbed it).
    """

    id: str
    benchmark: str
    point: Point
    repeat: int
    status: str
    metrics: Mapping[str, Scalar] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    reason: str | None = None
    attempts: int = 1
    has_samples: bool = False


def trial_id(benchmark: str, point: Mapping[str, Scalar], repeat: int, dut: str) -> str:
    """A stable id of 16 hexadecimal digits: resuming a run skips trials that are there under their id."""
    text = json.dumps([benchmark, dict(point), repeat, dut], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Figure:
    """What a benchmark concludes: a value with its unit, its interval and its count.

    `low`..`high` is a 95 % interval when `interval` is "t" (mean) or "order" (median), the observed range
    when it is "range" (fewer than 6 trials), and null when it is "none". `at` says for which point.
    """

    name: str
    value: float | None
    unit: str
    at: Point = field(default_factory=Point)
    low: float | None = None
    high: float | None = None
    interval: str = "none"
    count: int = 0
    checks: tuple[Check, ...] = ()
    note: str | None = None
