"""Measures the models of the published tables: one run per model and set of settings, all cores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flowgauge.errors import TrialError
from flowgauge.models.sweep import Job, sweep
from flowgauge.report.rundata import load_run
from flowgauge.reproduction.judge import Result, judge
from flowgauge.reproduction.tables import SUITE, TABLES, Table


def reproduce(folder: Path, tables: Sequence[Table] = TABLES) -> list[Result]:
    """Run what the tables need into `folder`, and set them side by side. Raises TrialError when a run could not be made."""
    jobs = {model: _job(model, tables, folder) for model in dict.fromkeys(t.model for t in tables)}
    for ended in sweep(list(jobs.values())):
        if ended.exit_code not in (0, 1):
            raise TrialError(f"{' '.join(ended.job.command())} ended with {ended.exit_code}: {ended.output}")
    runs = {model: load_run(job.directory) for model, job in jobs.items()}
    return [judge(table, runs[table.model]) for table in tables]


def _job(model: str, tables: Sequence[Table], folder: Path) -> Job:
    settings = [s for t in tables if t.model == model for s in t.settings]
    arguments = ["--openflow", "1.0", *(part for s in settings for part in ("--set", s))]
    return Job((SUITE,), f"sim:{model}", folder / model, tuple(arguments))
