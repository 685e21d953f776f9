"""What 1.4 and 1.5 added: bundles (1.4.1, 6.8), eviction and vacancy (1.4.1, 7.3.4.1), flow monitoring; egress tables (1.5.1,
5.1.2), packet types (1.5.1, 7.2.3.11), copy-field, meters as actions.
"""

from __future__ import annotations

from typing import Any

from flowgauge.features.entries.session import entry
from flowgauge.features.feature import Feature, since
from flowgauge.features.frames import ARP, TCP, UDP, VLAN
from flowgauge.features.tester import Probe, Tester, through

V14, V15 = since("1.4"), since("1.5")
FLAGS = ["atomic", "ordered"]
BUNDLE = 7


def control(tester: Tester, kind: str) -> None:
    """Open, close, commit or discard the bundle."""
    tester.request("bundle_control", {"bundle_id": BUNDLE, "control_type": f"{kind}_request", "flags": FLAGS})


def opened(tester: Tester) -> None:
    """Open the bundle; it is discarded at the end if it is still there."""
    control(tester, "open")
    tester.afterwards(lambda: control(tester, "discard"))


def add(tester: Tester, body: dict[str, Any]) -> None:
    """Put a FLOW_MOD into the bundle."""
    message = {"xid": 0, "flow_mod": body}
    tester.request(
        "bundle_add_message", {"bundle_id": BUNDLE, "flags": FLAGS, "message": message, "properties": []}
    )


def to_port(tester: Tester, source: int, sink: int) -> dict[str, Any]:
    """A FLOW_MOD from port to port."""
    output = [{"apply_actions": [tester.output(sink)]}]
    return entry(match={"in_port": tester.of(source)}, instructions=output)


def commit(tester: Tester) -> None:
    """Nothing of a bundle is in effect before the commit, all of it after."""
    opened(tester)
    add(tester, to_port(tester, 1, 2))
    add(tester, to_port(tester, 2, 1))
    tester.exchange(Probe(1, UDP), Probe(2, UDP))
    control(tester, "close")
    tester.exchange(Probe(1, UDP), Probe(2, UDP))
    control(tester, "commit")
    tester.exchange(through(1, UDP, 2), through(2, UDP, 1))


def discard(tester: Tester) -> None:
    """Nothing of a discarded bundle takes effect; its id is free again."""
    opened(tester)
    add(tester, to_port(tester, 1, 2))
    control(tester, "discard")
    tester.exchange(Probe(1, UDP))
    control(tester, "open")
    control(tester, "discard")


def atomic(tester: Tester) -> str:
    """One bad message in the bundle: none of it takes effect."""
    opened(tester)
    add(tester, to_port(tester, 1, 2))
    bad = entry(match={"in_port": tester.of(2)}, instructions=[{"goto_table": 0}])

    def rest() -> None:
        add(tester, bad)
        control(tester, "commit")

    error = tester.refuses("a bundle with a bad message", rest)
    tester.exchange(Probe(1, UDP))
    return error


def unknown(tester: Tester) -> str:
    """A bundle that was not opened can't be committed."""
    return tester.refuses("the commit of an unknown bundle", lambda: control(tester, "commit"), "BAD_ID")


def twice(tester: Tester) -> str:
    """A bundle can't be opened twice."""
    opened(tester)
    return tester.refuses("a bundle opened twice", lambda: control(tester, "open"), "BUNDLE_EXIST", "BAD_ID")


def eviction(tester: Tester) -> None:
    """TABLE_MOD turns eviction on and off; TABLE_DESC tells."""
    tester.afterwards(lambda: tester.request("table_mod", {"table_id": 0, "config": []}))
    for config in (["eviction"], []):
        tester.request("table_mod", {"table_id": 0, "config": config})
        found = next(t for t in tester.statistics("table_desc") if t["table_id"] == 0)
        told = "EVICTION" in {str(flag).upper() for flag in found["config"]}
        tester.equal("EVICTION in the table's configuration", told, bool(config))


def vacancy(tester: Tester) -> None:
    """TABLE_MOD turns vacancy events on; TABLE_DESC tells the thresholds."""
    tester.afterwards(lambda: tester.request("table_mod", {"table_id": 0, "config": []}))
    body = {"table_id": 0, "config": ["vacancy_events"], "vacancy": {"down": 10, "up": 20, "current": 0}}
    tester.request("table_mod", body)
    found = next(t for t in tester.statistics("table_desc") if t["table_id"] == 0)
    tester.equal("the thresholds", (found["vacancy"]["down"], found["vacancy"]["up"]), (10, 20))


def monitor(tester: Tester) -> None:
    """A flow monitor tells of entries that are there."""
    tester.flows("udp,actions=output:{2}")
    request = {
        "monitor_id": 1,
        "out_port": "ANY",
        "out_group": 0xFFFFFFFF,
        "table_id": 255,
        "flags": ["initial", "add"],
        "match": {},
    }
    found = tester.statistics("flow_monitor", [request])
    tester.check(bool(found), "the monitor told of no entry; one was there")


