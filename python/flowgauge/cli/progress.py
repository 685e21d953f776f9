"""Progress as plain lines, one per trial, for logs and pipes; `cli.live` shows the same in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flowgauge.cli.words import counted, duration
from flowgauge.duts.simulated import is_simulated
from flowgauge.model import Point, TrialRecord
from flowgauge.report.summary import device_name
from flowgauge.runner.estimate import State
from flowgauge.runner.messages import Ready
from flowgauge.runner.observer import Observer
from flowgauge.runner.plan import Item, Plan


class PlainProgress(Observer):
    """Prints lines by `say`."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._plan: Plan | None = None

    def started(self, plan: Plan, path: Path, state: State) -> None:
        """What will be done, and how long it may take."""
        self._plan = plan
        self._say(headline(plan, path, state))

    def opening(self, dut: str) -> None:
        """The DUT is being started."""
        self._say(f"starting {dut}")

    def opened(self, ready: Ready) -> None:
        """What was started."""
        self._say(f"measuring {dut_title(ready)}")

    def result(self, item: Item, record: TrialRecord, seconds: float, state: State) -> None:
        """One line per trial."""
        what = f"{item.name} {trial_title(self._plan, item, record.point, record.repeat)}"
        self._say(f"{position(state)} {what}: {verdict(record, seconds)}, {outlook(state)}")

    def skipped(self, benchmark: str, reason: str) -> None:
        """Why a benchmark is missing."""
        self._say(f"{benchmark} skipped: {reason}")

    def note(self, text: str) -> None:
        """As it is."""
        self._say(f"note: {text}")

    def stopping(self) -> None:
        """The stop is under way."""
        self._say(STOPPING)


STOPPING = "stopping: what was measured is kept (press Ctrl-C again to stop without waiting)"


def headline(plan: Plan, path: Path, state: State) -> str:
    """What a run will do."""
    version = f" by OpenFlow {plan.openflow}" if plan.openflow else ""
    kept = f" ({state.done} of them measured before)" if state.done else ""
    number = counted(state.total, "trial") if state.exact else f"at least {counted(state.total, 'trial')}"
    # Virtual time says nothing of how long it takes.
    time = "" if is_simulated(plan.dut) else f", about {duration(state.remaining_s)}"
    return f"{plan.suite} on {plan.dut}{version}: {number}{kept}{time}; in {path}"


def dut_title(ready: Ready) -> str:
    """What a DUT says it is, in one line."""
    return f"{device_name(ready.dut, 'the DUT')}, {counted(ready.ports, 'port')}"


def position(state: State) -> str:
    """Which trial of how many.

    >>> position(State(7, 120, False, 0.0, None))
    '[  7/~120]'
    """
    total = f"{'' if state.exact else '~'}{state.total}"
    return f"[{state.done:>{len(str(state.total))}}/{total}]"


def trial_title(plan: Plan | None, item: Item, point: Point, repeat: int) -> str:
    """A point, and which trial at it when there are several."""
    several = plan is not None and plan.repeats(item) > 1
    return f"{point} #{repeat + 1}" if several or repeat else str(point)


def verdict(record: TrialRecord, seconds: float) -> str:
    """How a trial ended."""
    if record.status == "ok":
        again = f" at attempt {record.attempts}" if record.attempts > 1 else ""
        return f"ok{again} in {duration(seconds)}"
    return f"{record.status.upper()}: {record.reason}"


def outlook(state: State) -> str:
    """Rate so far and remaining time."""
    return f"{rate_text(state)}{duration(state.remaining_s)} left"


def rate_text(state: State) -> str:
    """Trials per minute so far, empty before the first."""
    pace = state.per_minute
    return "" if pace is None else f"{pace:.0f} trials/min, " if pace >= 100 else f"{pace:.3g} trials/min, "
