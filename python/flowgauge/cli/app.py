"""All commands together. A command is a module of this package with a function `command`, or with a Typer `app` of its own."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

COMMANDS = ("run", "list", "show", "report", "compare", "doctor", "clean")
"""In the order of the help. The module of a command is named like it."""


def build() -> typer.Typer:
    """The program, ready to be called."""
    # Plain help: Rich would double the time that `--help` takes.
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    for name in COMMANDS:
        _add(app, name)
    return app


def _add(app: typer.Typer, name: str) -> None:
    module_name = f"flowgauge.cli.{name}"
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name == module_name:
            return
        raise
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name)
    else:
        app.command(name)(module.command)


def _version(wanted: bool) -> None:
    if wanted:
        from flowgauge import __version__

        typer.echo(f"flowgauge {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Measures OpenFlow switches, and any device that forwards packets.

    `flowgauge run quick` measures the embedded software switch: no root, no switch, no configuration.
    """
