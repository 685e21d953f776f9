"""`flowgauge list`: what there is to run, to measure and to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer


class What(StrEnum):
    """What can be listed."""

    SUITES = "suites"
    BENCHMARKS = "benchmarks"
    DUTS = "duts"
    MODELS = "models"
    PUBLISHED = "published"
    FEATURES = "features"


def command(
    what: Annotated[
        What | None,
        typer.Argument(
            metavar="WHAT", help="suites, benchmarks, duts, models, published or features. Default: all."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A suite or benchmark, to see its parameters.")
    ] = None,
) -> None:
    """List what can be run, measured and compared with.

    `flowgauge list benchmarks NAME` shows a benchmark's parameters with their defaults.
    """
    from flowgauge.cli import listing
    from flowgauge.errors import UsageError

    if name is not None:
        if what is What.BENCHMARKS:
            return _print(listing.parameters(name))
        if what is What.SUITES:
            return _print(listing.suite(name))
        raise UsageError(f"only suites and benchmarks have details; {name} is one too many")
    for part in What if what is None else (what,):
        if what is None:
            typer.echo(f"{part.value}:")
        _print(getattr(listing, part.value)(), indent="  " if what is None else "")
        if what is None:
            typer.echo()


def _print(rows: Mapping[str, str], indent: str = "") -> None:
    """Names and what they mean."""
    from flowgauge.cli.columns import print_rows

    if not rows:
        typer.echo(f"{indent}(none)")
    print_rows(rows, indent=indent)
