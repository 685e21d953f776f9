"""Progress in a terminal, by Rich: a bar over all trials, and below it the benchmark and point at work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.text import Text

from flowgauge.cli import progress as plain
from flowgauge.cli.words import duration
from flowgauge.model import Point, TrialRecord
from flowgauge.runner.estimate import State
from flowgauge.runner.messages import Ready
from flowgauge.runner.observer import Observer
from flowgauge.runner.plan import Item, Plan


class _Remaining(ProgressColumn):
    """Counts down from what was estimated at the last trial."""

    def render(self, task: Task) -> Text:
        """Rate so far and remaining time."""
        ends, rate = task.fields["ends"], task.fields["rate"]
        if ends is None:
            return Text("")
        left = duration(max(0.0, ends - time.monotonic()))
        return Text(f"{rate}{left} left", style="cyan")


class LiveProgress(Observer):
    """Draws while a run goes on; failures and notes stay on the screen above the bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID = progress.add_task("", total=None, ends=None, rate="", now="")
        self._plan: Plan | None = None

    def started(self, plan: Plan, path: Path, state: State) -> None:
        """The headline stays."""
        self._plan = plan
        self._print(plain.headline(plan, path, state))
        self._show(state, "")

    def opening(self, dut: str) -> None:
        """The DUT is being started."""
        self._progress.update(self._task, now=escape(f"starting {dut}"))

    def opened(self, ready: Ready) -> None:
        """What was started."""
        self._print(f"measuring {plain.dut_title(ready)}")

    def trial(self, item: Item, point: Point, repeat: int, state: State) -> None:
        """Benchmark and point at work."""
        self._show(state, f"{item.name}  {plain.trial_title(self._plan, item, point, repeat)}")

    def result(self, item: Item, record: TrialRecord, seconds: float, state: State) -> None:
        """Only trials that went wrong are worth a line."""
        if record.status != "ok":
            what = plain.trial_title(self._plan, item, record.point, record.repeat)
            self._print(f"{item.name} {what}: {plain.verdict(record, seconds)}", style="red")
        self._show(state, item.name)

    def skipped(self, benchmark: str, reason: str) -> None:
        """Why a benchmark is missing."""
        self._print(f"{benchmark} skipped: {reason}", style="yellow")

    def note(self, text: str) -> None:
        """As it is."""
        self._print(text, style="yellow")

    def stopping(self) -> None:
        """The stop is under way."""
        self._progress.update(self._task, now=escape(plain.STOPPING), ends=None)

    def _show(self, state: State, now: str) -> None:
        self._progress.update(
            self._task,
            completed=state.done,
            total=max(1, state.total),
            ends=time.monotonic() + state.remaining_s,
            rate=plain.rate_text(state),
            now=escape(now),
            description=plain.position(state).strip("[]").strip(),
        )

    def _print(self, text: str, style: str | None = None) -> None:
        self._progress.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def live_progress(console: Console) -> Iterator[LiveProgress]:
    """Draw on a terminal until left; the bar is gone afterwards, the lines above it stay."""
    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=30),
        TextColumn("{task.description}"),
        _Remaining(),
        TextColumn("{task.fields[now]}", style="dim"),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
        yield LiveProgress(progress)