def role_status(tester: Tester) -> str:
    """Beyond one controller's sight."""
    raise tester.not_applicable(
        "ROLE_STATUS goes to a controller that loses its role to another; the tester is one"
    )


def egress(tester: Tester) -> str:
    """An egress table handles what leaves by a port: it may change it, or drop it by emptying the action set, which holds the output."""
    tables = tester.statistics("table_features", [])
    able = [t for t in tables if t["table_id"] and "egress_table" in _flags(t)]
    if not able:
        raise tester.not_applicable("no table of the switch can be an egress table (TABLE_FEATURES)")
    table = min(able, key=lambda t: int(t["table_id"]))
    first = {**table, "command": "modify", "properties": [], "features": ["egress_table", "first_egress"]}
    tester.afterwards(lambda: tester.statistics("table_features", [{**first, "features": table["features"]}]))
    tester.afterwards(tester.control.delete_all)
    tester.statistics("table_features", [first])
    number = table["table_id"]
    tester.flows(
        "in_port={1},actions=output:{2}",
        f"table={number},priority=0,actions=clear_actions",
        f"table={number},priority=9,udp,actset_output={{2}},actions=set_field:81->udp_dst",
    )
    tester.exchange(through(1, UDP, 2, to=UDP.changed(udp_dst=81)), Probe(1, ARP))
    return f"table {number} as the first egress table"


def _flags(table: dict[str, Any]) -> set[str]:
    return {str(flag).lower() for flag in table["features"]}


def packet_type(tester: Tester) -> None:
    """Ethernet frames match packet type (0,0)."""
    body = entry(match={"packet_type": 0}, instructions=[{"apply_actions": [tester.output(2)]}])
    tester.request("flow_mod", body)
    tester.exchange(through(1, UDP, 2), through(1, VLAN, 2))


def actset_output(tester: Tester) -> None:
    """actset_output is the port of the action set's output."""
    tester.flows(
        "udp,actions=write_actions(output:{2}),goto_table:1",
        "tcp,actions=write_actions(output:{3}),goto_table:1",
        "table=1,actset_output={2},actions=drop",
        "table=1,actset_output={3},actions=clear_actions",
    )
    tester.exchange(through(1, UDP, 2), Probe(1, TCP))


def copy_field(tester: Tester) -> None:
    """COPY_FIELD copies bits from field to field."""
    copy = {
        "copy_field": {"n_bits": 16, "src_offset": 0, "dst_offset": 0, "src": "udp_src", "dst": "udp_dst"}
    }
    match = {"eth_type": 0x800, "ip_proto": 17}
    tester.request("flow_mod", entry(match=match, instructions=[{"apply_actions": [copy, tester.output(2)]}]))
    tester.exchange(through(1, UDP.changed(udp_src=4242), 2, to=UDP.changed(udp_src=4242, udp_dst=4242)))


def meter_action(tester: Tester) -> str:
    """METER as an action drops what is above its rate."""
    tester.meter("meter=1,pktps,burst,bands=type=drop,rate=10,burst_size=10")
    actions = [{"meter": 1}, tester.output(2)]
    tester.request("flow_mod", entry(instructions=[{"apply_actions": actions}]))
    found = len(tester.collect(1, [UDP] * 200))
    tester.check(0 < found <= 100, f"{found} of 200 frames passed a meter of 10 frames per second, burst 10")
    return f"{found} of 200 frames passed"


def row(
    group: str, name: str, text: str, test: Any, versions: tuple[str, ...], needed: bool = False, **more: Any
) -> Feature:
    """A row of these groups."""
    required = frozenset(versions if needed else ())
    return Feature(group, name, text, test, versions, required, needs=("request",), **more)


FEATURES: tuple[Feature, ...] = (
    row("bundle", "commit", "a bundle takes effect at its commit, as a whole", commit, V14, True),
    row("bundle", "discard", "a discarded bundle takes no effect", discard, V14, True),
    row("bundle", "atomic", "a bundle with a bad message takes no effect", atomic, V14),
    row("bundle", "unknown", "the commit of an unknown bundle is refused", unknown, V14, True),
    row("bundle", "exists", "a bundle opened twice is refused", twice, V14, True),
    row("table", "eviction", "eviction turned on and off", eviction, V14),
    row("table", "vacancy", "vacancy events turned on", vacancy, V14),
    row("statistics", "flow_monitor", "flow monitoring", monitor, V14),
    row("session", "role_status", "ROLE_STATUS", role_status, V14),
    row("egress", "table", "an egress table drops and changes", egress, V15),
    row("match", "packet_type", "match packet_type", packet_type, V15, True),
    row(
        "match", "actset_output", "match actset_output, set in an earlier table", actset_output, V15, ports=3
    ),
    row("action", "copy_field", "copy a field to another", copy_field, V15),
    row("action", "meter", "a meter as an action", meter_action, V15),
)
