"""What the controllers that take text share: entries as text, and the parts of `Control` that none of them can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flowgauge.controllers.interface import refuse
from flowgauge.errors import NotOfferedError
from flowgauge.flows import Schedule
from flowgauge.testbed.control import flow_mods
from flowgauge.testbed.interface import ECHO, ENTRIES, PACKET_IN, PACKET_OUT, REQUEST, Entry, Play, Stream

Lines = list[str]


def texts(command: str, entries: tuple[Entry, ...]) -> Lines:
    """The entries' flows as ovs-ofctl texts, one per flow; those of deletes without actions."""
    return [text for entry in entries for text in flow_mods(command, entry).texts()]


def whole_speed(controller: str, schedule: Schedule | None) -> None:
    """Raise NotOfferedError for a schedule other than "as quickly as possible": we don't send the messages ourselves."""
    if schedule is not None and schedule.kind != "max":
        raise NotOfferedError(
            f"entries can't be paced through the controller {controller}",
            advice="--controller builtin sends them on a schedule.",
        )


class Untimed:
    """Base of control paths through somebody else: what needs our own channel is refused with the reason."""

    name = ""
    """The controller's, for messages."""

    @property
    def abilities(self) -> frozenset[str]:
        """Entries, and what goes with them."""
        return frozenset((ENTRIES,))

    def set_miss_send_len(self, length: int) -> None:
        """Not offered: it matters for PACKET_INs, which don't come to us."""
        refuse(self.name, PACKET_IN)

    def echo(self, schedule: Schedule, duration_s: float) -> Play:
        """Not offered."""
        refuse(self.name, ECHO)

    def packet_out(self, stream: Stream, out_port: int, duration_s: float) -> Play:
        """Not offered."""
        refuse(self.name, PACKET_OUT)

    def request(self, message: Mapping[str, Any], timeout_s: float | None = None) -> list[dict[str, Any]]:
        """Not offered."""
        refuse(self.name, REQUEST)
