//! Choosing the header stack that carries all fields of a flow set.

use super::stack::{NetworkHeader, Shim, Stack, TransportHeader};
use super::{FlowSetError, Pattern};
use crate::header::{ether_type, icmp_type, ip_proto};
use crate::{Field, nicira_fields};

type Named = [(Field, Pattern)];

/// The first stack, in order of preference, that carries all of the fields.
///
/// # Errors
/// [`FlowSetError`] when there is none, or when a field that decides which headers follow varies.
pub(super) fn choose(named: &Named) -> Result<Stack, FlowSetError> {
    let candidates = candidates(named)?;
    for end in 1..=named.len() {
        if !candidates.iter().any(|stack| carries_all(stack, &named[..end])) {
            return Err(conflict(&candidates, &named[..end]));
        }
    }
    let fits = candidates.into_iter().find(|stack| carries_all(stack, named));
    Ok(fits.expect("the last prefix is the whole"))
}

/// The stacks that these fields allow to consider, the most usual first.
fn candidates(named: &Named) -> Result<Vec<Stack>, FlowSetError> {
    use TransportHeader::{Icmpv4, Icmpv6, Neighbor, Sctp, Tcp, Udp};
    let eth_type = eth_type(named)?;
    let proto = fixed(named, Field::IpProto)?.map(|proto| proto as u8).filter(|&proto| !has_header(proto));
    let bottom = fixed(named, Field::MplsBos)?.unwrap_or(1);
    let vlan = tagged(named)?;
    let bare = proto.map(|proto| TransportHeader::None { proto });
    let neighbor = |kind, address| Neighbor { kind, link_layer: names(named, address) };
    let neighbors = [
        neighbor(icmp_type::NEIGHBOR_SOLICITATION, Field::Ipv6NdSll),
        neighbor(icmp_type::NEIGHBOR_ADVERTISEMENT, Field::Ipv6NdTll),
    ];

    let mut stacks = Vec::new();
    let mut push = |shim, network| stacks.push(Stack { vlan, shim, network });
    for transport in [Udp, Tcp, Sctp, Icmpv4].into_iter().chain(bare) {
        push(Shim::None, NetworkHeader::Ipv4(transport));
    }
    for transport in [Udp, Tcp, Sctp, Icmpv6].into_iter().chain(neighbors).chain(bare) {
        push(Shim::None, NetworkHeader::Ipv6(transport));
    }
    push(Shim::None, NetworkHeader::Arp);
    let label_type = eth_type.filter(|&t| t == ether_type::MPLS_MULTICAST).unwrap_or(ether_type::MPLS);
    let entries = if bottom == 1 { 1 } else { 2 };
    push(Shim::Mpls { eth_type: label_type, entries }, NetworkHeader::Ipv4(Udp));
    push(Shim::Pbb, NetworkHeader::Ipv4(Udp));
    if let Some(eth_type) = eth_type {
        push(Shim::None, NetworkHeader::None { eth_type });
    }
    Ok(stacks)
}

fn carries_all(stack: &Stack, named: &Named) -> bool {
    named.iter().all(|(field, pattern)| carries(stack, *field, pattern))
}

