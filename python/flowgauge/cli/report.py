"""`flowgauge report`: a run as HTML, Markdown, CSV or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flowgauge.cli.writing import Format, write


def command(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The directory of a run, or published:SOURCE/DEVICE.")
    ],
    form: Annotated[Format, typer.Option("--format", "-f", help="What to write.")] = Format.HTML,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to; - is the terminal. Default: report.html in the run, or the terminal for other formats.",
        ),
    ] = None,
) -> None:
    """Write a run as HTML, Markdown, CSV or JSON."""
    from flowgauge import published
    from flowgauge.report import exporters
    from flowgauge.report.rundata import load_run

    shipped = run.startswith(published.PREFIX)
    found = published.load(run) if shipped else load_run(run)
    if output is None and form is Format.HTML:
        output = (
            Path(f"{run.removeprefix(published.PREFIX).replace('/', '-')}.html")
            if shipped
            else Path(run) / "report.html"
        )
    write(exporters.render(found, form.value), output)
