//! Times to live (OpenFlow 1.3.5, 5.12).

use super::EditError;
use super::checksums::{Covered, replace};
use super::set_field::set_field_at;
use crate::Field;
use crate::bytes::chunk;
use crate::checksum::update_u16;
use crate::layout::{Layout, Network};

/// Decrements IPv4's TTL or IPv6's hop limit.
///
/// # Errors
/// [`EditError::TtlExpired`] when it is 0 or 1, [`EditError::Absent`] without IP.
pub fn dec_ttl(frame: &mut [u8]) -> Result<(), EditError> {
    let layout = Layout::of(frame);
    let at = match layout.network {
        Network::Ipv4 => layout.l3 + 8,
        Network::Ipv6 => layout.l3 + 7,
        Network::Other | Network::Arp | Network::Mpls | Network::Pbb => {
            return Err(EditError::Absent(Field::IpTtl));
        }
    };
    let ttl = decremented(frame, at)?;
    set_field_at(frame, &layout, Field::IpTtl, ttl.into())
}

/// Sets IPv4's TTL or IPv6's hop limit.
///
/// # Errors
/// [`EditError::Absent`] without IP.
pub fn set_ttl(frame: &mut [u8], ttl: u8) -> Result<(), EditError> {
    set_field_at(frame, &Layout::of(frame), Field::IpTtl, ttl.into())
}

/// Decrements the TTL of the outer MPLS entry.
///
/// # Errors
/// [`EditError::TtlExpired`] when it is 0 or 1, [`EditError::Absent`] without MPLS.
pub fn dec_mpls_ttl(frame: &mut [u8]) -> Result<(), EditError> {
    let at = mpls_at(&Layout::of(frame))?;
    let ttl = decremented(frame, at + 3)?;
    set_mpls_ttl(frame, ttl)
}

/// Sets the TTL of the outer MPLS entry.
///
/// # Errors
/// [`EditError::Absent`] without MPLS.
pub fn set_mpls_ttl(frame: &mut [u8], ttl: u8) -> Result<(), EditError> {
    let layout = Layout::of(frame);
    let at = mpls_at(&layout)?;
    set_entry_ttl(frame, &layout, at, ttl);
    Ok(())
}

/// Copies the TTL outwards: from the next MPLS entry, or from IP behind the last entry, to the outer entry.
///
/// # Errors
/// [`EditError::Absent`] without MPLS, or when IP doesn't follow it.
pub fn copy_ttl_out(frame: &mut [u8]) -> Result<(), EditError> {
    let layout = Layout::of(frame);
    let outer = mpls_at(&layout)?;
    let inner = Inner::of(frame, outer)?;
    let ttl = chunk::<1>(frame, inner.ttl_at()).map_or(0, |&[ttl]| ttl);
    set_entry_ttl(frame, &layout, outer, ttl);
    Ok(())
}

/// Copies the TTL inwards: from the outer MPLS entry to the next, or to IP behind the last entry.
///
/// # Errors
/// [`EditError::Absent`] without MPLS, or when IP doesn't follow it.
pub fn copy_ttl_in(frame: &mut [u8]) -> Result<(), EditError> {
    let layout = Layout::of(frame);
    let outer = mpls_at(&layout)?;
    let inner = Inner::of(frame, outer)?;
    let ttl = chunk::<1>(frame, outer + 3).map_or(0, |&[ttl]| ttl);
    if let Inner::Ipv4(at) = inner {
        let word = |frame: &[u8], at| chunk::<2>(frame, at).map_or(0, |&bytes| u16::from_be_bytes(bytes));
        let (old, check) = (word(frame, at + 8), word(frame, at + 10));
        let check = update_u16(check, old, u16::from(ttl) << 8 | old & 0xff);
        replace(frame, &layout, at + 10, check.to_be_bytes(), Covered::Not);
    }
    if let Some(place) = frame.get_mut(inner.ttl_at()) {
        *place = ttl;
    }
    Ok(())
}

/// The header with a TTL behind the outer MPLS entry, and its offset. Its TTL is there.
enum Inner {
    Mpls(usize),
    Ipv4(usize),
    Ipv6(usize),
}

impl Inner {
    /// What lies behind the entry at `outer`. At the bottom of the stack only a first half-byte of 4 or 6
    /// tells IP.
    fn of(frame: &[u8], outer: usize) -> Result<Inner, EditError> {
        let absent = EditError::Absent(Field::IpTtl);
        let bottom = chunk::<4>(frame, outer).ok_or(absent)?[2] & 1 != 0;
        let at = outer + 4;
        if !bottom {
            return chunk::<4>(frame, at).map(|_| Inner::Mpls(at)).ok_or(absent);
        }
        match frame.get(at).map(|first| first >> 4) {
            Some(4) if chunk::<20>(frame, at).is_some() => Ok(Inner::Ipv4(at)),
            Some(6) if chunk::<40>(frame, at).is_some() => Ok(Inner::Ipv6(at)),
            Some(_) | None => Err(absent),
        }
    }

    fn ttl_at(&self) -> usize {
        match self {
            Inner::Mpls(at) => at + 3,
            Inner::Ipv4(at) => at + 8,
            Inner::Ipv6(at) => at + 7,
        }
    }
}

fn mpls_at(layout: &Layout) -> Result<usize, EditError> {
    match layout.network {
        Network::Mpls => Ok(layout.l3),
        Network::Other | Network::Arp | Network::Ipv4 | Network::Ipv6 | Network::Pbb => {
            Err(EditError::Absent(Field::MplsLabel))
        }
    }
}

fn set_entry_ttl(frame: &mut [u8], layout: &Layout, at: usize, ttl: u8) {
    if let Some(&[low, _]) = chunk::<2>(frame, at + 2) {
        replace(frame, layout, at + 2, [low, ttl], Covered::Not);
    }
}

/// One less than the TTL at `at`.
fn decremented(frame: &[u8], at: usize) -> Result<u8, EditError> {
    match frame.get(at) {
        Some(&ttl) if ttl > 1 => Ok(ttl - 1),
        Some(_) | None => Err(EditError::TtlExpired),
    }
}
