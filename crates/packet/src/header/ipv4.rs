//! IPv4 (RFC 791, 2474, 3168).

use std::net::Ipv4Addr;

use super::error::{split, split_at};
use super::{Header, HeaderError, Options};
use crate::bytes::{be16, sub};
use crate::checksum::{Sum, checksum, pseudo_v4};

/// A view of an IPv4 header and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4View<'a> {
    header: &'a [u8; 20],
    whole: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Ipv4View<'a> {
    /// The header at the start of `bytes`. Errors: cut off, version or lengths that make no sense. The
    /// payload may be cut off: PACKET_INs are.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Ipv4View<'a>, HeaderError> {
        let malformed = |offset, expected, found: u16| {
            Err(HeaderError::Malformed { header: "ipv4", offset, expected, found: found.into() })
        };
        let (header, _) = split("ipv4", bytes)?;
        if header[0] >> 4 != 4 {
            return malformed(0, "version 4", header[0].into());
        }
        let header_len = usize::from(header[0] & 0x0f) * 4;
        if header_len < 20 {
            return malformed(0, "a header of at least 5 words", header[0].into());
        }
        let (whole, rest) = split_at("ipv4", bytes, header_len)?;
        let total_len = be16(header, 2);
        let Some(payload_len) = usize::from(total_len).checked_sub(header_len) else {
            return malformed(2, "a total length that covers the header", total_len);
        };
        Ok(Ipv4View { header, whole, payload: &rest[..payload_len.min(rest.len())] })
    }

    /// Differentiated services code point, 6 bits.
    pub fn dscp(&self) -> u8 {
        self.header[1] >> 2
    }

    /// Explicit congestion notification, 2 bits.
    pub fn ecn(&self) -> u8 {
        self.header[1] & 3
    }

    /// Length of header and payload, in bytes.
    pub fn total_len(&self) -> u16 {
        be16(self.header, 2)
    }

    /// Identification.
    pub fn id(&self) -> u16 {
        be16(self.header, 4)
    }

    /// Reserved, don't-fragment and more-fragments bits, the last one lowest.
    pub fn flags(&self) -> u8 {
        self.header[6] >> 5
    }

    /// Fragment offset, in units of 8 bytes.
    pub fn fragment_offset(&self) -> u16 {
        be16(self.header, 6) & 0x1fff
    }

    /// Time to live.
    pub fn ttl(&self) -> u8 {
        self.header[8]
    }

    /// Protocol of what follows.
    pub fn proto(&self) -> u8 {
        self.header[9]
    }

    /// Header checksum.
    pub fn checksum(&self) -> u16 {
        be16(self.header, 10)
    }

    /// Source address.
    pub fn src(&self) -> Ipv4Addr {
        sub(self.header, 12).into()
    }

    /// Destination address.
    pub fn dst(&self) -> Ipv4Addr {
        sub(self.header, 16).into()
    }

    /// Options.
    pub fn options(&self) -> &'a [u8] {
        self.whole.get(20..).unwrap_or_default()
    }

    /// What follows, as far as it is there.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Whether the header's checksum is right.
    pub fn verifies(&self) -> bool {
        Sum::default().bytes(self.whole).verifies()
    }

    /// The pseudo header that TCP and UDP sum, for the payload that is there.
    pub fn pseudo(&self) -> Sum {
        pseudo_v4(self.src().into(), self.dst().into(), self.proto(), self.payload.len() as u16)
    }
}

/// An IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv4 {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// Explicit congestion notification, 2 bits.
    pub ecn: u8,
    /// Length of header and payload, in bytes.
    pub total_len: u16,
    /// Identification.
    pub id: u16,
    /// Reserved, don't-fragment and more-fragments bits, the last one lowest.
    pub flags: u8,
    /// Fragment offset, in units of 8 bytes, 13 bits.
    pub fragment_offset: u16,
    /// Time to live.
    pub ttl: u8,
    /// Protocol of what follows.
    pub proto: u8,
    /// Header checksum.
    pub checksum: u16,
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Options.
    pub options: Options,
}

impl Ipv4 {
    /// With the total length for that many bytes of payload, and the checksum.
    #[must_use]
    pub fn filled(mut self, payload_len: usize) -> Ipv4 {
        self.total_len = (self.buffer_len() + payload_len) as u16;
        self.checksum = 0;
        let mut buf = [0; 60];
        self.emit(&mut buf);
        self.checksum = checksum(&buf[..self.buffer_len()]);
        self
    }
}

impl Header for Ipv4 {
    fn parse(bytes: &[u8]) -> Result<Ipv4, HeaderError> {
        let view = Ipv4View::new_checked(bytes)?;
        Ok(Ipv4 {
            dscp: view.dscp(),
            ecn: view.ecn(),
            total_len: view.total_len(),
            id: view.id(),
            flags: view.flags(),
            fragment_offset: view.fragment_offset(),
            ttl: view.ttl(),
            proto: view.proto(),
            checksum: view.checksum(),
            src: view.src(),
            dst: view.dst(),
            options: Options::new(view.options()).unwrap_or_default(),
        })
    }

    fn buffer_len(&self) -> usize {
        20 + self.options.as_bytes().len()
    }

    fn emit(&self, buf: &mut [u8]) {
        let len = self.buffer_len();
        buf[0] = 0x40 | (len / 4) as u8;
        buf[1] = self.dscp << 2 | self.ecn & 3;
        buf[2..4].copy_from_slice(&self.total_len.to_be_bytes());
        buf[4..6].copy_from_slice(&self.id.to_be_bytes());
        let fragment = u16::from(self.flags) << 13 | self.fragment_offset & 0x1fff;
        buf[6..8].copy_from_slice(&fragment.to_be_bytes());
        buf[8] = self.ttl;
        buf[9] = self.proto;
        buf[10..12].copy_from_slice(&self.checksum.to_be_bytes());
        buf[12..16].copy_from_slice(&self.src.octets());
        buf[16..20].copy_from_slice(&self.dst.octets());
        buf[20..len].copy_from_slice(self.options.as_bytes());
    }
}
