"""A run's figures as CSV, one figure per line, for spreadsheets and data frames. Missing is an empty cell, never 0."""

from __future__ import annotations

import csv
import io

from flowgauge.model import Figure
from flowgauge.report.rundata import Run
from flowgauge.report.tables import failing

COLUMNS = (
    "benchmark",
    "figure",
    "value",
    "unit",
    "low",
    "high",
    "interval",
    "count",
    "failing_checks",
    "note",
)


def render(run: Run) -> str:
    """Columns: the benchmark, every parameter that some figure has, then `COLUMNS` as they are."""
    keys = list(dict.fromkeys(k for figures in run.figures.values() for f in figures for k in f.at))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([COLUMNS[0], *keys, *COLUMNS[1:]])
    for benchmark, figures in run.figures.items():
        for figure in figures:
            writer.writerow([benchmark, *(cell(figure.at.get(k)) for k in keys), *_cells(figure)])
    return out.getvalue()


def cell(value: object) -> object:
    """A value as CSV has it: None is empty, whole numbers have no decimals."""
    if value is None:
        return ""
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return int(value)
    return value


def _cells(figure: Figure) -> list[object]:
    names = " ".join(dict.fromkeys(c.name for c in failing(figure.checks)))
    interval = "" if figure.interval == "none" else figure.interval
    numbers = [cell(v) for v in (figure.low, figure.high)]
    return [
        figure.name,
        cell(figure.value),
        figure.unit,
        *numbers,
        interval,
        figure.count or "",
        names,
        figure.note or "",
    ]
