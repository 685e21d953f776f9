//! UDP (RFC 768).

use super::error::split;
use super::{Header, HeaderError};
use crate::bytes::be16;
use crate::checksum::Sum;

/// A view of a UDP header and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct UdpView<'a> {
    header: &'a [u8; 8],
    payload: &'a [u8],
}

impl<'a> UdpView<'a> {
    /// The header at the start of `bytes`. Errors: cut off. The length field is not judged: IP's length
    /// counts.
    pub fn new_checked(bytes: &'a [u8]) -> Result<UdpView<'a>, HeaderError> {
        let (header, payload) = split("udp", bytes)?;
        Ok(UdpView { header, payload })
    }

    /// Source port.
    pub fn src(&self) -> u16 {
        be16(self.header, 0)
    }

    /// Destination port.
    pub fn dst(&self) -> u16 {
        be16(self.header, 2)
    }

    /// Length of header and payload, in bytes.
    pub fn len(&self) -> u16 {
        be16(self.header, 4)
    }

    /// Whether the length field counts no payload.
    pub fn is_empty(&self) -> bool {
        self.len() <= 8
    }

    /// Checksum; 0 means none.
    pub fn checksum(&self) -> u16 {
        be16(self.header, 6)
    }

    /// What follows.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Whether the checksum is right or absent, given IP's pseudo header.
    pub fn verifies(&self, pseudo: Sum) -> bool {
        self.checksum() == 0 || pseudo.bytes(self.header).bytes(self.payload).verifies()
    }
}

/// A UDP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Udp {
    /// Source port.
    pub src: u16,
    /// Destination port.
    pub dst: u16,
    /// Length of header and payload, in bytes.
    pub len: u16,
    /// Checksum; 0 means none.
    pub checksum: u16,
}

impl Udp {
    /// With the length and the checksum over a payload of that length and sum, given IP's pseudo header.
    #[must_use]
    pub fn filled(mut self, pseudo: Sum, payload: Sum, payload_len: usize) -> Udp {
        self.len = (8 + payload_len) as u16;
        let header = Sum::default().u16(self.src).u16(self.dst).u16(self.len);
        self.checksum = pseudo.sum(header).sum(payload).udp_checksum();
        self
    }
}

impl Header for Udp {
    fn parse(bytes: &[u8]) -> Result<Udp, HeaderError> {
        let view = UdpView::new_checked(bytes)?;
        Ok(Udp { src: view.src(), dst: view.dst(), len: view.len(), checksum: view.checksum() })
    }

    fn buffer_len(&self) -> usize {
        8
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[0..2].copy_from_slice(&self.src.to_be_bytes());
        buf[2..4].copy_from_slice(&self.dst.to_be_bytes());
        buf[4..6].copy_from_slice(&self.len.to_be_bytes());
        buf[6..8].copy_from_slice(&self.checksum.to_be_bytes());
    }
}