/// Whether keys of the stack's frames show the field, and may show these values.
fn carries(stack: &Stack, field: Field, pattern: &Pattern) -> bool {
    use NetworkHeader as Net;
    use TransportHeader as Tp;
    // Nothing behind a shim is looked at.
    let network = (stack.shim == Shim::None).then_some(stack.network);
    let transport = match network {
        Some(Net::Ipv4(transport) | Net::Ipv6(transport)) => Some(transport),
        Some(Net::None { .. } | Net::Arp) | None => None,
    };
    let neighbor = match transport {
        Some(Tp::Neighbor { kind, .. }) => Some(kind),
        Some(Tp::None { .. } | Tp::Tcp | Tp::Udp | Tp::Sctp | Tp::Icmpv4 | Tp::Icmpv6) | None => None,
    };
    match field {
        Field::InPort | Field::InPhyPort | Field::Metadata | Field::TunnelId => true,
        nicira_fields!() => true,
        Field::ActsetOutput | Field::PacketType => true,
        Field::EthDst | Field::EthSrc | Field::VlanVid | Field::VlanPcp => true,
        Field::EthType => *pattern == Pattern::Fixed(stack.outer_type().into()),
        Field::IpProto => transport.is_some_and(|t| *pattern == Pattern::Fixed(t.proto().into())),
        Field::IpDscp | Field::IpEcn | Field::IpTtl => transport.is_some(),
        Field::Ipv4Id | Field::Ipv4Src | Field::Ipv4Dst => matches!(network, Some(Net::Ipv4(_))),
        Field::Ipv6Src | Field::Ipv6Dst | Field::Ipv6Flabel => matches!(network, Some(Net::Ipv6(_))),
        Field::TcpSrc | Field::TcpDst | Field::TcpFlags => transport == Some(Tp::Tcp),
        Field::UdpSrc | Field::UdpDst => transport == Some(Tp::Udp),
        Field::SctpSrc | Field::SctpDst => transport == Some(Tp::Sctp),
        Field::Icmpv4Type | Field::Icmpv4Code => transport == Some(Tp::Icmpv4),
        Field::ArpOp | Field::ArpSpa | Field::ArpTpa | Field::ArpSha | Field::ArpTha => {
            network == Some(Net::Arp)
        }
        Field::Icmpv6Type => match neighbor {
            Some(kind) => *pattern == Pattern::Fixed(kind.into()),
            None => transport == Some(Tp::Icmpv6) && !is_neighbor_type(pattern),
        },
        Field::Icmpv6Code => {
            transport == Some(Tp::Icmpv6) || neighbor.is_some() && *pattern == Pattern::Fixed(0)
        }
        Field::Ipv6NdTarget => neighbor.is_some(),
        Field::Ipv6NdSll => neighbor == Some(icmp_type::NEIGHBOR_SOLICITATION),
        Field::Ipv6NdTll => neighbor == Some(icmp_type::NEIGHBOR_ADVERTISEMENT),
        Field::MplsLabel | Field::MplsTc | Field::MplsBos => matches!(stack.shim, Shim::Mpls { .. }),
        Field::PbbIsid | Field::PbbUca => stack.shim == Shim::Pbb,
        Field::Ipv6Exthdr => *pattern == Pattern::Fixed(0) && matches!(network, Some(Net::Ipv6(_))),
    }
}

fn is_neighbor_type(pattern: &Pattern) -> bool {
    let types = [icmp_type::NEIGHBOR_SOLICITATION, icmp_type::NEIGHBOR_ADVERTISEMENT];
    types.iter().any(|&kind| *pattern == Pattern::Fixed(kind.into()))
}

/// What the last field can't be together with: the first earlier field that excludes it alone, or else the
/// first.
fn conflict(candidates: &[Stack], named: &Named) -> FlowSetError {
    let (last, earlier) = named.split_last().expect("the empty prefix fits every stack");
    let (field, ref pattern) = *last;
    if !candidates.iter().any(|stack| carries(stack, field, pattern)) {
        let value = pattern.value(field, 0);
        return FlowSetError::NotAllowed { field, value, allowed: needs(field) };
    }
    let excludes = |(other, values): &&(Field, Pattern)| {
        !candidates.iter().any(|s| carries(s, *other, values) && carries(s, field, pattern))
    };
    let other = earlier.iter().find(excludes).or(earlier.first()).map_or(field, |&(other, _)| other);
    FlowSetError::Conflict { field, needs: needs(field), other }
}

