"""Small JSON files in the user's cache: what is cheap to lose and dear to measure again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def folder() -> Path:
    """$XDG_CACHE_HOME/flowgauge (~/.cache)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "flowgauge"


def read(path: Path) -> dict[str, Any]:
    """The object in a file; empty when there is none, or something else."""
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Written aside and renamed, so that nobody reads half of it. A cache that can't be written is no reason to fail."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
        aside.write_text(json.dumps(data, indent=1))
        aside.rename(path)
