//! IPv6 extension headers: the walk from the fixed header to the upper layer (RFC 8200, 4).

use super::ip_proto as proto;
use crate::bytes::{be16, chunk};

/// One extension header. Its bytes are all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Its number, as the header before it gives it.
    pub kind: u8,
    /// Its bytes, the next-header field first.
    pub bytes: &'a [u8],
}

impl Extension<'_> {
    /// Segments left, of a routing header.
    pub fn segments_left(&self) -> Option<u8> {
        if self.kind == proto::ROUTING { self.bytes.get(3).copied() } else { None }
    }

    /// Fragment offset in bytes, of a fragment header.
    pub fn fragment_offset(&self) -> Option<u16> {
        if self.kind != proto::FRAGMENT {
            return None;
        }
        chunk::<4>(self.bytes, 0).map(|header| be16(header, 2) & 0xfff8)
    }
}

/// Walks extension headers. When it ends, [`Extensions::next_header`] and [`Extensions::offset`] say what
/// follows.
///
/// A header that is cut off ends the walk, and so does the fragment header of a later fragment: what follows
/// that one is the middle of something.
#[derive(Clone, Debug)]
pub struct Extensions<'a> {
    bytes: &'a [u8],
    next: u8,
    at: usize,
    ended: bool,
    bits: u16,
    rank: u8,
}

/// Bits of the field `ipv6_exthdr` (OpenFlow 1.3.5, 7.2.3.7, OFPIEH_*).
mod ofpieh {
    pub const NO_NEXT: u16 = 1;
    pub const ESP: u16 = 2;
    pub const AUTHENTICATION: u16 = 4;
    pub const DESTINATION: u16 = 8;
    pub const FRAGMENT: u16 = 16;
    pub const ROUTER: u16 = 32;
    pub const HOP: u16 = 64;
    pub const REPEATED: u16 = 128;
    pub const OUT_OF_ORDER: u16 = 256;
}

impl<'a> Extensions<'a> {
    /// A walk over the payload of an IPv6 header whose next-header field is `next`.
    pub fn new(next: u8, payload: &'a [u8]) -> Extensions<'a> {
        Extensions { bytes: payload, next, at: 0, ended: false, bits: 0, rank: 0 }
    }

    /// The number of the header that follows those walked: after the walk, the upper-layer protocol. Of a
    /// later fragment it is what its fragment header says, as IPv4's protocol field does.
    pub fn next_header(&self) -> u8 {
        self.next
    }

    /// Where the header that follows begins, in bytes from the payload's first.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether the walk ended at an upper-layer header, rather than at a cut-off header or in a later
    /// fragment.
    pub fn reached_upper_layer(&self) -> bool {
        !self.ended && !proto::is_extension(self.next)
    }

    /// The OFPIEH_* bits of the headers walked and of the one that follows.
    pub fn openflow_bits(&self) -> u16 {
        let last = match self.next {
            proto::NO_NEXT_HEADER => ofpieh::NO_NEXT,
            proto::ESP => ofpieh::ESP,
            _ => 0,
        };
        self.bits | last
    }

    /// Notes a header's presence, and whether it is repeated or out of the order that RFC 8200, 4.1
    /// recommends.
    fn note(&mut self, kind: u8) {
        let (bit, rank) = match kind {
            proto::HOP_BY_HOP => (ofpieh::HOP, 1),
            proto::DESTINATION if self.rank < 3 => (ofpieh::DESTINATION, 2),
            proto::ROUTING => (ofpieh::ROUTER, 3),
            proto::FRAGMENT => (ofpieh::FRAGMENT, 4),
            proto::AUTHENTICATION => (ofpieh::AUTHENTICATION, 5),
            proto::DESTINATION => (ofpieh::DESTINATION, 7),
            _ => return,
        };
        // Destination options may come twice: before the routing header, and last.
        let again = self.bits & bit != 0 && (kind != proto::DESTINATION || self.rank == rank);
        if again {
            self.bits |= ofpieh::REPEATED;
        } else if rank < self.rank {
            self.bits |= ofpieh::OUT_OF_ORDER;
        }
        self.bits |= bit;
        self.rank = self.rank.max(rank);
    }
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Extension<'a>;

    fn next(&mut self) -> Option<Extension<'a>> {
        if self.ended || !proto::is_extension(self.next) {
            return None;
        }
        let kind = self.next;
        let rest = &self.bytes[self.at..];
        let len = chunk::<2>(rest, 0).map(|&[_, len]| match kind {
            proto::FRAGMENT => 8,
            proto::AUTHENTICATION => (usize::from(len) + 2) * 4,
            _ => (usize::from(len) + 1) * 8,
        });
        let Some(bytes) = len.and_then(|len| rest.get(..len)) else {
            self.ended = true;
            return None;
        };
        self.note(kind);
        self.next = bytes[0];
        self.at += bytes.len();
        let extension = Extension { kind, bytes };
        self.ended = extension.fragment_offset().is_some_and(|offset| offset > 0);
        Some(extension)
    }
}
