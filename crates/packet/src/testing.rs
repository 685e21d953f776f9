//! What several tests share: a naive second parser as oracle, a judge of checksums, and random flow sets and
//! frames.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::checksum::{self, Sum};
use crate::flow_key::VLAN_PRESENT;
use crate::header::*;
use crate::{Field, FlowKey, FlowSet, MacAddr, Pattern};

/// An upper-layer header and what it needs to be judged.
pub(crate) struct Upper<'a> {
    pub proto: u8,
    pub bytes: &'a [u8],
    pub pseudo: Sum,
    pub v6: bool,
}

/// What the naive parser finds.
pub(crate) struct Naive<'a> {
    pub key: FlowKey,
    pub upper: Option<Upper<'a>>,
    /// Whether a checksum of the IPv4 header, if there is one, is right.
    pub sound: bool,
}

/// The key of a frame, by views alone and without haste: the oracle of `FlowKey::parse`.
pub(crate) fn naive(frame: &[u8], in_port: u32) -> Naive<'_> {
    let mut key = FlowKey::default();
    for port in [Field::InPort, Field::InPhyPort] {
        key.set(port, in_port.into());
    }
    for zero in [Field::Metadata, Field::TunnelId, Field::PacketType] {
        key.set(zero, 0);
    }
    key.set(Field::ActsetOutput, 0xffff_fff7);
    let mut found = Naive { key, upper: None, sound: true };
    if let Ok(ethernet) = EthernetView::new_checked(frame) {
        found.key.set(Field::EthDst, ethernet.dst().to_u64().into());
        found.key.set(Field::EthSrc, ethernet.src().to_u64().into());
        tags(&mut found, ethernet.eth_type(), ethernet.payload());
    }
    found
}

fn tags<'a>(found: &mut Naive<'a>, mut eth_type: u16, mut rest: &'a [u8]) {
    let mut outer = true;
    while eth_type == 0x8100 || eth_type == 0x88a8 {
        let Ok(tag) = VlanView::new_checked(rest) else { return };
        if outer {
            found.key.set(Field::VlanVid, u128::from(tag.vid()) | 0x1000);
            found.key.set(Field::VlanPcp, tag.pcp().into());
        }
        (outer, eth_type, rest) = (false, tag.eth_type(), tag.payload());
    }
    if outer {
        found.key.set(Field::VlanVid, 0);
    }
    if eth_type < 0x600 {
        let snap = rest.len() >= 8 && rest[..6] == [0xaa, 0xaa, 3, 0, 0, 0] && rest[6] >= 6;
        eth_type = if snap { u16::from(rest[6]) << 8 | u16::from(rest[7]) } else { 0x5ff };
        rest = if snap { &rest[8..] } else { &[] };
    }
    found.key.set(Field::EthType, eth_type.into());
    match eth_type {
        0x0800 => ipv4(found, rest),
        0x86dd => ipv6(found, rest),
        0x0806 => arp(found, rest),
        0x8847 | 0x8848 => {
            if let Ok(entry) = Mpls::parse(rest) {
                found.key.set(Field::MplsLabel, entry.label.into());
                found.key.set(Field::MplsTc, entry.tc.into());
                found.key.set(Field::MplsBos, entry.bottom.into());
            }
        }
        0x88e7 => {
            if let Ok(tag) = Pbb::parse(rest) {
                found.key.set(Field::PbbIsid, tag.isid.into());
                found.key.set(Field::PbbUca, tag.uca.into());
            }
        }
        _ => {}
    }
}

fn arp(found: &mut Naive<'_>, bytes: &[u8]) {
    let Ok(arp) = Arp::parse(bytes) else { return };
    let key = &mut found.key;
    key.set(Field::ArpOp, arp.op.into());
    key.set(Field::IpProto, if arp.op < 256 { arp.op.into() } else { 0 });
    key.set(Field::ArpSpa, arp.spa.to_bits().into());
    key.set(Field::ArpTpa, arp.tpa.to_bits().into());
    key.set(Field::ArpSha, arp.sha.to_u64().into());
    key.set(Field::ArpTha, arp.tha.to_u64().into());
}

fn ipv4<'a>(found: &mut Naive<'a>, bytes: &'a [u8]) {
    let Ok(ip) = Ipv4View::new_checked(bytes) else { return };
    let key = &mut found.key;
    key.set(Field::IpDscp, ip.dscp().into());
    key.set(Field::IpEcn, ip.ecn().into());
    key.set(Field::IpTtl, ip.ttl().into());
    key.set(Field::IpProto, ip.proto().into());
    key.set(Field::Ipv4Id, ip.id().into());
    key.set(Field::Ipv4Src, ip.src().to_bits().into());
    key.set(Field::Ipv4Dst, ip.dst().to_bits().into());
    found.sound = ip.verifies();
    if ip.fragment_offset() == 0 {
        upper(found, Upper { proto: ip.proto(), bytes: ip.payload(), pseudo: ip.pseudo(), v6: false });
    }
}

