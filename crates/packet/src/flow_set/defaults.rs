//! The values of fields that a flow set leaves silent.

use super::stack::{NetworkHeader, Shim, Stack, TransportHeader};
use crate::flow_key::VLAN_PRESENT;
use crate::header::icmp_type;
use crate::{Field, FlowKey};

/// Locally administered: no vendor's.
const ETH_SRC: u128 = 0x02_00_00_00_00_01;
const ETH_DST: u128 = 0x02_00_00_00_00_02;
/// 198.18.0.2 and 198.19.0.2, set aside for benchmarks (RFC 2544, C.2.2).
const IPV4_SRC: u128 = 0xc612_0002;
const IPV4_DST: u128 = 0xc613_0002;
/// 2001:2::2 and 2001:2:0:8000::2, set aside for benchmarks (RFC 5180, 8).
const IPV6_SRC: u128 = 0x2001_0002_0000_0000_0000_0000_0000_0002;
const IPV6_DST: u128 = 0x2001_0002_0000_8000_0000_0000_0000_0002;
/// The ports of RFC 2544's test frame (C.2.6.4): 0xc020 to echo.
const SRC_PORT: u128 = 0xc020;
const DST_PORT: u128 = 7;
const TTL: u128 = 64;
/// Neighbour discovery is ignored with any other hop limit (RFC 4861, 7.1).
const NEIGHBOR_TTL: u128 = 255;
const TCP_ACK: u128 = 0x010;
const ARP_REQUEST: u128 = 1;
const MPLS_LABEL: u128 = 16;
const PBB_ISID: u128 = 1;

/// The key of a frame with that stack and no field named.
pub(super) fn key(stack: &Stack) -> FlowKey {
    let mut key = FlowKey::from_iter([
        (Field::EthDst, ETH_DST),
        (Field::EthSrc, ETH_SRC),
        (Field::EthType, stack.outer_type().into()),
    ]);
    key.set(Field::VlanVid, if stack.vlan { VLAN_PRESENT.into() } else { 0 });
    if stack.vlan {
        key.set(Field::VlanPcp, 0);
    }
    match stack.shim {
        Shim::None => network(&mut key, stack.network),
        Shim::Mpls { entries, .. } => {
            let bottom = u128::from(entries == 1);
            set(&mut key, &[(Field::MplsLabel, MPLS_LABEL), (Field::MplsTc, 0), (Field::MplsBos, bottom)]);
        }
        Shim::Pbb => set(&mut key, &[(Field::PbbIsid, PBB_ISID), (Field::PbbUca, 0)]),
    }
    key
}

/// The key of what lies behind a shim, whose fields no set can name.
pub(crate) fn behind_shim(stack: &Stack) -> FlowKey {
    let mut key = FlowKey::from_iter([
        (Field::EthDst, ETH_DST),
        (Field::EthSrc, ETH_SRC),
        (Field::EthType, stack.network_type().into()),
    ]);
    network(&mut key, stack.network);
    key
}

fn set(key: &mut FlowKey, fields: &[(Field, u128)]) {
    fields.iter().for_each(|&(field, value)| key.set(field, value));
}

fn network(key: &mut FlowKey, network: NetworkHeader) {
    match network {
        NetworkHeader::None { .. } => {}
        NetworkHeader::Arp => set(
            key,
            &[
                (Field::ArpOp, ARP_REQUEST),
                (Field::ArpSpa, IPV4_SRC),
                (Field::ArpTpa, IPV4_DST),
                (Field::ArpSha, ETH_SRC),
                (Field::ArpTha, 0),
            ],
        ),
        NetworkHeader::Ipv4(header) => {
            set(key, &[(Field::Ipv4Id, 0), (Field::Ipv4Src, IPV4_SRC), (Field::Ipv4Dst, IPV4_DST)]);
            transport(key, header);
        }
        NetworkHeader::Ipv6(header) => {
            set(key, &[(Field::Ipv6Src, IPV6_SRC), (Field::Ipv6Dst, IPV6_DST)]);
            set(key, &[(Field::Ipv6Flabel, 0), (Field::Ipv6Exthdr, 0)]);
            transport(key, header);
        }
    }
}

fn transport(key: &mut FlowKey, header: TransportHeader) {
    set(key, &[(Field::IpDscp, 0), (Field::IpEcn, 0), (Field::IpTtl, TTL)]);
    key.set(Field::IpProto, header.proto().into());
    match header {
        TransportHeader::None { .. } => {}
        TransportHeader::Tcp => {
            set(key, &[(Field::TcpSrc, SRC_PORT), (Field::TcpDst, DST_PORT), (Field::TcpFlags, TCP_ACK)]);
        }
        TransportHeader::Udp => set(key, &[(Field::UdpSrc, SRC_PORT), (Field::UdpDst, DST_PORT)]),
        TransportHeader::Sctp => set(key, &[(Field::SctpSrc, SRC_PORT), (Field::SctpDst, DST_PORT)]),
        TransportHeader::Icmpv4 => {
            set(key, &[(Field::Icmpv4Type, icmp_type::ECHO_REQUEST.into()), (Field::Icmpv4Code, 0)]);
        }
        TransportHeader::Icmpv6 => {
            set(key, &[(Field::Icmpv6Type, icmp_type::ECHO_REQUEST_V6.into()), (Field::Icmpv6Code, 0)]);
        }
        TransportHeader::Neighbor { kind, link_layer } => {
            set(key, &[(Field::Icmpv6Type, kind.into()), (Field::Icmpv6Code, 0)]);
            set(key, &[(Field::Ipv6NdTarget, IPV6_DST), (Field::IpTtl, NEIGHBOR_TTL)]);
            let solicits = kind == icmp_type::NEIGHBOR_SOLICITATION;
            if link_layer {
                key.set(if solicits { Field::Ipv6NdSll } else { Field::Ipv6NdTll }, ETH_SRC);
            }
        }
    }
}
