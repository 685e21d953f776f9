"""Writes `actions.txt`: frames before and after each action, both built anew by Scapy from their fields.

Scapy computes every checksum from scratch and knows nothing of our editing, so that an error there shows.
Run: `python generate.py > actions.txt`. Which actions belong to a name, `tests/golden.rs` says.
"""

from __future__ import annotations

from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr, IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.layers.sctp import SCTP, SCTPChunkData
from scapy.packet import Packet, Raw

A, B, C = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"
DATA = Raw(bytes(range(0x40, 0x5C)))


def eth(**fields: object) -> Packet:
    return Ether(**({"src": A, "dst": B} | fields))


def ip(**fields: object) -> Packet:
    return IP(**({"src": "10.0.0.1", "dst": "10.0.0.2", "ttl": 64, "id": 7} | fields))


def ip6(**fields: object) -> Packet:
    return IPv6(**({"src": "fd00::1", "dst": "fd00::2", "hlim": 64, "fl": 5} | fields))


def udp(**fields: object) -> Packet:
    return UDP(**({"sport": 1000, "dport": 2000} | fields)) / DATA


def tcp(**fields: object) -> Packet:
    return TCP(**({"sport": 1000, "dport": 2000, "flags": "PA", "seq": 9} | fields)) / DATA


def sctp(**fields: object) -> Packet:
    return SCTP(**({"sport": 1000, "dport": 2000, "tag": 3} | fields)) / SCTPChunkData(data=b"chunk of data")


def arp(**fields: object) -> Packet:
    known = {"op": 1, "hwsrc": A, "hwdst": "00:00:00:00:00:00", "psrc": "10.0.0.1", "pdst": "10.0.0.2"}
    return ARP(**(known | fields)) / Raw(bytes(18))


def solicitation(target: str = "fd00::9", lladdr: str = A, dst: str = "fd00::2") -> Packet:
    return ip6(hlim=255, dst=dst) / ICMPv6ND_NS(tgt=target) / ICMPv6NDOptSrcLLAddr(lladdr=lladdr)


def mpls(label: int = 5, tc: int = 0, ttl: int = 64, bottom: int = 1) -> Packet:
    return MPLS(label=label, cos=tc, s=bottom, ttl=ttl)


def pbb(isid: int, pcp: int = 0) -> Packet:
    """A backbone header with the service instance's tag; the customer's frame follows."""
    return eth(type=0x88E7) / Raw((pcp << 29 | isid).to_bytes(4, "big"))


UDP4 = eth() / ip() / udp()
TCP4 = eth() / ip() / tcp()
UDP6 = eth() / ip6() / udp()
TAGGED = eth() / Dot1Q(vlan=5, prio=3) / ip() / udp()
LABELLED = eth(type=0x8847) / mpls(ttl=9) / ip() / udp()

