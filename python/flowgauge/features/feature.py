"""What a feature test is, and what may come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowgauge.features.tester import Tester

VERSIONS = ("1.0", "1.3", "1.4", "1.5")
"""OpenFlow versions that features are told apart by."""


def since(version: str) -> tuple[str, ...]:
    """That version and those after it.

    >>> since("1.4")
    ('1.4', '1.5')
    """
    return VERSIONS[VERSIONS.index(version) :]


class Result(StrEnum):
    """What became of a feature test."""

    PASSED = "passed"
    FAILED = "failed"
    REFUSED = "refused"
    NOT_APPLICABLE = "not applicable"


class Mismatch(Exception):
    """The switch took everything and behaved otherwise than asked. `evidence`: lines that show it."""

    def __init__(self, text: str, evidence: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.evidence = tuple(evidence)


class NotApplicable(Exception):
    """The test can't be made here; the text says why."""


Test = Callable[["Tester"], str | None]
"""Does it. Returns a line of detail, or None; raises Mismatch, NotApplicable, RejectedError."""


@dataclass(frozen=True)
class Feature:
    """One row of the matrix.

    `versions`: the OpenFlow versions that have it. `required`: those whose specification demands it. `text`: what is tested,
    in one line. `ports`: how many tester ports the test needs. `needs`: abilities of the control path.
    """

    group: str
    name: str
    text: str
    test: Test
    versions: tuple[str, ...] = VERSIONS
    required: frozenset[str] = frozenset()
    ports: int = 2
    needs: tuple[str, ...] = ()
    seconds: float = 0.5

    @property
    def id(self) -> str:
        """What benchmarks name it by: "match.ipv4_dst"."""
        return f"{self.group}.{self.name}"

    def wanted(self, version: str) -> str:
        """ "required" or "optional" by the specification of that version, "—" where it has no such thing."""
        if version not in self.versions:
            return "—"
        return "required" if version in self.required else "optional"


@dataclass(frozen=True)
class Outcome:
    """A row's result: `detail` in one line, `evidence` for a test that failed or was refused."""

    result: Result
    detail: str = ""
    evidence: tuple[str, ...] = field(default=())


def required(versions: Iterable[str]) -> frozenset[str]:
    """For the entries: which specifications demand it."""
    return frozenset(versions)
