"""A published table and a run on its device model, row by row: deviations, and which rows are judged.

Parameters were fitted to odd rows; even rows judge them. Rows that show something else than the device are listed apart.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowgauge import published
from flowgauge.model import Figure, Scalar, TrialRecord
from flowgauge.report.rundata import Run
from flowgauge.reproduction.tables import KEPT, LEFT_OUT, Judged, Table


@dataclass(frozen=True)
class Cell:
    """A printed value beside the simulated one. Either may be missing."""

    printed: float | None
    simulated: float | None

    @property
    def deviation(self) -> float | None:
        """Of the simulated value from the printed one, relative; None when either is missing."""
        if self.printed is None or self.simulated is None or self.printed == 0:
            return None
        return self.simulated / self.printed - 1


@dataclass(frozen=True)
class Row:
    """One printed row. `number` counts from 1 in the printed table; `notes` are the codes of its known defects."""

    number: int
    point: dict[str, Scalar]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]

    @property
    def role(self) -> str:
        """ "left out", "fitted" or "judged"."""
        if LEFT_OUT & set(self.notes):
            return "left out"
        return "fitted" if self.number % 2 else "judged"


@dataclass(frozen=True)
class Result:
    """A table with its rows."""

    table: Table
    rows: tuple[Row, ...]

    def judged(self) -> list[Row]:
        """The rows that count."""
        return [row for row in self.rows if row.role == "judged"]

    def median_deviation(self, figure: int = 0) -> float | None:
        """Median absolute deviation of a figure over the judged rows; a row that was not simulated is infinitely far off."""
        found = [_far(row.cells[figure]) for row in self.judged() if row.cells[figure].printed is not None]
        return statistics.median(found) if found else None


def judge(table: Table, run: Run) -> Result:
    """The table beside a run of its suite on its model."""
    trials = [
        t for t in published.load(f"alien/{table.device}").trials_of(table.benchmark) if t.status == "ok"
    ]
    figures = run.figures.get(table.benchmark, ())
    rows = tuple(_row(n, trial, table.figures, figures) for n, trial in enumerate(trials, table.first_row))
    return Result(table, rows)


def _row(number: int, trial: TrialRecord, judged: Sequence[Judged], figures: Sequence[Figure]) -> Row:
    cells = []
    for one in judged:
        printed = trial.metrics.get(one.printed)
        assert printed is None or isinstance(printed, (int, float))
        found = next(_at(figures, one.ours, dict(trial.point)), None)
        value = None if found is None else found.value
        if one is KEPT and value is not None:
            value = 1 - value
        cells.append(Cell(printed, value))
    return Row(number, dict(trial.point), tuple(cells), tuple(check.name for check in trial.checks))


def _at(figures: Sequence[Figure], name: str, point: dict[str, Scalar]) -> Iterator[Figure]:
    """Figures of that name at a point. A point without parameters (the control channel) is any."""
    return (f for f in figures if f.name == name and all(f.at.get(k) == v for k, v in point.items()))


def _far(cell: Cell) -> float:
    return float("inf") if cell.deviation is None else abs(cell.deviation)
