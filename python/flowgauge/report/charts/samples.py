"""The delays that trials keep as histograms, put together for charts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from flowgauge.model import TrialRecord
from flowgauge.report.rundata import Run


def merge(
    run: Run, trials: Iterable[TrialRecord], prefix: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Values (us, ascending) and counts of all valid trials together; empty arrays when none kept a histogram."""
    values, counts = [], []
    for trial in trials:
        if trial.status == "ok" and trial.has_samples:
            found = run.samples(trial.id)
            if f"{prefix}.value_ns" in found and f"{prefix}.count" in found:
                values.append(found[f"{prefix}.value_ns"])
                counts.append(found[f"{prefix}.count"])
    if not values:
        return np.empty(0), np.empty(0, dtype=np.int64)
    unique, inverse = np.unique(np.concatenate(values), return_inverse=True)
    total = np.zeros(len(unique), dtype=np.int64)
    np.add.at(total, inverse, np.concatenate(counts))
    kept = total > 0
    return unique[kept] / 1000.0, total[kept]