CASES: list[tuple[str, Packet, Packet]] = [
    ("set eth_dst", UDP4, eth(dst=C) / ip() / udp()),
    ("set eth_src", UDP4, eth(src=C) / ip() / udp()),
    ("set vlan_vid", TAGGED, eth() / Dot1Q(vlan=9, prio=3) / ip() / udp()),
    ("set vlan_pcp", TAGGED, eth() / Dot1Q(vlan=5, prio=6) / ip() / udp()),
    ("set ip_dscp", UDP4, eth() / ip(tos=46 << 2) / udp()),
    ("set ip_dscp of IPv6", UDP6, eth() / ip6(tc=46 << 2) / udp()),
    ("set ip_ecn", UDP4, eth() / ip(tos=1) / udp()),
    ("set ip_ecn of IPv6", UDP6, eth() / ip6(tc=1) / udp()),
    ("set ipv4_src", UDP4, eth() / ip(src="192.168.1.9") / udp()),
    ("set ipv4_src under TCP", TCP4, eth() / ip(src="192.168.1.9") / tcp()),
    ("set ipv4_dst", UDP4, eth() / ip(dst="192.168.1.9") / udp()),
    ("set ipv4_dst under TCP", TCP4, eth() / ip(dst="192.168.1.9") / tcp()),
    ("set tcp_src", TCP4, eth() / ip() / tcp(sport=77)),
    ("set tcp_dst", TCP4, eth() / ip() / tcp(dport=77)),
    ("set tcp_flags", TCP4, eth() / ip() / tcp(flags="S")),
    ("set udp_src", UDP4, eth() / ip() / udp(sport=77)),
    ("set udp_dst", UDP4, eth() / ip() / udp(dport=77)),
    ("set udp_dst over IPv6", UDP6, eth() / ip6() / udp(dport=77)),
    ("set sctp_src", eth() / ip() / sctp(), eth() / ip() / sctp(sport=77)),
    ("set sctp_dst", eth() / ip() / sctp(), eth() / ip() / sctp(dport=77)),
    ("set icmpv4_type", eth() / ip() / ICMP(type=8) / DATA, eth() / ip() / ICMP(type=0) / DATA),
    (
        "set icmpv4_code",
        eth() / ip() / ICMP(type=3, code=1) / DATA,
        eth() / ip() / ICMP(type=3, code=9) / DATA,
    ),
    ("set arp_op", eth() / arp(), eth() / arp(op=2)),
    ("set arp_spa", eth() / arp(), eth() / arp(psrc="192.168.1.9")),
    ("set arp_tpa", eth() / arp(), eth() / arp(pdst="192.168.1.9")),
    ("set arp_sha", eth() / arp(), eth() / arp(hwsrc=C)),
    ("set arp_tha", eth() / arp(), eth() / arp(hwdst=C)),
    ("set ipv6_src", UDP6, eth() / ip6(src="fd00::9:1") / udp()),
    ("set ipv6_dst", UDP6, eth() / ip6(dst="fd00::9:1") / udp()),
    ("set ipv6_flabel", UDP6, eth() / ip6(fl=0xABCDE) / udp()),
    (
        "set icmpv6_code",
        eth() / ip6() / ICMPv6EchoRequest(id=1, seq=2, data=bytes(DATA)),
        eth() / ip6() / ICMPv6EchoRequest(code=4, id=1, seq=2, data=bytes(DATA)),
    ),
    ("set ipv6_nd_target", eth() / solicitation(), eth() / solicitation(target="fd00::9:1")),
    ("set ipv6_nd_sll", eth() / solicitation(), eth() / solicitation(lladdr=C)),
    ("set mpls_label", LABELLED, eth(type=0x8847) / mpls(label=77, ttl=9) / ip() / udp()),
    ("set mpls_tc", LABELLED, eth(type=0x8847) / mpls(tc=3, ttl=9) / ip() / udp()),
    ("set pbb_isid", pbb(5) / UDP4, pbb(77) / UDP4),
    ("push_vlan 0x8100", UDP4, eth() / Dot1Q(vlan=0, prio=0) / ip() / udp()),
    (
        "push_vlan 0x88a8",
        TAGGED,
        eth(type=0x88A8) / Dot1AD(vlan=5, prio=3, type=0x8100) / Dot1Q(vlan=5, prio=3) / ip() / udp(),
    ),
    ("pop_vlan", TAGGED, UDP4),
    ("push_mpls", UDP4, eth(type=0x8847) / mpls(label=0) / ip() / udp()),
    ("push_mpls on MPLS", LABELLED, eth(type=0x8847) / mpls(ttl=9, bottom=0) / mpls(ttl=9) / ip() / udp()),
    (
        "push_mpls behind a tag",
        TAGGED,
        eth() / Dot1Q(vlan=5, prio=3, type=0x8848) / mpls(label=0) / ip() / udp(),
    ),
    ("pop_mpls", LABELLED, UDP4),
    ("push_pbb", TAGGED, pbb(0, pcp=3) / TAGGED),
    ("pop_pbb", pbb(5) / UDP4, UDP4),
    ("set_nw_ttl", UDP4, eth() / ip(ttl=9) / udp()),
    ("set_nw_ttl of IPv6", UDP6, eth() / ip6(hlim=9) / udp()),
    ("dec_nw_ttl", UDP4, eth() / ip(ttl=63) / udp()),
    ("dec_nw_ttl of IPv6", UDP6, eth() / ip6(hlim=63) / udp()),
    ("set_mpls_ttl", LABELLED, eth(type=0x8847) / mpls(ttl=77) / ip() / udp()),
    ("dec_mpls_ttl", LABELLED, eth(type=0x8847) / mpls(ttl=8) / ip() / udp()),
    ("copy_ttl_out", LABELLED, eth(type=0x8847) / mpls(ttl=64) / ip() / udp()),
    ("copy_ttl_in", LABELLED, eth(type=0x8847) / mpls(ttl=9) / ip(ttl=9) / udp()),
    (
        "copy_ttl_in between labels",
        eth(type=0x8847) / mpls(ttl=3, bottom=0) / mpls(ttl=9) / ip() / udp(),
        eth(type=0x8847) / mpls(ttl=3, bottom=0) / mpls(ttl=3) / ip() / udp(),
    ),
    ("set_vlan_vid of 1.0", UDP4, eth() / Dot1Q(vlan=9, prio=0) / ip() / udp()),
    ("set_vlan_pcp of 1.0", TAGGED, eth() / Dot1Q(vlan=5, prio=6) / ip() / udp()),
    ("set_tp_src of 1.0", TCP4, eth() / ip() / tcp(sport=77)),
    ("set_tp_dst of 1.0", UDP4, eth() / ip() / udp(dport=77)),
    ("set part of ipv4_dst", UDP4, eth() / ip(dst="10.9.0.2") / udp()),
    ("copy udp_src to udp_dst", UDP4, eth() / ip() / udp(dport=1000)),
    ("dec_nw_ttl of a fragment", eth() / ip(flags="MF") / udp(), eth() / ip(flags="MF", ttl=63) / udp()),
]


def row(label: str, packet: Packet) -> str:
    return f"{label} | {bytes(packet).hex(' ')}"


def main() -> None:
    print("# Frames before and after actions. Written by generate.py with Scapy; names' actions: tests/golden.rs.")
    for name, before, after in CASES:
        print(f"\n{name}\n{row('before', before)}\n{row('after', after)}")


if __name__ == "__main__":
    main()
