"""Frames as feature tests name them: layers with field values. What a switch should make of a frame is said by changed values.

    >>> UDP = Frame.of("eth ipv4 udp")
    >>> UDP.changed(ipv4_dst="10.0.0.1").value("ipv4_dst")
    167772161

The bytes come from the core's frame builder, which shares no code with any datapath.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace

from flowgauge import _core
from flowgauge.errors import UsageError

Value = int | str
PAYLOAD = 48
"""Bytes behind the headers, so that no frame falls below the smallest size, whatever is popped."""
MARK = b"fgft"
"""Begins each payload."""

# A value that a later header repeats is set in the outermost layer that has it.
_HOLDERS: Mapping[str, tuple[str, ...]] = {
    "eth": ("eth_dst", "eth_src", "eth_type"),
    "vlan": ("vlan_tpid", "vlan_vid", "vlan_pcp", "vlan_dei"),
    "mpls": ("mpls_label", "mpls_tc", "mpls_ttl"),
    "pbb": ("pbb_isid", "pbb_uca", "pbb_pcp", "pbb_dei"),
    "arp": ("arp_op", "arp_spa", "arp_tpa", "arp_sha", "arp_tha"),
    "ipv4": ("ipv4_src", "ipv4_dst", "ip_dscp", "ip_ecn", "nw_ttl", "ip_proto", "ipv4_id"),
    "ipv6": ("ipv6_src", "ipv6_dst", "ipv6_flabel", "ip_dscp", "ip_ecn", "nw_ttl", "ip_proto"),
    "tcp": ("tcp_src", "tcp_dst", "tcp_flags"),
    "udp": ("udp_src", "udp_dst"),
    "sctp": ("sctp_src", "sctp_dst"),
    "icmpv4": ("icmpv4_type", "icmpv4_code"),
    "icmpv6": ("icmpv6_type", "icmpv6_code"),
    "ns": ("icmpv6_type", "icmpv6_code", "ipv6_nd_target", "ipv6_nd_sll"),
    "na": ("icmpv6_type", "icmpv6_code", "ipv6_nd_target", "ipv6_nd_tll"),
}


@dataclass(frozen=True)
class Layer:
    """One header: its kind, and the values that are not its defaults."""

    kind: str
    values: tuple[tuple[str, int], ...] = ()

    def changed(self, values: Mapping[str, int]) -> Layer:
        """The same with other values."""
        return Layer(self.kind, tuple((dict(self.values) | dict(values)).items()))


@dataclass(frozen=True)
class Frame:
    """Layers from the outside in. Frames are values: every change gives another one."""

    layers: tuple[Layer, ...]

    @staticmethod
    def of(stack: str, **values: Value) -> Frame:
        """A frame with these layers ("eth vlan ipv4 udp") and values."""
        return Frame(tuple(Layer(kind) for kind in stack.split())).changed(**values)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The layers' names."""
        return tuple(layer.kind for layer in self.layers)

    def changed(self, **values: Value) -> Frame:
        """The same with these values, each in the outermost layer that has such a field. Raises UsageError when none has."""
        layers = list(self.layers)
        for name, value in values.items():
            at = self._holder(name)
            layers[at] = layers[at].changed({name: number(value)})
        return replace(self, layers=tuple(layers))

    def inner(self, count: int = 1, **values: Value) -> Frame:
        """The same with these values in what is behind the first `count` layers."""
        rest = Frame(self.layers[count:]).changed(**values)
        return Frame(self.layers[:count] + rest.layers)

    def pushed(self, kind: str, at: int = 1, **values: Value) -> Frame:
        """The same with another layer in front of layer `at` (1: right behind the Ethernet header)."""
        layer = Layer(kind, tuple((k, number(v)) for k, v in values.items()))
        return Frame((*self.layers[:at], layer, *self.layers[at:]))

    def popped(self, at: int = 1) -> Frame:
        """The same without layer `at`."""
        return Frame(self.layers[:at] + self.layers[at + 1 :])

    def value(self, name: str) -> int:
        """A value, default or not. Raises UsageError when no layer has it."""
        at = self._holder(name)
        given = dict(self.layers[at].values)
        return given[name] if name in given else _default(self.layers[at].kind, name)

    def payload_at(self) -> int:
        """How many bytes lie before the payload."""
        return len(self.to_bytes(b"\0" * 8)) - 8

    def to_bytes(self, payload: bytes) -> bytes:
        """The frame without FCS, lengths and checksums filled in."""
        return _core.build_frame([(layer.kind, list(layer.values)) for layer in self.layers], payload)

    def _holder(self, name: str) -> int:
        for at, layer in enumerate(self.layers):
            if name in _HOLDERS.get(layer.kind, ()):
                return at
        raise UsageError(f"no layer of {' '.join(self.kinds)!r} has {name}")

    def __str__(self) -> str:
        """Layers with the values that were given."""
        return " / ".join(
            layer.kind + "".join(f" {k}={shown(k, v)}" for k, v in layer.values) for layer in self.layers
        )


