"""Actions besides set-field: tags pushed and popped, TTLs, and the order of lists and sets (1.3.5, 5.10-5.12; 1.0.0, 5.2.4)."""

from __future__ import annotations

from flowgauge.features.feature import Feature, since
from flowgauge.features.frames import MPLS, PBB, TCP6, UDP, UDP6, VLAN, Frame
from flowgauge.features.scenarios import Case, action, rows
from flowgauge.features.tester import Probe, through

OLD, NEW = ("1.0",), since("1.3")
IN_IN = VLAN.pushed("vlan", vlan_tpid=0x88A8, vlan_vid=7, vlan_pcp=4)
TWO_LABELS = MPLS.pushed("mpls", mpls_label=99, mpls_ttl=40, mpls_tc=3)
TUNNELED = UDP.pushed("eth", at=0).pushed("pbb", pbb_isid=0)
SHORT = UDP.changed(nw_ttl=10)
LABELED = SHORT.pushed("mpls", mpls_label=0, mpls_ttl=10)

FEATURES: tuple[Feature, ...] = rows(
    (
        # VLAN tags
        action(
            "push_vlan",
            "push a tag onto an untagged frame",
            "push_vlan:0x8100",
            UDP,
            UDP.pushed("vlan", vlan_vid=0),
            versions=NEW,
        ),
        action(
            "push_vlan.set",
            "push a tag and set its id and priority",
            "push_vlan:0x8100,set_field:4101->vlan_vid,set_field:3->vlan_pcp",
            UDP,
            UDP.pushed("vlan", vlan_vid=5, vlan_pcp=3),
            versions=NEW,
        ),
        action(
            "push_vlan.service",
            "push a service tag (0x88a8) onto a tagged frame: id and priority are copied",
            "push_vlan:0x88a8",
            VLAN,
            VLAN.pushed("vlan", vlan_tpid=0x88A8, vlan_vid=5, vlan_pcp=2),
            needs="dl_vlan=5",
            versions=NEW,
        ),
        action(
            "pop_vlan", "pop the tag", "pop_vlan", VLAN, VLAN.popped(), needs="dl_vlan=5", old="strip_vlan"
        ),
        action(
            "pop_vlan.stacked",
            "pop the outer of two tags",
            "pop_vlan",
            IN_IN,
            VLAN,
            needs="dl_vlan=7",
            versions=NEW,
        ),
        action(
            "mod_vlan_vid.push",
            "1.0: set the id of an untagged frame, which gives it a tag",
            "mod_vlan_vid:9",
            UDP,
            UDP.pushed("vlan", vlan_vid=9),
            versions=OLD,
        ),
        action(
            "mod_vlan_pcp.push",
            "1.0: set the priority of an untagged frame, which gives it a tag",
            "mod_vlan_pcp:4",
            UDP,
            UDP.pushed("vlan", vlan_vid=0, vlan_pcp=4),
            versions=OLD,
        ),
        # MPLS
        action(
            "push_mpls",
            "push an MPLS entry onto IPv4: label 0, the IP header's TTL",
            "push_mpls:0x8847",
            SHORT,
            LABELED,
            needs="ip",
            versions=NEW,
        ),
        action(
            "push_mpls.stacked",
            "push an MPLS entry onto another: label, class and TTL are copied",
            "push_mpls:0x8847",
            MPLS.changed(mpls_label=99, mpls_tc=3, mpls_ttl=40),
            MPLS.changed(mpls_label=99, mpls_tc=3, mpls_ttl=40).pushed(
                "mpls", mpls_label=99, mpls_tc=3, mpls_ttl=40
            ),
            needs="mpls",
            versions=NEW,
        ),
        action(
            "push_mpls.multicast",
            "push an MPLS entry with the multicast EtherType",
            "push_mpls:0x8848",
            SHORT,
            LABELED.changed(eth_type=0x8848),
            needs="ip",
            versions=NEW,
        ),
        action(
            "pop_mpls",
            "pop the only MPLS entry",
            "pop_mpls:0x0800",
            MPLS,
            MPLS.popped(),
            needs="mpls",
            versions=NEW,
        ),
        action(
            "pop_mpls.v6",
            "pop the only MPLS entry, IPv6 below",
            "pop_mpls:0x86dd",
            UDP6.pushed("mpls"),
            UDP6,
            needs="mpls",
            versions=NEW,
        ),
        action(
            "pop_mpls.stacked",
            "pop the outer of two MPLS entries",
            "pop_mpls:0x8847",
            TWO_LABELS,
            MPLS,
            needs="mpls,mpls_bos=0",
            versions=NEW,
        ),
        action(
            "set_mpls_ttl",
            "set the TTL of an MPLS entry",
            "set_mpls_ttl(9)",
            MPLS,
            MPLS.changed(mpls_ttl=9),
            needs="mpls",
            versions=NEW,
        ),
        action(
            "dec_mpls_ttl",
            "decrement the TTL of an MPLS entry",
            "dec_mpls_ttl",
            MPLS,
            MPLS.changed(mpls_ttl=63),
            needs="mpls",
            versions=NEW,
        ),
        # PBB
        action(
            "push_pbb",
            "push a PBB service tag: addresses are copied",
            "push_pbb:0x88e7",
            UDP,
            TUNNELED,
            versions=NEW,
        ),
        action(
            "pop_pbb",
            "pop a PBB service tag",
            "pop_pbb",
            PBB,
            Frame(PBB.layers[2:]),
            needs="dl_type=0x88e7",
            versions=NEW,
        ),
        # TTL
        action(
            "set_nw_ttl",
            "set the IPv4 TTL",
            "mod_nw_ttl:9",
            UDP,
            UDP.changed(nw_ttl=9),
            needs="ip",
            versions=NEW,
        ),
        action(
            "set_nw_ttl.v6",
            "set the IPv6 hop limit",
            "mod_nw_ttl:9",
            TCP6,
            TCP6.changed(nw_ttl=9),
            needs="ipv6",
            versions=NEW,
        ),
        action(
            "dec_nw_ttl",
            "decrement the IPv4 TTL",
            "dec_ttl",
            UDP,
            UDP.changed(nw_ttl=63),
            needs="ip",
            versions=NEW,
        ),
        action(
            "dec_nw_ttl.v6",
            "decrement the IPv6 hop limit",
            "dec_ttl",
            TCP6,
            TCP6.changed(nw_ttl=63),
            needs="ipv6",
            versions=NEW,
        ),
        action(
            "copy_ttl_out",
            "copy the TTL from IP to MPLS",
            "copy_ttl_out",
            MPLS.inner(2, nw_ttl=10),
            MPLS.inner(2, nw_ttl=10).changed(mpls_ttl=10),
            needs="mpls",
            versions=NEW,
        ),
        action(
            "copy_ttl_out.stacked",
            "copy the TTL from the inner to the outer MPLS entry",
            "copy_ttl_out",
            TWO_LABELS,
            TWO_LABELS.changed(mpls_ttl=64),
            needs="mpls",
            versions=NEW,
        ),
        action(
            "copy_ttl_in",
            "copy the TTL from MPLS to IP",
            "copy_ttl_in",
            MPLS.changed(mpls_ttl=9),
            MPLS.changed(mpls_ttl=9).inner(2, nw_ttl=9),
            needs="mpls",
            versions=NEW,
        ),
        action(
            "copy_ttl_in.stacked",
            "copy the TTL from the outer to the inner MPLS entry",
            "copy_ttl_in",
            TWO_LABELS,
            TWO_LABELS.inner(2, mpls_ttl=40),
            needs="mpls",
            versions=NEW,
        ),
        Case(
            "action",
            "dec_nw_ttl.expired",
            "a TTL that would become 0 stops the frame",
            ("in_port={1},ip,actions=dec_ttl,output:{2}",),
            (Probe(1, UDP.changed(nw_ttl=1)), through(1, UDP, 2, to=UDP.changed(nw_ttl=63))),
            NEW,
        ),
        Case(
            "action",
            "dec_mpls_ttl.expired",
            "an MPLS TTL that would become 0 stops the frame",
            ("in_port={1},mpls,actions=dec_mpls_ttl,output:{2}",),
            (Probe(1, MPLS.changed(mpls_ttl=1)), through(1, MPLS, 2, to=MPLS.changed(mpls_ttl=63))),
            NEW,
        ),
        action(
            "all_headers",
            "set addresses and ports of three headers and decrement the TTL at once",
            "set_field:02:00:00:00:77:02->eth_dst,set_field:10.1.2.4->ip_dst,set_field:80->udp_dst,dec_ttl",
            UDP,
            UDP.changed(eth_dst="02:00:00:00:77:02", ipv4_dst="10.1.2.4", udp_dst=80, nw_ttl=63),
            needs="udp",
            versions=NEW,
        ),
        action(
            "route_labeled",
            "swap tags: pop a VLAN tag, push an MPLS entry and set its label",
            "pop_vlan,push_mpls:0x8847,set_field:1000->mpls_label",
            VLAN,
            VLAN.popped().pushed("mpls", mpls_label=1000, mpls_ttl=64),
            needs="dl_vlan=5,ip",
            versions=NEW,
        ),
        # Lists and sets
        Case(
            "action",
            "list_order",
            "a list is done in its order: what comes later changes no earlier output",
            ("in_port={1},ip,actions=output:{2},set_field:10.1.2.4->ip_dst,output:{3}",),
            (Probe(1, UDP, ((2, UDP), (3, UDP.changed(ipv4_dst="10.1.2.4")))),),
            ports=3,
            old=("in_port={1},ip,actions=output:{2},mod_nw_dst:10.1.2.4,output:{3}",),
        ),
    )
)
