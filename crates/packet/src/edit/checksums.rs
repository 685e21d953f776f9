//! Replacing bytes together with the checksums that cover them.

use crate::bytes::{chunk, chunk_mut};
use crate::checksum::{Change, nonzero};
use crate::layout::{Layout, Network, Transport};

/// The checksums that cover some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Covered {
    /// None.
    Not,
    /// IPv4's header checksum.
    Ip,
    /// The L4 checksum: bytes of the L4 header and data.
    Transport,
    /// IPv4's header checksum (if there is one), and the L4 checksum where it sums a pseudo header.
    Addresses,
}

/// Replaces the `N` bytes (an even number) at `at`, which lie at an even offset of what the checksums cover.
/// Does nothing when they aren't all there.
#[inline]
pub(super) fn replace<const N: usize>(
    frame: &mut [u8],
    layout: &Layout,
    at: usize,
    new: [u8; N],
    covered: Covered,
) {
    let Some(place) = chunk_mut::<N>(frame, at) else { return };
    let old = std::mem::replace(place, new);
    let change = Change::from(old, new);
    let v4 = layout.network == Network::Ipv4;
    if v4 && matches!(covered, Covered::Ip | Covered::Addresses) {
        update(frame, layout.l3 + 10, |check| change.applied(check));
    }
    let summed = match covered {
        Covered::Not | Covered::Ip => None,
        Covered::Transport => transport_checksum(layout),
        Covered::Addresses if layout.transport == Transport::Icmpv4 => None,
        Covered::Addresses => transport_checksum(layout),
    };
    let Some(check_at) = summed else { return };
    match layout.transport {
        // No UDP checksum (0) stays none, and a checksum never becomes 0.
        Transport::Udp => {
            update(frame, check_at, |check| if check == 0 { 0 } else { nonzero(change.applied(check)) })
        }
        Transport::Tcp | Transport::Icmpv4 | Transport::Icmpv6 | Transport::Sctp | Transport::Other => {
            update(frame, check_at, |check| change.applied(check));
        }
    }
}

/// Offset of the one's-complement checksum of the L4 header.
fn transport_checksum(layout: &Layout) -> Option<usize> {
    match layout.transport {
        Transport::Tcp => Some(layout.l4 + 16),
        Transport::Udp => Some(layout.l4 + 6),
        Transport::Icmpv4 | Transport::Icmpv6 => Some(layout.l4 + 2),
        Transport::Sctp | Transport::Other => None,
    }
}

#[inline]
fn update(frame: &mut [u8], at: usize, with: impl FnOnce(u16) -> u16) {
    if let Some(check) = chunk_mut::<2>(frame, at) {
        *check = with(u16::from_be_bytes(*check)).to_be_bytes();
    }
}

/// Replaces the bits of `mask` in the 16 bits at `at`.
#[inline]
pub(super) fn replace_bits(
    frame: &mut [u8],
    layout: &Layout,
    at: usize,
    (bits, mask): (u16, u16),
    covered: Covered,
) {
    if let Some(old) = chunk::<2>(frame, at) {
        let new = u16::from_be_bytes(*old) & !mask | bits & mask;
        replace(frame, layout, at, new.to_be_bytes(), covered);
    }
}
