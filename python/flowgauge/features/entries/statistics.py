"""Statistics of every kind, with exact counters after n frames (1.3.5, 5.8, 7.3.5; 1.0.0, 5.3.5)."""

from __future__ import annotations

from typing import Any

from flowgauge.errors import RejectedError
from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import ARP, TCP, UDP
from flowgauge.features.tester import Tester

ALL, NEW = VERSIONS, since("1.3")


def description(tester: Tester) -> str:
    """DESC names the switch."""
    found = tester.statistics("desc")[0]
    tester.check(bool(found["mfr_desc"] or found["sw_desc"]), "the description is empty")
    return f"{found['mfr_desc']} {found['hw_desc']} {found['sw_desc']}".strip()


def flow(tester: Tester) -> None:
    """Frames and bytes of each entry, and what it does; frames of other entries are not counted."""
    tester.flows("udp,actions=output:{2}", "tcp,actions=drop", "arp,actions=output:{2}")
    sizes = {17: (tester.send(1, UDP, 5), 5), 6: (tester.send(1, TCP, 3), 3)}
    for proto, (size, count) in sizes.items():
        body = {"match": {"eth_type": 0x800, "ip_proto": proto}}
        found = tester.settled(lambda body=body: tester.statistics("flow", body)[0], "packet_count", count)  # type: ignore[misc]
        tester.equal(f"frames of protocol {proto}", found["packet_count"], count)
        tester.bytes_of(f"bytes of protocol {proto}", found["byte_count"], count, size)
        tester.equal("the priority", found["priority"], 32768)
    rest = tester.statistics("flow", {"match": {"eth_type": 0x806}})[0]
    tester.equal("frames of the entry that nothing hit", rest["packet_count"], 0)
    tester.equal("the number of entries", len(tester.statistics("flow", {})), 3)


def flow_by_port(tester: Tester) -> None:
    """Flow statistics filtered by output port, and since 1.3 by table and cookie."""
    tester.flows(
        "cookie=0x11,udp,actions=output:{2}", "cookie=0x22,tcp,actions=output:{3}", "arp,actions=drop"
    )
    found = tester.statistics("flow", {"out_port": tester.of(3)})
    tester.equal(
        "cookies of entries that output to port 3", [int(str(f["cookie"]), 0) for f in found], [0x22]
    )
    if tester.version != "1.0":
        by_cookie = tester.statistics("flow", {"cookie": "0x11", "cookie_mask": "0xff"})
        tester.equal("the number of entries with cookie 0x11", len(by_cookie), 1)
        tester.equal("the number of entries in table 0", len(tester.statistics("flow", {"table_id": 0})), 3)


def aggregate(tester: Tester) -> None:
    """Sums over the entries within a match."""
    tester.flows("udp,actions=output:{2}", "tcp,actions=output:{2}", "arp,actions=output:{2}")
    size = tester.send(1, UDP, 4) * 4 + tester.send(1, TCP, 6) * 6
    tester.send(1, ARP, 2)

    def ip() -> Any:
        return tester.statistics("aggregate", {"match": {"eth_type": 0x800}})[0]

    found = tester.settled(ip, "packet_count", 10)
    tester.equal("entries", found["flow_count"], 2)
    tester.equal("frames", found["packet_count"], 10)
    tester.check(
        found["byte_count"] in (size, size + 40), f"bytes are {found['byte_count']}; expected {size}"
    )
    tester.equal("entries in all", tester.statistics("aggregate", {})[0]["flow_count"], 3)


def table(tester: Tester) -> None:
    """Entries, lookups and matches of table 0."""
    tester.flows("udp,actions=output:{2}", "tcp,actions=drop")

    def first() -> Any:
        return next(t for t in tester.statistics("table") if t["table_id"] == 0)

    before = first()
    tester.equal("active entries", before["active_count"], 2)
    tester.send(1, UDP, 4)
    found = tester.settled(first, "matched_count", before["matched_count"] + 4)
    tester.equal("frames that matched", found["matched_count"] - before["matched_count"], 4)
    tester.check(found["lookup_count"] - before["lookup_count"] >= 4, "lookups did not grow with 4 frames")


