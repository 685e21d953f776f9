"""Tests of match fields: one entry drops a value, another outputs a changed one; then the other way round, back from port to port.

Rules and frames are written from the same values. With each pass goes a frame that neither entry matches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import FLOW_NAMES, Frame, number, shown
from flowgauge.features.tester import Probe, Tester, through

COPIES = 3
"""So many frames of each kind are sent."""
_IN_RULES = {
    **FLOW_NAMES,
    "eth_src": "dl_src",
    "eth_dst": "dl_dst",
    "eth_type": "dl_type",
    "vlan_vid": "dl_vlan",
    "vlan_pcp": "dl_vlan_pcp",
    "ip_proto": "nw_proto",
}
"""Names of fields in matches."""
_ADDRESSES = ("_src", "_dst", "_spa", "_tpa", "_sha", "_tha", "_sll", "_tll", "_target")


@dataclass(frozen=True)
class MatchField:
    """A match field to test.

    `frame` has the default value; `changed` is the other value, or `other` the frame that has it. `needs`: the prerequisites
    as flow syntax. `mask`: test it masked, too. Versions that have the field, that demand it, and the same for masks.
    """

    name: str
    frame: Frame
    needs: str = ""
    changed: int | str = 0
    other: Frame | None = None
    mask: int | str | None = None
    versions: tuple[str, ...] = VERSIONS
    required: tuple[str, ...] = ()
    mask_versions: tuple[str, ...] = since("1.3")
    mask_required: tuple[str, ...] = ()
    suffix: str = ""
    stray: Frame | None = None

    def rule(self, frame: Frame, mask: int | None = None) -> str:
        """The match on the frame's value, with its prerequisites."""
        return ",".join(filter(None, (self.needs, value_text(self.name, _value(frame, self.name), mask))))

    def partner(self) -> Frame:
        """The frame with the other value."""
        return self.other or self.frame.changed(**{self.name: self.changed})


def features(field: MatchField) -> Iterator[Feature]:
    """The rows of a field: exact, and masked where that is tested."""
    title = field.name + (" " + field.suffix if field.suffix else "")
    name = field.name + (f".{field.suffix}" if field.suffix else "")

    def exact(tester: Tester) -> None:
        _both_ways(tester, field, field.frame, field.partner(), None)

    yield Feature("match", name, f"match {title} exactly", exact, field.versions, frozenset(field.required))
    if field.mask is None:
        return
    mask = number(field.mask)

    def masked(tester: Tester) -> None:
        _both_ways(tester, field, field.frame, field.partner(), mask)

    yield Feature(
        "match",
        f"{name}.masked",
        f"match {title} under a mask",
        masked,
        field.mask_versions,
        frozenset(field.mask_required),
    )


def _both_ways(tester: Tester, field: MatchField, first: Frame, second: Frame, mask: int | None) -> None:
    for dropped, passed, source, sink in ((first, second, 1, 2), (second, first, 2, 1)):
        tester.clear()
        head = f"priority=100,in_port={{{source}}}"
        tester.flows(
            f"{head},{field.rule(dropped, mask)},actions=drop",
            f"{head},{field.rule(passed, mask)},actions=output:{{{sink}}}",
        )
        probes: list[Probe] = []
        for n in range(COPIES):
            probes.append(Probe(source, variant(dropped, field.name, mask, n)))
            probes.append(through(source, variant(passed, field.name, mask, n), sink))
        stray = field.stray or _neither(field, dropped, passed, mask)
        tester.exchange(*probes, *([Probe(source, stray)] if stray else []))


def variant(frame: Frame, name: str, mask: int | None, n: int) -> Frame:
    """The frame with bits changed that the mask leaves out: none, the lowest, all of them."""
    if mask is None or n == 0:
        return frame
    free = _full(name) & ~mask
    bits = free & -free if n == 1 else free
    return frame.changed(**{name: _value(frame, name) ^ bits})


def _neither(field: MatchField, first: Frame, second: Frame, mask: int | None) -> Frame | None:
    """A frame whose value neither entry matches; None where the field has but two values."""
    if field.other is not None:
        return None
    cared = _full(field.name) if mask is None else mask
    taken = {_value(first, field.name) & cared, _value(second, field.name) & cared}
    for bit in range(128):
        value = _value(second, field.name) ^ (1 << bit)
        if cared >> bit & 1 and value & cared not in taken:
            return second.changed(**{field.name: value})
    return None


def value_text(name: str, value: int, mask: int | None = None) -> str:
    """A match in flow syntax.

    >>> value_text("ipv4_dst", 0x0a000001, 0xff000000), value_text("vlan_vid", 5), value_text("vlan_vid", 5, 0xf)
    ('nw_dst=10.0.0.1/255.0.0.0', 'dl_vlan=5', 'vlan_tci=0x1005/0x100f')
    """
    known = _IN_RULES.get(name, name)
    if name == "vlan_vid" and mask is not None:
        return f"vlan_tci={0x1000 | value:#06x}/{0x1000 | mask:#06x}"
    if mask is None:
        return f"{known}={shown(name, value)}"
    if name.endswith(_ADDRESSES) and not name.startswith(("tcp", "udp", "sctp")):
        return f"{known}={shown(name, value)}/{shown(name, mask)}"
    return f"{known}={value:#x}/{mask:#x}"


_BITS = {
    "eth_src": 48,
    "eth_dst": 48,
    "eth_type": 16,
    "vlan_vid": 12,
    "vlan_pcp": 3,
    "ip_dscp": 6,
    "ip_ecn": 2,
    "ip_proto": 8,
    "tcp_flags": 12,
    "icmpv4_type": 8,
    "icmpv4_code": 8,
    "icmpv6_type": 8,
    "icmpv6_code": 8,
    "arp_op": 16,
    "arp_sha": 48,
    "arp_tha": 48,
    "ipv6_src": 128,
    "ipv6_dst": 128,
    "ipv6_flabel": 20,
    "ipv6_nd_target": 128,
    "ipv6_nd_sll": 48,
    "ipv6_nd_tll": 48,
    "mpls_label": 20,
    "mpls_tc": 3,
    "pbb_isid": 24,
    "pbb_uca": 1,
}
"""Widths of fields; ports have 16 bits, IPv4 addresses 32."""


def _full(name: str) -> int:
    """All bits of a field."""
    ports = name.startswith(("tcp_", "udp_", "sctp_"))
    return (1 << _BITS.get(name, 16 if ports else 32)) - 1


def _value(frame: Frame, name: str) -> int:
    """A field's value in a frame; what no layer holds as such is derived."""
    if name == "mpls_bos":
        return int(frame.kinds.count("mpls") == 1)
    if name == "ipv6_exthdr":
        return (64 if "hop" in frame.kinds else 0) | (8 if "dest" in frame.kinds else 0)
    if name == "ip_proto":
        follows = {"tcp": 6, "udp": 17, "sctp": 132, "icmpv4": 1, "icmpv6": 58}
        return next((follows[k] for k in frame.kinds if k in follows), frame.value("ip_proto"))
    return frame.value(name)
