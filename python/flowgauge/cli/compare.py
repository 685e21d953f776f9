"""`flowgauge compare`: runs and published results side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flowgauge.cli.writing import Format, write


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Directories of runs, or published:SOURCE[/DEVICE]. The first is the baseline.",
        ),
    ],
    form: Annotated[
        Format | None, typer.Option("--format", "-f", help="What to write. Default: tables in the terminal.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to; - is the terminal. Default: comparison.html for html, else -.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Counters and standard deviations too.")] = False,
) -> None:
    """Put runs and published results side by side.

    Points join on the parameters that the runs share. Differences between repeated trials are tested (Welch's t); where
    that is not possible, 95 % intervals are compared, or the reason is given why nothing can be said.

    `flowgauge compare runs/ovs published:alien` compares a run with all devices of the ALIEN deliverable.
    """
    from flowgauge import compare
    from flowgauge.compare import sources, terminal
    from flowgauge.errors import UsageError

    if form is None and output is not None:
        raise UsageError("-o needs a format", advice="Add -f html, md, csv or json.")
    found = compare.build(sources.resolve(runs), everything)
    if form is None:
        terminal.print_comparison(found)
        return
    if output is None and form is Format.HTML:
        output = Path("comparison.html")
    write(compare.render(found, form.value), output)