/// The header that a field needs, for messages.
fn needs(field: Field) -> &'static str {
    match field {
        Field::InPort | Field::InPhyPort | Field::Metadata | Field::TunnelId => "nothing",
        nicira_fields!() => "nothing",
        Field::ActsetOutput | Field::PacketType | Field::EthDst | Field::EthSrc => "nothing",
        Field::EthType => "headers of that EtherType",
        Field::VlanVid | Field::VlanPcp => "a VLAN tag",
        Field::IpDscp | Field::IpEcn | Field::IpTtl => "IPv4 or IPv6",
        Field::IpProto => "IPv4 or IPv6 with that protocol (1 only with IPv4, 58 only with IPv6)",
        Field::Ipv4Id | Field::Ipv4Src | Field::Ipv4Dst => "IPv4",
        Field::TcpSrc | Field::TcpDst | Field::TcpFlags => "TCP",
        Field::UdpSrc | Field::UdpDst => "UDP",
        Field::SctpSrc | Field::SctpDst => "SCTP",
        Field::Icmpv4Type | Field::Icmpv4Code => "ICMPv4",
        Field::ArpOp | Field::ArpSpa | Field::ArpTpa | Field::ArpSha | Field::ArpTha => "ARP",
        Field::Ipv6Src | Field::Ipv6Dst | Field::Ipv6Flabel => "IPv6",
        Field::Ipv6Exthdr => "IPv6, with the value 0 (no extension headers)",
        Field::Icmpv6Type | Field::Icmpv6Code => {
            "ICMPv6 (beside neighbour discovery fields type 135 or 136, code 0)"
        }
        Field::Ipv6NdTarget => "neighbour discovery (icmpv6_type 135 or 136, icmpv6_code 0)",
        Field::Ipv6NdSll => "a neighbour solicitation (icmpv6_type 135, icmpv6_code 0)",
        Field::Ipv6NdTll => "a neighbour advertisement (icmpv6_type 136, icmpv6_code 0)",
        Field::MplsLabel | Field::MplsTc | Field::MplsBos => "MPLS, behind which nothing is looked at",
        Field::PbbIsid | Field::PbbUca => "PBB, behind which nothing is looked at",
    }
}

/// Whether a protocol has a header that a set could name fields of.
fn has_header(proto: u8) -> bool {
    matches!(proto, ip_proto::TCP | ip_proto::UDP | ip_proto::SCTP | ip_proto::ICMPV4 | ip_proto::ICMPV6)
        || ip_proto::is_extension(proto)
}

fn names(named: &Named, field: Field) -> bool {
    named.iter().any(|(name, _)| *name == field)
}

/// The value of a field that must not vary.
fn fixed(named: &Named, field: Field) -> Result<Option<u128>, FlowSetError> {
    match named.iter().find(|(name, _)| *name == field) {
        None => Ok(None),
        Some((_, pattern @ Pattern::Fixed(_))) => Ok(Some(pattern.value(field, 0))),
        Some(_) => Err(FlowSetError::MustBeFixed { field }),
    }
}

fn eth_type(named: &Named) -> Result<Option<u16>, FlowSetError> {
    let field = Field::EthType;
    let eth_type = fixed(named, field)?.map(|eth_type| eth_type as u16);
    match eth_type {
        Some(tag @ (ether_type::VLAN | ether_type::SERVICE_VLAN)) => Err(FlowSetError::NotAllowed {
            field,
            value: tag.into(),
            allowed: "the type behind VLAN tags; name vlan_vid for a tag",
        }),
        Some(length) if length < ether_type::SMALLEST => {
            Err(FlowSetError::NotAllowed { field, value: length.into(), allowed: "0x0600 to 0xffff" })
        }
        Some(_) | None => Ok(eth_type),
    }
}

/// Whether frames have a VLAN tag.
fn tagged(named: &Named) -> Result<bool, FlowSetError> {
    let untagged = named.iter().any(|(f, pattern)| {
        *f == Field::VlanVid && matches!(pattern, Pattern::Fixed(_)) && pattern.value(*f, 0) == 0
    });
    match (names(named, Field::VlanVid), names(named, Field::VlanPcp), untagged) {
        (_, true, true) => {
            Err(FlowSetError::Conflict { field: Field::VlanPcp, needs: "a VLAN tag", other: Field::VlanVid })
        }
        (vid, pcp, untagged) => Ok((vid || pcp) && !untagged),
    }
}
