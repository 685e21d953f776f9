"""The control path of the live testbed over the built-in channel."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from flowgauge import _core
from flowgauge.errors import RejectedError, ReplyTimeoutError, UsageError
from flowgauge.flows import FlowSet, Schedule
from flowgauge.testbed.interface import (
    CONTROL,
    ECHO,
    ENTRIES,
    PACKET_IN,
    PACKET_OUT,
    REQUEST,
    Entry,
    PlayResult,
    Stream,
)
from flowgauge.testbed.transmission import LiveTransmission

TIMEOUT_S = 30.0
"""For a reply that the switch owes us, and a barrier behind few messages."""
PER_MESSAGE_S = 0.01
"""More patience per message: hardware that takes 10 ms per entry is slow, not broken."""
SLICE_S = 0.05
NOT_MATCHED = ("ipv4_id", "nw_ttl")
"""Header fields of flow sets that no OpenFlow match has."""


class LivePlay:
    """Messages on their way. `guard` raises when the DUT is gone."""

    def __init__(
        self,
        core: _core.Play,
        patience_s: float,
        guard: Callable[[bool], None],
        done: Callable[[PlayResult], None] = lambda result: None,
        now: Callable[[], int] = _core.now,
    ) -> None:
        """Watches a play that was just started; `done` hears its result; `now` is the testbed's clock."""
        self._core = core
        self._patience_s = patience_s
        self._guard = guard
        self._done = done
        self._now = now
        self._result: PlayResult | None = None

    def wait(self, timeout_s: float | None = None) -> PlayResult:
        """Until all are sent and answered. Raises ReplyTimeoutError when that takes longer than `timeout_s`."""
        limit_s = self._patience_s if timeout_s is None else timeout_s
        deadline = self._now() + round(limit_s * 1e9)
        while self._result is None and not self._core.wait(SLICE_S):
            self._guard(False)
            if self._now() >= deadline:
                result = self.stop()
                missing = int((result.reply_ns < 0).sum()) if len(result.reply_ns) else 0
                raise ReplyTimeoutError(
                    f"the switch did not answer within {limit_s:g} s: {result.sent} of {result.requested} messages "
                    f"sent, {missing} without a reply",
                    advice="a slow switch needs a longer timeout_s",
                )
        result = self._finish()
        if result.closed is not None:
            self._guard(False)
        return result

    def stop(self) -> PlayResult:
        """Send no more; return what was done."""
        self._core.stop()
        return self._finish()

    def _finish(self) -> PlayResult:
        if self._result is None:
            self._result = PlayResult(**self._core.finish())
            self._done(self._result)
        return self._result