def payload(nonce: int, index: int) -> bytes:
    """What marks frame `index` of an exchange: the payload of what is sent and of what is expected."""
    head = MARK + nonce.to_bytes(4, "big") + index.to_bytes(2, "big")
    return head + bytes((index * 7 + n) & 0xFF for n in range(PAYLOAD - len(head)))


def mark(nonce: int) -> bytes:
    """What every frame of an exchange holds, and no stranger."""
    return MARK + nonce.to_bytes(4, "big")


def index_of(frame: bytes, nonce: int) -> int | None:
    """Which frame of the exchange this is, None for a stranger or one that is cut off."""
    at = frame.find(mark(nonce))
    place = frame[at + 8 : at + 10]
    return int.from_bytes(place, "big") if at >= 0 and len(place) == 2 else None


def number(value: Value) -> int:
    """A number, or an address as text.

    >>> number("10.0.0.1"), number("02:00:00:00:00:01"), number("::1"), number("0x8100")
    (167772161, 2199023255553, 1, 33024)
    """
    if isinstance(value, int):
        return value
    if value.count(":") == 5 and "::" not in value:
        return int(value.replace(":", ""), 16)
    if ":" in value or value.count(".") == 3:
        return int(ipaddress.ip_address(value))
    return int(value, 0)


FLOW_NAMES: Mapping[str, str] = {
    "ip_ecn": "nw_ecn",
    "ipv4_src": "nw_src",
    "ipv4_dst": "nw_dst",
    "ipv6_flabel": "ipv6_label",
    "ipv6_nd_target": "nd_target",
    "ipv6_nd_sll": "nd_sll",
    "ipv6_nd_tll": "nd_tll",
    "icmpv4_type": "icmp_type",
    "icmpv4_code": "icmp_code",
}
"""Names of fields in flow syntax, where they differ from OXM's. Both ovs-ofctl and our own parser know them."""


def shown(name: str, value: int) -> str:
    """A value as rules and reports write it.

    >>> shown("ipv4_dst", 167772161), shown("eth_src", 2199023255553), shown("eth_type", 2048), shown("udp_dst", 7)
    ('10.0.0.1', '02:00:00:00:00:01', '0x0800', '7')
    """
    if name in ("eth_src", "eth_dst", "arp_sha", "arp_tha", "ipv6_nd_sll", "ipv6_nd_tll"):
        return value.to_bytes(6, "big").hex(":")
    if name in ("ipv4_src", "ipv4_dst", "arp_spa", "arp_tpa"):
        return str(ipaddress.IPv4Address(value))
    if name in ("ipv6_src", "ipv6_dst", "ipv6_nd_target"):
        return str(ipaddress.IPv6Address(value))
    return f"{value:#06x}" if name in ("eth_type", "vlan_tpid", "tcp_flags") else str(value)


def _default(kind: str, name: str) -> int:
    """What the builder takes where nobody says."""
    frame = _core.build_frame([("eth", []), (kind, [])] if kind != "eth" else [("eth", [])], bytes(8))
    layers, _ = _core.frame_layers(frame)
    found = next((dict(values) for layer, values in reversed(layers) if layer == kind), {})
    if name in found:
        return found[name]
    # What only shows behind IP: ask for it there.
    under = "ipv6" if kind in ("icmpv6", "ns", "na") else "ipv4"
    layers, _ = _core.frame_layers(_core.build_frame([("eth", []), (under, []), (kind, [])], bytes(8)))
    return dict(layers[-1][1])[name]


UDP = Frame.of("eth ipv4 udp")
TCP = Frame.of("eth ipv4 tcp")
SCTP = Frame.of("eth ipv4 sctp")
ICMP = Frame.of("eth ipv4 icmpv4")
UDP6 = Frame.of("eth ipv6 udp")
TCP6 = Frame.of("eth ipv6 tcp")
SCTP6 = Frame.of("eth ipv6 sctp")
ICMP6 = Frame.of("eth ipv6 icmpv6")
SOLICITATION = Frame.of("eth ipv6 ns", nw_ttl=255)
ADVERTISEMENT = Frame.of("eth ipv6 na", nw_ttl=255)
ARP = Frame.of("eth arp")
VLAN = Frame.of("eth vlan ipv4 udp", vlan_vid=5, vlan_pcp=2)
MPLS = Frame.of("eth mpls ipv4 udp")
PBB = Frame.of("eth pbb eth ipv4 udp")
PLAIN = Frame.of("eth")
