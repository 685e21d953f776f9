//! Pushing and popping tags (OpenFlow 1.3.5, 5.12 and table 7).
//!
//! A new tag goes to the outermost place where such a tag is allowed. Its fields are copied from an existing
//! outer header where the specification says so, and are zero otherwise.

use super::{EditError, FrameBuf};
use crate::Field;
use crate::bytes::{be16, be32, chunk, chunk_mut};
use crate::header::{Header, Mpls, Pbb, ether_type};
use crate::layout::{Layout, Network};

/// Pushes an outer VLAN tag of EtherType `tpid` (0x8100 or 0x88a8). Identifier and priority are those of the
/// tag that was the outer one, or 0.
///
/// # Errors
/// [`EditError::NoRoom`]; [`EditError::Absent`] without a whole Ethernet header.
pub fn push_vlan(frame: &mut FrameBuf<'_>, tpid: u16) -> Result<(), EditError> {
    let layout = Layout::of(frame.bytes());
    if !layout.ethernet {
        return Err(EditError::Absent(Field::EthType));
    }
    let copied = chunk::<2>(frame.bytes(), 14).filter(|_| layout.tagged);
    let tci = copied.map_or(0, |tci| be16(tci, 0) & 0xefff);
    frame.open(12, 4)?;
    write(frame.bytes_mut(), 12, (u32::from(tpid) << 16 | u32::from(tci)).to_be_bytes());
    Ok(())
}

/// Pops the outer VLAN tag.
///
/// # Errors
/// [`EditError::NoTag`] without one.
pub fn pop_vlan(frame: &mut FrameBuf<'_>) -> Result<(), EditError> {
    if !Layout::of(frame.bytes()).tagged {
        return Err(EditError::NoTag);
    }
    frame.close(12, 4);
    Ok(())
}

/// Pushes an outer MPLS entry behind the VLAN tags; the EtherType becomes `eth_type` (0x8847 or 0x8848).
/// Label and traffic class are those of the entry that was the outer one, or 0; so is the TTL, or else IP's,
/// or 0.
///
/// # Errors
/// [`EditError::NoRoom`]; [`EditError::Absent`] when the frame has no EtherType.
pub fn push_mpls(frame: &mut FrameBuf<'_>, eth_type: u16) -> Result<(), EditError> {
    let layout = Layout::of(frame.bytes());
    if layout.eth_type.is_none_or(|found| found == ether_type::NOT_A_TYPE) {
        return Err(EditError::Absent(Field::EthType));
    }
    let bytes = frame.bytes();
    let byte = |at: usize| bytes.get(layout.l3 + at).copied().unwrap_or(0);
    let entry = match layout.network {
        Network::Mpls => Mpls::parse(&bytes[layout.l3..]).map(|outer| Mpls { bottom: false, ..outer }),
        Network::Ipv4 => Ok(Mpls { bottom: true, ttl: byte(8), ..Mpls::default() }),
        Network::Ipv6 => Ok(Mpls { bottom: true, ttl: byte(7), ..Mpls::default() }),
        Network::Other | Network::Arp | Network::Pbb => Ok(Mpls { bottom: true, ..Mpls::default() }),
    };
    let mut new = [0; 4];
    entry.unwrap_or_default().emit(&mut new);
    frame.open(layout.l3, 4)?;
    write(frame.bytes_mut(), layout.l3, new);
    write(frame.bytes_mut(), layout.eth_type_at, eth_type.to_be_bytes());
    Ok(())
}

/// Pops the outer MPLS entry; the EtherType becomes `eth_type`, that of what the entry covered.
///
/// # Errors
/// [`EditError::NoTag`] without one.
pub fn pop_mpls(frame: &mut FrameBuf<'_>, eth_type: u16) -> Result<(), EditError> {
    let layout = Layout::of(frame.bytes());
    if layout.network != Network::Mpls {
        return Err(EditError::NoTag);
    }
    write(frame.bytes_mut(), layout.eth_type_at, eth_type.to_be_bytes());
    frame.close(layout.l3, 4);
    Ok(())
}

/// Pushes a provider backbone bridge's header: addresses copied from the frame's, EtherType 0x88e7, and a
/// service instance tag with the identifier of the one that was the outer one, or 0, and the outer VLAN's
/// priority, or 0.
///
/// # Errors
/// [`EditError::NoRoom`]; [`EditError::Absent`] without a whole Ethernet header.
pub fn push_pbb(frame: &mut FrameBuf<'_>) -> Result<(), EditError> {
    let bytes = frame.bytes();
    let layout = Layout::of(bytes);
    let Some(&addresses) = chunk::<12>(bytes, 0).filter(|_| layout.ethernet) else {
        return Err(EditError::Absent(Field::EthType));
    };
    let outer = chunk::<4>(bytes, layout.l3).filter(|_| layout.network == Network::Pbb);
    let priority = chunk::<1>(bytes, 14).filter(|_| layout.tagged);
    let tag = Pbb {
        pcp: priority.map_or(0, |tci| tci[0] >> 5),
        isid: outer.map_or(0, |tag| be32(tag, 0) & 0xff_ffff),
        ..Pbb::default()
    };
    let mut new = [0; 4];
    tag.emit(&mut new);
    frame.open(0, 18)?;
    write(frame.bytes_mut(), 0, addresses);
    write(frame.bytes_mut(), 12, ether_type::PBB.to_be_bytes());
    write(frame.bytes_mut(), 14, new);
    Ok(())
}

/// Pops a provider backbone bridge's header; what is left is the customer's frame.
///
/// # Errors
/// [`EditError::NoTag`] without one, or when a VLAN tag lies outside of it, which must be popped first.
pub fn pop_pbb(frame: &mut FrameBuf<'_>) -> Result<(), EditError> {
    let layout = Layout::of(frame.bytes());
    if layout.network != Network::Pbb || layout.tagged {
        return Err(EditError::NoTag);
    }
    frame.close(0, layout.l3 + 4);
    Ok(())
}

fn write<const N: usize>(frame: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = chunk_mut(frame, at) {
        *place = bytes;
    }
}
