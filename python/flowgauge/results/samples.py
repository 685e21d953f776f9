"""Samples of a trial as Parquet: one file per name prefix, because arrays of one prefix have one length."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flowgauge.results import durable


def file_name(trial_id: str, prefix: str) -> str:
    """Arrays without a prefix share the plain name.

    >>> file_name("00ff", ""), file_name("00ff", "latency")
    ('00ff.parquet', '00ff.latency.parquet')
    """
    return f"{trial_id}.{prefix}.parquet" if prefix else f"{trial_id}.parquet"


def by_prefix(samples: Mapping[str, NDArray[Any]]) -> dict[str, dict[str, NDArray[Any]]]:
    """Arrays grouped by what stands before the first dot of their names. Raises ValueError when lengths differ."""
    groups: dict[str, dict[str, NDArray[Any]]] = {}
    for name, array in samples.items():
        prefix = name.partition(".")[0] if "." in name else ""
        groups.setdefault(prefix, {})[name] = np.asarray(array)
    for prefix, arrays in groups.items():
        lengths = {name: len(array) for name, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"samples {prefix or 'without a prefix'!r} differ in length: {lengths}")
    return groups


def write(folder: Path, trial_id: str, samples: Mapping[str, NDArray[Any]]) -> None:
    """Write all arrays of a trial, each file aside and then renamed."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir(exist_ok=True)
    for prefix, arrays in by_prefix(samples).items():
        table = pyarrow.table(dict(arrays))
        durable.replace(
            folder / file_name(trial_id, prefix),
            lambda file, table=table: parquet.write_table(table, file, compression="zstd"),  # type: ignore[misc]
        )


def read(folder: Path, trial_id: str) -> dict[str, NDArray[Any]]:
    """All arrays of a trial by name; empty when there are none."""
    from pyarrow import parquet

    found: dict[str, NDArray[Any]] = {}
    for path in sorted([*folder.glob(f"{trial_id}.parquet"), *folder.glob(f"{trial_id}.*.parquet")]):
        table = parquet.read_table(path)
        found |= {name: np.asarray(table.column(name).to_numpy()) for name in table.column_names}
    return found
