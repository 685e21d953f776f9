"""Leads a run: benchmark after benchmark, point after point; every trial is kept as soon as it is there.

Trials that fail are recorded with their reason and the run goes on; workers that die are replaced.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from flowgauge.analysis import checks
from flowgauge.errors import FlowgaugeError, RunWriteError, SetupError, UsageError
from flowgauge.model import Check, CheckState, Point, Scalar, Trial, TrialRecord, trial_id
from flowgauge.results.numbers import plain
from flowgauge.results.schema import FigureDocument, SkippedDocument, figure_document
from flowgauge.results.writer import RunWriter, wall_time
from flowgauge.runner.bench import Bench, RunEnds
from flowgauge.runner.estimate import Estimate, expected_seconds
from flowgauge.runner.interrupts import Interrupted, Interrupts
from flowgauge.runner.observer import Observer
from flowgauge.runner.plan import Item, Plan

REPETITIONS = 3
"""How often an invalid trial is measured again (METHODS 1, tester-loss)."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `error` is set when the DUT or the host could not be set up."""

    status: str
    exit_code: int
    failed: int
    invalid: int
    error: FlowgaugeError | None = None


class Runner:
    """One run of a plan into an open run directory."""

    def __init__(
        self, plan: Plan, directory: RunWriter, observer: Observer, bench: Bench, interrupts: Interrupts
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._observer = observer
        self._bench = bench
        self._interrupts = interrupts
        self._estimate = Estimate.of(plan)
        self._records: dict[str, list[TrialRecord]] = {}
        self._broken = 0

    def run(self) -> Outcome:
        """Measure everything. Never raises for what a DUT, a benchmark or the host does; the outcome says it."""
        error: FlowgaugeError | None = None
        status = "interrupted"
        self._directory.update(status="running", reason=None, skipped=[])
        self._observer.started(self._plan, self._directory.path, self._estimate.state())
        try:
            for item in self._plan.items:
                self._measure(item)
            status = "complete"
        except Interrupted:
            self._directory.log("told to stop")
        except RunEnds as ended:
            error = ended.error
        except RunWriteError as found:
            error = found
        finally:
            self._bench.close()
        return self._end(status, error)

    def _end(self, status: str, error: FlowgaugeError | None) -> Outcome:
        for item in self._plan.items:
            if item.name in self._records and status != "complete":
                self._conclude(item)  # what an interrupted benchmark can say from the trials that it has
        reason = None
        if status != "complete":
            reason = f"{error.name}: {error.message}" if error else "stopped by the user"
        environment = {**self._directory.document.environment, "ended": wall_time()}
        self._save(status=status, reason=reason, environment=environment)
        records = [r for found in self._records.values() for r in found]
        failed = sum(r.status == "failed" for r in records)
        invalid = sum(r.status == "invalid" for r in records)
        if error is not None:
            code = UsageError.exit_code if isinstance(error, UsageError) else SetupError.exit_code
        elif status != "complete":
            code = INTERRUPTED
        else:
            code = 1 if failed or invalid or self._broken else 0
        return Outcome(status, code, failed, invalid, error)

    def _save(self, **changes: object) -> None:
        """The last thing that a run does; a full disk must not hide how it ended."""
        try:
            self._directory.update(**changes)
        except RunWriteError as error:
            self._observer.note(error.message)

    def _measure(self, item: Item) -> None:
        """One benchmark, whole."""
        records = self._records.setdefault(item.name, [])
        try:
            for point, repeat in self._trials(item, records):
                identity = trial_id(item.name, point, repeat, self._plan.dut)
                kept = self._directory.done.get(identity)
                if kept is not None:
                    self._estimate.kept(item.name)
                    records.append(kept)
                    continue
                reason = self._bench.lacks(item)
                if reason is not None:
                    self._skip(item, reason)
                    break
                records.append(self._trial(item, point, repeat, identity))
        except (RunEnds, RunWriteError, Interrupted):
            raise
        except Exception as error:
            self._broken += 1
            self._skip(item, f"it broke while choosing its points: {type(error).__name__}: {error}")
        self._estimate.finished(item.name)
        self._conclude(item)

    def _trials(self, item: Item, records: list[TrialRecord]) -> Iterator[tuple[Point, int]]:
        """Points with the number of the trial at each. A point that comes again is measured again."""
        visits: dict[Point, int] = {}
        for chosen in item.benchmark.points(item.params, records):
            point = Point(**plain(dict(chosen)))
            first = visits.get(point, 0)
            visits[point] = first + self._plan.repeats(item)
            for repeat in range(first, visits[point]):
                self._interrupts.check()
                yield point, repeat

    def _trial(self, item: Item, point: Point, repeat: int, identity: str) -> TrialRecord:
        """Measure until valid, and keep it."""
        self._observer.trial(item, point, repeat, self._estimate.state())
        started, begin = wall_time(), time.monotonic()
        trial, record = None, TrialRecord(identity, item.name, point, repeat, "failed")
        for attempt in range(1, REPETITIONS + 2):
            try:
                trial = self._bench.measure(item, point, f"{identity} {attempt}")
            except FlowgaugeError as error:
                trial = None
                record = _failed(record, error, attempt)
                break
            record = _measured(record, trial, attempt)
            if record.status == "ok":
                break
        seconds = time.monotonic() - begin
        record = self._keep(record, trial, started, seconds)
        self._estimate.measured(item.name, expected_seconds(item, point), seconds)
        self._observer.result(item, record, seconds, self._estimate.state())
        return record

    def _keep(self, record: TrialRecord, trial: Trial | None, started: str, seconds: float) -> TrialRecord:
        samples = {} if trial is None else trial.samples
        what = f"{record.benchmark} {record.point} #{record.repeat + 1}"
        self._directory.log(
            f"{record.id} {what}: {record.status}{f': {record.reason}' if record.reason else ''}"
        )
        self._directory.add(record, samples, started, seconds)
        return record

    def _skip(self, item: Item, reason: str) -> None:
        self._observer.skipped(item.name, reason)
        self._directory.log(f"{item.name}: skipped: {reason}")
        skipped = [*self._directory.document.skipped, SkippedDocument(benchmark=item.name, reason=reason)]
        self._directory.update(skipped=skipped)

    def _conclude(self, item: Item) -> None:
        """Figures of one benchmark, into run.json."""
        records = self._records[item.name]
        others = [f for f in self._directory.document.figures if f.benchmark != item.name]
        found: list[FigureDocument] = []
        if records:
            try:
                figures = item.benchmark.figures(item.params, records)
                shown = [checks.with_broken(f, records) for f in figures]
                documents = [plain(figure_document(item.name, f)) for f in shown]
                found = [FigureDocument.model_validate(d) for d in documents]
            except Exception as error:
                self._broken += 1
                self._skip(item, f"its figures could not be computed: {type(error).__name__}: {error}")
        self._save(figures=others + found)


def _measured(record: TrialRecord, trial: Trial, attempt: int) -> TrialRecord:
    """The record of a trial that ended."""
    bad = next((c for c in trial.checks if c.invalidates and c.state is CheckState.FAIL), None)
    metrics: dict[str, Scalar] = plain(dict(trial.metrics))
    return TrialRecord(
        id=record.id,
        benchmark=record.benchmark,
        point=record.point,
        repeat=record.repeat,
        status="invalid" if bad else "ok",
        metrics=metrics,
        checks=trial.checks,
        reason=_invalid(bad, attempt) if bad else None,
        attempts=attempt,
        has_samples=bool(trial.samples),
    )


def _invalid(check: Check, attempts: int) -> str:
    return f"{check.name}: {check.text} ({attempts} attempts)"


def _failed(record: TrialRecord, error: FlowgaugeError, attempt: int) -> TrialRecord:
    """The record of a trial that broke."""
    reason = f"{error.name}: {error.message}"
    return TrialRecord(
        record.id,
        record.benchmark,
        record.point,
        record.repeat,
        "failed",
        checks=checks.of_error(error),
        reason=reason,
        attempts=attempt,
    )
