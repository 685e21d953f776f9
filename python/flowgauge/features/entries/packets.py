"""PACKET_IN and PACKET_OUT: contents, truncation, buffers (1.3.5, 6.1.2, 7.3.7, 7.4.1; 1.0.0, 5.3.6, 5.4.1)."""

from __future__ import annotations

from typing import Any

from flowgauge.features import frames
from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import UDP
from flowgauge.features.tester import Tester, through

ALL, NEW = VERSIONS, since("1.3")
CUT = 64
"""Bytes that are asked for, fewer than the frame has."""


def reserved(name: str, *ports: int) -> Any:
    """PACKET_OUT to a reserved port, as if it had come from port 1."""

    def test(tester: Tester) -> None:
        tester.packet_out(UDP, [{"output": {"port": name}}], *((p, UDP) for p in ports), in_port=tester.of(1))

    return test


def to_port(tester: Tester) -> None:
    """To one port, and to two."""
    tester.packet_out(UDP, [tester.output(2)], (2, UDP))
    tester.packet_out(UDP, [tester.output(1), tester.output(2)], (1, UDP), (2, UDP))
    tester.packet_out(UDP, [])


def to_table(tester: Tester) -> None:
    """To TABLE: the flow entries decide, by the port that it is said to have come from."""
    tester.flows("in_port={1},actions=output:{2}", "in_port={2},actions=drop")
    table = [{"output": {"port": "TABLE"}}]
    tester.packet_out(UDP, table, (2, UDP), in_port=tester.of(1))
    tester.packet_out(UDP, table, in_port=tester.of(2))


def changed(tester: Tester) -> None:
    """Actions are done in their order."""
    to = UDP.changed(ipv4_dst="10.1.2.4")
    set_field = {"set_field": {"ipv4_dst": "10.1.2.4"}}
    tester.packet_out(UDP, [tester.output(1), set_field, tester.output(2)], (1, UDP), (2, to))


def whole(tester: Tester) -> None:
    """total_len, in_port and cookie of a PACKET_IN, and the whole frame."""
    tester.flows("cookie=0x99,in_port={2},actions=CONTROLLER:65535")
    found, sent = punted(tester, 2)
    tester.equal("total_len", found["total_len"], len(sent))
    tester.equal("the data", found["data"].replace(" ", ""), sent.hex())
    tester.equal("in_port", found["match"].get("in_port"), tester.of(2))
    if tester.version != "1.0":
        tester.equal("the cookie", int(str(found["cookie"]), 0), 0x99)
        tester.equal("the table", found["table_id"], 0)


def truncated(tester: Tester) -> str:
    """max_len cuts the frame in the PACKET_IN; total_len tells its length. Without a buffer the whole frame may come."""
    tester.flows(f"in_port={{1}},actions=CONTROLLER:{CUT}")
    found, sent = punted(tester, 1)
    return _cut(tester, found, sent)


def miss_truncated(tester: Tester) -> str:
    """SET_CONFIG's miss_send_len cuts what a miss punts."""
    tester.afterwards(lambda: tester.control.set_miss_send_len(65535))
    tester.control.set_miss_send_len(CUT)
    found, sent = punted(tester, 1)
    return _cut(tester, found, sent)


def _cut(tester: Tester, found: dict[str, Any], sent: bytes) -> str:
    data = bytes.fromhex(found["data"])
    buffered = found["buffer_id"] is not None
    tester.equal("total_len", found["total_len"], len(sent))
    allowed = {CUT} if buffered else {CUT, len(sent)}
    tester.check(
        sent.startswith(data) and len(data) in allowed, f"{len(data)} bytes came, not the first {CUT}"
    )
    return f"{len(data)} of {len(sent)} bytes, {'buffered' if buffered else 'not buffered'}"


def punted(tester: Tester, port: int) -> tuple[dict[str, Any], bytes]:
    """The PACKET_IN of a frame into that port, and the frame."""
    tester.testbed.messages()
    tester.collect(port, [UDP], 0.05)
    mark = tester.last_sent[0][UDP.payload_at() :][:8]
    found = [m for m in tester.events("packet_in") if mark in bytes.fromhex(m["data"])]
    tester.check(bool(found), "no PACKET_IN came")
    return dict(found[0]), tester.last_sent[0]


