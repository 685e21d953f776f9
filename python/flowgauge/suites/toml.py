"""TOML files with errors that name file, line and key, for suites and for whoever reads TOML.

Python's parser keeps no lines, so the line of a key is found by searching the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flowgauge.errors import ConfigError

Keys = Sequence[str | int]
"""Where a value stands: ("benchmark", 1, "quick", "rates_mbps")."""


@dataclass(frozen=True)
class File:
    """A parsed file with its text."""

    path: Path
    text: str
    data: Mapping[str, Any]

    def line(self, keys: Keys) -> int | None:
        """The line (from 1) of the deepest part of `keys` that the text shows, None if it shows none."""
        return line_of(self.text, keys)

    def place(self, keys: Keys) -> str:
        """File and line for a message."""
        line = self.line(keys)
        return f"{self.path.name}, line {line}" if line else self.path.name

    def error(self, keys: Keys, found: str, *, allowed: str) -> ConfigError:
        """The error for a value that is not allowed."""
        return ConfigError(f"{self.place(keys)}: {found}; allowed: {allowed}", advice=f"Mend {self.path}.")


def read(path: Path) -> File:
    """Parse a file. Raises ConfigError with the line when it is missing or malformed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from error
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from error
    try:
        return File(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path.name}: not TOML: {_located(str(error), text)}", advice=f"Mend {path}."
        ) from error


def line_of(text: str, keys: Keys) -> int | None:
    """The line of a key: the table headers lead to its part of the text, then `key =` is searched there.

    >>> line_of('title = "x"\\n[[benchmark]]\\nname = "a"\\n[[benchmark]]\\nname = "b"\\n', ("benchmark", 1, "name"))
    5
    """
    lines = text.splitlines()
    first, last, found = 0, _next_header(lines, 0), None
    prefix: list[str] = []
    for part in keys:
        if isinstance(part, int):
            headers = _headers(lines, prefix, array=True)
            if part < len(headers):
                first = found = headers[part]
                last = _next_header(lines, first + 1)
            continue
        prefix.append(part)
        within = _headers(lines, prefix, array=False)
        nested = [
            h for h in within if h >= first and not any(a > first for a in _between(lines, prefix, first, h))
        ]
        key = next((n for n in range(first, last) if _is_key(lines[n], part)), None)
        if key is not None:
            found = key
        elif nested:
            first = found = nested[0]
            last = _next_header(lines, first + 1)
    return None if found is None else found + 1


def _between(lines: Sequence[str], prefix: list[str], first: int, last: int) -> list[int]:
    """Headers of the enclosing array between two lines: a table behind one belongs to a later element."""
    return [h for h in _headers(lines, prefix[:-1], array=True) if first < h <= last]


def _headers(lines: Sequence[str], prefix: Sequence[str], *, array: bool) -> list[int]:
    name = r"\s*\.\s*".join(re.escape(p) for p in prefix)
    pattern = rf"\s*\[\[\s*{name}\s*\]\]" if array else rf"\s*\[\s*{name}\s*\]"
    return [n for n, line in enumerate(lines) if re.match(pattern, line)] if prefix else []


def _next_header(lines: Sequence[str], start: int) -> int:
    return next((n for n in range(start, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))


def _is_key(line: str, key: str) -> bool:
    return re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[.=]""", line) is not None


def _located(message: str, text: str) -> str:
    """The parser's message with the line first: it says "(at line 3, column 7)" or "(at end of document)"."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    if match:
        return f"line {match[2]}, column {match[3]}: {match[1]}"
    return f"line {len(text.splitlines())}: {message}"
