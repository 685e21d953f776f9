"""Fixtures of the unit tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# The run before landing draws the same examples each time, as Rust's property tests do. Examples are never too slow: hosts are shared.
settings.register_profile("flowgauge", derandomize="PROPTEST_RNG_SEED" in os.environ, deadline=None)
settings.load_profile("flowgauge")


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
