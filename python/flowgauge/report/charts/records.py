"""Rows of a benchmark as records for charts: parameters, values, and the marks of failing checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flowgauge.fields import FIELDS
from flowgauge.report.format import (
    figure_text,
    header,
    heading,
    number_text,
    point_text,
    superscript,
    unit_text,
)
from flowgauge.report.rundata import Run
from flowgauge.report.tables import Row, Section, Table, section

Record = dict[str, Any]
LOG_FROM = 16.0
"""Unless a chart says otherwise, a value axis becomes logarithmic when its largest value is that many times its smallest."""


def rows(run: Run, benchmark: str, keys: Iterable[str], names: Sequence[str]) -> tuple[list[Row], Section]:
    """Rows that have all these parameters and at least one of the figures, with the section that they stand in."""
    found = section(run, benchmark)
    wanted = set(keys)
    table: list[Table] = [t for t in found.tables if wanted <= set(t.keys)]
    return [r for t in table for r in t.rows if any(n in r.cells for n in names)], found


def base_record(row: Row, found: Section, names: Iterable[str]) -> Record:
    """What every chart's record has: the parameters, the place in words, footnote marks, and what they say."""
    numbers = sorted({*row.marks, *(n for name in names for n in row.cell_marks.get(name, ()))})
    told = [f for f in found.findings if f.number in numbers]
    record: Record = {key: value for key, value in row.point.items() if value is not None}
    return record | {
        "place": point_text(row.point),
        "marks": superscript(numbers),
        "checks": "; ".join(f.name for f in told) or "none failing",
    }


def shown(row: Row, name: str) -> str:
    """A figure with its unit and interval, for a tooltip."""
    figure = row.cells.get(name)
    if figure is None:
        return "not measured"
    text = figure_text(figure)
    return f"{text} {unit_text(figure.unit)}".strip()


def value(row: Row, name: str) -> float | None:
    """A figure's value, None when it is missing."""
    figure = row.cells.get(name)
    return figure.value if figure else None


def first_with_values(rows: Sequence[Row], names: Iterable[str]) -> str | None:
    """The first figure of which at least one row has a value."""
    return next((n for n in names if any(value(r, n) is not None for r in rows)), None)


def axis_title(name: str, unit: str | None = None) -> str:
    """Header and unit of a parameter or figure."""
    known = FIELDS.get(name)
    return heading(name, unit if unit is not None else known.unit if known else "")


def panel_title(key: str, found: object) -> str:
    """Heading of one panel: "rate 10 Mbit/s"."""
    known = FIELDS.get(key)
    unit = f" {unit_text(known.unit)}" if known and known.unit else ""
    text = number_text(found) if isinstance(found, (int, float)) else str(found)
    return f"{header(key)} {text}{unit}"


def wants_log(values: Iterable[float | None], scale: str = "auto", above: float = LOG_FROM) -> bool:
    """Whether an axis of these values is logarithmic; values that are 0 or less can't stand on such an axis."""
    known = [v for v in values if v is not None]
    if scale == "linear" or not known or min(known) <= 0:
        return False
    return scale == "log" or max(known) / min(known) > above
