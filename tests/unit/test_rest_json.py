"""ovs-ofctl texts in the words of `ofctl_rest`: match fields, actions, instructions, groups, meters, in 1.0 and later; and back."""

from __future__ import annotations

from typing import Any

import pytest

from flowgauge.controllers import rest_json
from flowgauge.errors import NotOfferedError, UsageError


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", {}),
        ("in_port=3", {"in_port": 3}),
        ("in_port=local", {"in_port": "LOCAL"}),
        ("dl_src=02:00:00:00:00:01", {"eth_src": "02:00:00:00:00:01"}),
        ("dl_dst=01:00:00:00:00:00/01:00:00:00:00:00", {"eth_dst": "01:00:00:00:00:00/01:00:00:00:00:00"}),
        ("dl_type=0x88b5", {"eth_type": 0x88B5}),
        ("dl_vlan=5,dl_vlan_pcp=3", {"vlan_vid": 5, "vlan_pcp": 3}),
        ("dl_vlan=0xffff", {"vlan_vid": "0x0000"}),
        ("vlan_vid=0x1005", {"vlan_vid": "0x1005"}),
        ("vlan_vid=0x1000/0x1000", {"vlan_vid": "0x1000/0x1000"}),
        ("vlan_tci=0x1000/0x1000", {"vlan_vid": "0x1000/0x1000"}),
        ("vlan_tci=0x0000/0x1fff", {"vlan_vid": "0x0000"}),
        ("vlan_tci=0x7005", {"vlan_vid": "0x1005", "vlan_pcp": 3}),
        ("ip,nw_src=10.0.0.0/8", {"eth_type": 0x800, "ipv4_src": "10.0.0.0/8"}),
        ("ip,nw_tos=184,nw_ecn=1", {"eth_type": 0x800, "ip_dscp": 46, "ip_ecn": 1}),
        ("ip,ip_dscp=46", {"eth_type": 0x800, "ip_dscp": 46}),
        ("tcp,tp_dst=80", {"eth_type": 0x800, "ip_proto": 6, "tcp_dst": 80}),
        ("udp,tp_src=0x35,tp_dst=7", {"eth_type": 0x800, "ip_proto": 17, "udp_src": 53, "udp_dst": 7}),
        ("dl_type=0x800,nw_proto=17,udp_dst=7", {"eth_type": 0x800, "ip_proto": 17, "udp_dst": 7}),
        ("sctp6,tp_dst=9", {"eth_type": 0x86DD, "ip_proto": 132, "sctp_dst": 9}),
        (
            "icmp,icmp_type=8,icmp_code=0",
            {"eth_type": 0x800, "ip_proto": 1, "icmpv4_type": 8, "icmpv4_code": 0},
        ),
        (
            "icmp6,icmp_type=135,nd_target=fe80::1",
            {"eth_type": 0x86DD, "ip_proto": 58, "icmpv6_type": 135, "ipv6_nd_target": "fe80::1"},
        ),
        (
            "arp,nw_src=10.0.0.1,arp_op=1,arp_sha=02:00:00:00:00:01",
            {"eth_type": 0x806, "arp_spa": "10.0.0.1", "arp_op": 1, "arp_sha": "02:00:00:00:00:01"},
        ),
        (
            "ipv6,ipv6_dst=2001:db8::/32,ipv6_label=0x1f",
            {"eth_type": 0x86DD, "ipv6_dst": "2001:db8::/32", "ipv6_flabel": 31},
        ),
        ("mpls,mpls_label=100,mpls_bos=1", {"eth_type": 0x8847, "mpls_label": 100, "mpls_bos": 1}),
        ("metadata=0x10/0xf0", {"metadata": "0x10/0xf0"}),
        ("tun_id=0x7", {"tunnel_id": 7}),
    ],
)
def test_match_fields_since_1_3(text: str, match: dict[str, Any]) -> None:
    assert rest_json.flow(f"{text} actions=drop", "1.3")["match"] == match


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("in_port=3,dl_src=02:00:00:00:00:01", {"in_port": 3, "dl_src": "02:00:00:00:00:01"}),
        ("dl_vlan=5", {"dl_vlan": 5}),
        ("vlan_vid=0x1005", {"dl_vlan": 5}),
        ("dl_vlan=0xffff", {"dl_vlan": 0xFFFF}),
        (
            "udp,nw_dst=10.0.0.0/255.0.0.0,tp_dst=7",
            {"dl_type": 0x800, "nw_proto": 17, "nw_dst": "10.0.0.0/8", "tp_dst": 7},
        ),
        ("ip,nw_tos=184", {"dl_type": 0x800, "nw_tos": 184}),
        ("arp,arp_spa=10.0.0.1,arp_op=1", {"dl_type": 0x806, "nw_src": "10.0.0.1", "nw_proto": 1}),
        ("icmp,icmp_type=8,icmp_code=0", {"dl_type": 0x800, "nw_proto": 1, "tp_src": 8, "tp_dst": 0}),
    ],
)
def test_match_fields_of_1_0(text: str, match: dict[str, Any]) -> None:
    assert rest_json.flow(f"{text} actions=drop", "1.0")["match"] == match


