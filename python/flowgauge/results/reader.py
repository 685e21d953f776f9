"""Reads a run directory: run.json and the trials, with one clear error when it is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from flowgauge.errors import RunDirectoryError
from flowgauge.model import TrialRecord
from flowgauge.results import durable
from flowgauge.results.schema import SCHEMA_VERSION, RunDocument, TimingDocument, TrialDocument

M = TypeVar("M", bound=BaseModel)


def read_document(path: Path) -> RunDocument:
    """run.json of a run directory. Raises RunDirectoryError."""
    file = path / "run.json"
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise RunDirectoryError(
            f"{path} is no run directory: it has no run.json",
            advice="`flowgauge run` says where it writes; runs are kept in ./runs unless -o says otherwise.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunDirectoryError(f"{file} can't be read: {error}") from error
    try:
        data = json.loads(text)
        found = data.get("schema") if isinstance(data, dict) else None
        if found != SCHEMA_VERSION:
            raise RunDirectoryError(
                f"{file}: schema {found!r}; this version reads schema {SCHEMA_VERSION}",
                advice="Read it with the version of Flowgauge that wrote it.",
            )
        return RunDocument.model_validate_json(text)
    except ValueError as error:
        raise RunDirectoryError(
            f"{file} is damaged: {_first(error)}",
            advice="Restore it from a copy; trials.jsonl beside it still holds every trial.",
        ) from error


def read_trials(path: Path) -> list[TrialRecord]:
    """All trials in the order in which they ended; a torn last line is left out. Raises RunDirectoryError."""
    return [d.value() for d in _lines(path / "trials.jsonl", TrialDocument)]


def read_timings(path: Path) -> dict[str, TimingDocument]:
    """Wall times by trial id."""
    return {d.id: d for d in _lines(path / "timings.jsonl", TimingDocument)}


def _lines(file: Path, model: type[M]) -> list[M]:
    found = []
    for n, line in enumerate(durable.whole_lines(file), 1):
        try:
            found.append(model.model_validate_json(line))
        except ValidationError as error:
            raise RunDirectoryError(
                f"{file}, line {n} is damaged: {_first(error)}",
                advice="Remove that line; `flowgauge run --resume -o` then measures that trial again.",
            ) from error
    return found


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}"
    return str(error)
