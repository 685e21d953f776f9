//! Setting a header field in place.

use super::EditError;
use super::checksums::{Covered, replace, replace_bits};
use crate::bytes::{be32, chunk};
use crate::checksum;
use crate::layout::{Layout, Network, Transport};
use crate::{Field, MacAddr, nicira_fields};

/// Sets a field of the frame's headers; the checksums that cover it follow. Bits above the field's width are
/// cut off.
///
/// * `vlan_vid` and `vlan_pcp` are those of the outer tag, `mpls_*` of the outer entry; no tag is added or
///   removed.
/// * A UDP checksum of 0 (none) stays 0.
/// * `eth_type` and `ip_proto` are written as they are: what follows isn't turned into something else, and of
///   the checksums only IPv4's header checksum follows.
/// * The destination of an IPv6 frame that a routing header sends on isn't the one summed, so its checksum
///   stays.
/// * SCTP's CRC follows if the whole packet is there.
///
/// # Errors
/// [`EditError::Absent`] when the header isn't there (whole, and not in a later fragment);
/// [`EditError::NotInFrames`] for fields of the pipeline.
pub fn set_field(frame: &mut [u8], field: Field, value: u128) -> Result<(), EditError> {
    set_field_at(frame, &Layout::of(frame), field, value)
}

/// As [`set_field`], of a frame whose layout is known. Setting a field leaves the layout as it is, except for
/// `eth_type`, `ip_proto` and `icmpv6_type`.
///
/// # Errors
/// As [`set_field`].
#[inline]
pub fn set_field_at(frame: &mut [u8], layout: &Layout, field: Field, value: u128) -> Result<(), EditError> {
    let Place { at, shape, covered } = place(frame, layout, field)?;
    let value = value & field.full_mask();
    match shape {
        Shape::Bits16 { shift, width } => {
            let mask = (0xffff >> (16 - width)) << shift;
            replace_bits(frame, layout, at, ((value as u16) << shift, mask), covered);
        }
        Shape::Bits32 { shift } => {
            if let Some(old) = chunk::<4>(frame, at) {
                let mask = (field.full_mask() as u32) << shift;
                let new = be32(old, 0) & !mask | (value as u32) << shift;
                replace(frame, layout, at, new.to_be_bytes(), covered);
            }
        }
        Shape::Mac => replace(frame, layout, at, MacAddr::from_u64(value as u64).0, covered),
        Shape::Whole32 => replace(frame, layout, at, (value as u32).to_be_bytes(), covered),
        Shape::Whole128 => replace(frame, layout, at, value.to_be_bytes(), covered),
        Shape::SctpPort => sctp_port(frame, layout, at, value as u16),
    }
    Ok(())
}

/// Where a field lies in a frame.
struct Place {
    /// Offset of the bytes that hold it: at an even distance from what their checksum covers.
    at: usize,
    shape: Shape,
    covered: Covered,
}

/// How a field lies in its bytes.
#[derive(Clone, Copy)]
enum Shape {
    /// `width` bits, `shift` from the right of 16 bits.
    Bits16 { shift: u32, width: u32 },
    /// All of the field's bits, `shift` from the right of 32 bits.
    Bits32 { shift: u32 },
    /// Six bytes.
    Mac,
    /// Four bytes.
    Whole32,
    /// Sixteen bytes.
    Whole128,
    /// Two bytes that a CRC covers.
    SctpPort,
}

