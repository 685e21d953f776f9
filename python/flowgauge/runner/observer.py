"""What a run tells whoever watches it. Every method does nothing, so that a watcher overrides only what it shows."""

from __future__ import annotations

from pathlib import Path

from flowgauge.model import Point, TrialRecord
from flowgauge.runner.estimate import State
from flowgauge.runner.messages import Ready
from flowgauge.runner.plan import Item, Plan


class Observer:
    """Watches a run."""

    def started(self, plan: Plan, path: Path, state: State) -> None:
        """The run begins; `state.done` counts trials that were there already."""

    def opening(self, dut: str) -> None:
        """The DUT is being started."""

    def opened(self, ready: Ready) -> None:
        """The testbed is open."""

    def trial(self, item: Item, point: Point, repeat: int, state: State) -> None:
        """A trial begins."""

    def result(self, item: Item, record: TrialRecord, seconds: float, state: State) -> None:
        """A trial ended, well or not."""

    def skipped(self, benchmark: str, reason: str) -> None:
        """A benchmark is not measured, or not concluded."""

    def note(self, text: str) -> None:
        """Something happened that a reader may want to know."""

    def stopping(self) -> None:
        """The run was told to stop and is cleaning up."""