fn ipv6<'a>(found: &mut Naive<'a>, bytes: &'a [u8]) {
    let Ok(ip) = Ipv6View::new_checked(bytes) else { return };
    let mut walk = ip.extensions();
    (&mut walk).for_each(drop);
    let key = &mut found.key;
    key.set(Field::IpDscp, ip.dscp().into());
    key.set(Field::IpEcn, ip.ecn().into());
    key.set(Field::IpTtl, ip.hop_limit().into());
    key.set(Field::IpProto, walk.next_header().into());
    key.set(Field::Ipv6Src, ip.src().to_bits());
    key.set(Field::Ipv6Dst, ip.dst().to_bits());
    key.set(Field::Ipv6Flabel, ip.flow_label().into());
    key.set(Field::Ipv6Exthdr, walk.openflow_bits().into());
    if walk.reached_upper_layer() {
        let bytes = &ip.payload()[walk.offset()..];
        let proto = walk.next_header();
        upper(found, Upper { proto, bytes, pseudo: ip.pseudo(proto, bytes.len()), v6: true });
    }
}

fn upper<'a>(found: &mut Naive<'a>, upper: Upper<'a>) {
    let key = &mut found.key;
    match (upper.proto, upper.v6) {
        (6, _) if upper.bytes.len() >= 20 => {
            // A data offset that makes no sense doesn't hide the ports.
            let bytes = upper.bytes;
            let word = |at: usize| u128::from(bytes[at]) << 8 | u128::from(bytes[at + 1]);
            key.set(Field::TcpSrc, word(0));
            key.set(Field::TcpDst, word(2));
            key.set(Field::TcpFlags, word(12) & 0xfff);
        }
        (17, _) => {
            let Ok(udp) = Udp::parse(upper.bytes) else { return };
            key.set(Field::UdpSrc, udp.src.into());
            key.set(Field::UdpDst, udp.dst.into());
        }
        (132, _) => {
            let Ok(sctp) = Sctp::parse(upper.bytes) else { return };
            key.set(Field::SctpSrc, sctp.src.into());
            key.set(Field::SctpDst, sctp.dst.into());
        }
        (1, false) => {
            let Ok(icmp) = Icmp::parse(upper.bytes) else { return };
            key.set(Field::Icmpv4Type, icmp.kind.into());
            key.set(Field::Icmpv4Code, icmp.code.into());
        }
        (58, true) => {
            let Ok(icmp) = IcmpView::new_checked(upper.bytes) else { return };
            key.set(Field::Icmpv6Type, icmp.kind().into());
            key.set(Field::Icmpv6Code, icmp.code().into());
            if let (135 | 136, 0, Ok(nd)) =
                (icmp.kind(), icmp.code(), NeighborView::new_checked(icmp.payload()))
            {
                let mac = |mac: MacAddr| u128::from(mac.to_u64());
                key.set(Field::Ipv6NdTarget, nd.target().to_bits());
                match icmp.kind() {
                    135 => nd.source().into_iter().for_each(|m| key.set(Field::Ipv6NdSll, mac(m))),
                    _ => nd.target_address().into_iter().for_each(|m| key.set(Field::Ipv6NdTll, mac(m))),
                }
            }
        }
        _ => return,
    }
    found.upper = Some(upper);
}

/// Whether all checksums of a frame are right, as far as the headers are recognised. No UDP checksum is
/// right.
pub(crate) fn is_sound(frame: &[u8]) -> bool {
    let found = naive(frame, 0);
    let upper_sound = found.upper.is_none_or(|upper| match (upper.proto, upper.v6) {
        (6, _) => upper.pseudo.bytes(upper.bytes).verifies(),
        (17, _) => UdpView::new_checked(upper.bytes).unwrap().verifies(upper.pseudo),
        (132, _) => Sctp::parse(upper.bytes).unwrap().checksum == checksum::sctp(upper.bytes),
        (1, false) => Sum::default().bytes(upper.bytes).verifies(),
        (58, true) => upper.pseudo.bytes(upper.bytes).verifies(),
        _ => true,
    });
    found.sound && upper_sound
}

