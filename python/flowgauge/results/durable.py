"""File operations that survive a crash at any moment: a file is there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file aside, sync it, rename it into place and sync the directory."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with aside.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    sync_directory(path.parent)


def replace_text(path: Path, text: str) -> None:
    """`replace` with text in UTF-8."""
    replace(path, lambda file: file.write(text.encode()))


def sync_directory(path: Path) -> None:
    """Make names in a directory last."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append(path: Path, text: str) -> None:
    """Append and sync. A crash leaves at most one torn line at the end, which `whole_lines` leaves out."""
    made = not path.exists()
    with path.open("ab") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    if made:
        sync_directory(path.parent)


def whole_lines(path: Path) -> list[str]:
    """The lines that end in a newline; a torn last line is left out. Empty when there is no file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return data[: data.rfind(b"\n") + 1].decode(errors="replace").splitlines()


def cut_torn_line(path: Path) -> bool:
    """Remove what stands behind the last newline, so that appending may go on; whether there was something."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    end = data.rfind(b"\n") + 1
    if end == len(data):
        return False
    with path.open("r+b") as file:
        file.truncate(end)
        os.fsync(file.fileno())
    return True
