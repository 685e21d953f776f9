"""Match fields: the twelve of OpenFlow 1.0 (5.2.3), every OXM field of 1.3 (7.2.3.7), and those that 1.4 and 1.5 added."""

from __future__ import annotations

from flowgauge.features.feature import VERSIONS, Feature, since
from flowgauge.features.frames import (
    ADVERTISEMENT,
    ARP,
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
)
from flowgauge.features.matching import MatchField as M
from flowgauge.features.matching import features
from flowgauge.features.tester import Probe, Tester, through

OLD = ("1.0",)
NEW = since("1.3")
ALL = VERSIONS
HOP = Frame.of("eth ipv6 hop udp")
HOP_DEST = Frame.of("eth ipv6 hop dest udp")
NS, NA = "icmp6,icmp_type=135,icmp_code=0", "icmp6,icmp_type=136,icmp_code=0"

FIELDS: tuple[M, ...] = (
    M("eth_src", UDP, "", "02:00:00:00:77:01", mask="ff:ff:00:00:ff:00", required=ALL),
    M("eth_dst", UDP, "", "02:00:00:00:77:02", mask="ff:ff:00:00:ff:00", required=ALL),
    M("eth_type", PLAIN, "", 0x88B6, required=ALL),
    M("vlan_vid", VLAN, "", 9, mask=0xFFC, required=OLD),
    M("vlan_pcp", VLAN, "dl_vlan=5", 4, required=OLD),
    M("ip_dscp", UDP.changed(ip_dscp=10), "ip", 46, required=OLD),
    M("ip_dscp", UDP6.changed(ip_dscp=10), "ipv6", 46, suffix="v6", versions=NEW),
    M("ip_ecn", UDP.changed(ip_ecn=1), "ip", 2, versions=NEW),
    M("ip_ecn", UDP6.changed(ip_ecn=1), "ipv6", 2, suffix="v6", versions=NEW),
    M("ip_proto", UDP, "ip", other=TCP, stray=SCTP, required=ALL),
    M("ip_proto", UDP6, "ipv6", other=TCP6, stray=SCTP6, suffix="v6", versions=NEW, required=NEW),
    M(
        "ipv4_src",
        UDP,
        "ip",
        "198.22.7.2",
        mask="255.255.0.0",
        required=ALL,
        mask_versions=ALL,
        mask_required=ALL,
    ),
    M(
        "ipv4_dst",
        UDP,
        "ip",
        "198.23.7.2",
        mask="255.255.0.0",
        required=ALL,
        mask_versions=ALL,
        mask_required=ALL,
    ),
    M("ipv4_src", UDP, "ip", "198.18.7.9", mask="255.0.255.0", suffix="gaps", versions=(), mask_versions=NEW),
    M("ipv4_dst", UDP, "ip", "198.19.7.9", mask="255.0.255.0", suffix="gaps", versions=(), mask_versions=NEW),
    M("tcp_src", TCP, "tcp", 80, required=ALL),
    M("tcp_dst", TCP, "tcp", 80, required=ALL),
    M("tcp_src", TCP6, "tcp6", 80, suffix="v6", versions=NEW, required=NEW),
    M("tcp_dst", TCP6, "tcp6", 80, suffix="v6", versions=NEW, required=NEW),
    M("udp_src", UDP, "udp", 80, required=ALL),
    M("udp_dst", UDP, "udp", 80, required=ALL),
    M("udp_src", UDP6, "udp6", 80, suffix="v6", versions=NEW, required=NEW),
    M("udp_dst", UDP6, "udp6", 80, suffix="v6", versions=NEW, required=NEW),
    M("sctp_src", SCTP, "sctp", 80, versions=NEW),
    M("sctp_dst", SCTP, "sctp", 80, versions=NEW),
    M("sctp_src", SCTP6, "sctp6", 80, suffix="v6", versions=NEW),
    M("sctp_dst", SCTP6, "sctp6", 80, suffix="v6", versions=NEW),
    M("icmpv4_type", ICMP, "icmp", 0, required=OLD),
    M("icmpv4_code", ICMP, "icmp", 3, required=OLD),
    M("arp_op", ARP, "arp", 2, required=OLD),
    M("arp_spa", ARP, "arp", "198.22.7.2", mask="255.255.0.0", required=OLD),
    M("arp_tpa", ARP, "arp", "198.23.7.2", mask="255.255.0.0", required=OLD),
    M("arp_sha", ARP, "arp", "02:00:00:00:77:01", mask="ff:ff:00:00:ff:00", versions=NEW),
    M("arp_tha", ARP, "arp", "02:00:00:00:77:02", mask="ff:ff:00:00:ff:00", versions=NEW),
    M(
        "ipv6_src",
        UDP6,
        "ipv6",
        "2001:6::7",
        mask="ffff:ffff::",
        versions=NEW,
        required=NEW,
        mask_required=NEW,
    ),
    M(
        "ipv6_dst",
        UDP6,
        "ipv6",
        "2001:6::8",
        mask="ffff:ffff::",
        versions=NEW,
        required=NEW,
        mask_required=NEW,
    ),
    M("ipv6_flabel", UDP6.changed(ipv6_flabel=0x12345), "ipv6", 0x54321, mask=0xFFF00, versions=NEW),
    M("icmpv6_type", ICMP6, "icmp6", 129, versions=NEW),
    M("icmpv6_code", ICMP6, "icmp6", 3, versions=NEW),
    M("ipv6_nd_target", SOLICITATION, NS, "2001:2::99", versions=NEW),
    M("ipv6_nd_target", ADVERTISEMENT, NA, "2001:2::99", suffix="advertised", versions=NEW),
    M("ipv6_nd_sll", SOLICITATION, NS, "02:00:00:00:77:01", versions=NEW),
    M("ipv6_nd_tll", ADVERTISEMENT, NA, "02:00:00:00:77:01", versions=NEW),
    M("mpls_label", MPLS, "mpls", 1000, versions=NEW),
    M("mpls_tc", MPLS, "mpls", 5, versions=NEW),
    M("mpls_bos", MPLS, "mpls", other=MPLS.pushed("mpls"), versions=NEW),
    M("pbb_isid", PBB, "dl_type=0x88e7", 0x12301, mask=0xFFFF00, versions=NEW),
    M("pbb_uca", PBB, "dl_type=0x88e7", other=PBB.changed(pbb_uca=1), versions=since("1.4")),
    M("ipv6_exthdr", HOP, "ipv6", other=HOP_DEST, stray=UDP6, versions=NEW),
    M("tcp_flags", TCP, "tcp", 0x12, mask=0x0F2, versions=since("1.5"), mask_versions=since("1.5")),
)


