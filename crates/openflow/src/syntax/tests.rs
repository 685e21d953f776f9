//! Texts that print as they were written, texts that mean the same, and texts that are wrong, with the place.

use super::{Actions, parse_actions, parse_flow};
use crate::Instruction;

/// These print exactly as written: `ovs-ofctl parse-flow` prints the same.
const CANONICAL: &[&str] = &[
    "actions=drop",
    "priority=10,udp,in_port=1,nw_dst=10.0.0.1,tp_dst=80 actions=mod_nw_ttl:3,output:2",
    "in_port=1 actions=output:2",
    "in_port=LOCAL actions=IN_PORT",
    "table=3,cookie=0x7,idle_timeout=5,hard_timeout=9,send_flow_rem,priority=1,arp,arp_tpa=10.0.0.1 actions=FLOOD",
    "dl_vlan=5,dl_vlan_pcp=3 actions=pop_vlan,output:1",
    "vlan_tci=0x0000/0x1fff actions=push_vlan:0x8100,set_field:4101->vlan_vid,output:1",
    "dl_src=02:00:00:00:00:01,dl_dst=01:00:00:00:00:00/01:00:00:00:00:00 actions=CONTROLLER:128",
    "ip,nw_src=10.0.0.0/8,nw_tos=32 actions=set_field:10.0.0.1->ip_dst,output:1",
    "ip,nw_src=10.0.0.1/255.0.255.0 actions=NORMAL",
    "tcp6,ipv6_dst=2001:db8::/32,tp_src=0x50/0xfff0 actions=dec_ttl,group:7",
    "icmp,icmp_type=8,icmp_code=0 actions=set_queue:3,output:1",
    "mpls,mpls_label=100,mpls_tc=1,mpls_bos=1 actions=pop_mpls:0x0800,goto_table:2",
    "metadata=0x5/0xff actions=meter:1,output:1,clear_actions,write_actions(output:3),write_metadata:0x1/0x3,goto_table:9",
    "tcp6,ipv6_label=0x00123,tp_dst=80,tcp_flags=+syn-ack actions=drop",
    "ipv6,ipv6_label=0x00005/0x0000f actions=drop",
    "vlan_tci=0x1000/0x1000 actions=drop",
    "vlan_tci=0x1005/0x100f actions=drop",
    "dl_vlan_pcp=3 actions=drop",
    "icmp actions=set_field:1->icmp_type,set_field:2->icmp_code",
    "dl_type=0x88cc actions=CONTROLLER:65535",
];

