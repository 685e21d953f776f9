"""The worker process: it holds driver and testbed, and measures what it is asked to.

It ends with its parent, ignores Ctrl-C (the parent decides) and cleans up on SIGTERM. What it, the DUT or a native library print
goes to the run's log.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any

from flowgauge.analysis import checks
from flowgauge.benchmarks import load_path
from flowgauge.benchmarks.base import Benchmark
from flowgauge.controllers import BUILTIN
from flowgauge.duts.interface import Driver
from flowgauge.errors import (
    ChannelError,
    DutDiedError,
    FlowgaugeError,
    LinkDownError,
    RejectedError,
    SetupError,
    TrialError,
)
from flowgauge.model import Check, Point, Trial
from flowgauge.results import samples
from flowgauge.runner.messages import Failed, Measure, Measured, Ready, Reply, Reset, Stop, WasReset
from flowgauge.testbed.interface import OpenOptions, Testbed

Opener = Callable[[str, OpenOptions], AbstractContextManager[tuple[Driver, Testbed]]]

GRACE_S = 15.0
"""How long cleaning up may take once the parent is gone."""


PRINTED = "log.txt holds what the DUT printed, if anything."


class _Terminated(BaseException):
    """SIGTERM came; not an Exception, so that no benchmark catches it."""


def main(connection: Connection, opener: str, dut: str, options: OpenOptions, log: str) -> None:
    """Entry point of the process. `opener` is "module:function"."""
    _take_signals()
    _log_output(log)
    threading.Thread(target=_end_with_parent, daemon=True, name="end-with-parent").start()
    # The parent may be gone, and then nobody hears the reply.
    with contextlib.suppress(_Terminated, BrokenPipeError, EOFError, ConnectionResetError):
        _serve(connection, opener, dut, options)


def resolve(path: str) -> Any:
    """The object at "module:name"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _serve(connection: Connection, opener: str, dut: str, options: OpenOptions) -> None:
    open_testbed: Opener = resolve(opener)
    with contextlib.ExitStack() as stack:
        try:
            driver, testbed = stack.enter_context(open_testbed(dut, options))
            ready = _describe(driver, testbed)
        except Exception as error:
            traceback.print_exc()
            connection.send(Failed(_as_setup_error(error), usable=False))
            return
        stack.callback(signal.signal, signal.SIGTERM, signal.SIG_IGN)  # cleaning up is not interrupted
        connection.send(ready)
        worker = _Worker(driver, testbed)
        for request in _requests(connection):
            if isinstance(request, Stop):
                return
            connection.send(worker.answer(request))


def _requests(connection: Connection) -> Iterator[Measure | Reset | Stop]:
    while True:
        yield connection.recv()


class _Worker:
    """Answers requests on one open testbed. Benchmarks keep their objects, and what they learnt, from trial to trial."""

    def __init__(self, driver: Driver, testbed: Testbed) -> None:
        self._driver = driver
        self._testbed = testbed
        self._benchmarks: dict[str, Benchmark[Any]] = {}

    def answer(self, request: Measure | Reset) -> Reply:
        """Do it; errors become replies."""
        try:
            if isinstance(request, Reset):
                self._driver.reset()
                return WasReset()
            trial = self._measure(request)
            # A channel that ended may be a trial's result, but nothing more can be measured over it.
            return Measured(trial, usable=getattr(self._testbed, "connected", True))
        except FlowgaugeError as error:
            print(f"{error.name}: {error.message}", file=sys.stderr, flush=True)
            return self._failed(error)
        except Exception as error:
            traceback.print_exc()
            what = request.name if isinstance(request, Measure) else "resetting the DUT"
            return self._failed(TrialError(f"{what} broke: {type(error).__name__}: {error}"), usable=False)

    def _measure(self, request: Measure) -> Trial:
        if request.name not in self._benchmarks:
            self._benchmarks[request.name] = load_path(request.name, request.path)()
        benchmark = self._benchmarks[request.name]
        params = benchmark.params_type.model_validate(request.params)
        trial = benchmark.trial(self._testbed, params, Point(**request.point))
        if not self._alive():
            # A dead switch must not count as one that lost everything.
            raise DutDiedError("the DUT stopped during the trial", advice=PRINTED)
        samples.by_prefix(trial.samples)  # raises when they could not be stored
        return replace(trial, checks=(*trial.checks, self._restart_check()))

    def _restart_check(self) -> Check:
        ours = getattr(self._testbed, "controller", {"name": BUILTIN})["name"] == BUILTIN
        return checks.dut_restart(
            watched=getattr(self._driver, "watched", True),
            connected=ours and getattr(self._testbed, "connected", True),
        )

    def _failed(self, error: FlowgaugeError, *, usable: bool = True) -> Failed:
        """A dead DUT is the reason behind any other error; a broken channel or port needs a new testbed."""
        if isinstance(error, DutDiedError):
            return Failed(error, usable=False)
        if not self._alive():
            text = f"the DUT stopped during the trial ({error.message})"
            return Failed(DutDiedError(text, advice=PRINTED), usable=False)
        broken = (ChannelError, SetupError, LinkDownError)
        whole = isinstance(error, RejectedError) or not isinstance(error, broken)
        return Failed(error, usable=usable and whole and self._clean())

    def _alive(self) -> bool:
        try:
            return self._driver.alive()
        except Exception:
            traceback.print_exc()
            return False

    def _clean(self) -> bool:
        """After a trial broke half-way, the next starts from a DUT that was reset."""
        try:
            self._driver.reset()
        except Exception:
            traceback.print_exc()
            return False
        return True


def _describe(driver: Driver, testbed: Testbed) -> Ready:
    dut: dict[str, Any] = {"driver": driver.name, **driver.describe()}
    try:
        dut["switch"] = dict(testbed.control.describe())
    except FlowgaugeError as error:
        # A switch that can't describe itself can still be measured.
        dut["switch"] = {"error": f"{error.name}: {error.message}"}
    features = dut.get("features")
    controller = getattr(testbed, "controller", {"name": BUILTIN})
    dut["controller"] = dict(controller)
    abilities = getattr(testbed.control, "abilities", None)
    return Ready(
        ports=len(testbed.ports),
        dut=dut,
        loopback=None if testbed.loopback is None else asdict(testbed.loopback),
        features=tuple(features) if isinstance(features, (list, tuple, set, frozenset)) else None,
        core_plan=getattr(testbed, "core_plan", None),
        tester_ports=[{"name": p.name, "timestamps": p.timestamps} for p in testbed.ports],
        controller=str(controller["name"]),
        abilities=None if abilities is None else tuple(sorted(abilities)),
    )


def _as_setup_error(error: Exception) -> FlowgaugeError:
    if isinstance(error, FlowgaugeError):
        return error
    return SetupError(f"the DUT could not be started: {type(error).__name__}: {error}")


def _take_signals() -> None:
    """A session of our own: the terminal's Ctrl-C reaches neither us nor the DUT's processes."""
    with contextlib.suppress(PermissionError):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _terminate)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


def _terminate(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Terminated


def _log_output(log: str) -> None:
    """Standard output and error go to the log, also those of native code and of child processes."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    faulthandler.enable()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is None:
        return
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE_S)
    os._exit(1)
