"""Where frames leave: ports, and the reserved ports of the specification (1.3.5, 4.5; 1.0.0, 3.3)."""

from __future__ import annotations

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import ARP, TCP, UDP, VLAN, Frame
from flowgauge.features.scenarios import Case, rows
from flowgauge.features.tester import Probe, Tester, through

ALL = VERSIONS
FORTH = Frame.of("eth ipv4 udp", eth_src="02:00:00:00:66:01", eth_dst="02:00:00:00:66:02")
BACK = Frame.of("eth ipv4 udp", eth_src="02:00:00:00:66:02", eth_dst="02:00:00:00:66:01")


def normal(tester: Tester) -> None:
    """An unknown destination is flooded; then both addresses are known, and each frame leaves by one port."""
    tester.flows("actions=NORMAL")
    tester.exchange(through(1, FORTH, 2, 3))
    tester.exchange(through(2, BACK, 1))
    tester.exchange(through(1, FORTH, 2), through(2, BACK, 1))


def local(tester: Tester) -> str:
    """What is sent to LOCAL leaves by no other port; that it arrives there is beyond a tester's sight."""
    tester.flows("in_port={1},actions=LOCAL,output:{2}")
    tester.exchange(through(1, UDP, 2), through(1, ARP, 2))
    return "taken, and forwarded to no other port; arrival at LOCAL can't be seen"


FEATURES: tuple[Feature, ...] = (
    *rows(
        (
            Case(
                "output",
                "port",
                "output to a port",
                ("in_port={1},actions=output:{2}",),
                (through(1, UDP, 2), through(1, TCP, 2), through(1, ARP, 2), through(1, VLAN, 2)),
                required=ALL,
            ),
            Case(
                "output",
                "ports",
                "output to several ports",
                ("in_port={1},actions=output:{2},output:{3}",),
                (through(1, UDP, 2, 3),),
                ports=3,
                required=ALL,
            ),
            Case(
                "output",
                "drop",
                "an entry without actions drops",
                ("in_port={1},actions=drop", "in_port={2},actions=output:{1}"),
                (Probe(1, UDP), through(2, UDP, 1)),
                required=ALL,
            ),
            Case(
                "output",
                "in_port",
                "output to IN_PORT sends back where it came from",
                ("in_port={1},actions=IN_PORT",),
                (through(1, UDP, 1),),
                required=ALL,
            ),
            Case(
                "output",
                "back",
                "output to the port of arrival by its number does not send back",
                ("in_port={1},actions=output:{1},output:{2}",),
                (through(1, UDP, 2),),
                required=ALL,
            ),
            Case(
                "output",
                "all",
                "output to ALL: every port but that of arrival",
                ("in_port={1},actions=ALL",),
                (through(1, UDP, 2, 3),),
                ports=3,
                required=ALL,
            ),
            Case(
                "output",
                "flood",
                "output to FLOOD: every port but that of arrival",
                ("in_port={1},actions=FLOOD",),
                (through(1, UDP, 2, 3),),
                ports=3,
            ),
            Case(
                "output",
                "controller",
                "output to CONTROLLER: PACKET_INs hold the whole frames",
                ("in_port={1},actions=CONTROLLER:65535",),
                (Probe(1, UDP, punted=UDP), Probe(1, VLAN, punted=VLAN), Probe(1, ARP, punted=ARP)),
                required=ALL,
                punts=True,
            ),
            Case(
                "output",
                "controller.changed",
                "output to CONTROLLER behind set-field: the PACKET_IN holds the changed frame",
                ("in_port={1},ip,actions=set_field:10.1.2.4->ip_dst,CONTROLLER:65535",),
                (Probe(1, UDP, punted=UDP.changed(ipv4_dst="10.1.2.4")),),
                since("1.3"),
                punts=True,
            ),
        )
    ),
    Feature("output", "normal", "output to NORMAL: a learning switch", normal, ALL, ports=3),
    Feature("output", "local", "output to LOCAL is taken", local, ALL, frozenset({"1.0"})),
)