@pytest.mark.parametrize(
    ("text", "version", "what"),
    [
        ("tcp,tcp_flags=+syn", "1.3", "match field tcp_flags"),
        ("reg0=1", "1.3", "match field reg0"),
        ("tcp,tp_dst=0x50/0xfff0", "1.3", "a mask on tcp_dst"),
        ("ipv6,ipv6_dst=2001:db8::1", "1.0", "ipv6_dst in OpenFlow 1.0"),
        ("dl_src=02:00:00:00:00:01/ff:00:00:00:00:00", "1.0", "a mask on eth_src"),
        ("ip,nw_src=10.0.0.1/255.0.0.255", "1.0", "the mask 255.0.0.255"),
        ("ip actions=resubmit(,1)", "1.3", "action resubmit"),
        ("ip actions=mod_vlan_vid:5", "1.3", "mod_vlan_vid"),
        ("ip actions=mod_tp_dst:5", "1.3", "mod_tp_dst without a match"),
        ("ip actions=output:NXM_NX_REG0[]", "1.3", "output:NXM"),
        ("ip actions=set_field:5->ip_ecn", "1.0", "setting ip_ecn in OpenFlow 1.0"),
        ("ip actions=mod_nw_ttl:5", "1.0", "action mod_nw_ttl"),
    ],
)
def test_what_it_has_no_words_for_is_named(text: str, version: str, what: str) -> None:
    with pytest.raises(NotOfferedError, match="ofctl_rest can't say") as caught:
        rest_json.flow(text, version)
    assert what in caught.value.message
    assert caught.value.advice


@pytest.mark.parametrize(
    "text", ["priority=high", "in_port=1,write_actions(output:1", "tcp,tp_dst=http", "group_id"]
)
def test_what_is_wrong_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        rest_json.flow(text, "1.3")


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("drop", []),
        ("", []),
        ("output:2,3", [{"type": "OUTPUT", "port": 2}, {"type": "OUTPUT", "port": 3}]),
        ("CONTROLLER:65535", [{"type": "OUTPUT", "port": "CONTROLLER", "max_len": 65535}]),
        ("controller", [{"type": "OUTPUT", "port": "CONTROLLER"}]),
        ("NORMAL", [{"type": "OUTPUT", "port": "NORMAL"}]),
        ("in_port", [{"type": "OUTPUT", "port": "IN_PORT"}]),
        (
            "push_vlan:0x8100,set_field:4101->vlan_vid",
            [
                {"type": "PUSH_VLAN", "ethertype": 0x8100},
                {"type": "SET_FIELD", "field": "vlan_vid", "value": 4101},
            ],
        ),
        ("set_field:5->vlan_vid", [{"type": "SET_FIELD", "field": "vlan_vid", "value": 4101}]),
        ("pop_vlan", [{"type": "POP_VLAN"}]),
        (
            "mod_dl_src:02:00:00:00:00:09",
            [{"type": "SET_FIELD", "field": "eth_src", "value": "02:00:00:00:00:09"}],
        ),
        ("set_field:10.0.0.9->ip_dst", [{"type": "SET_FIELD", "field": "ipv4_dst", "value": "10.0.0.9"}]),
        (
            "set_field:2001:db8::1->ipv6_src",
            [{"type": "SET_FIELD", "field": "ipv6_src", "value": "2001:db8::1"}],
        ),
        ("mod_nw_tos:184", [{"type": "SET_FIELD", "field": "ip_dscp", "value": 46}]),
        ("mod_tp_dst:53", [{"type": "SET_FIELD", "field": "udp_dst", "value": 53}]),
        ("mod_nw_ttl:3,dec_ttl", [{"type": "SET_NW_TTL", "nw_ttl": 3}, {"type": "DEC_NW_TTL"}]),
        ("group:7", [{"type": "GROUP", "group_id": 7}]),
        ("set_queue:1,output:2", [{"type": "SET_QUEUE", "queue_id": 1}, {"type": "OUTPUT", "port": 2}]),
        (
            "push_mpls:0x8847,set_mpls_ttl(9)",
            [{"type": "PUSH_MPLS", "ethertype": 0x8847}, {"type": "SET_MPLS_TTL", "mpls_ttl": 9}],
        ),
        ("meter:1,goto_table:2", [{"type": "METER", "meter_id": 1}, {"type": "GOTO_TABLE", "table_id": 2}]),
        ("clear_actions", [{"type": "CLEAR_ACTIONS"}]),
        (
            "write_actions(output:1,group:2)",
            [
                {
                    "type": "WRITE_ACTIONS",
                    "actions": [{"type": "OUTPUT", "port": 1}, {"type": "GROUP", "group_id": 2}],
                }
            ],
        ),
        ("write_metadata:0x10/0xf0", [{"type": "WRITE_METADATA", "metadata": 16, "metadata_mask": 240}]),
    ],
)
def test_actions_and_instructions_since_1_3(text: str, actions: list[Any]) -> None:
    assert rest_json.flow(f"udp actions={text}", "1.3")["actions"] == actions


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("output:2", [{"type": "OUTPUT", "port": 2}]),
        (
            "mod_vlan_vid:5,mod_vlan_pcp:3",
            [{"type": "SET_VLAN_VID", "vlan_vid": 5}, {"type": "SET_VLAN_PCP", "vlan_pcp": 3}],
        ),
        ("strip_vlan", [{"type": "STRIP_VLAN"}]),
        ("mod_dl_dst:02:00:00:00:00:09", [{"type": "SET_DL_DST", "dl_dst": "02:00:00:00:00:09"}]),
        (
            "mod_nw_src:10.0.0.9,mod_nw_tos:184",
            [{"type": "SET_NW_SRC", "nw_src": "10.0.0.9"}, {"type": "SET_NW_TOS", "nw_tos": 184}],
        ),
        ("mod_tp_src:53", [{"type": "SET_TP_SRC", "tp_src": 53}]),
        ("enqueue:2:1", [{"type": "ENQUEUE", "port": 2, "queue_id": 1}]),
        ("set_field:5->vlan_vid", [{"type": "SET_VLAN_VID", "vlan_vid": 5}]),
    ],
)
def test_actions_of_1_0(text: str, actions: list[Any]) -> None:
    assert rest_json.flow(f"udp actions={text}", "1.0")["actions"] == actions


