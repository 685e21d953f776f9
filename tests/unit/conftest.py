"""Fixtures of the unit tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the fake testbed, whose benchmarks and suite are all there are."""
    import fakes

    from flowgauge import benchmarks, suites

    folder = tmp_path / "fake"
    folder.mkdir()
    monkeypatch.setenv("FLOWGAUGE_FAKE", str(folder))
    monkeypatch.setattr(benchmarks, "BUILTIN", fakes.BENCHMARKS)
    monkeypatch.setattr(suites, "FOLDER", folder / "suites")
    (folder / "suites").mkdir()
    (folder / "suites" / "small.toml").write_text('[[benchmark]]\nname = "fake"\n')
    return folder
