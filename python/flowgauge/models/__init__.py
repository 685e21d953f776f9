"""Device models: what a simulated device is, in numbers, each with its source.

title = "NetFPGA 1G"             one line
description = "..."              what the device was
suite = "alien"                  the suite that its source measured it with

[link]                           groups of parameters; what is left out is ideal
rate_mbps = 1000

[sources]                        parameter -> where its value is from; fitted ones say how, on how many rows, and how well
"link.rate_mbps" = "D5.3 IV, 1.2.1"
"control.echo_ns" = { from = "Table 1-10", fit = "mean of the odd rows", rows = 6, residual = 0.02 }

The simulator knows the parameters and says what is wrong with one; this package only reads files and says where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flowgauge.errors import ConfigError
from flowgauge.names import unknown
from flowgauge.suites import toml

FOLDER = Path(__file__).parent
TEXTS = ("title", "description", "suite")
_SOURCE_KEYS = ("from", "fit", "rows", "residual")


@dataclass(frozen=True)
class Source:
    """Where a value is from. For a fitted one: how it was fitted, on how many rows, and the median deviation that is left."""

    text: str
    fit: str = ""
    rows: int | None = None
    residual: float | None = None

    def __str__(self) -> str:
        fitted = f"fit of {self.fit}" if self.fit else ""
        rows = f"{self.rows} rows" if self.rows else ""
        left = f"residual {self.residual:.1%}" if self.residual is not None else ""
        return "; ".join(filter(None, (self.text, ", ".join(filter(None, (fitted, rows, left))))))


@dataclass(frozen=True)
class ModelFile:
    """A device model as its file has it. `values` are the groups of parameters that it sets, and nothing else."""

    name: str
    path: Path
    title: str
    description: str
    suite: str
    values: Mapping[str, Any]
    sources: Mapping[str, Source]

    def json(self) -> str:
        """The parameters as the simulator reads them."""
        return json.dumps(self.values)

    def parameters(self) -> dict[str, Any]:
        """Every parameter that is set: dotted key -> value.

        >>> load("ideal").parameters()
        {}
        """
        return dict(flatten(self.values))


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of nested tables.

    >>> dict(flatten({"link": {"rate_mbps": 1000}}))
    {'link.rate_mbps': 1000}
    """
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def names() -> list[str]:
    """The models that come with Flowgauge.

    >>> "ideal" in names()
    True
    """
    return sorted(p.stem for p in FOLDER.glob("*.toml"))


def load(name: str) -> ModelFile:
    """A model by name, or by the path of its file. Raises UnknownNameError or ConfigError (file, key, what is allowed)."""
    if name.endswith(".toml") or "/" in name:
        return load_file(Path(name))
    if name not in names():
        raise unknown("device model", name, names())
    return load_file(FOLDER / f"{name}.toml")


def load_file(path: Path) -> ModelFile:
    """A model's file, checked by the simulator."""
    file = toml.read(path)
    texts = {key: file.data.get(key, "") for key in TEXTS}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise file.error((key,), f"{key} is {value!r}", allowed="a text")
    values = {k: v for k, v in file.data.items() if k not in (*TEXTS, "sources")}
    _check(file, values)
    return ModelFile(
        name=path.stem,
        path=path,
        title=texts["title"] or path.stem,
        description=" ".join(texts["description"].split()),
        suite=texts["suite"],
        values=values,
        sources=_sources(file, values),
    )


def whole(model: ModelFile) -> dict[str, Any]:
    """Every parameter of the simulator with this model's value, or the ideal one: dotted key -> value."""
    from flowgauge import _core

    return dict(flatten(json.loads(_core.check_model(model.json()))))


def _check(file: toml.File, values: Mapping[str, Any]) -> None:
    """Let the simulator judge the parameters. Raises ConfigError that names the file, the line and the key."""
    from flowgauge import _core

    for group, value in values.items():
        if not isinstance(value, Mapping):
            raise file.error((group,), f"{group} is {value!r}", allowed=f"a group of parameters [{group}]")
    try:
        _core.check_model(json.dumps(values))
    except ConfigError as error:
        key = error.message.partition(": ")[0]
        unknown_key = re.search(r"unknown field `(\w+)`", error.message)
        if unknown_key:
            key += f".{unknown_key[1]}"
        raise ConfigError(
            f"{file.place(key.split('.'))}: {error.message}", advice=error.advice or f"Mend {file.path}."
        ) from error


def _sources(file: toml.File, values: Mapping[str, Any]) -> dict[str, Source]:
    table = file.data.get("sources", {})
    if not isinstance(table, Mapping):
        raise file.error(("sources",), f"sources is {table!r}", allowed="a table [sources]")
    known = dict(flatten(values))
    found = {}
    for key, value in table.items():
        if key not in known:
            raise file.error(
                ("sources", key), f"there is no parameter {key} in this file", allowed=", ".join(known)
            )
        found[key] = _source(file, key, value)
    return found


def _source(file: toml.File, key: str, value: Any) -> Source:
    if isinstance(value, str):
        return Source(value)
    if not isinstance(value, Mapping) or not set(value) <= set(_SOURCE_KEYS) or "from" not in value:
        allowed = f"a text, or a table with from and perhaps {', '.join(_SOURCE_KEYS[1:])}"
        raise file.error(("sources", key), f"the source of {key} is {value!r}", allowed=allowed)
    return Source(value["from"], value.get("fit", ""), value.get("rows"), value.get("residual"))
