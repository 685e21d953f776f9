"""What `flowgauge run` says at its end: tables, failing checks in words, the report, and how to go on."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from flowgauge.cli.words import counted
from flowgauge.errors import FlowgaugeError
from flowgauge.model import Check, CheckState, TrialRecord
from flowgauge.results import reader
from flowgauge.results.schema import RunDocument
from flowgauge.runner.runner import Outcome


def say(path: Path, outcome: Outcome) -> None:
    """Print all of it."""
    document, trials = reader.read_document(path), reader.read_trials(path)
    if trials:
        print()
        show(path)
        _lines("Checks that failed:", failing_checks(document, trials))
    _lines("Trials that failed:", failed_trials(trials))
    _lines("Skipped:", [f"{s.benchmark}: {s.reason}" for s in document.skipped])
    if trials:
        report = _report(path)
        print(f"\nReport: {report}" if report else f"\nResults: {path}")
    else:
        print(f"\nNothing was measured; {path}/log.txt says more.")
    if outcome.status != "complete":
        print(f"Stopped early. Go on with: flowgauge run --resume -o {shlex.quote(str(path))}")
    elif outcome.failed or outcome.invalid:
        print(f"Measure these again with: flowgauge run --resume -o {shlex.quote(str(path))}")


def show(path: Path) -> None:
    """Tables of the figures."""
    try:
        from flowgauge.report import terminal  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        from flowgauge.cli import tables as terminal
    terminal.print_run(path)


def failing_checks(document: RunDocument, trials: Sequence[TrialRecord]) -> list[str]:
    """One line per benchmark and check: how often, what was found first, and what to do."""
    found: dict[tuple[str, str], list[tuple[str, Check]]] = {}
    for trial in trials:
        for check in _failing(trial.checks):
            found.setdefault((trial.benchmark, check.name), []).append((str(trial.point), check))
    per_benchmark = {n: sum(t.benchmark == n for t in trials) for n in {t.benchmark for t in trials}}
    lines = []
    for (benchmark, name), hits in found.items():
        at, first = hits[0]
        often = f"{len(hits)} of {counted(per_benchmark[benchmark], 'trial')}"
        where = f" (at {at})" if at else ""
        lines.append(_line(benchmark, f"{name} in {often}", first, where))
    for figure in document.figures:
        for check in _failing(c.value() for c in figure.checks):
            if (figure.benchmark, check.name) not in found:
                found[figure.benchmark, check.name] = []
                lines.append(_line(figure.benchmark, f"{check.name} of {figure.name}", check, ""))
    return lines


def failed_trials(trials: Sequence[TrialRecord], most: int = 10) -> list[str]:
    """Trials without a result, with their reasons; the first few."""
    bad = [t for t in trials if t.status != "ok"]
    lines = [f"{t.benchmark} {t.point} #{t.repeat + 1}: {t.reason}" for t in bad[:most]]
    return [*lines, f"and {len(bad) - most} more, in trials.jsonl"] if len(bad) > most else lines


def remove_unused(path: Path) -> None:
    """A run that the command line made impossible leaves no directory."""
    shutil.rmtree(path, ignore_errors=True)


def _failing(checks: Iterable[Check]) -> list[Check]:
    return [c for c in checks if c.state is CheckState.FAIL]


def _line(benchmark: str, what: str, check: Check, where: str) -> str:
    advice = f" {check.advice}" if check.advice else ""
    return f"{benchmark}: {what}: {check.text}{where}.{advice}"


def _lines(title: str, lines: Sequence[str]) -> None:
    if lines:
        print(f"\n{title}")
        for line in lines:
            print(f"  {line}")


def _report(path: Path) -> Path | None:
    """Write report.html; a report that can't be written is said, and loses no result."""
    try:
        from flowgauge.report import write_report  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        return None
    try:
        return Path(write_report(path) or path / "report.html")
    except FlowgaugeError as error:
        print(f"flowgauge: the report could not be written: {error.message}", file=sys.stderr)
    except Exception as error:
        print(f"flowgauge: the report could not be written: {type(error).__name__}: {error}", file=sys.stderr)
    return None
