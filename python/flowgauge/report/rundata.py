"""A run as a report sees it: what stands in its directory, parsed, and nothing else.

Reports know neither benchmarks nor devices. Published results come in the same form (`flowgauge.published`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from flowgauge.errors import RunDirectoryError
from flowgauge.model import Figure, Point, TrialRecord
from flowgauge.results.reader import read_document, read_timings, read_trials
from flowgauge.results.schema import FigureDocument


@dataclass(frozen=True)
class Run:
    """A run: `document` is run.json without its figures, `figures` in their order by benchmark, `trials` in theirs.

    `label` names it in comparisons; `path` is its directory.
    """

    label: str
    path: Path
    document: Mapping[str, Any]
    figures: Mapping[str, tuple[Figure, ...]]
    trials: tuple[TrialRecord, ...]
    _cache: dict[str, Mapping[str, NDArray[Any]]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def published(self) -> Mapping[str, Any] | None:
        """What is known of the publication, None for a run of our own."""
        found = self.document.get("published")
        return found if isinstance(found, Mapping) else None

    def section(self, name: str) -> Mapping[str, Any]:
        """A part of run.json that is an object; empty when it is missing or null."""
        found = self.document.get(name)
        return found if isinstance(found, Mapping) else {}

    def benchmark_config(self, benchmark: str) -> Mapping[str, Any]:
        """What run.json's configuration says of a benchmark; empty when it says nothing."""
        for entry in self.section("config").get("benchmarks") or ():
            if isinstance(entry, Mapping) and entry.get("name") == benchmark:
                return entry
        return {}

    def benchmarks(self) -> list[str]:
        """Names of all benchmarks, in the order of the configuration, then as they appear."""
        names: dict[str, None] = {}
        for entry in self.section("config").get("benchmarks") or ():
            if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
                names[entry["name"]] = None
        for name in self.figures:
            names[name] = None
        for trial in self.trials:
            names[trial.benchmark] = None
        return list(names)

    def trials_of(self, benchmark: str) -> list[TrialRecord]:
        """Trials of one benchmark."""
        return [t for t in self.trials if t.benchmark == benchmark]

    def samples(self, trial_id: str) -> Mapping[str, NDArray[Any]]:
        """The stored arrays of a trial by column name ("latency.value_ns"); empty when there are none.

        Raises RunDirectoryError when a file is damaged.
        """
        if trial_id not in self._cache:
            from flowgauge.results import samples

            try:
                self._cache[trial_id] = samples.read(self.path / "samples", trial_id)
            except (OSError, ValueError) as error:
                raise RunDirectoryError(
                    f"{self.path}: samples of trial {trial_id} can't be read: {error}"
                ) from error
        return self._cache[trial_id]

    def seconds(self) -> float | None:
        """How long all trials took on the wall clock, None when that was not recorded."""
        timings = read_timings(self.path)
        return sum(t.seconds for t in timings.values()) if timings else None


def load_run(path: Path | str, label: str | None = None) -> Run:
    """Read a run directory. Raises RunDirectoryError when it is missing, empty or damaged.

    A torn last line of trials.jsonl (a crash while writing) is left out, as the format says.
    """
    path = Path(path)
    if not path.exists():
        raise RunDirectoryError(
            f"{path}: there is no such directory", advice="`flowgauge run` says where it writes."
        )
    document = read_document(path)
    figures: dict[str, list[Figure]] = {}
    for figure in document.figures:
        figures.setdefault(figure.benchmark, []).append(_figure(figure))
    raw = document.model_dump(mode="json", by_alias=True, exclude={"figures"})
    trials = tuple(read_trials(path)) if (path / "trials.jsonl").exists() else ()
    return Run(
        label or document.id or path.name, path, raw, {k: tuple(v) for k, v in figures.items()}, trials
    )


def _figure(document: FigureDocument) -> Figure:
    return Figure(
        name=document.name,
        value=document.value,
        unit=document.unit,
        at=Point(**document.at),
        low=document.low,
        high=document.high,
        interval=document.interval,
        count=document.count,
        checks=tuple(c.value() for c in document.checks),
        note=document.note or None,
    )
