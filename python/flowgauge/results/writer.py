"""Writes a run directory while the run goes on; what it holds is valid after a crash at any moment.

Samples come before the line that names them; a line is there whole or is cut on resume; run.json is replaced as a whole.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from flowgauge.errors import RunWriteError, UsageError
from flowgauge.model import TrialRecord
from flowgauge.results import durable, reader, samples
from flowgauge.results.numbers import to_line, to_text
from flowgauge.results.schema import RunDocument, trial_document

FULL = (errno.ENOSPC, errno.EDQUOT)
ELSEWHERE = "Name a directory that can be written, and has room, by -o."


def wall_time() -> str:
    """Now, in UTC, as the record has it ("2026-05-04T12:30:05.123Z")."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class RunWriter:
    """An open run directory. One process writes it at a time; `done` holds the trials that need not be measured again."""

    def __init__(self, path: Path, document: RunDocument, done: Mapping[str, TrialRecord]) -> None:
        self.path = path
        self.document = document
        self.done = dict(done)
        self._lock = _lock(path)

    @staticmethod
    def create(path: Path, document: RunDocument) -> RunWriter:
        """Start a run in a new (or empty) directory.

        Raises UsageError when something is there already or the directory can't be made, RunWriteError when the disk is full.
        """
        try:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise _taken(path)
            (path / "samples").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(path, error) from error
        writer = RunWriter(path, document, {})
        try:
            writer.save()
        except RunWriteError as error:
            writer.close()
            # Without run.json it is no run: nothing to go on with, and nothing that blocks the name.
            for made in (path / "samples", path):
                with contextlib.suppress(OSError):
                    made.rmdir()
            raise RunWriteError(error.message, advice=ELSEWHERE) from error
        return writer

    @staticmethod
    def resume(path: Path) -> RunWriter:
        """Go on with a run: a torn last line is cut, and trials that failed or were invalid will be measured again."""
        writer = RunWriter(path, reader.read_document(path), {})
        try:
            for name in ("trials.jsonl", "timings.jsonl"):
                durable.cut_torn_line(path / name)
            (path / "samples").mkdir(exist_ok=True)
            found = reader.read_trials(path)
            usable = [t for t in found if t.status == "ok"]
            if len(usable) < len(found):
                text = "".join(to_line(trial_document(t)) for t in usable)
                durable.replace_text(path / "trials.jsonl", text)
        except BaseException as error:
            writer.close()
            if isinstance(error, OSError):
                raise _unwritable(path, error) from error
            raise
        writer.done = {t.id: t for t in usable}
        return writer

    def add(
        self, record: TrialRecord, arrays: Mapping[str, NDArray[Any]], started: str, seconds: float
    ) -> None:
        """Keep a trial for good. `started` and `seconds` are wall times, kept apart from the results. Raises RunWriteError."""
        timing = {"id": record.id, "started": started, "seconds": seconds}
        try:
            if arrays:
                samples.write(self.path / "samples", record.id, arrays)
            durable.append(self.path / "trials.jsonl", to_line(trial_document(record)))
            durable.append(self.path / "timings.jsonl", to_line(timing))
        except OSError as error:
            raise self._write_error(error) from error
        self.done[record.id] = record

    def update(self, **changes: Any) -> None:
        """Change fields of run.json, and save it."""
        self.document = self.document.model_copy(update=changes)
        self.save()

    def save(self) -> None:
        """Replace run.json. Raises RunWriteError."""
        document = self.document.model_dump(mode="python", by_alias=True)
        try:
            durable.replace_text(self.path / "run.json", to_text(document))
        except OSError as error:
            raise self._write_error(error) from error

    @property
    def log_path(self) -> Path:
        """Where the run, its worker and its DUT say what happened."""
        return self.path / "log.txt"

    def log(self, text: str) -> None:
        """Append a line with its wall time to the log; a log that can't be written is no reason to fail."""
        with contextlib.suppress(OSError), self.log_path.open("a", encoding="utf-8") as file:
            file.write(f"{wall_time()} {text}\n")

    def _write_error(self, error: OSError) -> RunWriteError:
        return RunWriteError(
            f"{self.path}: can't be written: {error.strerror or error}",
            advice=f"{'Make room' if error.errno in FULL else 'Make it writable'}, then go on with --resume; "
            "what was measured before is kept.",
        )

    def close(self) -> None:
        """Let another process write this directory."""
        os.close(self._lock)


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: can't be written: {error.strerror or error}", advice=ELSEWHERE)


def _taken(path: Path) -> UsageError:
    if not (path / "run.json").exists():
        what = "is not empty" if path.is_dir() else "is not a directory"
        return UsageError(f"{path} {what}", advice="Name a new directory by -o.")
    return UsageError(
        f"{path} holds a run already",
        advice=f"Go on with that run by `flowgauge run --resume -o {path}`, or name another directory.",
    )


def _lock(path: Path) -> int:
    """Lock the directory; the kernel unlocks it when this process ends, however it ends."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            f"{path} is being written by another flowgauge", advice="Wait for it, or stop it with Ctrl-C."
        ) from None
    return handle
