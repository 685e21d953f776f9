//! The header that ICMPv4 (RFC 792) and ICMPv6 (RFC 4443) share.
//!
//! They differ in their types, and in that ICMPv6 sums a pseudo header, too.

use super::error::split;
use super::{Header, HeaderError};
use crate::bytes::{be16, sub};
use crate::checksum::Sum;

/// A view of an ICMP header and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct IcmpView<'a> {
    header: &'a [u8; 8],
    payload: &'a [u8],
}

impl<'a> IcmpView<'a> {
    /// The header at the start of `bytes`. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<IcmpView<'a>, HeaderError> {
        let (header, payload) = split("icmp", bytes)?;
        Ok(IcmpView { header, payload })
    }

    /// Type.
    pub fn kind(&self) -> u8 {
        self.header[0]
    }

    /// Code.
    pub fn code(&self) -> u8 {
        self.header[1]
    }

    /// Checksum.
    pub fn checksum(&self) -> u16 {
        be16(self.header, 2)
    }

    /// Four bytes whose meaning depends on the type: of an echo, identifier and sequence number.
    pub fn rest(&self) -> [u8; 4] {
        sub(self.header, 4)
    }

    /// What follows.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Whether the checksum is right; `pseudo` is IPv6's pseudo header, or the empty sum for ICMPv4.
    pub fn verifies(&self, pseudo: Sum) -> bool {
        pseudo.bytes(self.header).bytes(self.payload).verifies()
    }
}

/// An ICMPv4 or ICMPv6 header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Icmp {
    /// Type.
    pub kind: u8,
    /// Code.
    pub code: u8,
    /// Checksum.
    pub checksum: u16,
    /// Four bytes whose meaning depends on the type: of an echo, identifier and sequence number.
    pub rest: [u8; 4],
}

impl Icmp {
    /// With the checksum over a payload of that sum; `pseudo` is IPv6's pseudo header, or the empty sum for
    /// ICMPv4.
    #[must_use]
    pub fn filled(mut self, pseudo: Sum, payload: Sum) -> Icmp {
        self.checksum = 0;
        let mut buf = [0; 8];
        self.emit(&mut buf);
        self.checksum = pseudo.bytes(&buf).sum(payload).checksum();
        self
    }
}

impl Header for Icmp {
    fn parse(bytes: &[u8]) -> Result<Icmp, HeaderError> {
        let view = IcmpView::new_checked(bytes)?;
        Ok(Icmp { kind: view.kind(), code: view.code(), checksum: view.checksum(), rest: view.rest() })
    }

    fn buffer_len(&self) -> usize {
        8
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[0] = self.kind;
        buf[1] = self.code;
        buf[2..4].copy_from_slice(&self.checksum.to_be_bytes());
        buf[4..8].copy_from_slice(&self.rest);
    }
}
