"""What controllers of somebody else's share: entries as text, watched calls, and the parts of `Control` that none of them can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from flowgauge.controllers.interface import Guard, refuse
from flowgauge.errors import FlowgaugeError, NotOfferedError
from flowgauge.flows import Schedule
from flowgauge.testbed.control import flow_mods
from flowgauge.testbed.interface import ECHO, ENTRIES, PACKET_IN, PACKET_OUT, REQUEST, Entry, Play, Stream

Lines = list[str]
T = TypeVar("T")


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


class TextControl(Untimed, ABC):
    """Base of control paths that take entries as text: its kinds differ in how they send them."""

    def __init__(self, version: str, guard: Guard) -> None:
        """`guard` raises when the DUT is gone."""
        self._version = version
        self._guard = guard

    @property
    def version(self) -> str:
        """The version that was asked for."""
        return self._version

    def install(self, *entries: Entry) -> None:
        """Add the flows of the entries."""
        self.add_flows(*texts("add", entries))

    def install_table_miss(self, actions: str) -> None:
        """The lowest-priority entry."""
        self.add_flows(f"priority=0,actions={actions}")

    @abstractmethod
    def add_flows(self, *flows: str) -> None:
        """Add flows; returns when they are installed."""

    def add(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """As quickly as it goes, timed from the first call to the last return."""
        return self._play("add", entries, schedule)

    def modify(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """The same with strict modifies."""
        return self._play("modify_strict", entries, schedule)

    def delete(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """The same with strict deletes."""
        return self._play("delete_strict", entries, schedule)

    def _play(self, command: str, entries: tuple[Entry, ...], schedule: Schedule | None) -> Play:
        whole_speed(self.name, schedule)
        return self._sending(command, texts(command, entries))

    @abstractmethod
    def _sending(self, command: str, lines: Lines) -> Play:
        """Flows on their way."""

    def _guarded(self, call: Callable[[], T]) -> T:
        """What the call gives; a DUT that died is the reason behind whatever it raises."""
        self._guard(False)
        try:
            return call()
        except FlowgaugeError:
            self._guard(False)
            raise
