"""Processes by number *and* start time, so that a reused number is never taken for an old process."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

_STATE, _START = 0, 19
"""Places in /proc/PID/stat behind the command's closing parenthesis (proc(5): fields 3 and 22)."""


@dataclass(frozen=True)
class ProcessId:
    """A process: its number, and its start in clock ticks since boot."""

    pid: int
    start: int
    name: str = ""

    @staticmethod
    def of(pid: int) -> ProcessId | None:
        """The process that has that number now; None when there is none, or only its unreaped rest."""
        fields = _stat(pid)
        if fields is None or fields[1][_STATE] == "Z":
            return None
        return ProcessId(pid, int(fields[1][_START]), fields[0])

    @staticmethod
    def own() -> ProcessId:
        """This process."""
        own = ProcessId.of(os.getpid())
        assert own is not None, "we run"
        return own

    def alive(self) -> bool:
        """Whether this very process still runs."""
        now = ProcessId.of(self.pid)
        return now is not None and now.start == self.start

    def kill(self, grace_s: float = 2.0) -> bool:
        """Ask it to end, and end it after `grace_s`. Returns whether it ran."""
        if not self.alive():
            return False
        for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 2.0)):
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return True
            if self._gone_within(patience_s):
                return True
        return True

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


def _stat(pid: int) -> tuple[str, list[str]] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command stands in parentheses and may itself hold any character, parentheses included.
    head, _, tail = text.rpartition(")")
    return head.partition("(")[2], tail.split()