def test_options_of_a_flow() -> None:
    text = "table=3,cookie=0x2a/0xff,idle_timeout=5,hard_timeout=9,send_flow_rem,check_overlap,out_port=2,out_group=1,in_port=1"
    assert rest_json.flow(text, "1.3") == {
        "priority": 0x8000,
        "table_id": 3,
        "cookie": 42,
        "cookie_mask": 255,
        "idle_timeout": 5,
        "hard_timeout": 9,
        "flags": 3,
        "out_port": 2,
        "out_group": 1,
        "match": {"in_port": 1},
    }
    assert rest_json.names_table(text)
    assert not rest_json.names_table("ip actions=goto_table:3")


def test_groups() -> None:
    text = "group_id=7,type=ff,bucket=watch_port:1,actions=mod_nw_ttl:3,output:1,bucket=watch_group:2,weight:5,output:2"
    assert rest_json.group(text, "1.3") == {
        "group_id": 7,
        "type": "FF",
        "buckets": [
            {
                "watch_port": 1,
                "actions": [{"type": "SET_NW_TTL", "nw_ttl": 3}, {"type": "OUTPUT", "port": 1}],
            },
            {"watch_group": 2, "weight": 5, "actions": [{"type": "OUTPUT", "port": 2}]},
        ],
    }
    assert rest_json.group("group_id=all", "1.3") == {"group_id": "ALL", "buckets": []}
    with pytest.raises(UsageError, match="group_id is missing"):
        rest_json.group("type=all", "1.3")
    with pytest.raises(UsageError, match="type=some"):
        rest_json.group("group_id=1,type=some", "1.3")


def test_meters() -> None:
    text = "meter=2,pktps,burst,stats,bands=type=drop,rate=1000,burst_size=10,type=dscp_remark,rate=500,prec_level=1"
    assert rest_json.meter(text) == {
        "meter_id": 2,
        "flags": ["PKTPS", "BURST", "STATS"],
        "bands": [
            {"type": "DROP", "rate": 1000, "burst_size": 10},
            {"type": "DSCP_REMARK", "rate": 500, "prec_level": 1},
        ],
    }
    assert rest_json.meter("meter=all") == {"meter_id": "ALL", "flags": [], "bands": []}
    for wrong in ("kbps", "meter=1,mbps", "meter=1,bands=rate=5"):
        with pytest.raises(UsageError):
            rest_json.meter(wrong)


def test_statistics_read_as_ovs_ofctl_prints_them() -> None:
    entry = {
        "cookie": 42,
        "duration_sec": 12,
        "duration_nsec": 7_000_000,
        "table_id": 3,
        "packet_count": 3,
        "byte_count": 180,
        "idle_timeout": 60,
        "hard_timeout": 0,
        "priority": 9,
        "match": {"dl_type": 2048, "nw_dst": "10.0.0.1"},
        "actions": [
            "SET_FIELD: {eth_dst:02:00:00:00:00:09}",
            "OUTPUT:2",
            "OUTPUT:NORMAL",
            {"WRITE_ACTIONS": ["POP_VLAN"]},
        ],
    }
    assert rest_json.flow_text(entry) == (
        "cookie=0x2a, duration=12.007s, table=3, n_packets=3, n_bytes=180, idle_timeout=60, "
        "priority=9,dl_type=0x0800,nw_dst=10.0.0.1 "
        "actions=set_field:02:00:00:00:00:09->eth_dst,output:2,NORMAL,write_actions(pop_vlan)"
    )