def in_port(tester: Tester) -> None:
    """Two ports, one frame; then the other way round."""
    for dropped, passed in ((1, 2), (2, 1)):
        tester.clear()
        tester.flows(f"in_port={{{dropped}}},actions=drop", f"in_port={{{passed}}},actions=output:{{3}}")
        tester.exchange(
            Probe(dropped, UDP), through(passed, UDP, 3), Probe(dropped, ARP), through(passed, ARP, 3)
        )


def in_phy_port(tester: Tester) -> None:
    """Of a port that is no logical one, it equals in_port."""
    for dropped, passed in ((1, 2), (2, 1)):
        tester.clear()
        tester.flows(
            f"in_port={{{dropped}}},in_phy_port={{{dropped}}},actions=drop",
            f"in_port={{{passed}}},in_phy_port={{{passed}}},actions=output:{{3}}",
        )
        tester.exchange(Probe(dropped, UDP), through(passed, UDP, 3))


def no_tag(tester: Tester) -> None:
    """Untagged frames alone, then tagged ones alone, whatever their tag."""
    plain, tagged = "vlan_tci=0x0000/0x1fff", "vlan_tci=0x1000/0x1000"
    for dropped, passed in ((UDP, VLAN), (VLAN, UDP)):
        tester.clear()
        rules = {UDP: plain, VLAN: tagged if tester.version != "1.0" else "dl_vlan=5"}
        tester.flows(
            f"in_port={{1}},{rules[dropped]},actions=drop",
            f"in_port={{1}},{rules[passed]},actions=output:{{2}}",
        )
        tester.exchange(Probe(1, dropped), through(1, passed, 2), Probe(1, dropped), through(1, passed, 2))


def any_tag(tester: Tester) -> None:
    """The mask that asks for a tag alone (OFPVID_PRESENT)."""
    tester.flows("in_port={1},vlan_tci=0x1000/0x1000,actions=output:{2}")
    tagged = [VLAN.changed(vlan_vid=vid) for vid in (0, 1, 5, 4094)]
    tester.exchange(*(through(1, frame, 2) for frame in tagged), Probe(1, UDP), Probe(1, ARP))


def _carried(set_: str, match: str, values: tuple[tuple[int, int], ...], masks: tuple[str, str]) -> Feature:
    """A pipeline field: table 0 gives frames with different UDP ports different values; table 1 matches them."""

    def test(tester: Tester) -> None:
        first, second = values
        for dropped, passed in ((first, second), (second, first)):
            tester.clear()
            for port, value in values:
                tester.flows(f"in_port={{1}},udp,tp_dst={port},actions={set_.format(value)},goto_table:1")
            tester.flows(
                f"table=1,{match}={dropped[1]:#x}{masks[0]},actions=drop",
                f"table=1,{match}={passed[1]:#x}{masks[1]},actions=output:{{2}}",
            )
            tester.exchange(
                Probe(1, UDP.changed(udp_dst=dropped[0])), through(1, UDP.changed(udp_dst=passed[0]), 2)
            )

    masked = bool(masks[0])
    name = {"metadata": "metadata", "tun_id": "tunnel_id"}[match]
    return Feature(
        "match",
        name + (".masked" if masked else ""),
        f"match {name} {'under a mask' if masked else 'exactly'}, set in an earlier table",
        test,
        NEW,
    )


_EXACT = ("", "")
_MASKS = ("/0xff00", "/0xff00")
_TAGS = ((1001, 0x1234), (1002, 0x4321))

FEATURES: tuple[Feature, ...] = (
    Feature("match", "in_port", "match in_port", in_port, ALL, frozenset(ALL), ports=3),
    Feature("match", "in_phy_port", "match in_phy_port, equal to in_port here", in_phy_port, NEW, ports=3),
    _carried("write_metadata:{:#x}", "metadata", _TAGS, _EXACT),
    _carried("write_metadata:{:#x}", "metadata", _TAGS, _MASKS),
    _carried("set_field:{:#x}->tun_id", "tun_id", _TAGS, _EXACT),
    _carried("set_field:{:#x}->tun_id", "tun_id", _TAGS, _MASKS),
    Feature(
        "match", "vlan_vid.none", "match untagged frames apart from tagged ones", no_tag, ALL, frozenset(OLD)
    ),
    Feature("match", "vlan_vid.any", "match tagged frames, whatever the id", any_tag, NEW),
    *(row for field in FIELDS for row in features(field) if row.versions),
)
