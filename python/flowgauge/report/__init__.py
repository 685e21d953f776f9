"""What a person reads: tables, charts, HTML; and what a program reads: CSV, JSON.

A report reads a run directory and nothing else. `write_report` writes what a run leaves behind by itself.
"""

from __future__ import annotations

from pathlib import Path


def write_report(run_dir: Path | str) -> Path:
    """Write `report.html` into a run directory and return its path.

    Raises RunDirectoryError when the directory is no run, OSError when it can't be written.
    """
    from flowgauge.report.html import render
    from flowgauge.report.rundata import load_run
    from flowgauge.results.durable import replace_text

    run = load_run(run_dir)
    target = Path(run_dir) / "report.html"
    replace_text(target, render(run))
    return target
