"""`flowgauge run`: measure a suite or benchmarks on a DUT."""

from __future__ import annotations

from typing import Annotated

import typer

from flowgauge.cli.shared import Dut, Openflow, Output, Resume


def complete_target(incomplete: str) -> list[str]:
    """Suites and benchmarks, for the shell."""
    from flowgauge import benchmarks, suites

    return [n for n in (*suites.names(), *benchmarks.paths()) if n.startswith(incomplete)]


def command(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE|BENCHMARK",
            help="A suite, a suite's TOML file, or benchmarks; `flowgauge list` shows them.",
            autocompletion=complete_target,
        ),
    ] = None,
    dut: Dut = None,
    openflow: Openflow = None,
    controller: Annotated[
        str | None,
        typer.Option(
            metavar="builtin|ovs-ofctl|rest:URL",
            help="How entries reach the switch. Default: builtin, our own channel.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="BENCH.PARAM=VALUE", help="Set a parameter; the value is TOML. May be repeated."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small grids and short trials.")] = False,
    repeat: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Trials per point. Default: each benchmark's own.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="S", min=0, help="Seed of all random numbers. Default: 1.")
    ] = None,
    output: Output = None,
    resume: Resume = False,
) -> None:
    """Measure a suite or benchmarks on a DUT.

    Leaves a directory with all results and report.html. Ctrl-C stops cleanly; --resume -o DIR goes on.

    Exit codes: 0 done; 1 a trial failed; 2 usage or configuration; 3 DUT or host could not be set up.
    """
    from flowgauge.cli import running
    from flowgauge.runner.plan import Request

    request = Request(
        targets=targets or (),
        dut=dut,
        openflow=None if openflow is None else openflow.value,
        controller=controller,
        settings=settings or (),
        quick=quick,
        repeat=repeat,
        seed=seed,
    )
    raise typer.Exit(running.run(request, output, resume=resume))
