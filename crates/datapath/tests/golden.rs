//! Each action against frames that Scapy built (`corpus/actions.txt`): every byte, every checksum.

mod common;

use common::Memory;
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Pipeline, PortRule};
use flowgauge_openflow::{Action, FlowMod, Match, OxmId, PortNo, Version};
use flowgauge_packet::Field;
use std::path::PathBuf;

/// What the names in the corpus stand for.
fn actions(name: &str) -> Option<Action> {
    const IP: u128 = 0xc0a8_0109;
    const IP6: u128 = 0xfd00 << 112 | 9 << 16 | 1;
    const MAC: u128 = 0x0200_0000_0003;
    let action = match name {
        "set eth_dst" => Action::set(Field::EthDst, MAC),
        "set eth_src" => Action::set(Field::EthSrc, MAC),
        "set vlan_vid" => Action::set(Field::VlanVid, 0x1009),
        "set vlan_pcp" => Action::set(Field::VlanPcp, 6),
        "set ip_dscp" | "set ip_dscp of IPv6" => Action::set(Field::IpDscp, 46),
        "set ip_ecn" | "set ip_ecn of IPv6" => Action::set(Field::IpEcn, 1),
        "set ipv4_src" | "set ipv4_src under TCP" => Action::set(Field::Ipv4Src, IP),
        "set ipv4_dst" | "set ipv4_dst under TCP" => Action::set(Field::Ipv4Dst, IP),
        "set tcp_src" => Action::set(Field::TcpSrc, 77),
        "set tcp_dst" => Action::set(Field::TcpDst, 77),
        "set tcp_flags" => Action::set(Field::TcpFlags, 2),
        "set udp_src" => Action::set(Field::UdpSrc, 77),
        "set udp_dst" | "set udp_dst over IPv6" => Action::set(Field::UdpDst, 77),
        "set sctp_src" => Action::set(Field::SctpSrc, 77),
        "set sctp_dst" => Action::set(Field::SctpDst, 77),
        "set icmpv4_type" => Action::set(Field::Icmpv4Type, 0),
        "set icmpv4_code" => Action::set(Field::Icmpv4Code, 9),
        "set arp_op" => Action::set(Field::ArpOp, 2),
        "set arp_spa" => Action::set(Field::ArpSpa, IP),
        "set arp_tpa" => Action::set(Field::ArpTpa, IP),
        "set arp_sha" => Action::set(Field::ArpSha, MAC),
        "set arp_tha" => Action::set(Field::ArpTha, MAC),
        "set ipv6_src" => Action::set(Field::Ipv6Src, IP6),
        "set ipv6_dst" => Action::set(Field::Ipv6Dst, IP6),
        "set ipv6_flabel" => Action::set(Field::Ipv6Flabel, 0xabcde),
        "set icmpv6_code" => Action::set(Field::Icmpv6Code, 4),
        "set ipv6_nd_target" => Action::set(Field::Ipv6NdTarget, IP6),
        "set ipv6_nd_sll" => Action::set(Field::Ipv6NdSll, MAC),
        "set mpls_label" => Action::set(Field::MplsLabel, 77),
        "set mpls_tc" => Action::set(Field::MplsTc, 3),
        "set pbb_isid" => Action::set(Field::PbbIsid, 77),
        "push_vlan 0x8100" => Action::PushVlan(0x8100),
        "push_vlan 0x88a8" => Action::PushVlan(0x88a8),
        "pop_vlan" => Action::PopVlan,
        "push_mpls" | "push_mpls on MPLS" => Action::PushMpls(0x8847),
        "push_mpls behind a tag" => Action::PushMpls(0x8848),
        "pop_mpls" => Action::PopMpls(0x800),
        "push_pbb" => Action::PushPbb(0x88e7),
        "pop_pbb" => Action::PopPbb,
        "set_nw_ttl" | "set_nw_ttl of IPv6" => Action::SetNwTtl(9),
        "dec_nw_ttl" | "dec_nw_ttl of IPv6" | "dec_nw_ttl of a fragment" => Action::DecNwTtl,
        "set_mpls_ttl" => Action::SetMplsTtl(77),
        "dec_mpls_ttl" => Action::DecMplsTtl,
        "copy_ttl_out" => Action::CopyTtlOut,
        "copy_ttl_in" | "copy_ttl_in between labels" => Action::CopyTtlIn,
        "set_vlan_vid of 1.0" => Action::SetVlanVid(9),
        "set_vlan_pcp of 1.0" => Action::SetVlanPcp(6),
        "set_tp_src of 1.0" => Action::SetTpSrc(77),
        "set_tp_dst of 1.0" => Action::SetTpDst(77),
        "set part of ipv4_dst" => {
            Action::SetField { field: Field::Ipv4Dst, value: 9 << 16, mask: 0xff << 16 }
        }
        "copy udp_src to udp_dst" => Action::CopyField {
            n_bits: 16,
            src_offset: 0,
            dst_offset: 0,
            src: OxmId::Field { field: Field::UdpSrc, masked: false },
            dst: OxmId::Field { field: Field::UdpDst, masked: false },
        },
        _ => return None,
    };
    Some(action)
}

