"""Every feature test, in the order of the matrix."""

from __future__ import annotations

from collections.abc import Sequence

from flowgauge.errors import UsageError
from flowgauge.features.entries import (
    actions,
    flow_mods,
    groups,
    later,
    match_fields,
    meters,
    outputs,
    packets,
    pipeline,
    ports,
    session,
    set_fields,
    statistics,
)
from flowgauge.features.feature import Feature
from flowgauge.names import unknown

PARTS = (
    session,
    match_fields,
    outputs,
    set_fields,
    actions,
    pipeline,
    groups,
    meters,
    flow_mods,
    packets,
    statistics,
    ports,
    later,
)


def _ordered() -> dict[str, Feature]:
    """By id; groups stay together, in the order in which they first appear."""
    found = [feature for part in PARTS for feature in part.FEATURES]
    order = list(dict.fromkeys(feature.group for feature in found))
    return {f.id: f for f in sorted(found, key=lambda f: order.index(f.group))}


FEATURES: dict[str, Feature] = _ordered()


def get(name: str) -> Feature:
    """The feature with that id. Raises UnknownNameError."""
    if name not in FEATURES:
        raise unknown("feature", name, FEATURES)
    return FEATURES[name]


def select(words: Sequence[str]) -> list[Feature]:
    """The features whose id contains one of the words; all when there are no words. Raises UsageError when none does."""
    found = [f for f in FEATURES.values() if not words or any(word in f.id for word in words)]
    if not found:
        raise UsageError(
            f"no feature's name contains {' or '.join(words)}", advice="`flowgauge list features` shows all."
        )
    return found
