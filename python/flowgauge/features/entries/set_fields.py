"""Set-field of every field that a frame carries (1.3.5, 5.12; 1.0.0, 5.2.4): received frames equal the expected ones byte for
byte, checksums included. A field may be set to what it was, so each test sends frames with several old values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import (
    ADVERTISEMENT,
    ARP,
    FLOW_NAMES,
    ICMP,
    ICMP6,
    MPLS,
    PBB,
    PLAIN,
    SCTP,
    SCTP6,
    SOLICITATION,
    TCP,
    TCP6,
    UDP,
    UDP6,
    VLAN,
    Frame,
    number,
    shown,
)
from flowgauge.features.tester import Tester, through

NEW = since("1.3")
_OLD = {
    "eth_src": "mod_dl_src:{}",
    "eth_dst": "mod_dl_dst:{}",
    "vlan_vid": "mod_vlan_vid:{}",
    "vlan_pcp": "mod_vlan_pcp:{}",
    "ipv4_src": "mod_nw_src:{}",
    "ipv4_dst": "mod_nw_dst:{}",
    "ip_dscp": "mod_nw_tos:{}",
    "tcp_src": "mod_tp_src:{}",
    "tcp_dst": "mod_tp_dst:{}",
    "udp_src": "mod_tp_src:{}",
    "udp_dst": "mod_tp_dst:{}",
}
"""OpenFlow 1.0's actions."""


@dataclass(frozen=True)
class SetField:
    """`name` is set to `value` in `frame`, whose prerequisites `needs` says; `mask`: which bits 1.5 sets in a row of its own."""

    name: str
    frame: Frame
    value: int | str
    needs: str = ""
    suffix: str = ""
    versions: tuple[str, ...] = NEW
    mask: int | str | None = None

    def action(self, version: str, mask: int | None = None) -> str:
        """The action in flow syntax."""
        value = number(self.value)
        if version == "1.0":
            return _OLD[self.name].format(value << 2 if self.name == "ip_dscp" else shown(self.name, value))
        known = FLOW_NAMES.get(self.name, self.name)
        if mask is not None:
            return f"set_field:{shown(self.name, value & mask)}/{shown(self.name, mask)}->{known}"
        return f"set_field:{0x1000 | value if self.name == 'vlan_vid' else shown(self.name, value)}->{known}"


