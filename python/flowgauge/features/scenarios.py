"""Tests that are nothing but data: rules, frames, and what should become of each frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flowgauge.features.feature import VERSIONS, Feature
from flowgauge.features.frames import Frame
from flowgauge.features.tester import Probe, Tester, through

COPIES = 3


@dataclass(frozen=True)
class Case:
    """Groups, meters and rules are installed in this order; then the probes are sent, and all must behave.

    `old`: the rules of OpenFlow 1.0, where they are written otherwise.
    """

    group: str
    name: str
    text: str
    rules: tuple[str, ...]
    probes: tuple[Probe, ...]
    versions: tuple[str, ...] = VERSIONS
    required: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    meters: tuple[str, ...] = ()
    old: tuple[str, ...] | None = None
    punts: bool = False
    ports: int = 2

    def feature(self) -> Feature:
        """The row of the matrix."""

        def test(tester: Tester) -> None:
            for meter in self.meters:
                tester.meter(meter)
            for group in self.groups:
                tester.group(group)
            tester.flows(*(self.old if self.old is not None and tester.version == "1.0" else self.rules))
            tester.exchange(*(p for p in self.probes for _ in range(COPIES)), punts=self.punts)

        needs = ("request",) if self.punts else ()
        required = frozenset(self.required)
        return Feature(
            self.group, self.name, self.text, test, self.versions, required, ports=self.ports, needs=needs
        )


def action(
    name: str,
    text: str,
    actions: str,
    frame: Frame,
    expected: Frame,
    *,
    needs: str = "",
    versions: tuple[str, ...] = VERSIONS,
    required: tuple[str, ...] = (),
    old: str | None = None,
    group: str = "action",
) -> Case:
    """An action: what leaves must equal the expected frame byte for byte, checksums included."""
    head = f"in_port={{1}},{needs}" if needs else "in_port={1}"
    rule = f"{head},actions={actions},output:{{2}}"
    old_rule = None if old is None else (f"{head},actions={old},output:{{2}}",)
    probe = through(1, frame, 2, to=expected)
    return Case(group, name, text, (rule,), (probe,), versions, required, old=old_rule)


def rows(cases: Iterable[Case]) -> tuple[Feature, ...]:
    """The rows of these cases."""
    return tuple(case.feature() for case in cases)
