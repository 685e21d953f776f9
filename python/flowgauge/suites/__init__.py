"""Suites: lists of benchmarks with parameters, in TOML.

title = "ALIEN"                  one line
description = "..."              what the suite is for, and its source
quick = false                    true: benchmarks take their quick values, then the parameters below

[[benchmark]]
name = "packet_in"               parameters stand beside the name; those not given have the benchmark's defaults
rates_mbps = [10, 100]
[benchmark.quick]                what `--quick` changes in this suite, beyond the benchmark's own quick values
rates_mbps = [10]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flowgauge.errors import ConfigError
from flowgauge.names import unknown
from flowgauge.suites import toml

FOLDER = Path(__file__).parent
_SUITE_KEYS = ("title", "description", "quick", "benchmark")


@dataclass(frozen=True)
class Entry:
    """One benchmark of a suite. `file` and `line` say where it stands, for messages."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    file: toml.File | None = None
    position: int = 0

    def place(self, *keys: str) -> str:
        """Where (a key of) this entry stands, "alien.toml, line 7"; empty when it stands in no file."""
        return self.file.place(("benchmark", self.position, *keys)) if self.file else ""


@dataclass(frozen=True)
class Suite:
    """A suite as its file has it."""

    name: str
    title: str
    description: str
    quick: bool
    entries: tuple[Entry, ...]


def names() -> list[str]:
    """The suites that come with Flowgauge."""
    return sorted(p.stem for p in FOLDER.glob("*.toml"))


def load(name: str) -> Suite:
    """A suite by name, or by the path of its file. Raises UnknownNameError or ConfigError."""
    if is_file(name):
        return load_file(Path(name))
    if name not in names():
        raise unknown("suite", name, names())
    return load_file(FOLDER / f"{name}.toml")


def is_file(name: str) -> bool:
    """Whether a name on the command line means a file."""
    return name.endswith(".toml") or "/" in name


def load_file(path: Path) -> Suite:
    """A suite's file. Raises ConfigError that names file, line, key and what is allowed."""
    file = toml.read(path)
    data = file.data
    for key in data:
        if key not in _SUITE_KEYS:
            raise file.error((key,), f'unknown key "{key}"', allowed=", ".join(_SUITE_KEYS))
    title = _typed(file, data, "title", str, "a text", path.stem)
    description = _typed(file, data, "description", str, "a text", "")
    quick = _typed(file, data, "quick", bool, "true or false", False)
    tables = _typed(file, data, "benchmark", list, "tables headed by [[benchmark]]", [])
    if not tables or not all(isinstance(t, dict) for t in tables):
        raise file.error(("benchmark",), "no benchmark is listed", allowed="tables headed by [[benchmark]]")
    entries = tuple(_entry(file, n, table) for n, table in enumerate(tables))
    _refuse_twice(file, entries)
    return Suite(path.stem, title, description, quick, entries)


def _entry(file: toml.File, position: int, table: Mapping[str, Any]) -> Entry:
    at = ("benchmark", position)
    name = table.get("name")
    if not isinstance(name, str):
        raise file.error((*at, "name"), "a benchmark has no name", allowed='name = "packet_in", for instance')
    quick = table.get("quick", {})
    if not isinstance(quick, dict):
        raise file.error((*at, "quick"), f"quick is {quick!r}", allowed="a table [benchmark.quick]")
    params = {k: v for k, v in table.items() if k not in ("name", "quick")}
    return Entry(name, params, quick, file, position)


def _refuse_twice(file: toml.File, entries: tuple[Entry, ...]) -> None:
    """Trials are known by benchmark, point and repeat; a benchmark that stands twice would mix them up."""
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise ConfigError(
                f"{entry.place('name')}: {entry.name} is listed twice",
                advice="Give one entry all the values, or make two suites.",
            )
        seen.add(entry.name)


def _typed(file: toml.File, data: Mapping[str, Any], key: str, kind: type, allowed: str, default: Any) -> Any:
    value = data.get(key, default)
    if not isinstance(value, kind):
        raise file.error((key,), f"{key} is {value!r}", allowed=allowed)
    return value
