"""The test bench of a run: the worker that holds DUT and testbed, replaced when it dies, opened when it is first needed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping

from flowgauge.controllers.interface import lacking
from flowgauge.errors import FlowgaugeError, UsageError
from flowgauge.features.book import FeatureBook
from flowgauge.features.feature import Result
from flowgauge.model import Point, Scalar, Trial
from flowgauge.results.numbers import plain
from flowgauge.results.writer import RunWriter
from flowgauge.runner import needed
from flowgauge.runner.child import resolve
from flowgauge.runner.estimate import expected_seconds
from flowgauge.runner.interrupts import Interrupts
from flowgauge.runner.messages import Ready
from flowgauge.runner.observer import Observer
from flowgauge.runner.plan import Item, Plan
from flowgauge.runner.worker import Worker
from flowgauge.testbed.interface import ENTRIES, OpenOptions

SETUPS = 3
"""So many set-ups that fail in a row end the run."""
WAIT_S = 1.0
"""Between set-ups; doubled each time."""


class RunEnds(Exception):
    """No testbed can be had (any more): the run ends, with what was measured kept."""

    def __init__(self, error: FlowgaugeError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclasses.dataclass(frozen=True)
class Seam:
    """Where testbeds come from: "module:function" of `open_testbed(dut, options)`, of `recover(dut)`, and of a function that
    raises UsageError when a DUT's name or file is wrong, and starts nothing.
    """

    opener: str = "flowgauge.testbed:open_testbed"
    recover: str = "flowgauge.testbed:recover"
    check: str = "flowgauge.duts:create"


class Bench:
    """Opens testbeds on a DUT, one at a time, and measures on them."""

    def __init__(
        self,
        plan: Plan,
        directory: RunWriter,
        observer: Observer,
        interrupts: Interrupts,
        seam: Seam | None = None,
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._observer = observer
        self._interrupts = interrupts
        self._seam = seam or Seam()
        self._worker: Worker | None = None
        self._ready: Ready | None = None
        self._measured = ""
        self._judged: dict[str, str | None] = {}

    def lacks(self, item: Item) -> str | None:
        """Why a benchmark can't be measured on this testbed, None when it can. Opens the testbed."""
        ready = self._open()
        if ready.abilities is not None:
            for ability in item.benchmark.abilities:
                if ability not in ready.abilities:
                    return lacking(ready.controller, ability)
        if item.benchmark.ports > ready.ports:
            return f"it needs {item.benchmark.ports} ports; the DUT has {ready.ports}"
        if ready.abilities is not None and ENTRIES not in ready.abilities:
            return None  # what a switch does with entries can't be asked of this DUT
        if ready.features is not None:
            missing = [f for f in item.benchmark.features if f not in ready.features]
            if missing:
                return f"the switch does not support {', '.join(missing)}"
            return None
        if item.name not in self._judged:
            self._judged[item.name] = self._fails(item)
        return self._judged[item.name]

    def _fails(self, item: Item) -> str | None:
        """The first feature that the benchmark needs and the switch lacks: as earlier tests say, or a test made now."""
        for name in item.benchmark.features:
            known = self._known(name)
            if known is not None and known[0] in (Result.FAILED, Result.REFUSED):
                return f"the switch fails the feature test {name} ({known[0]}: {known[1]})"
        return None

    def _known(self, name: str) -> tuple[Result, str] | None:
        """Result and detail of a feature test; None where none can be made. A test that breaks says nothing of the switch."""
        assert self._ready is not None
        book = self._book()
        known = book.get(name)
        if known is not None:
            return known
        point = needed.point(name)
        if point is None:
            return None
        try:
            metrics = self.measure(needed.item(), point).metrics
        except FlowgaugeError as error:
            self._note(f"the feature test {name} broke: {error.message}")
            self._open()
            return None
        return Result(str(metrics["result"])), str(metrics["detail"])

    def _book(self) -> FeatureBook:
        assert self._ready is not None
        name = f"{self._plan.dut} {self._plan.controller or ''}".strip()
        return FeatureBook.of(name, self._ready.dut, self._plan.openflow)

    def _remember(self, point: Point, metrics: Mapping[str, Scalar]) -> None:
        """Keep the result of a feature test for benchmarks that need it."""
        self._book().put(
            f"{point['group']}.{point['feature']}", str(metrics["result"]), str(metrics["detail"])
        )

    def measure(self, item: Item, point: Point, trial_id: str = "") -> Trial:
        """One trial. Raises what it raised; RunEnds when no testbed can be had any more."""
        self._reset_before(item)
        self._open()
        self._measured = item.name
        worker = self._worker
        assert worker is not None
        limit_s = 300.0 + 10 * expected_seconds(item, point)
        try:
            trial = worker.measure(item, point, limit_s, trial_id or f"{item.name} {point}")
        finally:
            self._replace_if_unusable()
        if item.name == needed.NAME:
            self._remember(point, trial.metrics)
        return trial

    def _reset_before(self, item: Item) -> None:
        """Reset the DUT between benchmarks."""
        if self._worker is None or self._measured in ("", item.name):
            return
        try:
            self._worker.reset()
        except FlowgaugeError as error:
            self._note(f"the DUT could not be reset ({error.message}); it is started anew")
            self._worker.usable = False
            self._replace_if_unusable()

    def close(self) -> None:
        """Stop worker and DUT; nothing is left behind."""
        worker, self._worker = self._worker, None
        if worker is not None and not worker.stop():
            self._recover()

    def _open(self) -> Ready:
        """A testbed. The very first must open at once; later, a few attempts are made."""
        if self._worker is not None and self._ready is not None:
            return self._ready
        attempts = SETUPS if self._ready is not None else 1
        attempt = 1
        while True:
            try:
                return self._start()
            except FlowgaugeError as error:
                if attempt == attempts or isinstance(error, UsageError):
                    self._directory.log(f"the DUT could not be set up: {error.message}")
                    raise RunEnds(error) from error
                self._note(f"the DUT could not be set up: {error.message}; trying again")
            self._pause(WAIT_S * 2 ** (attempt - 1))
            attempt += 1

    def _start(self) -> Ready:
        self._interrupts.check()
        self._observer.opening(self._plan.dut)
        options = OpenOptions(
            openflow=self._plan.openflow, seed=self._plan.seed, controller=self._plan.controller
        )
        worker = Worker(
            self._seam.opener, self._plan.dut, options, self._directory.log_path, self._interrupts
        )
        self._worker = worker
        try:
            ready = worker.open()
        except FlowgaugeError:
            self.close()
            raise
        self._record(ready)
        self._ready = ready
        self._measured = ""
        self._observer.opened(ready)
        return ready

    def _record(self, ready: Ready) -> None:
        environment = dict(self._directory.document.environment)
        if ready.core_plan is not None:
            environment["core_plan"] = plain(ready.core_plan)
        if ready.tester_ports is not None:
            environment["tester_ports"] = plain(ready.tester_ports)
        self._directory.update(
            dut=plain(dict(ready.dut)),
            loopback=None if ready.loopback is None else plain(dict(ready.loopback)),
            environment=environment,
        )

    def _replace_if_unusable(self) -> None:
        if self._worker is not None and not self._worker.usable and not self._interrupts.requested:
            self.close()

    def _recover(self) -> None:
        """Remove what a worker that died left behind."""
        try:
            recover: Callable[[str], object] = resolve(self._seam.recover)
            recover(self._plan.dut)
        except Exception as error:
            self._note(f"what the DUT left behind could not be removed: {error}")

    def _pause(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.1)):
            self._interrupts.check()
            time.sleep(0.1)

    def _note(self, text: str) -> None:
        self._directory.log(text)
        self._observer.note(text)