class LiveControl:
    """The switch's control path over one connection."""

    def __init__(
        self,
        connection: _core.Connection,
        guard: Callable[[bool], None],
        current: Callable[[], LiveTransmission | None],
        now: Callable[[], int] = _core.now,
    ) -> None:
        """`current` gives the running transmission, whose probes PACKET_OUTs carry; `now` is the testbed's clock."""
        self._connection = connection
        self._guard = guard
        self._current = current
        self._now = now

    @property
    def version(self) -> str:
        """The version that was agreed on."""
        return self._connection.version

    @property
    def abilities(self) -> frozenset[str]:
        """All."""
        return frozenset((PACKET_IN, PACKET_OUT, ECHO, REQUEST, ENTRIES))

    def add_flows(self, *texts: str) -> None:
        """Add flow entries in ovs-ofctl syntax; returns after a barrier."""
        self._apply(*(_core.FlowMods("add", text) for text in texts))

    def modify_flows(self, *texts: str, strict: bool = False) -> None:
        """Modify those that match."""
        self._apply(*(_core.FlowMods("modify_strict" if strict else "modify", text) for text in texts))

    def delete_flows(self, *texts: str, strict: bool = False) -> None:
        """Delete those that match, from all tables unless one is named."""
        self._apply(*(_core.FlowMods("delete_strict" if strict else "delete", text) for text in texts))

    def dump_flows(self) -> list[str]:
        """All flow entries with their counters, as ovs-ofctl prints them."""
        return self._connection.dump_flows(TIMEOUT_S)

    def add_group(self, text: str) -> None:
        """Add a group in ovs-ofctl syntax."""
        self._send(_core.encode_group("add", text, self.version))

    def modify_group(self, text: str) -> None:
        """Replace a group's type and buckets."""
        self._send(_core.encode_group("modify", text, self.version))

    def delete_groups(self, text: str = "") -> None:
        """Delete a group, or all. Does nothing on OpenFlow 1.0, which has none."""
        if self.version != "1.0":
            self._send(_core.encode_group("delete", text, self.version))

    def add_meter(self, text: str) -> None:
        """Add a meter in ovs-ofctl syntax."""
        self._send(_core.encode_meter("add", text, self.version))

    def modify_meter(self, text: str) -> None:
        """Replace a meter's flags and bands."""
        self._send(_core.encode_meter("modify", text, self.version))

    def delete_meters(self, text: str = "") -> None:
        """Delete a meter, or all. Does nothing on OpenFlow 1.0, which has none."""
        if self.version != "1.0":
            self._send(_core.encode_meter("delete", text, self.version))

    def request(self, message: Mapping[str, Any], timeout_s: float | None = None) -> list[dict[str, Any]]:
        """Send one message and return its replies."""
        limit_s = TIMEOUT_S if timeout_s is None else timeout_s
        return [json.loads(reply) for reply in self._connection.request(json.dumps(message), limit_s)]

    def delete_all(self) -> None:
        """Remove all flow entries; returns after a barrier."""
        self._apply(_core.FlowMods("delete", ""))

    def install(self, *entries: Entry) -> None:
        """Add flow entries; returns after a barrier. Raises RejectedError when the switch refuses one."""
        self._apply(*(flow_mods("add", entry) for entry in entries))

    def install_table_miss(self, actions: str) -> None:
        """The lowest-priority entry that matches everything."""
        self._apply(_core.FlowMods("add", f"priority=0,actions={actions}"))

    def set_miss_send_len(self, length: int) -> None:
        """SET_CONFIG; 65535 asks for whole frames."""
        self._connection.set_miss_send_len(length, TIMEOUT_S)

    def count_entries(self) -> int:
        """How many flow entries the switch says it holds (aggregate statistics)."""
        return self._connection.count_entries(TIMEOUT_S)

    def describe(self) -> Mapping[str, Any]:
        """The switch's own description, features, tables and ports."""
        return self._connection.describe(TIMEOUT_S)

    def add(self, *entries: Entry, schedule: Schedule | None = None) -> LivePlay:
        """Play FLOW_MOD adds, as quickly as possible unless a schedule is given, then a barrier."""
        return self._play("add", entries, schedule)

    def modify(self, *entries: Entry, schedule: Schedule | None = None) -> LivePlay:
        """The same with strict modifies."""
        return self._play("modify_strict", entries, schedule)

    def delete(self, *entries: Entry, schedule: Schedule | None = None) -> LivePlay:
        """The same with strict deletes."""
        return self._play("delete_strict", entries, schedule)

    def echo(self, schedule: Schedule, duration_s: float) -> LivePlay:
        """Play ECHO_REQUESTs with the send time as payload."""
        core = self._connection.echo(schedule, round(duration_s * 1e9))
        return LivePlay(core, duration_s + TIMEOUT_S, self._need_channel, now=self._now)

    def packet_out(self, stream: Stream, out_port: int, duration_s: float) -> LivePlay:
        """Play PACKET_OUTs that carry the stream's probes. The stream must be part of the running transmission."""
        transmission = self._current()
        if transmission is None or stream not in transmission.streams or stream.source != CONTROL:
            raise UsageError(f"stream {stream.name!r} is not being transmitted with source CONTROL")
        index = transmission.streams.index(stream)
        core = self._connection.packet_out(
            transmission.core, index, out_port, round(duration_s * 1e9), stream.schedule
        )
        return LivePlay(
            core,
            duration_s + TIMEOUT_S,
            self._guard,
            lambda result: transmission.core.set_sent(index, result.sent),
            self._now,
        )

    def _play(self, command: str, entries: tuple[Entry, ...], schedule: Schedule | None) -> LivePlay:
        mods = [flow_mods(command, entry) for entry in entries]
        messages = sum(map(len, mods))
        schedule = schedule or Schedule.max()
        paced_s = float(messages / schedule.rate) if schedule.rate else 0.0
        core = self._connection.flow_mods(mods, schedule)
        patience_s = paced_s + TIMEOUT_S + PER_MESSAGE_S * messages
        return LivePlay(core, patience_s, self._need_channel, now=self._now)

    def _need_channel(self, _: bool) -> None:
        """Guards plays whose result is in the replies: the channel's end fails the trial."""
        self._guard(True)

    def _send(self, *messages: bytes) -> None:
        """Send whole messages and a barrier. Raises RejectedError for the first that was refused."""
        self._guard(True)
        self._connection.apply(messages, TIMEOUT_S)

    def _apply(self, *mods: _core.FlowMods) -> None:
        core = self._connection.flow_mods(mods, Schedule.max())
        patience_s = TIMEOUT_S + PER_MESSAGE_S * sum(map(len, mods))
        result = LivePlay(core, patience_s, self._guard, now=self._now).wait()
        if result.errors:
            index, kind, code, text = result.errors[0]
            error = RejectedError(
                f"the switch refused message {index + 1} of {result.requested}: {text} (type {kind}, code {code})"
            )
            error.error_type, error.code, error.reason = kind, code, text
            raise error
        if result.closed is not None:
            self._guard(True)


def flow_mods(command: str, entry: Entry) -> _core.FlowMods:
    """The FLOW_MODs of an entry, one per flow."""
    parts = [f"priority={entry.priority}"]
    if entry.in_port is not None:
        parts.append(f"in_port={entry.in_port}")
    if entry.idle_timeout:
        parts.append(f"idle_timeout={entry.idle_timeout}")
    if entry.hard_timeout:
        parts.append(f"hard_timeout={entry.hard_timeout}")
    parts.extend(entry.flags)
    if not command.startswith("delete"):
        parts.append(f"actions={entry.actions}")
    return _core.FlowMods(command, ",".join(parts), entry.flows, match_fields(entry.flows, entry.match))


def match_fields(flows: FlowSet | None, match: tuple[str, ...] | None) -> list[str] | None:
    """The fields on which entries match: those named, or all that the set has."""
    if flows is None:
        return None
    return [f for f in flows.fields if f not in NOT_MATCHED] if match is None else list(match)
