"""`flowgauge show`: tables of a run in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.")]) -> None:
    """Show the tables of a run in the terminal."""
    from flowgauge.report.terminal import print_run

    print_run(run)
