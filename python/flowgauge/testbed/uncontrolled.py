"""The control path of a DUT that has none: everything is refused, and what there would be to read is empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from flowgauge.controllers.common import Untimed
from flowgauge.controllers.interface import NONE, refuse
from flowgauge.flows import Schedule
from flowgauge.testbed.interface import ENTRIES, Entry, Play


def _refuse(*_arguments: object, **_options: object) -> NoReturn:
    refuse(NONE, ENTRIES)


class Uncontrolled(Untimed):
    """Implements `Control`; it has no ability."""

    name = NONE
    version = NONE

    @property
    def abilities(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def describe(self) -> Mapping[str, Any]:
        """Nothing: its driver knows it."""
        return {}

    def add(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """Not offered."""
        _refuse()

    def modify(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """Not offered."""
        _refuse()

    def delete(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """Not offered."""
        _refuse()

    def install(self, *entries: Entry) -> None:
        """Not offered."""
        _refuse()

    def install_table_miss(self, actions: str) -> None:
        """Not offered."""
        _refuse()

    def delete_all(self) -> None:
        """Not offered."""
        _refuse()

    def count_entries(self) -> int:
        """Not offered."""
        _refuse()

    add_flows = modify_flows = delete_flows = dump_flows = _refuse
    add_group = modify_group = delete_groups = _refuse
    add_meter = modify_meter = delete_meters = _refuse
