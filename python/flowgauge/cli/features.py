"""`flowgauge features`: what a switch supports, and whether it does it rightly."""

from __future__ import annotations

from typing import Annotated

import typer

from flowgauge.cli.shared import Dut, Openflow, Output, Resume


def command(
    dut: Dut = None,
    openflow: Openflow = None,
    only: Annotated[
        list[str] | None,
        typer.Option("-k", metavar="TEXT", help="Only features whose name contains TEXT. May be repeated."),
    ] = None,
    output: Output = None,
    resume: Resume = False,
) -> None:
    """Test which features of OpenFlow a switch supports, and print the matrix.

    Leaves a directory with all results and report.html, as `flowgauge run` does; `flowgauge compare` puts several beside each
    other. `flowgauge list features` shows all tests.

    Exit codes: 0 done; 1 a feature failed, or a required one was refused; 2 usage or configuration; 3 DUT or host could not be
    set up.
    """
    from flowgauge.cli import running
    from flowgauge.cli.matrix import verdict
    from flowgauge.features.catalogue import select
    from flowgauge.runner.plan import Request

    words = only or []
    select(words)
    request = Request(
        targets=() if resume and not words else ("features",),
        dut=dut,
        openflow=None if openflow is None else openflow.value,
        settings=(f"features.only={_list(words)}",) if words else (),
    )
    code, path = running.run_at(request, output, resume=resume)
    raise typer.Exit(code or verdict(path))


def _list(words: list[str]) -> str:
    """A TOML array.

    >>> _list(["match", "set_field.udp"])
    '["match", "set_field.udp"]'
    """
    import json

    return json.dumps(words)
