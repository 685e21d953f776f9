"""Figures as plain tables, until `flowgauge.report.terminal` is there."""

from __future__ import annotations

from pathlib import Path

from flowgauge.results import reader


def print_run(path: Path) -> None:
    """One table per benchmark."""
    from rich.console import Console
    from rich.table import Table

    document = reader.read_document(path)
    console = Console()
    for name in dict.fromkeys(f.benchmark for f in document.figures):
        table = Table("at", "figure", "value", "unit", "interval", "n", title=name, title_justify="left")
        for figure in (f for f in document.figures if f.benchmark == name):
            at = " ".join(f"{k}={v}" for k, v in figure.at.items())
            value = "-" if figure.value is None else f"{figure.value:.4g}"
            interval = (
                "" if figure.low is None or figure.high is None else f"{figure.low:.4g}..{figure.high:.4g}"
            )
            table.add_row(at, figure.name, value, figure.unit, interval, str(figure.count))
        console.print(table)
