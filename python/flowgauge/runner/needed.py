"""Feature tests on behalf of benchmarks: what the runner measures when a benchmark names a feature that nobody tested lately."""

from __future__ import annotations

from flowgauge import benchmarks
from flowgauge.model import Point
from flowgauge.runner.plan import Item

NAME = "features"
"""The benchmark that makes feature tests."""


def item() -> Item:
    """That benchmark with its defaults."""
    kind = benchmarks.load(NAME)
    return Item(NAME, benchmarks.paths()[NAME], kind(), kind.params_type())


def point(feature: str) -> Point | None:
    """The point at which it tests a feature; None for a feature that has no test (a third party's name for it)."""
    from flowgauge.features.catalogue import FEATURES

    found = FEATURES.get(feature)
    return None if found is None else Point(group=found.group, feature=found.name)
