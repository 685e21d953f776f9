"""Ports: PORT_MOD, PORT_STATUS, and what a port's configuration does to frames (1.3.5, 7.2.1, 7.3.4.3; 1.0.0, 5.2.1)."""

from __future__ import annotations

from typing import Any

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import UDP
from flowgauge.features.tester import Probe, Tester, through

ALL, NEW = VERSIONS, since("1.3")
CARRIER_S = 0.3
"""How long a link that came up again may need before frames pass."""


def described(tester: Tester) -> dict[int, dict[str, Any]]:
    """The switch's ports by number."""
    if tester.version == "1.0":
        return {p["port_no"]: p for p in tester.request("features_request")[0]["ports"]}
    return {p["port_no"]: p for p in tester.statistics("port_desc", "ANY")}


def configure(tester: Tester, port: int, flag: str, on: bool) -> None:
    """Set or clear a flag of a port's configuration by PORT_MOD."""
    number = tester.of(port)
    body = {
        "port_no": number,
        "hw_addr": described(tester)[number]["hw_addr"],
        "config": [flag.lower()] if on else [],
        "mask": [flag.lower()],
    }
    tester.request("port_mod", body)


def set_down(tester: Tester, port: int, down: bool) -> None:
    """Take a port down, or up again; it is up at the end, whatever happens."""
    if down:
        tester.afterwards(lambda: configure(tester, port, "PORT_DOWN", False))
    configure(tester, port, "PORT_DOWN", down)
    tester.testbed.clock.sleep(CARRIER_S)


def down(tester: Tester) -> None:
    """A port that is down neither sends nor receives; up again, it does both."""
    tester.flows("in_port={1},actions=output:{2}")
    tester.exchange(through(1, UDP, 2))
    set_down(tester, 2, True)
    tester.exchange(Probe(1, UDP))
    set_down(tester, 2, False)
    tester.exchange(through(1, UDP, 2))


def status(tester: Tester) -> None:
    """PORT_STATUS tells of both changes, with the reason and the new configuration."""
    tester.testbed.messages()
    for is_down in (True, False):
        set_down(tester, 2, is_down)
        found = [e for e in tester.events("port_status", 0, 0.5) if e["port"]["port_no"] == tester.of(2)]
        what = "down" if is_down else "up again"
        tester.check(bool(found), f"no PORT_STATUS came when the port was taken {what}")
        tester.equal("its reason", str(found[-1]["reason"]).lower(), "modify")
        has = "PORT_DOWN" in _flags(found[-1]["port"]["config"])
        tester.equal(f"PORT_DOWN in the configuration of the port taken {what}", has, is_down)


def no_forward(tester: Tester) -> None:
    """NO_FWD: what is sent to the port is dropped; what comes from it passes."""
    tester.flows("in_port={1},actions=output:{2}", "in_port={2},actions=output:{1}")
    tester.afterwards(lambda: configure(tester, 2, "NO_FWD", False))
    configure(tester, 2, "NO_FWD", True)
    tester.exchange(Probe(1, UDP), through(2, UDP, 1))
    configure(tester, 2, "NO_FWD", False)
    tester.exchange(through(1, UDP, 2))


def no_receive(tester: Tester) -> None:
    """NO_RECV: what comes from the port is dropped; what is sent to it passes."""
    tester.flows("in_port={1},actions=output:{2}", "in_port={2},actions=output:{1}")
    tester.afterwards(lambda: configure(tester, 2, "NO_RECV", False))
    configure(tester, 2, "NO_RECV", True)
    tester.exchange(Probe(2, UDP), through(1, UDP, 2))
    configure(tester, 2, "NO_RECV", False)
    tester.exchange(through(2, UDP, 1))


def no_packet_in(tester: Tester) -> None:
    """NO_PACKET_IN: what comes from the port is not punted."""
    if tester.version != "1.0":
        tester.flows("priority=0,actions=CONTROLLER:65535")
    tester.control.set_miss_send_len(65535)
    tester.afterwards(lambda: configure(tester, 2, "NO_PACKET_IN", False))
    configure(tester, 2, "NO_PACKET_IN", True)
    tester.exchange(Probe(2, UDP), Probe(1, UDP, punted=UDP), punts=True)
    configure(tester, 2, "NO_PACKET_IN", False)
    tester.exchange(Probe(2, UDP, punted=UDP), punts=True)


def no_flood(tester: Tester) -> None:
    """NO_FLOOD (1.0): the port is left out by FLOOD, and not by ALL."""
    tester.flows("udp,actions=FLOOD", "tcp,actions=ALL")
    tester.afterwards(lambda: configure(tester, 2, "NO_FLOOD", False))
    configure(tester, 2, "NO_FLOOD", True)
    tester.exchange(through(1, UDP, 3))
    configure(tester, 2, "NO_FLOOD", False)
    tester.exchange(through(1, UDP, 2, 3))


def description(tester: Tester) -> str:
    """Every cabled port is described, with a name and an address of its own."""
    found = described(tester)
    cabled = {port.of_port for port in tester.testbed.ports}
    tester.check(
        cabled <= set(found), f"ports {sorted(map(str, found))} are described; cabled are {sorted(cabled)}"
    )
    tester.equal("the number of different addresses", len({found[n]["hw_addr"] for n in cabled}), len(cabled))
    return ", ".join(f"{n} {found[n]['name']}" for n in sorted(cabled))


def wrong_port(tester: Tester) -> str:
    """PORT_MOD of a port that is not there is refused."""
    body = {"port_no": 4000, "hw_addr": "02:00:00:00:00:01", "config": [], "mask": []}
    return tester.refuses("PORT_MOD of port 4000", lambda: tester.request("port_mod", body), "BAD_PORT")


def wrong_address(tester: Tester) -> str:
    """PORT_MOD with another port's address is refused."""
    body = {"port_no": tester.of(1), "hw_addr": "02:00:00:00:99:99", "config": [], "mask": []}
    return tester.refuses(
        "PORT_MOD with a wrong address", lambda: tester.request("port_mod", body), "BAD_HW_ADDR"
    )


def _flags(value: Any) -> list[str]:
    return [str(flag).upper() for flag in value]


def row(name: str, text: str, test: Any, needed: tuple[str, ...] = (), **more: Any) -> Feature:
    """A row of this group."""
    return Feature("port", name, text, test, required=frozenset(needed), needs=("request",), **more)


FEATURES: tuple[Feature, ...] = (
    row("description", "port descriptions", description, ALL, ports=3),
    row("down", "PORT_MOD: a port taken down and up again", down, ALL, seconds=2.5),
    row("status", "PORT_STATUS when a port is taken down and up", status, ALL, seconds=2.5),
    row("no_fwd", "PORT_MOD: NO_FWD", no_forward),
    row("no_recv", "PORT_MOD: NO_RECV", no_receive),
    row("no_packet_in", "PORT_MOD: NO_PACKET_IN", no_packet_in),
    row("no_flood", "PORT_MOD: NO_FLOOD (1.0)", no_flood, versions=("1.0",), ports=3),
    row("unknown", "PORT_MOD of an unknown port is refused", wrong_port, ALL),
    row("wrong_address", "PORT_MOD with a wrong address is refused", wrong_address, ALL),
)