/// Name, frame before, frame after.
fn corpus() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/actions.txt");
    let text = std::fs::read_to_string(path).expect("the corpus is there");
    let paragraphs = text.split("\n\n").skip(1);
    let case = |paragraph: &str| {
        let lines: Vec<&str> = paragraph.trim().lines().collect();
        let frame = |line: &str, label: &str| -> Vec<u8> {
            let hex = line.strip_prefix(label).and_then(|l| l.strip_prefix(" | ")).expect(label);
            hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("hex")).collect()
        };
        (lines[0].to_string(), frame(lines[1], "before"), frame(lines[2], "after"))
    };
    paragraphs.map(case).collect()
}

/// The match that holds everything that actions on this frame need.
fn match_of(frame: &[u8]) -> Match {
    let key = flowgauge_packet::FlowKey::parse(frame, 1);
    let wanted = [Field::EthType, Field::VlanVid, Field::IpProto, Field::Icmpv6Type];
    let present = wanted.into_iter().filter(|&field| key.has(field));
    // IPv4 and IPv6 alone have a protocol since 1.3.
    let is_ip = matches!(key.get(Field::EthType), Some(0x0800 | 0x86dd));
    let fields: Vec<Field> = present.filter(|&field| field != Field::IpProto || is_ip).collect();
    Match::exact(&key, &fields).expect("they are present")
}

#[test]
fn actions_change_what_they_should_and_nothing_else() {
    let cases = corpus();
    assert!(cases.len() > 55, "{}", cases.len());
    let mut wrong = Vec::new();
    for (name, before, after) in cases {
        let action = actions(&name).unwrap_or_else(|| panic!("no action is known by {name:?}"));
        for in_set in [false, true] {
            let output = Action::output(PortNo(2));
            let mut request = FlowMod::add(1, match_of(&before), vec![action.clone(), output]);
            if in_set {
                let [flowgauge_openflow::Instruction::ApplyActions(list)] = &request.instructions[..] else {
                    unreachable!("it was just made")
                };
                request.instructions = vec![flowgauge_openflow::Instruction::WriteActions(list.clone())];
            }
            let mut p = Pipeline::new(Limits { tables: 1, entries: 1 }, vec![PortRule::new(2)]);
            p.flow_mod(&request, Version::V1_5, Nanos::ZERO, &mut ())
                .unwrap_or_else(|code| panic!("{name}: {code}"));
            let mut memory = Memory::default();
            p.process(&[Frame { bytes: &before, in_port: 1 }], Nanos::ZERO, &mut memory);
            if memory.outputs != [(2, after.clone())] {
                let got = memory.outputs.first().map_or(String::new(), |(_, b)| format!("{b:02x?}"));
                wrong.push(format!("{name}: got\n{got}\nwanted\n{after:02x?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
