"""A comparison as JSON. Missing is null."""

from __future__ import annotations

import json
from typing import Any

from flowgauge.compare import Comparison
from flowgauge.compare.join import Group, Line, Table
from flowgauge.model import Figure
from flowgauge.report.tables import failing

SCHEMA = 1


def render(comparison: Comparison) -> str:
    """The comparison as one JSON object."""
    return json.dumps(document(comparison), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(comparison: Comparison) -> dict[str, Any]:
    """The object; in every `figures` list the order is that of `runs`, the first being the baseline."""
    return {
        "comparison_schema": SCHEMA,
        "runs": comparison.labels,
        "caveats": list(comparison.caveats),
        "differences": [{"key": d.key, "values": list(d.values)} for d in comparison.differences],
        "benchmarks": [_group(g, comparison.labels) for g in comparison.groups],
    }


def _group(group: Group, labels: list[str]) -> dict[str, Any]:
    return {
        "name": group.benchmark,
        "figures": [_table(t, labels) for t in group.tables],
        "notes": [
            {
                "run": n.label,
                "name": n.check.name,
                "text": n.check.text,
                "advice": n.check.advice,
                "points": len(n.points),
            }
            for n in group.notes
        ],
    }


def _table(table: Table, labels: list[str]) -> dict[str, Any]:
    return {
        "name": table.figure,
        "unit": table.unit,
        "joined_on": list(table.keys),
        "points": [_line(line) for line in table.lines],
        "points_only_in": {label: n for label, n in zip(labels, table.missing, strict=True) if n},
        "remarks": table.remarks,
    }


def _line(line: Line) -> dict[str, Any]:
    against = [
        {
            "difference": c.difference,
            "ratio": c.ratio,
            "verdict": str(c.verdict),
            "p": c.p,
            "reason": c.reason,
        }
        for c in line.against
    ]
    return {"at": dict(line.point), "figures": [_figure(f) for f in line.figures], "against_first": against}


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "interval": None if figure.interval == "none" else figure.interval,
        "count": figure.count or None,
        "failing_checks": [c.name for c in failing(figure.checks)],
        "note": figure.note,
    }
