"""What `flowgauge run` says at its end: the tables with their checks, the report, and how to go on."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from flowgauge.errors import FlowgaugeError
from flowgauge.report import write_report
from flowgauge.report.terminal import print_run
from flowgauge.results import reader
from flowgauge.runner.runner import Outcome


def say(path: Path, outcome: Outcome) -> None:
    """Print all of it. What failed, and why, stands with the tables."""
    if reader.read_trials(path) or reader.read_document(path).skipped:
        print()
        print_run(path)
        report = _report(path)
        print(f"\nReport: {report}" if report else f"\nResults: {path}")
    else:
        print(f"\nNothing was measured; {path / 'log.txt'} says more.")
    again = f"flowgauge run --resume -o {shlex.quote(str(path))}"
    if outcome.status != "complete":
        print(f"Stopped early. Go on with: {again}")
    elif outcome.failed or outcome.invalid:
        print(f"Measure the failed trials again with: {again}")


def remove_unused(path: Path) -> None:
    """A run that the command line made impossible leaves no directory."""
    shutil.rmtree(path, ignore_errors=True)


def _report(path: Path) -> Path | None:
    """Write report.html; a report that can't be written is said, and loses no result."""
    try:
        return write_report(path)
    except FlowgaugeError as error:
        reason = error.message
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    print(f"flowgauge: the report could not be written: {reason}", file=sys.stderr)
    return None