#[test]
fn canonical_texts_print_as_they_were_written() {
    for text in CANONICAL {
        let flow = parse_flow(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let expected = text.replace("nw_src=10.0.0.1/255.0.255.0", "nw_src=10.0.0.0/255.0.255.0");
        assert_eq!(flow.to_string(), expected);
        assert_eq!(parse_flow(&flow.to_string()), Ok(flow), "{text}");
    }
}

#[test]
fn other_spellings_mean_the_same() {
    let pairs = [
        ("dl_type=0x0800,nw_proto=17,tp_dst=80 actions=2", "udp,tp_dst=80 actions=output:2"),
        ("eth_type=0x800 ip_proto=17 udp_dst=80 action=output:2", "udp,tp_dst=80 actions=output:2"),
        ("tp_dst=80,udp,actions=output:2", "udp,tp_dst=80 actions=output:2"),
        ("vlan_vid=0x1005 actions=strip_vlan", "dl_vlan=5 actions=pop_vlan"),
        ("actions=controller(max_len=128)", "actions=CONTROLLER:128"),
        ("actions=CONTROLLER", "actions=CONTROLLER:65535"),
        ("in_port=65534 actions=all", "in_port=LOCAL actions=ALL"),
        (
            "ip,nw_dst=10.1.2.3/8 actions=mod_nw_dst:1.2.3.4",
            "ip,nw_dst=10.0.0.0/8 actions=set_field:1.2.3.4->ip_dst",
        ),
        ("dl_vlan=0xffff actions=drop", "vlan_tci=0x0000/0x1fff actions=drop"),
        ("vlan_tci=0 actions=drop", "vlan_tci=0x0000/0x1fff actions=drop"),
        ("vlan_tci=0x1005/0x1fff actions=drop", "dl_vlan=5 actions=drop"),
        ("vlan_tci=0x7005 actions=drop", "dl_vlan=5,dl_vlan_pcp=3 actions=drop"),
        ("tcp,tcp_flags=0x12 actions=drop", "tcp,tcp_flags=syn|ack actions=drop"),
        ("tcp,tcp_flags=0x1/0x3f actions=drop", "tcp,tcp_flags=+fin-syn-rst-psh-ack-urg actions=drop"),
        (
            "mpls actions=set_mpls_label:3,set_mpls_tc:2",
            "mpls actions=set_field:3->mpls_label,set_field:2->mpls_tc",
        ),
        ("actions=set_tunnel:7", "actions=set_field:0x7->tun_id"),
        ("ip actions=mod_nw_ecn:1", "ip actions=set_field:1->nw_ecn"),
        ("actions=mod_nw_tos:32", "actions=set_field:8->ip_dscp"),
    ];
    for (text, canonical) in pairs {
        assert_eq!(parse_flow(text).unwrap_or_else(|e| panic!("{text}: {e}")).to_string(), canonical);
    }
}

#[test]
fn faults_are_named_with_their_column() {
    let faults = [
        ("udp,nw_dst=10.0.0.300 actions=drop", 12, "an IPv4 address"),
        ("udp,nw_dst=10.0.0.1/33 actions=drop", 21, "a number from 0 to 32"),
        ("tp_dst=80 actions=drop", 1, "a protocol such as tcp"),
        ("in_port=1,tcp_dst=80 actions=drop", 11, "a match that makes sense: tcp_dst needs ip_proto=6"),
        (
            "udp,nw_dst=10.0.0.1,tcp_dst=80 actions=drop",
            21,
            "a match that makes sense: tcp_dst needs ip_proto=6",
        ),
        ("colour=red actions=drop", 1, "a field, option or protocol"),
        ("priority=70000 actions=drop", 10, "a number from 0 to 65535"),
        ("in_port=1,in_port=2 actions=drop", 11, "in_port only once"),
        ("in_port=1 actions=outputt:2", 19, "an action"),
        ("in_port=1 actions=controller(max_len=3", 29, "a closing parenthesis"),
        ("in_port=1 actions=output:2)", 27, "no closing parenthesis"),
        ("ipv5 actions=drop", 1, "a protocol"),
        ("actions=set_field:5", 19, "VALUE->FIELD"),
        ("actions=set_field:5->nonsense", 22, "a field"),
        ("dl_vlan=4096 actions=drop", 9, "a VLAN id"),
        ("dl_src=02:00:00:00:00 actions=drop", 8, "a MAC address"),
        ("vlan_tci=0x2000/0x2000 actions=drop", 10, "a mask with all or none"),
        ("tcp,tcp_flags=+syn+syn actions=drop", 15, "TCP flags"),
        ("tcp,tcp_flags=sin actions=drop", 15, "TCP flags"),
        ("priority=+5 actions=drop", 10, "a number"),
    ];
    for (text, column, expected) in faults {
        let fault = parse_flow(text).expect_err(text);
        assert_eq!(fault.column, column, "{text}: {fault}");
        assert!(fault.expected.starts_with(expected), "{text}: {fault}");
    }
    assert_eq!(
        parse_flow("udp,nw_dst=10.0.0 actions=drop").unwrap_err().to_string(),
        "column 12: expected an IPv4 address such as 10.0.0.1, found \"10.0.0\""
    );
}

#[test]
fn actions_alone() {
    let actions = parse_actions("mod_dl_src:02:00:00:00:00:01,enqueue:1:2,drop,LOCAL").unwrap();
    assert_eq!(Actions(&actions).to_string(), "set_field:02:00:00:00:00:01->eth_src,enqueue:1:2,LOCAL");
    assert_eq!(Actions(&[]).to_string(), "drop");
}

#[test]
fn instructions_are_sorted_as_a_switch_executes_them() {
    let flow = parse_flow("actions=goto_table:2,output:1,meter:4").unwrap();
    assert!(matches!(
        flow.instructions[..],
        [Instruction::Meter(4), Instruction::ApplyActions(_), Instruction::GotoTable(2)]
    ));
}
