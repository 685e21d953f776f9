"""A play whose messages somebody else sends: it runs in a thread, and is timed from the call to the return."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from flowgauge import _core
from flowgauge.duts.cores import core_plan, on_cores
from flowgauge.errors import FlowgaugeError, ReplyTimeoutError
from flowgauge.testbed.interface import PlayResult

TIMEOUT_S = 30.0
PER_MESSAGE_S = 0.05
"""Patience per message: a controller that takes longer for one is broken."""


@dataclass
class Sent:
    """What became of the messages so far; filled in by the thread that sends. Times by message, where they are known."""

    errors: list[tuple[int, int, int, str]] = field(default_factory=list)
    sent_ns: list[int] = field(default_factory=list)
    reply_ns: list[int] = field(default_factory=list)
    done: int = 0
    stop: threading.Event = field(default_factory=threading.Event)


class CallPlay:
    """Calls of a controller on their way; implements `Play`.

    `first_byte_ns` is when the controller was called, `barrier_ns` when its last call returned.
    """

    def __init__(self, messages: int, call: Callable[[Sent], None], end: Callable[[], None]) -> None:
        """`call` sends all messages, notes them in what it is given, and obeys its `stop`; `end` makes a call that hangs return."""
        self._messages = messages
        self._call = call
        self._abort = end
        self._sent = Sent()
        self._error: FlowgaugeError | None = None
        self._returned_ns: int | None = None
        self._began_ns = 0
        self._thread = threading.Thread(target=self._run, name="controller", daemon=True)
        # The thread, and what it starts, keeps off the core on which the tester's worker spins.
        with on_cores(core_plan().channel):
            self._thread.start()

    def wait(self, timeout_s: float | None = None) -> PlayResult:
        """Until the controller has returned. Raises ReplyTimeoutError, and what the call raised."""
        limit_s = TIMEOUT_S + PER_MESSAGE_S * self._messages if timeout_s is None else timeout_s
        self._thread.join(limit_s)
        if self._thread.is_alive():
            self.stop()
            raise ReplyTimeoutError(
                f"the controller did not return within {limit_s:g} s: {self._sent.done} of {self._messages} messages sent",
                advice="a slow controller needs a longer timeout_s",
            )
        if self._error is not None:
            raise self._error
        return self._result()

    def stop(self) -> PlayResult:
        """Send no more; return what was done."""
        self._sent.stop.set()
        if self._thread.is_alive():
            self._abort()
            self._thread.join(2)
        return self._result()

    def _run(self) -> None:
        self._began_ns = _core.now()
        try:
            self._call(self._sent)
            self._returned_ns = _core.now()
        except FlowgaugeError as error:
            self._error = error

    def _result(self) -> PlayResult:
        sent = self._sent
        return PlayResult(
            requested=self._messages,
            sent=sent.done,
            acknowledged=sent.done,
            sent_ns=_times(sent.sent_ns, self._messages),
            reply_ns=_times(sent.reply_ns, self._messages),
            payload_intact=np.zeros(self._messages, dtype=np.bool_),
            errors=tuple(sent.errors),
            closed=None,
            first_byte_ns=self._began_ns,
            barrier_ns=self._returned_ns,
            gap_error_ns={},
        )


def _times(known: Sequence[int], messages: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    times = np.full(messages, -1, dtype=np.int64)
    times[: len(known)] = known
    return times
