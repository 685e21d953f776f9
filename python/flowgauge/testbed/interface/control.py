"""The control path: flow entries, messages, and sequences of messages played on a schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from flowgauge.flows import FlowSet, Schedule
from flowgauge.testbed.interface.traffic import Nanoseconds, Stream


@dataclass(frozen=True)
class Entry:
    """One flow entry per flow of `flows`: exact on `match` (names of fields; None: all that the set has, plus in_port).

    `actions` in ovs-ofctl syntax ("output:2", "drop", "mod_nw_ttl:3,output:1"). `in_port` None leaves it out.
    """

    flows: FlowSet | None
    actions: str = "drop"
    priority: int = 32768
    match: tuple[str, ...] | None = None
    in_port: int | None = None
    idle_timeout: int = 0
    hard_timeout: int = 0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlayResult:
    """What came of a played sequence. Arrays are indexed by message.

    `sent_ns`: when its first byte was handed to the socket, -1 if it never was; `reply_ns`: arrival of the reply with its
    xid (last part), -1 if none. `acknowledged`: messages whose bytes the switch's TCP acknowledged at the end.
    `errors`: (message index, type, code, text) of OpenFlow errors. `closed`: why the channel ended, if it did.
    `barrier_ns`: arrival of the reply to the closing barrier, None if there was none.
    """

    requested: int
    sent: int
    acknowledged: int
    sent_ns: NDArray[np.int64]
    reply_ns: NDArray[np.int64]
    payload_intact: NDArray[np.bool_]
    errors: Sequence[tuple[int, int, int, str]]
    closed: str | None
    first_byte_ns: Nanoseconds | None
    barrier_ns: Nanoseconds | None
    gap_error_ns: Mapping[str, float]


class Play(Protocol):
    """A sequence of control messages on its way."""

    def wait(self, timeout_s: float | None = None) -> PlayResult:
        """Until all are sent and answered. Raises ReplyTimeoutError when a reply or the barrier is overdue."""

    def stop(self) -> PlayResult:
        """Send no more; return what was done."""


PACKET_IN, PACKET_OUT, ECHO, REQUEST, ENTRIES = "packet_in", "packet_out", "echo", "request", "entries"
"""Abilities of a control path: frames in PACKET_INs with their times (and `set_miss_send_len`), timed PACKET_OUTs, timed
ECHO_REQUESTs, single messages with their replies, and flow entries, groups, meters and statistics. Through a controller that is not ours
only the last may be possible; a DUT without OpenFlow has none.
"""


class Control(Protocol):
    """The switch's control path, in any OpenFlow version and through any controller. Raises ChannelError and its kinds.

    Flows, groups and meters as text are in the syntax of ovs-ofctl, without a command in front. What was refused raises
    RejectedError, with the names of the error's type and code where the controller hands them on. What this controller can't do or
    say raises NotOfferedError.
    """

    @property
    def version(self) -> str:
        """ "1.0", "1.3", "1.4" or "1.5"."""

    @property
    def abilities(self) -> frozenset[str]:
        """Which of PACKET_IN, PACKET_OUT, ECHO, REQUEST, ENTRIES are possible."""

    def add_flows(self, *texts: str) -> None:
        """Add flow entries ("priority=1,tcp,tp_dst=80,actions=output:2"); returns after a barrier."""

    def modify_flows(self, *texts: str, strict: bool = False) -> None:
        """Modify those that match; returns after a barrier."""

    def delete_flows(self, *texts: str, strict: bool = False) -> None:
        """Delete those that match, from all tables unless one is named; returns after a barrier."""

    def dump_flows(self) -> list[str]:
        """All flow entries with their counters, as `ovs-ofctl dump-flows` prints them; the order is the switch's."""

    def add_group(self, text: str) -> None:
        """Add a group: "group_id=1,type=all,bucket=output:1,bucket=output:2"; returns after a barrier."""

    def modify_group(self, text: str) -> None:
        """Replace a group's type and buckets; returns after a barrier."""

    def delete_groups(self, text: str = "") -> None:
        """Delete a group ("group_id=1"), or all; returns after a barrier. Does nothing on OpenFlow 1.0."""

    def add_meter(self, text: str) -> None:
        """Add a meter: "meter=1,kbps,burst,bands=type=drop,rate=1000,burst_size=100"; returns after a barrier."""

    def modify_meter(self, text: str) -> None:
        """Replace a meter's flags and bands; returns after a barrier."""

    def delete_meters(self, text: str = "") -> None:
        """Delete a meter ("meter=1"), or all; returns after a barrier. Does nothing on OpenFlow 1.0."""

    def request(self, message: Mapping[str, Any], timeout_s: float | None = None) -> list[dict[str, Any]]:
        """Send one message, given as the JSON of `flowgauge openflow decode`, and a barrier; its replies. Ability REQUEST."""

    def delete_all(self) -> None:
        """Remove all flow entries; returns after a barrier."""

    def install(self, *entries: Entry) -> None:
        """Add flow entries; returns after a barrier. Raises RejectedError when the switch refuses one."""

    def install_table_miss(self, actions: str) -> None:
        """The lowest-priority entry that matches everything: "drop", "CONTROLLER:65535", "output:2"."""

    def set_miss_send_len(self, length: int) -> None:
        """SET_CONFIG; 65535 asks for whole frames."""

    def count_entries(self) -> int:
        """How many flow entries the switch says it holds (read back with flow or aggregate statistics)."""

    def describe(self) -> Mapping[str, Any]:
        """The switch's own description, features, tables and ports."""

    def add(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """Play FLOW_MOD adds, as quickly as possible unless a schedule is given, then a barrier."""

    def modify(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """The same with strict modifies."""

    def delete(self, *entries: Entry, schedule: Schedule | None = None) -> Play:
        """The same with strict deletes."""

    def echo(self, schedule: Schedule, duration_s: float) -> Play:
        """Play ECHO_REQUESTs with the send time as payload."""

    def packet_out(self, stream: Stream, out_port: int, duration_s: float) -> Play:
        """Play PACKET_OUTs that carry the stream's probes, stamped when they are sent."""
