"""A run as a report sees it: what stands in its directory, parsed, and nothing else.

Reports know neither benchmarks nor devices. Published results come in the same form (`flowgauge.published`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flowgauge.errors import UsageError
from flowgauge.model import Check, CheckState, Figure, Point, TrialRecord

SCHEMA = 1


class RunDirectoryError(UsageError):
    """A directory is no run, or its files can't be read; names the file and what is wrong with it."""

    name = "run-directory"


@dataclass(frozen=True)
class Run:
    """A run: `document` is run.json as it stands, `figures` in their order by benchmark, `trials` in theirs.

    `label` names it in comparisons; `path` is its directory; `warnings` says what could not be read.
    """

    label: str
    path: Path
    document: Mapping[str, Any]
    figures: Mapping[str, tuple[Figure, ...]]
    trials: tuple[TrialRecord, ...]
    warnings: tuple[str, ...] = ()
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
        """The stored arrays of a trial by column name ("latency.value_ns"); empty when there are none."""
        if trial_id not in self._cache:
            self._cache[trial_id] = dict(_read_samples(self.path / "samples", trial_id))
        return self._cache[trial_id]


def load_run(path: Path | str, label: str | None = None) -> Run:
    """Read a run directory. Raises RunDirectoryError when it is missing, empty or damaged.

    A torn last line of trials.jsonl (a crash while writing) is left out, as the format says.
    """
    path = Path(path)
    if not path.exists():
        raise RunDirectoryError(
            f"{path}: no such run directory", advice="`flowgauge run` prints where it writes"
        )
    if not path.is_dir():
        raise RunDirectoryError(f"{path}: not a directory; a run is a directory with run.json in it")
    document = _read_document(path / "run.json")
    warnings: list[str] = []
    trials = tuple(_read_trials(path / "trials.jsonl", warnings))
    figures: dict[str, list[Figure]] = {}
    for n, raw in enumerate(_sequence(document, "figures", path)):
        try:
            figures.setdefault(str(raw["benchmark"]), []).append(figure_from(raw))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunDirectoryError(f"{path / 'run.json'}: figure {n}: {_reason(error)}") from error
    name = label or str(document.get("id") or path.name)
    return Run(name, path, document, {k: tuple(v) for k, v in figures.items()}, trials, tuple(warnings))


def figure_from(raw: Mapping[str, Any]) -> Figure:
    """A figure from its JSON object. Raises KeyError, TypeError or ValueError when it is not one."""
    return Figure(
        name=str(raw["name"]),
        value=_number(raw["value"]),
        unit=str(raw.get("unit") or ""),
        at=Point(**(raw.get("at") or {})),
        low=_number(raw.get("low")),
        high=_number(raw.get("high")),
        interval=str(raw.get("interval") or "none"),
        count=int(raw.get("count") or 0),
        checks=tuple(check_from(c) for c in raw.get("checks") or ()),
        note=raw.get("note") or None,
    )


def check_from(raw: Mapping[str, Any]) -> Check:
    """A check from its JSON object. Raises KeyError or ValueError when it is not one."""
    return Check(
        name=str(raw["name"]),
        state=CheckState(raw["state"]),
        text=str(raw.get("text") or ""),
        advice=raw.get("advice") or None,
        invalidates=bool(raw.get("invalidates", False)),
    )


def _trial_from(raw: Mapping[str, Any]) -> TrialRecord:
    return TrialRecord(
        id=str(raw["id"]),
        benchmark=str(raw["benchmark"]),
        point=Point(**raw["point"]),
        repeat=int(raw.get("repeat") or 0),
        status=str(raw["status"]),
        metrics=dict(raw.get("metrics") or {}),
        checks=tuple(check_from(c) for c in raw.get("checks") or ()),
        reason=raw.get("reason") or None,
        attempts=int(raw.get("attempts") or 1),
        has_samples=bool(raw.get("has_samples", False)),
    )


def _read_document(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RunDirectoryError(f"{path.parent}: no run.json in it, so it is no run directory") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunDirectoryError(f"{path}: can't be read: {error}") from error
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        found = "the file is empty" if not text.strip() else f"line {error.lineno}: {error.msg}"
        raise RunDirectoryError(f"{path}: not JSON: {found}") from error
    if not isinstance(document, dict):
        raise RunDirectoryError(f"{path}: expected an object, found {type(document).__name__}")
    if document.get("schema") != SCHEMA:
        raise RunDirectoryError(
            f"{path}: schema {document.get('schema')!r}, this version reads schema {SCHEMA}",
            advice="read it with the version of flowgauge that wrote it (environment, tool version)",
        )
    return document


def _read_trials(path: Path, warnings: list[str]) -> Iterator[TrialRecord]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunDirectoryError(f"{path}: can't be read: {error}") from error
    for n, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _trial_from(json.loads(line))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if n == len(lines) and not line.endswith("\n"):
                warnings.append(f"{path.name}: the last line is torn and was left out")
                return
            raise RunDirectoryError(f"{path}: line {n}: {_reason(error)}") from error


def _read_samples(folder: Path, trial_id: str) -> Iterator[tuple[str, NDArray[Any]]]:
    import pyarrow.parquet as parquet

    for path in sorted(folder.glob(f"{trial_id}*.parquet")):
        try:
            table = parquet.read_table(path)
        except (OSError, ValueError) as error:
            raise RunDirectoryError(f"{path}: not a readable Parquet file: {error}") from error
        for name in table.column_names:
            yield name, np.asarray(table.column(name).to_numpy())


def _sequence(document: Mapping[str, Any], key: str, path: Path) -> list[Any]:
    found = document.get(key) or []
    if not isinstance(found, list):
        raise RunDirectoryError(f"{path / 'run.json'}: {key}: expected a list, found {type(found).__name__}")
    return found


def _number(value: Any) -> float | None:
    """None stays None; a bool or text is no number."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"expected a number or null, found {value!r}")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the key {error} is missing"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (column {error.colno})"
    return str(error)
