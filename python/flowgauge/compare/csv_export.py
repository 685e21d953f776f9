"""A comparison as CSV: one line per figure, point and later run, against the first. Missing is empty, never 0."""

from __future__ import annotations

import csv
import io

from flowgauge.compare import Comparison
from flowgauge.compare.join import Group, Line, Table
from flowgauge.model import Figure
from flowgauge.report.csv_export import cell
from flowgauge.report.tables import failing

SIDE = ("value", "low", "high", "interval", "count", "failing_checks", "note")


def render(comparison: Comparison) -> str:
    """Columns: benchmark, parameters, figure, unit, both runs with `SIDE`, difference, ratio, verdict, p, reason."""
    keys = list(dict.fromkeys(k for g in comparison.groups for t in g.tables for k in t.keys))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    sides = [f"{side}_{name}" for side in ("baseline", "other") for name in SIDE]
    writer.writerow(
        [
            "benchmark",
            *keys,
            "figure",
            "unit",
            "baseline",
            "other",
            *sides,
            "difference",
            "ratio",
            "verdict",
            "p",
            "reason",
        ]
    )
    for group in comparison.groups:
        for table in group.tables:
            for line in table.lines:
                writer.writerows(_rows(comparison, group, table, line, keys))
    return out.getvalue()


def _rows(
    comparison: Comparison, group: Group, table: Table, line: Line, keys: list[str]
) -> list[list[object]]:
    found = []
    for n, against in enumerate(line.against, 1):
        head = [group.benchmark, *(cell(line.point.get(k)) for k in keys), table.figure, table.unit]
        sides = [*_side(line.figures[0]), *_side(line.figures[n])]
        tail = [
            cell(against.difference),
            cell(against.ratio),
            str(against.verdict),
            cell(against.p),
            against.reason,
        ]
        found.append([*head, comparison.labels[0], comparison.labels[n], *sides, *tail])
    return found


def _side(figure: Figure | None) -> list[object]:
    if figure is None:
        return [""] * len(SIDE)
    numbers = [cell(v) for v in (figure.value, figure.low, figure.high)]
    names = " ".join(dict.fromkeys(c.name for c in failing(figure.checks)))
    interval = "" if figure.interval == "none" else figure.interval
    return [*numbers, interval, figure.count or "", names, figure.note or ""]
