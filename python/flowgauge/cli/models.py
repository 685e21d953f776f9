"""`flowgauge models`: device models of the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, help="Device models of the simulator: what there is, what is in one, making one."
)


@app.command("list")
def listing() -> None:
    """List the device models that come with Flowgauge.

    `flowgauge run SUITE --dut sim:NAME` measures one; a file of yours is named by its path, sim:FILE.toml.
    """
    from flowgauge import models

    for name in models.names():
        model = models.load(name)
        typer.echo(f"{name:<14}{model.title} ({len(model.parameters())} parameters)")


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A model's name, or its file.")],
    everything: Annotated[bool, typer.Option("--all", help="Parameters that are ideal too.")] = False,
) -> None:
    """Show a device model's parameters, each with its source and fit."""
    from flowgauge import models
    from flowgauge.cli.columns import print_rows, print_text

    model = models.load(name)
    typer.echo(model.title)
    if model.description:
        typer.echo()
        print_text(model.description)
    values = models.whole(model) if everything else model.parameters()
    typer.echo()
    print_rows({key: f"{value!s:<15} {model.sources.get(key) or ''}" for key, value in values.items()}, 16)
    if not values:
        typer.echo("Every parameter is ideal.")


@app.command()
def fit(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run of the suite alien.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model.")],
) -> None:
    """Make a device model from a measured run.

    The run must hold packet_in, packet_out, control_channel_delay, data_path_delay or flow_add; what it lacks stays ideal.
    The file says of each parameter which benchmark it is from and how well it fits.
    """
    from flowgauge.models import fitting
    from flowgauge.report.rundata import load_run

    model = fitting.fit(load_run(run))
    fitting.write(model, output)
    typer.echo(
        f"{output}: {len(model.parameters)} parameters; try: flowgauge run alien --quick --dut sim:{output}"
    )


@app.command()
def sweep(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="Names or files. Default: all that come along."),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(metavar="SUITE", help="What to run. Default: the suite of each model's source."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The suite's quick variant.")] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where to: one run directory per model.")
    ] = Path("runs/models"),
) -> None:
    """Run a suite on several device models at once.

    Each model has a process of its own; together they use all cores.

    Exit codes: 0 done; otherwise the highest of the runs.
    """
    from flowgauge import models
    from flowgauge.models import sweep as sweeping

    chosen = [models.load(name) for name in names or models.names()]
    jobs = [
        sweeping.Job(
            (suite or model.suite or "alien",),
            f"sim:{model.name if model.path.parent == models.FOLDER else model.path}",
            output / model.name,
            ("--quick",) if quick else (),
        )
        for model in chosen
    ]

    def say(ended: sweeping.Ended) -> None:
        last = (ended.output.strip().splitlines() or ["nothing was said"])[-1]
        typer.echo(f"{ended.job.dut}: exit code {ended.exit_code}; {ended.job.directory}; {last}")

    raise typer.Exit(max(ended.exit_code for ended in sweeping.sweep(jobs, done=say)))
