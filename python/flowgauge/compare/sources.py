"""What a comparison names: run directories, and published results as published:SOURCE[/DEVICE]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from flowgauge.errors import UsageError
from flowgauge.report.rundata import Run, load_run


def resolve(names: Sequence[str]) -> list[Run]:
    """The runs in the order given; a published source stands for all its devices. Labels are made unique.

    Raises UsageError when fewer than two are left, RunDirectoryError or UnknownNameError when one can't be read.
    """
    from flowgauge import published

    runs: list[Run] = []
    for name in names:
        if name.startswith(published.PREFIX):
            runs += [published.load(device) for device in published.devices(name)]
        else:
            runs.append(load_run(name))
    if len(runs) < 2:
        raise UsageError(
            "a comparison needs two runs", advice="Name another run directory, or published:SOURCE[/DEVICE]."
        )
    counts = Counter(run.label for run in runs)
    return [replace(r, label=str(r.path)) if counts[r.label] > 1 else r for r in runs]
