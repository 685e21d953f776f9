"""All commands together. Only the command that is called is imported, so that help and errors come at once.

A command is a module of this package, named like it, with a function `command` or a Typer `app` of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

COMMANDS = {
    "run": "Measure a suite or benchmarks on a DUT.",
    "features": "Test which features of OpenFlow a switch supports, and print the matrix.",
    "list": "List what can be run, measured and compared with.",
    "show": "Show the tables of a run in the terminal.",
    "report": "Write a run as HTML, Markdown, CSV or JSON.",
    "compare": "Put runs and published results side by side.",
    "models": "Device models of the simulator: list, show, fit one to a run, sweep over several.",
    "openflow": "Decode and encode OpenFlow messages, for debugging.",
    "generate": "Generate packets: flow sets, or a capture.",
    "capture": "Capture packets, with nanosecond stamps.",
    "switch": "Run our software switch between interfaces of this host.",
    "doctor": "Say what this host lacks for each DUT, and the command that mends it.",
    "clean": "Remove what crashed runs left behind: processes, network namespaces, directories.",
}
"""Name -> first line of its help, in the order of the help."""


def build(arguments: Sequence[str] | None = None) -> typer.Typer:
    """The program, ready to be called with these arguments; None: with any, and all commands are imported."""
    # Plain help: Rich would double the time that `--help` takes.
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    called = next((a for a in arguments or () if not a.startswith("-")), None)
    everything = arguments is None or "_FLOWGAUGE_COMPLETE" in os.environ
    for name, text in COMMANDS.items():
        if importlib.util.find_spec(f"flowgauge.cli.{name}") is None:
            continue
        if everything or name == called:
            _add(app, name)
        else:
            # Given as short help, it is not cut.
            app.command(name, help=text, short_help=text)(_not_called)
    return app


def _add(app: typer.Typer, name: str) -> None:
    module = importlib.import_module(f"flowgauge.cli.{name}")
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name)
    else:
        command: Callable[..., None] = module.command
        app.command(name)(command)


def _not_called() -> None:
    raise AssertionError("only its name and help are shown")


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
