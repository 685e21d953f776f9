"""What is known of a switch's features: results of earlier tests, kept for a day for each DUT as it describes itself.

Benchmarks name the features that they need; the runner looks here first, and tests what it does not find.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from flowgauge import cache
from flowgauge.features.feature import Result

MAX_AGE_S = 86_400.0
_CHANGING = ("cores", "datapath", "datapath_id", "ports", "serial_number", "error")
"""Parts of a description that differ from start to start."""


class FeatureBook:
    """Results for one DUT, in a file of the user's cache."""

    def __init__(self, path: Path) -> None:
        """What an unreadable file holds is forgotten."""
        self._path = path
        self._known = cache.read(path)

    @staticmethod
    def of(name: str, dut: Mapping[str, Any], version: str | None) -> FeatureBook:
        """The book of a DUT by its name on the command line, its description, and the OpenFlow version."""
        return FeatureBook(folder() / f"{key(name, dut, version)}.json")

    def get(self, feature: str) -> tuple[Result, str] | None:
        """Result and detail of a test of the last day, None when there is none."""
        entry = self._known.get(feature)
        try:
            age = time.time() - float(entry["at"])  # type: ignore[index]
            found = (Result(entry["result"]), str(entry["detail"]))  # type: ignore[index]
        except (TypeError, KeyError, ValueError):
            return None
        return found if 0 <= age < MAX_AGE_S else None

    def put(self, feature: str, result: str, detail: str) -> None:
        """Keep a result."""
        self._known[feature] = {"result": result, "detail": detail, "at": time.time()}
        cache.write(self._path, self._known)


def folder() -> Path:
    """Where the books are."""
    return cache.folder() / "features"


def key(name: str, dut: Mapping[str, Any], version: str | None) -> str:
    """What tells switches apart: name, description without what changes from start to start, version, and our own build."""
    from flowgauge import _core

    def steady(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {k: steady(v) for k, v in sorted(value.items()) if k not in _CHANGING}
        return value

    build = 0
    with suppress(OSError, TypeError):
        build = Path(str(_core.__file__)).stat().st_mtime_ns
    text = json.dumps([name, steady(dut), version, _core.__version__, build], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