/// The place of a field, one line for each.
///
/// # Errors
/// As [`set_field`].
#[rustfmt::skip]
fn place(frame: &[u8], layout: &Layout, field: Field) -> Result<Place, EditError> {
    use Covered::{Addresses, Ip, Not};
    use Shape::{Mac, SctpPort, Whole32, Whole128};
    let bits16 = |shift, width| Shape::Bits16 { shift, width };
    let bits32 = |shift| Shape::Bits32 { shift };
    let is = |network| layout.network == network;
    let (v4, v6, arp) = (is(Network::Ipv4), is(Network::Ipv6), is(Network::Arp));
    let (mpls, pbb) = (is(Network::Mpls), is(Network::Pbb));
    let over = |transport| layout.transport == transport;
    // The traffic class straddles the first two bytes of IPv6; in IPv4 it is the second.
    let class = if v4 { 0 } else { 4 };
    let routed = if layout.routed { Not } else { Addresses };
    let nd = if over(Transport::Icmpv6) { layout.neighbor(frame) } else { Default::default() };
    let (l3, l4) = (layout.l3, layout.l4);

    let (there, at, shape, covered) = match field {
        Field::EthDst => (layout.ethernet, 0, Mac, Not),
        Field::EthSrc => (layout.ethernet, 6, Mac, Not),
        Field::EthType => (layout.eth_type.is_some(), layout.eth_type_at, bits16(0, 16), Not),
        Field::VlanVid => (layout.tagged, 14, bits16(0, 12), Not),
        Field::VlanPcp => (layout.tagged, 14, bits16(13, 3), Not),
        Field::MplsLabel => (mpls, l3, bits32(12), Not),
        Field::MplsTc => (mpls, l3, bits32(9), Not),
        Field::MplsBos => (mpls, l3, bits32(8), Not),
        Field::PbbIsid => (pbb, l3, bits32(0), Not),
        Field::PbbUca => (pbb, l3, bits32(27), Not),
        Field::ArpOp => (arp, l3 + 6, bits16(0, 16), Not),
        Field::ArpSha => (arp, l3 + 8, Mac, Not),
        Field::ArpSpa => (arp, l3 + 14, Whole32, Not),
        Field::ArpTha => (arp, l3 + 18, Mac, Not),
        Field::ArpTpa => (arp, l3 + 24, Whole32, Not),
        Field::IpDscp => (v4 || v6, l3, bits16(class + 2, 6), Ip),
        Field::IpEcn => (v4 || v6, l3, bits16(class, 2), Ip),
        Field::IpProto if v4 => (true, l3 + 8, bits16(0, 8), Ip),
        Field::IpProto => (v6, layout.proto_at, bits16(8, 8), Not),
        Field::IpTtl if v4 => (true, l3 + 8, bits16(8, 8), Ip),
        Field::IpTtl => (v6, l3 + 6, bits16(0, 8), Not),
        Field::Ipv4Id => (v4, l3 + 4, bits16(0, 16), Ip),
        Field::Ipv4Src => (v4, l3 + 12, Whole32, Addresses),
        Field::Ipv4Dst => (v4, l3 + 16, Whole32, Addresses),
        Field::Ipv6Src => (v6, l3 + 8, Whole128, Addresses),
        Field::Ipv6Dst => (v6, l3 + 24, Whole128, routed),
        Field::Ipv6Flabel => (v6, l3, bits32(0), Not),
        Field::TcpSrc => (over(Transport::Tcp), l4, bits16(0, 16), Covered::Transport),
        Field::TcpDst => (over(Transport::Tcp), l4 + 2, bits16(0, 16), Covered::Transport),
        Field::TcpFlags => (over(Transport::Tcp), l4 + 12, bits16(0, 12), Covered::Transport),
        Field::UdpSrc => (over(Transport::Udp), l4, bits16(0, 16), Covered::Transport),
        Field::UdpDst => (over(Transport::Udp), l4 + 2, bits16(0, 16), Covered::Transport),
        Field::SctpSrc => (over(Transport::Sctp), l4, SctpPort, Not),
        Field::SctpDst => (over(Transport::Sctp), l4 + 2, SctpPort, Not),
        Field::Icmpv4Type => (over(Transport::Icmpv4), l4, bits16(8, 8), Covered::Transport),
        Field::Icmpv4Code => (over(Transport::Icmpv4), l4, bits16(0, 8), Covered::Transport),
        Field::Icmpv6Type => (over(Transport::Icmpv6), l4, bits16(8, 8), Covered::Transport),
        Field::Icmpv6Code => (over(Transport::Icmpv6), l4, bits16(0, 8), Covered::Transport),
        Field::Ipv6NdTarget => option(nd.target, true, Whole128),
        Field::Ipv6NdSll => option(nd.link_layer, nd.solicits, Mac),
        Field::Ipv6NdTll => option(nd.link_layer, !nd.solicits, Mac),
        Field::InPort | Field::InPhyPort | Field::Metadata | Field::TunnelId | Field::Ipv6Exthdr
        | Field::ActsetOutput | Field::PacketType | nicira_fields!() => return Err(EditError::NotInFrames(field)),
    };
    if there { Ok(Place { at, shape, covered }) } else { Err(EditError::Absent(field)) }
}

/// A neighbour discovery field's line of the table above.
fn option(at: Option<usize>, fits: bool, shape: Shape) -> (bool, usize, Shape, Covered) {
    (at.is_some() && fits, at.unwrap_or(0), shape, Covered::Transport)
}

/// A CRC is linear: the one carried changes by the difference of the right ones before and after.
fn sctp_port(frame: &mut [u8], layout: &Layout, at: usize, port: u16) {
    let crc = |frame: &[u8]| frame.get(layout.l4..layout.end).map_or(0, checksum::sctp);
    let before = crc(frame);
    replace(frame, layout, at, port.to_be_bytes(), Covered::Not);
    let difference = before ^ crc(frame);
    if let Some(carried) = chunk::<4>(frame, layout.l4 + 8) {
        let carried = be32(carried, 0) ^ difference;
        replace(frame, layout, layout.l4 + 8, carried.to_be_bytes(), Covered::Not);
    }
}
