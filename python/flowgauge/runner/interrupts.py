"""Ctrl-C and SIGTERM as a flag: the run stops where it is safe to, not in the middle of a write."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """The run was told to stop."""


class Interrupts:
    """While entered, signals set `requested`; a second one makes it `impatient`. `on_first` runs at the first."""

    def __init__(self, on_first: Callable[[], None] = lambda: None) -> None:
        self.count = 0
        self._on_first = on_first
        self._before: dict[signal.Signals, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether to stop."""
        return self.count > 0

    @property
    def impatient(self) -> bool:
        """Whether to stop without waiting for anything."""
        return self.count > 1

    def check(self) -> None:
        """Raise Interrupted once a stop was requested."""
        if self.requested:
            raise Interrupted

    def request(self) -> None:
        """Ask for a stop, as a signal does."""
        self.count += 1
        if self.count == 1:
            self._on_first()

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.request()
