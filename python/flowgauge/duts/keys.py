"""Values of a TOML file by key, with errors that name file, line, key and what is allowed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from flowgauge.errors import ConfigError
from flowgauge.suites import toml

T = TypeVar("T")


@dataclass(frozen=True)
class Keys:
    """Values of a TOML file by key, with errors that name file, line, key and what is allowed."""

    file: toml.File

    def only(self, where: tuple[str | int, ...], names: Sequence[str]) -> None:
        """Raises ConfigError when the table at `where` holds another key."""
        header = f"[{where[0]}]" if len(where) == 1 else f"[[{where[0]}]]" if where else ""
        table = self.value(where, dict, f"a table: {header}", default={})
        for name in table:
            if name not in names:
                raise self.file.error((*where, name), f'unknown key "{name}"', allowed=", ".join(names))

    def value(self, where: toml.Keys, kind: type[T], allowed: str, *, default: T | None = None) -> T:
        """The value at `where`. Raises ConfigError when it is of another kind, or missing and without a default."""
        value: Any = self.file.data
        for key in where:
            if isinstance(value, list):
                value = value[int(key)]
            elif isinstance(value, dict) and key in value:
                value = value[key]
            elif default is not None:
                return default
            else:
                raise self.file.error(where, f"{where[-1]} is missing", allowed=allowed)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(where, value, allowed)
        return value

    def wrong(self, where: toml.Keys, value: Any, allowed: str) -> ConfigError:
        """The error for a value that is not allowed."""
        what = where[-1] if isinstance(where[-1], str) else f"an element of {where[-2]}"
        return self.file.error(where, f"{what} is {json.dumps(value, default=str)}", allowed=allowed)
