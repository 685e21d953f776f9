//! IPv6's fixed header (RFC 8200, 3).

use std::net::Ipv6Addr;

use super::error::split;
use super::{Extensions, Header, HeaderError};
use crate::bytes::{be16, be32, sub};
use crate::checksum::{Sum, pseudo_v6};

/// A view of an IPv6 header and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6View<'a> {
    header: &'a [u8; 40],
    payload: &'a [u8],
}

impl<'a> Ipv6View<'a> {
    /// The header at the start of `bytes`. Errors: cut off, another version. The payload may be cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Ipv6View<'a>, HeaderError> {
        let (header, rest) = split("ipv6", bytes)?;
        if header[0] >> 4 != 6 {
            let found = header[0].into();
            return Err(HeaderError::Malformed { header: "ipv6", offset: 0, expected: "version 6", found });
        }
        let payload_len = usize::from(be16(header, 4));
        Ok(Ipv6View { header, payload: &rest[..payload_len.min(rest.len())] })
    }

    /// Differentiated services code point, 6 bits.
    pub fn dscp(&self) -> u8 {
        (be16(self.header, 0) >> 6 & 0x3f) as u8
    }

    /// Explicit congestion notification, 2 bits.
    pub fn ecn(&self) -> u8 {
        self.header[1] >> 4 & 3
    }

    /// Flow label, 20 bits.
    pub fn flow_label(&self) -> u32 {
        be32(self.header, 0) & 0xf_ffff
    }

    /// Length of what follows, extension headers included, in bytes.
    pub fn payload_len(&self) -> u16 {
        be16(self.header, 4)
    }

    /// Number of the header that follows.
    pub fn next_header(&self) -> u8 {
        self.header[6]
    }

    /// Hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.header[7]
    }

    /// Source address.
    pub fn src(&self) -> Ipv6Addr {
        sub(self.header, 8).into()
    }

    /// Destination address.
    pub fn dst(&self) -> Ipv6Addr {
        sub(self.header, 24).into()
    }

    /// What follows, extension headers included, as far as it is there.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// A walk over the extension headers, to the upper layer.
    pub fn extensions(&self) -> Extensions<'a> {
        Extensions::new(self.next_header(), self.payload)
    }

    /// The pseudo header of an upper-layer protocol whose header and data are `len` bytes long.
    pub fn pseudo(&self, proto: u8, len: usize) -> Sum {
        pseudo_v6(self.src().into(), self.dst().into(), proto, len as u32)
    }
}

/// An IPv6 fixed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv6 {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// Explicit congestion notification, 2 bits.
    pub ecn: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Length of what follows, extension headers included, in bytes.
    pub payload_len: u16,
    /// Number of the header that follows.
    pub next_header: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source address.
    pub src: Ipv6Addr,
    /// Destination address.
    pub dst: Ipv6Addr,
}

impl Ipv6 {
    /// With the length for that many bytes of payload (there is no checksum).
    #[must_use]
    pub fn filled(self, payload_len: usize) -> Ipv6 {
        Ipv6 { payload_len: payload_len as u16, ..self }
    }
}

impl Header for Ipv6 {
    fn parse(bytes: &[u8]) -> Result<Ipv6, HeaderError> {
        let view = Ipv6View::new_checked(bytes)?;
        Ok(Ipv6 {
            dscp: view.dscp(),
            ecn: view.ecn(),
            flow_label: view.flow_label(),
            payload_len: view.payload_len(),
            next_header: view.next_header(),
            hop_limit: view.hop_limit(),
            src: view.src(),
            dst: view.dst(),
        })
    }

    fn buffer_len(&self) -> usize {
        40
    }

    fn emit(&self, buf: &mut [u8]) {
        let class = u32::from(self.dscp & 0x3f) << 2 | u32::from(self.ecn & 3);
        let first = 6 << 28 | class << 20 | self.flow_label & 0xf_ffff;
        buf[0..4].copy_from_slice(&first.to_be_bytes());
        buf[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
        buf[6] = self.next_header;
        buf[7] = self.hop_limit;
        buf[8..24].copy_from_slice(&self.src.octets());
        buf[24..40].copy_from_slice(&self.dst.octets());
    }
}
