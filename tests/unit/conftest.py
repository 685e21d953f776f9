"""Fixtures of the unit tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the fake testbed, whose benchmarks are registered."""
    import fakes

    from flowgauge import benchmarks

    folder = tmp_path / "fake"
    folder.mkdir()
    monkeypatch.setenv("FLOWGAUGE_FAKE", str(folder))
    for name, path in fakes.BENCHMARKS.items():
        monkeypatch.setitem(benchmarks.BUILTIN, name, path)
    return folder
