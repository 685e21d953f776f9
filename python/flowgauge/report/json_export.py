"""A run's figures as JSON: grouped by benchmark and point, with what a program needs to judge them. Missing is null."""

from __future__ import annotations

import json
from typing import Any

from flowgauge.model import CheckState, Figure
from flowgauge.report import summary, tables
from flowgauge.report.explain import explain
from flowgauge.report.rundata import Run

SCHEMA = 1
"""Raised when a reader of the old form would misunderstand the new one."""


def render(run: Run) -> str:
    """The report as one JSON object."""
    return json.dumps(document(run), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(run: Run) -> dict[str, Any]:
    """The object: run, DUT, checks, and per benchmark its points with their figures."""
    counts = tables.count_states(run)
    return {
        "report_schema": SCHEMA,
        "run": run.document.get("id"),
        "suite": run.document.get("suite"),
        "status": run.document.get("status"),
        "dut": run.section("dut"),
        "dut_name": summary.dut_name(run),
        "openflow": run.section("config").get("openflow"),
        "command": run.document.get("command"),
        "published": run.published,
        "benchmarks": [_benchmark(run, s) for s in tables.sections(run)],
        "skipped": run.document.get("skipped") or [],
        "checks": {
            name: {str(s): counts[name][s] for s in CheckState} | _explained(run, name) for name in counts
        },
        "loopback": run.document.get("loopback"),
        "environment": run.section("environment"),
    }


def _explained(run: Run, name: str) -> dict[str, str | None]:
    known = explain(name, (run.published or {}).get("notes"))
    return {"meaning": known.meaning if known else None, "advice": known.remedy or None if known else None}


def _benchmark(run: Run, section: tables.Section) -> dict[str, Any]:
    config = run.benchmark_config(section.benchmark)
    return {
        "name": section.benchmark,
        "params": config.get("params"),
        "points": [
            {"at": dict(row.point), "figures": {name: _figure(f) for name, f in row.cells.items()}}
            for table in section.tables
            for row in table.rows
        ],
        "trials": section.trials,
        "without_result": [
            {"status": f.status, "reason": f.reason, "count": f.count, "points": [dict(p) for p in f.points]}
            for f in section.failures
        ],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "unit": figure.unit,
        "low": figure.low,
        "high": figure.high,
        "interval": None if figure.interval == "none" else figure.interval,
        "count": figure.count or None,
        "failing_checks": [
            {"name": c.name, "text": c.text, "advice": c.advice} for c in tables.failing(figure.checks)
        ],
        "note": figure.note,
    }
