"""What `flowgauge run` does: open a run directory, lead the run with its progress, and say at the end what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from flowgauge import suites
from flowgauge.cli import ending, print_error
from flowgauge.cli.progress import PlainProgress
from flowgauge.errors import UsageError
from flowgauge.results import reader
from flowgauge.results.environment import environment
from flowgauge.results.schema import RunDocument
from flowgauge.results.writer import RunWriter, wall_time
from flowgauge.runner.bench import Bench, Seam
from flowgauge.runner.child import resolve
from flowgauge.runner.interrupts import Interrupts
from flowgauge.runner.observer import Observer
from flowgauge.runner.plan import Plan, Request, difference, make_plan, plan_from, short_dut
from flowgauge.runner.runner import Outcome, Runner

RUNS = Path("runs")


def run(request: Request, output: Path | None, *, resume: bool, seam: Seam | None = None) -> int:
    """The whole command; returns the exit code. Raises UsageError and its kinds before anything is started."""
    return run_at(request, output, resume=resume, seam=seam)[0]


def run_at(
    request: Request, output: Path | None, *, resume: bool, seam: Seam | None = None
) -> tuple[int, Path]:
    """The same, with the directory of the run."""
    seam = seam or Seam()
    plan, directory = _resume(request, output) if resume else _create(request, output, seam)
    try:
        outcome = _lead(plan, directory, seam)
    finally:
        directory.close()
    if outcome.error is not None:
        print_error(outcome.error)
    if isinstance(outcome.error, UsageError) and not resume and not directory.done:
        ending.remove_unused(directory.path)
        return outcome.exit_code, directory.path
    ending.say(directory.path, outcome)
    return outcome.exit_code, directory.path


def _create(request: Request, output: Path | None, seam: Seam) -> tuple[Plan, RunWriter]:
    if not request.targets:
        raise UsageError(
            "say what to run: a suite or benchmarks",
            advice=f"Suites: {', '.join(suites.names())}. `flowgauge list` shows all. `flowgauge run quick` is a start.",
        )
    plan = make_plan(request)
    resolve(seam.check)(plan.dut)
    identity = f"{datetime.now():%Y%m%d-%H%M%S}-{_short(plan.suite)}-{short_dut(plan.dut)}"
    path = output or _unused(RUNS / identity)
    document = RunDocument(
        id=identity,
        suite=plan.suite,
        command=["flowgauge", *sys.argv[1:]],
        config=plan.config(),
        environment={**environment(), "started": wall_time()},
    )
    return plan, RunWriter.create(path, document)


def _resume(request: Request, output: Path | None) -> tuple[Plan, RunWriter]:
    if output is None:
        raise UsageError("--resume needs the directory of the run", advice="flowgauge run --resume -o DIR")
    document = reader.read_document(output)
    if request.targets:
        plan = make_plan(request)
        differs = difference(plan.config(), document.config)
        if differs:
            raise UsageError(
                f"{output} is a run with another configuration: {differs}",
                advice=f"`flowgauge run --resume -o {output}` goes on with the configuration that it has.",
            )
    elif request.changes():
        raise UsageError(
            f"--resume takes its configuration from the run; leave out {', '.join(request.changes())}",
            advice="Another configuration is another run: give it a directory of its own.",
        )
    plan = plan_from(document.suite, document.config)
    directory = RunWriter.resume(output)
    before = directory.document.environment
    directory.update(environment={**before, "resumed": [*before.get("resumed", []), wall_time()]})
    return plan, directory


def _lead(plan: Plan, directory: RunWriter, seam: Seam) -> Outcome:
    with _observer() as observer, Interrupts(observer.stopping) as interrupts:
        bench = Bench(plan, directory, observer, interrupts, seam)
        return Runner(plan, directory, observer, bench, interrupts).run()


@contextmanager
def _observer() -> Iterator[Observer]:
    """Drawn on a terminal, lines elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console

        from flowgauge.cli.live import live_progress

        with live_progress(Console()) as live:
            yield live
    else:
        yield PlainProgress(lambda line: print(line, flush=True))


def _short(suite: str) -> str:
    return suite if len(suite) <= 40 else f"{suite[:38]}+"


def _unused(path: Path) -> Path:
    """The path, or the same with a number when two runs start within a second."""
    n, free = 1, path
    while free.exists():
        n += 1
        free = path.with_name(f"{path.name}-{n}")
    return free
