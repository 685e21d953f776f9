"""What a tool that runs for a while shows each second, on standard error: drawn on a terminal, lines elsewhere."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Show = Callable[[str], None]


class Seconds:
    """Says when a second is over."""

    def __init__(self) -> None:
        self._next = time.monotonic() + 1

    def over(self) -> bool:
        """Whether one more is over."""
        if time.monotonic() < self._next:
            return False
        self._next += 1
        return True


@contextmanager
def shown(*, quiet: bool) -> Iterator[Show]:
    """A function that shows a text in place of the one before it."""
    if quiet:
        yield lambda text: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:
            yield lambda text: live.update(Text(text), refresh=True)
    else:
        yield lambda text: print(text, file=sys.stderr, flush=True)


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set meanwhile; a second SIGINT ends the program as usual."""
    stop = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            signal.default_int_handler(number, frame)
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
