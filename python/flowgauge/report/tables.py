"""The tables of a report, whatever its format: rows are points, columns are figures, findings stand beneath.

A *finding* is a failing check as a reader meets it: one number, one explanation, and all the places where it failed.
It marks single values, or whole rows, or the whole table when every row has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from flowgauge.fields import FIELDS, words
from flowgauge.model import Check, CheckState, Figure, Point, TrialRecord
from flowgauge.report.rundata import Run


@dataclass
class Finding:
    """A failing check of one benchmark. `places`: point -> texts that say what was found there."""

    number: int
    name: str
    advice: str | None
    places: dict[Point, list[str]] = field(default_factory=dict)

    def add(self, point: Point, text: str) -> None:
        """Note another place; the same text is kept once."""
        texts = self.places.setdefault(point, [])
        if text and text not in texts:
            texts.append(text)


@dataclass
class Row:
    """One point: its figures by name, and the numbers of the findings that touch it as a whole or by figure."""

    point: Point
    cells: dict[str, Figure]
    marks: list[int] = field(default_factory=list)
    cell_marks: dict[str, list[int]] = field(default_factory=dict)

    @property
    def detail(self) -> str:
        """What is said of figures that are words."""
        return "; ".join(f.note for f in self.cells.values() if f.note and words(f.name))


@dataclass
class Table:
    """Rows with the same parameters (`keys`) and columns (`names`); `units` by column; `marks` touch every row."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    units: Mapping[str, str]
    rows: list[Row]
    marks: list[int] = field(default_factory=list)

    @property
    def details(self) -> bool:
        """Whether it needs a column for details."""
        return any(row.detail for row in self.rows)


@dataclass
class Failure:
    """Trials that gave no result: why, how many, where."""

    status: str
    reason: str
    count: int
    points: list[Point]


@dataclass
class Section:
    """All that a report says of one benchmark in tables."""

    benchmark: str
    tables: list[Table]
    findings: list[Finding]
    failures: list[Failure]
    trials: int
    evidence: list[tuple[Point, str]] = field(default_factory=list)
    """What trials show for their result, in many lines."""


def section(run: Run, benchmark: str) -> Section:
    """The tables and findings of one benchmark."""
    figures = run.figures.get(benchmark, ())
    trials = run.trials_of(benchmark)
    findings = _findings(figures, trials)
    tables = [_table(keys, figures) for keys in _key_sets(figures)]
    for table in tables:
        _mark(table, findings, trials, share=0.9 if run.published else 1.0)
    evidence = [(t.point, str(t.metrics["evidence"])) for t in trials if t.metrics.get("evidence")]
    return Section(benchmark, tables, list(findings.values()), _failures(trials), len(trials), evidence)


def sections(run: Run) -> list[Section]:
    """One section per benchmark that has figures or trials, in the run's order."""
    return [s for s in (section(run, name) for name in run.benchmarks()) if s.tables or s.trials]


def failing(checks: Iterable[Check]) -> list[Check]:
    """The checks that failed."""
    return [c for c in checks if c.state is CheckState.FAIL]


def count_states(run: Run) -> dict[str, Counter[CheckState]]:
    """Check name -> how often it passed, failed, or was not evaluated, over trials (and figures without trials)."""
    counts: dict[str, Counter[CheckState]] = {}
    seen: set[tuple[str, Point, str]] = set()
    for trial in run.trials:
        for check in trial.checks:
            counts.setdefault(check.name, Counter())[check.state] += 1
            seen.add((trial.benchmark, trial.point, check.name))
    for benchmark, figures in run.figures.items():
        for figure in figures:
            for check in figure.checks:
                if (benchmark, figure.at, check.name) not in seen:
                    seen.add((benchmark, figure.at, check.name))
                    counts.setdefault(check.name, Counter())[check.state] += 1
    return counts


def _key_sets(figures: Iterable[Figure]) -> list[tuple[str, ...]]:
    """Distinct parameter sets; figures of the benchmark as a whole (no parameters) come last."""
    found = list(dict.fromkeys(tuple(f.at) for f in figures))
    return [k for k in found if k] + [k for k in found if not k]


def _table(keys: tuple[str, ...], figures: Iterable[Figure]) -> Table:
    """Columns stand in the benchmark's order, frame counters behind the others."""
    mine = [f for f in figures if tuple(f.at) == keys]
    names = sorted(
        dict.fromkeys(f.name for f in mine), key=lambda n: n in FIELDS and FIELDS[n].unit == "frames"
    )
    rows: dict[Point, Row] = {}
    for figure in mine:
        rows.setdefault(figure.at, Row(figure.at, {})).cells[figure.name] = figure
    return Table(keys, tuple(names), {f.name: f.unit for f in mine}, list(rows.values()))


def _findings(figures: Iterable[Figure], trials: Iterable[TrialRecord]) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    told: set[tuple[str, Point]] = set()
    for figure in figures:
        for check in failing(figure.checks):
            _finding(found, check).add(figure.at, check.text)
            told.add((check.name, figure.at))
    for trial in trials:
        for check in failing(trial.checks):
            if (check.name, trial.point) not in told:
                _finding(found, check).add(trial.point, check.text)
    return found


def _finding(found: dict[str, Finding], check: Check) -> Finding:
    return found.setdefault(check.name, Finding(len(found) + 1, check.name, check.advice))


def _mark(table: Table, findings: Mapping[str, Finding], trials: Iterable[TrialRecord], share: float) -> None:
    """Put the findings' numbers where they belong; what touches that share of the rows is said once for the table."""
    by_trial = {(c.name, t.point) for t in trials for c in failing(t.checks)}
    for finding in findings.values():
        for row in table.rows:
            touched = [
                n for n, f in row.cells.items() if any(c.name == finding.name for c in failing(f.checks))
            ]
            if len(touched) == len(row.cells) or (not touched and (finding.name, row.point) in by_trial):
                row.marks.append(finding.number)
            else:
                for name in touched:
                    row.cell_marks.setdefault(name, []).append(finding.number)
        if len(table.rows) > 1 and sum(finding.number in row.marks for row in table.rows) >= share * len(
            table.rows
        ):
            table.marks.append(finding.number)
            for row in table.rows:
                row.marks = [n for n in row.marks if n != finding.number]


def _failures(trials: Iterable[TrialRecord]) -> list[Failure]:
    found: dict[tuple[str, str], Failure] = {}
    for trial in trials:
        if trial.status != "ok":
            reason = trial.reason or "no reason was recorded"
            failure = found.setdefault((trial.status, reason), Failure(trial.status, reason, 0, []))
            failure.count += 1
            if trial.point not in failure.points:
                failure.points.append(trial.point)
    return list(found.values())
