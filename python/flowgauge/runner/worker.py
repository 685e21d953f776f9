"""The runner's side of a worker process: start it, ask it, notice when it dies, stop it."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from flowgauge.errors import SetupError, TrialError, WorkerDiedError
from flowgauge.model import Scalar, Trial
from flowgauge.runner import child
from flowgauge.runner.interrupts import Interrupts
from flowgauge.runner.messages import Failed, Measure, Measured, Ready, Reply, Request, Reset, Stop, WasReset
from flowgauge.runner.plan import Item
from flowgauge.testbed.interface import OpenOptions

START_S = 300.0
"""How long a DUT may take to start; the tester measures itself in that time, too."""
RESET_S = 120.0
STOP_S = 20.0
"""How long stopping may take, before the process is killed."""
_TICK_S = 0.2


class Worker:
    """One worker process. `usable` turns False when it must be replaced."""

    def __init__(
        self, opener: str, dut: str, options: OpenOptions, log: Path, interrupts: Interrupts
    ) -> None:
        self.usable = True
        self._busy = True
        self._interrupts = interrupts
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, opener, dut, options, str(log))
        self._process: SpawnProcess = context.Process(
            target=child.main, args=arguments, name="flowgauge-worker"
        )
        # A Ctrl-C while the process starts waits for us, and does not hit it before it ignores it.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.close()

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self._process.pid

    def open(self) -> Ready:
        """Until the testbed is open. Raises SetupError (or what else the driver says) and WorkerDiedError."""
        reply = self._receive(START_S, SetupError(f"the DUT did not start within {START_S:.0f} s"))
        if isinstance(reply, Ready):
            return reply
        raise self._error(reply)

    def measure(self, item: Item, point: Mapping[str, Scalar], timeout_s: float, trial: str = "") -> Trial:
        """One trial. Raises what the trial raised, or WorkerDiedError."""
        self._send(Measure(item.name, item.path, item.params.model_dump(), dict(point), trial))
        reply = self._receive(timeout_s, TrialError(f"the trial did not end within {timeout_s:.0f} s"))
        if isinstance(reply, Measured):
            self.usable = self.usable and reply.usable
            return reply.trial
        raise self._error(reply)

    def reset(self) -> None:
        """Reset the DUT. Raises what the driver raised, or WorkerDiedError."""
        self._send(Reset())
        reply = self._receive(RESET_S, TrialError(f"the DUT was not reset within {RESET_S:.0f} s"))
        if not isinstance(reply, WasReset):
            raise self._error(reply)

    def stop(self) -> bool:
        """End the process: ask, then SIGTERM, then SIGKILL. Whether it ended by itself, and so cleaned up."""
        self.usable = False
        if self._busy:
            self._process.terminate()
        else:
            with contextlib.suppress(OSError):
                self._connection.send(Stop())
        deadline = time.monotonic() + STOP_S
        while self._process.is_alive() and time.monotonic() < deadline and not self._interrupts.impatient:
            self._process.join(_TICK_S)
        clean = self._process.exitcode == 0
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        self._connection.close()
        return clean

    def _send(self, request: Request) -> None:
        self._busy = True
        try:
            self._connection.send(request)
        except OSError:
            raise self._died() from None

    def _receive(self, timeout_s: float, overdue: SetupError | TrialError) -> Reply:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self._interrupts.check()
            if self._connection in wait([self._connection, self._process.sentinel], _TICK_S):
                reply = _reply(self._connection)
                if reply is None:
                    raise self._died()
                self._busy = False
                return reply
            if not self._process.is_alive() and not self._connection.poll():
                raise self._died()
        self.usable = False
        raise overdue

    def _error(self, reply: Reply) -> Exception:
        if not isinstance(reply, Failed):
            self.usable = False
            return WorkerDiedError(f"the worker process answered out of turn: {reply!r}")
        self.usable = self.usable and reply.usable
        return reply.error

    def _died(self) -> WorkerDiedError:
        self.usable = False
        self._process.join(STOP_S)
        code = self._process.exitcode
        if code is None:
            how = "closed its connection"
        elif code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        else:
            how = f"ended with status {code}"
        return WorkerDiedError(
            f"the worker process {how}", advice="log.txt holds what it printed before, if anything."
        )


def _reply(connection: Connection) -> Reply | None:
    """The next reply, None when the other side is gone."""
    try:
        reply: Reply = connection.recv()
    except (EOFError, OSError):
        return None
    return reply