def port(tester: Tester) -> None:
    """Frames and bytes received by port 1 and sent by port 2."""
    tester.flows("in_port={1},actions=output:{2}")

    def counters(number: int) -> Any:
        return tester.statistics("port_stats", tester.of(number))[0]

    into, out = counters(1), counters(2)
    size = tester.send(1, UDP, 20)
    found = tester.settled(lambda: counters(1), "rx_packets", into["rx_packets"] + 20, 4)
    tester.equal("frames received by port 1", found["rx_packets"] - into["rx_packets"], 20)
    tester.bytes_of("bytes received by port 1", found["rx_bytes"] - into["rx_bytes"], 20, size)
    found = tester.settled(lambda: counters(2), "tx_packets", out["tx_packets"] + 20, 4)
    tester.equal("frames sent by port 2", found["tx_packets"] - out["tx_packets"], 20)
    tester.bytes_of("bytes sent by port 2", found["tx_bytes"] - out["tx_bytes"], 20, size)


def all_ports(tester: Tester) -> str:
    """One request for the statistics of all ports."""
    found = {s["port_no"] for s in tester.statistics("port_stats", "ANY")}
    cabled = {p.of_port for p in tester.testbed.ports}
    tester.check(cabled <= found, f"statistics came of ports {found}; cabled are {cabled}")
    return f"ports {sorted(map(str, found))}"


def table_features(tester: Tester) -> str:
    """Tables describe their abilities; table 0 is among them."""
    found = tester.statistics("table_features", [])
    tester.check(any(t["table_id"] == 0 for t in found), "table 0 is not described")
    tester.check(all(t["max_entries"] > 0 for t in found), "a table says that it holds no entries")
    return f"{len(found)} tables, table 0 up to {found[0]['max_entries']} entries"


def table_description(tester: Tester) -> str:
    """1.4: TABLE_DESC."""
    found = tester.statistics("table_desc")
    tester.check(bool(found), "no table is described")
    return f"{len(found)} tables"


def lightweight(tester: Tester) -> None:
    """1.5: FLOW_STATS gives counters without instructions."""
    tester.flows("udp,actions=output:{2}")
    tester.send(1, UDP, 5)
    found = tester.settled(lambda: _counters(tester), "packet_count", 5)
    tester.equal("frames", found["packet_count"], 5)


def _counters(tester: Tester) -> Any:
    found = tester.statistics("flow_stats", {})[0]
    return found.get("counters", found)


def bad_port(tester: Tester) -> str:
    """Statistics of a port that is not there are an error, or none."""
    try:
        found = tester.statistics("port_stats", 4000)
    except RejectedError as error:
        tester.check("BAD_PORT" in error.message, f"the error is {error.message}; expected BAD_PORT")
        return error.message
    tester.equal("the statistics of port 4000", found, [])
    return "an empty reply"


def row(name: str, text: str, test: Any, needed: tuple[str, ...] = (), **more: Any) -> Feature:
    """A row of this group."""
    return Feature("statistics", name, text, test, required=frozenset(needed), needs=("request",), **more)


FEATURES: tuple[Feature, ...] = (
    row("description", "description of the switch", description, ALL),
    row("flow", "flow statistics: exact frames and bytes", flow, ALL),
    row("flow.filtered", "flow statistics by output port, table and cookie", flow_by_port, ALL, ports=3),
    row("aggregate", "aggregate statistics", aggregate, ALL),
    row("table", "table statistics: entries, lookups, matches", table, ALL),
    row("port", "port statistics: exact frames and bytes", port, ALL),
    row("port.all", "statistics of all ports at once", all_ports, ALL),
    row("port.unknown", "statistics of an unknown port are an error, or none", bad_port),
    row("table_features", "table features", table_features, versions=NEW),
    row(
        "table_description", "1.4: table descriptions", table_description, since("1.4"), versions=since("1.4")
    ),
    row(
        "flow.counters",
        "1.5: flow statistics without descriptions",
        lightweight,
        since("1.5"),
        versions=since("1.5"),
    ),
)