/// Fields that are in a key without being in a frame.
pub(crate) const PIPELINE: [Field; 6] = [
    Field::InPort,
    Field::InPhyPort,
    Field::Metadata,
    Field::TunnelId,
    Field::ActsetOutput,
    Field::PacketType,
];

const IP: [Field; 3] = [Field::IpDscp, Field::IpEcn, Field::IpTtl];
const IPV4: [Field; 3] = [Field::Ipv4Id, Field::Ipv4Src, Field::Ipv4Dst];
const IPV6: [Field; 3] = [Field::Ipv6Src, Field::Ipv6Dst, Field::Ipv6Flabel];

/// The fields that ask for a header stack, and those that may vary in it.
type Family = (Vec<(Field, u128)>, Vec<Field>);

/// Every header stack.
fn families() -> Vec<Family> {
    use Field::*;
    let v4 = |fields: &[Field]| [&IP, &IPV4, fields].concat();
    let v6 = |fields: &[Field]| [&IP, &IPV6, fields].concat();
    let no_v4 = (EthType, 0x86dd);
    vec![
        (vec![], v4(&[UdpSrc, UdpDst])),
        (vec![(IpProto, 6)], v4(&[TcpSrc, TcpDst, TcpFlags])),
        (vec![(IpProto, 132)], v4(&[SctpSrc, SctpDst])),
        (vec![(IpProto, 1)], v4(&[Icmpv4Type, Icmpv4Code])),
        (vec![(IpProto, 89)], v4(&[])),
        (vec![no_v4], v6(&[UdpSrc, UdpDst])),
        (vec![no_v4, (IpProto, 6)], v6(&[TcpSrc, TcpDst, TcpFlags])),
        (vec![no_v4, (IpProto, 132)], v6(&[SctpSrc, SctpDst])),
        (vec![(IpProto, 58)], v6(&[Icmpv6Type, Icmpv6Code])),
        (vec![(Icmpv6Type, 135)], v6(&[Ipv6NdTarget, Ipv6NdSll])),
        (vec![(Icmpv6Type, 136)], v6(&[Ipv6NdTarget, Ipv6NdTll])),
        (vec![no_v4, (IpProto, 89)], v6(&[])),
        (vec![(EthType, 0x0806)], vec![ArpOp, ArpSpa, ArpTpa, ArpSha, ArpTha]),
        (vec![(EthType, 0x8847)], vec![MplsLabel, MplsTc]),
        (vec![(EthType, 0x8848), (MplsBos, 0)], vec![MplsLabel, MplsTc]),
        (vec![(EthType, 0x88e7)], vec![PbbIsid, PbbUca]),
        (vec![(EthType, 0x88b5)], vec![]),
    ]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let increment = any::<(u128, u128, u128)>();
    let random = any::<(u128, u128, u64)>();
    prop_oneof![
        any::<u128>().prop_map(Pattern::Fixed),
        increment.prop_map(|(start, step, mask)| Pattern::Increment { start, step, mask }),
        vec(any::<u128>(), 1..5).prop_map(Pattern::List),
        random.prop_map(|(base, mask, seed)| Pattern::Random { base, mask, seed }),
    ]
}

/// A fixed VLAN id of 0 means no tag, which a VLAN priority beside it contradicts: it becomes a priority tag.
fn tagged(field: Field, pattern: Pattern) -> Pattern {
    match pattern {
        Pattern::Fixed(value) if field == Field::VlanVid && value & field.full_mask() == 0 => {
            Pattern::Fixed(VLAN_PRESENT.into())
        }
        other => other,
    }
}

/// Flow sets of all header stacks with a few fields that vary.
pub(crate) fn flow_set() -> impl Strategy<Value = FlowSet> {
    let always =
        [Field::InPort, Field::Metadata, Field::EthDst, Field::EthSrc, Field::VlanPcp, Field::VlanVid];
    let named = select(families()).prop_flat_map(move |(fixed, vary)| {
        let fields: Vec<_> = always.into_iter().chain(vary).collect();
        let all = fields.len();
        let chosen = subsequence(fields, 0..=all.min(6)).prop_flat_map(|fields| {
            let len = fields.len();
            (Just(fields), vec(pattern(), len))
        });
        (Just(fixed), chosen)
    });
    (named, 1u32..6, any::<u32>()).prop_map(|((fixed, (fields, patterns)), count, first)| {
        let fixed = fixed.into_iter().map(|(field, value)| (field, Pattern::Fixed(value)));
        let varied = fields.into_iter().zip(patterns).map(|(field, pattern)| (field, tagged(field, pattern)));
        let set = FlowSet::new(count, fixed.chain(varied).collect());
        set.expect("every family is a header stack").slice(first, count)
    })
}