def _buffer(tester: Tester) -> tuple[int, bytes]:
    """A buffered frame: its id, and the frame. Raises NotApplicable where the switch does not buffer."""
    if tester.version == "1.0":
        tester.control.set_miss_send_len(CUT)
        tester.afterwards(lambda: tester.control.set_miss_send_len(65535))
    else:
        tester.flows(f"in_port={{1}},actions=CONTROLLER:{CUT}")
    found, sent = punted(tester, 1)
    if found["buffer_id"] is None:
        raise tester.not_applicable("the switch does not buffer packets: PACKET_INs name no buffer")
    return int(found["buffer_id"]), sent


def buffered(tester: Tester) -> None:
    """PACKET_OUT of a buffer sends the whole frame, once."""
    buffer, sent = _buffer(tester)
    body = {"buffer_id": buffer, "in_port": tester.of(1), "actions": [tester.output(2)]}
    tester.request("packet_out", body)
    _came(tester, sent)
    error = tester.refuses(
        "a second PACKET_OUT of the buffer", lambda: tester.request("packet_out", body), "BUFFER"
    )
    tester.check(bool(error), "the second PACKET_OUT was not refused")


def buffered_mod(tester: Tester) -> None:
    """FLOW_MOD with a buffer's id sends the buffered frame through the new entry."""
    buffer, sent = _buffer(tester)
    body = {
        "buffer_id": buffer,
        "priority": 40000,
        "match": {"in_port": tester.of(1)},
        "instructions": [{"apply_actions": [tester.output(2)]}],
    }
    tester.request("flow_mod", body)
    _came(tester, sent)
    tester.exchange(through(1, UDP, 2))


def _came(tester: Tester, sent: bytes) -> None:
    mark = sent[UDP.payload_at() :][: len(frames.MARK) + 4]
    found = [(a.port + 1, a.frame) for a in tester.testbed.exchange([], mark, 1, 0.05, 1.0)]
    tester.check(
        found == [(2, sent)],
        f"the buffered frame came as {[(p, f.hex()) for p, f in found]}, sent was {sent.hex()}",
    )


def unknown_buffer(tester: Tester) -> str:
    """A buffer that is not there is refused."""
    body = {"buffer_id": 0x7FFFFF00, "in_port": tester.of(1), "actions": [tester.output(2)]}
    return tester.refuses(
        "PACKET_OUT of an unknown buffer",
        lambda: tester.request("packet_out", body),
        "BUFFER_UNKNOWN",
        "BUFFER_EMPTY",
    )


def row(name: str, text: str, test: Any, needed: tuple[str, ...] = (), **more: Any) -> Feature:
    """A row of this group."""
    return Feature("packet", name, text, test, required=frozenset(needed), needs=("request",), **more)


FEATURES: tuple[Feature, ...] = (
    row("in", "PACKET_IN: length, port, cookie, whole frame", whole, ALL),
    row("in.truncated", "PACKET_IN cut by max_len", truncated, ALL),
    row(
        "in.miss_send_len",
        "1.0: PACKET_IN of a miss cut by miss_send_len",
        miss_truncated,
        ("1.0",),
        versions=("1.0",),
    ),
    row("out.port", "PACKET_OUT to ports", to_port, ALL),
    row("out.in_port", "PACKET_OUT to IN_PORT", reserved("IN_PORT", 1), ALL),
    row("out.all", "PACKET_OUT to ALL", reserved("ALL", 2, 3), ALL, ports=3),
    row("out.flood", "PACKET_OUT to FLOOD", reserved("FLOOD", 2, 3), ports=3),
    row("out.table", "PACKET_OUT to TABLE", to_table, ALL),
    row("out.changed", "PACKET_OUT with set-field between two outputs", changed),
    row("buffer", "PACKET_OUT of a buffered frame", buffered),
    row("buffer.flow_mod", "FLOW_MOD with a buffered frame", buffered_mod),
    row("buffer.unknown", "an unknown buffer is refused", unknown_buffer),
)
