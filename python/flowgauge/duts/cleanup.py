"""Removes what crashed runs left behind: whatever a lease names whose owner is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flowgauge.duts.lease import leases
from flowgauge.errors import SetupError


@dataclass(frozen=True)
class Cleaned:
    """What was removed by lease (its purpose), what could not be, and which leases are in use by running processes."""

    removed: Mapping[str, list[str]] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    in_use: tuple[str, ...] = ()


def clean() -> Cleaned:
    """End all leases of this user whose owner is gone. Leases of running processes are left alone."""
    removed: dict[str, list[str]] = {}
    failed: dict[str, str] = {}
    in_use: list[str] = []
    for lease in leases():
        title = f"{lease.purpose} ({lease.id})"
        if not lease.stale():
            in_use.append(f"{title} of process {lease.owner.pid}")
            continue
        try:
            removed[title] = lease.end()
        except SetupError as error:
            failed[title] = error.message
    return Cleaned(removed, failed, tuple(in_use))
