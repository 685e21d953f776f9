"""What `flowgauge features` says of a whole matrix: how many of each, and whether that is good enough."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from flowgauge.cli.words import counted
from flowgauge.errors import RunDirectoryError
from flowgauge.results import reader


def verdict(path: Path) -> int:
    """Print the counts; 1 when a feature failed or a required one was refused, 0 otherwise."""
    try:
        trials = [t for t in reader.read_trials(path) if t.benchmark == "features" and t.status == "ok"]
    except (RunDirectoryError, FileNotFoundError):
        return 0
    counts = Counter(str(t.metrics["result"]) for t in trials)
    short = sum(t.metrics["result"] == "refused" and t.metrics["wanted"] == "required" for t in trials)
    told = ", ".join(f"{n} {result}" for result, n in sorted(counts.items(), key=lambda item: -item[1]))
    print(f"{counted(len(trials), 'feature')}: {told}." if trials else "No feature was tested.")
    if short:
        print(
            f"{counted(short, 'refused feature')} {'is' if short == 1 else 'are'} required by the specification."
        )
    return 1 if counts["failed"] or short else 0