FIELDS: tuple[SetField, ...] = (
    SetField("eth_src", UDP, "02:00:00:00:77:01", versions=VERSIONS, mask="00:00:00:00:ff:00"),
    SetField("eth_dst", UDP, "02:00:00:00:77:02", versions=VERSIONS, mask="00:00:00:00:ff:00"),
    SetField("eth_type", PLAIN, 0x88B6, "dl_type=0x88b5"),
    SetField("vlan_vid", VLAN, 9, "dl_vlan=5", versions=VERSIONS),
    SetField("vlan_pcp", VLAN, 6, "dl_vlan=5", versions=VERSIONS),
    SetField("ip_dscp", UDP.changed(ip_ecn=1), 46, "ip", versions=VERSIONS),
    SetField("ip_dscp", UDP6.changed(ip_ecn=1), 46, "ipv6", "v6"),
    SetField("ip_ecn", UDP.changed(ip_dscp=10), 2, "ip"),
    SetField("ip_ecn", UDP6.changed(ip_dscp=10), 2, "ipv6", "v6"),
    SetField("ip_proto", Frame.of("eth ipv4"), 254, "ip,nw_proto=253"),
    SetField("ipv4_src", UDP, "10.1.2.3", "udp", "udp", VERSIONS, mask="255.0.255.0"),
    SetField("ipv4_dst", UDP, "10.1.2.4", "udp", "udp", VERSIONS, mask="255.0.255.0"),
    SetField("ipv4_src", TCP, "10.1.2.3", "tcp", "tcp", VERSIONS),
    SetField("ipv4_dst", TCP, "10.1.2.4", "tcp", "tcp", VERSIONS),
    SetField("ipv4_dst", SCTP, "10.1.2.4", "sctp", "sctp"),
    SetField("ipv4_dst", ICMP, "10.1.2.4", "icmp", "icmp", VERSIONS),
    SetField("ipv4_dst", VLAN, "10.1.2.4", "dl_vlan=5,ip", "vlan", VERSIONS),
    SetField("tcp_src", TCP, 80, "tcp", versions=VERSIONS),
    SetField("tcp_dst", TCP, 80, "tcp", versions=VERSIONS),
    SetField("tcp_src", TCP6, 80, "tcp6", "v6"),
    SetField("tcp_dst", TCP6, 80, "tcp6", "v6"),
    SetField("udp_src", UDP, 80, "udp", versions=VERSIONS),
    SetField("udp_dst", UDP, 80, "udp", versions=VERSIONS, mask=0xFF),
    SetField("udp_src", UDP6, 80, "udp6", "v6"),
    SetField("udp_dst", UDP6, 80, "udp6", "v6"),
    SetField("sctp_src", SCTP, 80, "sctp"),
    SetField("sctp_dst", SCTP, 80, "sctp"),
    SetField("sctp_dst", SCTP6, 80, "sctp6", "v6"),
    SetField("icmpv4_type", ICMP, 0, "icmp"),
    SetField("icmpv4_code", ICMP, 3, "icmp"),
    SetField("arp_op", ARP, 2, "arp"),
    SetField("arp_spa", ARP, "10.1.2.3", "arp"),
    SetField("arp_tpa", ARP, "10.1.2.4", "arp"),
    SetField("arp_sha", ARP, "02:00:00:00:77:01", "arp"),
    SetField("arp_tha", ARP, "02:00:00:00:77:02", "arp"),
    SetField("ipv6_src", UDP6, "2001:db8::7", "udp6", "udp", mask="::ffff"),
    SetField("ipv6_dst", UDP6, "2001:db8::8", "udp6", "udp"),
    SetField("ipv6_src", TCP6, "2001:db8::7", "tcp6", "tcp"),
    SetField("ipv6_dst", ICMP6, "2001:db8::8", "icmp6", "icmp"),
    SetField("ipv6_flabel", UDP6.changed(ipv6_flabel=1), 0x54321, "ipv6"),
    SetField("icmpv6_type", ICMP6, 129, "icmp6"),
    SetField("icmpv6_code", ICMP6, 3, "icmp6"),
    SetField("ipv6_nd_target", SOLICITATION, "2001:2::99", "icmp6,icmp_type=135,icmp_code=0"),
    SetField("ipv6_nd_sll", SOLICITATION, "02:00:00:00:77:01", "icmp6,icmp_type=135,icmp_code=0"),
    SetField("ipv6_nd_tll", ADVERTISEMENT, "02:00:00:00:77:01", "icmp6,icmp_type=136,icmp_code=0"),
    SetField("mpls_label", MPLS, 1000, "mpls"),
    SetField("mpls_tc", MPLS, 5, "mpls"),
    SetField("pbb_isid", PBB, 0x12345, "dl_type=0x88e7"),
    SetField("pbb_uca", PBB, 1, "dl_type=0x88e7", versions=since("1.4")),
    SetField("tcp_flags", TCP, 0x12, "tcp", versions=since("1.5")),
)


def rows(entry: SetField) -> Iterator[Feature]:
    """One row, and one with a mask where 1.5 is asked for bits."""
    name = entry.name + (f".{entry.suffix}" if entry.suffix else "")
    title = f"set {entry.name}" + (f" ({entry.suffix})" if entry.suffix else "")

    def test(tester: Tester, mask: int | None = None) -> None:
        head = ",".join(filter(None, ("in_port={1}", entry.needs)))
        tester.flows(f"{head},actions={entry.action(tester.version, mask)},output:{{2}}")
        tester.exchange(*(through(1, old, 2, to=set_(old, entry, mask)) for old in _olds(entry)))

    yield Feature("set_field", name, title, test, entry.versions)
    if entry.mask is not None:
        bits = number(entry.mask)
        yield Feature(
            "set_field", f"{name}.masked", f"{title}, some bits", lambda t: test(t, bits), since("1.5")
        )


def set_(frame: Frame, entry: SetField, mask: int | None = None) -> Frame:
    """The frame with the field set."""
    value = number(entry.value)
    if mask is not None:
        value = frame.value(entry.name) & ~mask | value & mask
    return frame.changed(**{entry.name: value})


def _olds(entry: SetField) -> list[Frame]:
    """The frame with the value that it has, with one bit changed, and with the value that will be set.

    What the rule's prerequisites pin down keeps its value.
    """
    if entry.name in ("eth_type", "ip_proto", "vlan_vid", "icmpv6_type") or "nd" in entry.name:
        return [entry.frame] * 3
    old = entry.frame.value(entry.name)
    return [entry.frame, entry.frame.changed(**{entry.name: old ^ 1}), set_(entry.frame, entry)]


FEATURES: tuple[Feature, ...] = tuple(row for entry in FIELDS for row in rows(entry))
