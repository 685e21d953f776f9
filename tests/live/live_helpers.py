"""Helpers of the live tests."""

from __future__ import annotations

from pathlib import Path


def exists(namespaces: list[str], directories: list[str]) -> list[str]:
    """Those of the namespaces and directories that are there."""
    found = [n for n in namespaces if (Path("/run/netns") / n).exists()]
    return found + [d for d in directories if Path(d).exists()]
