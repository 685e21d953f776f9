//! SCTP's common header (RFC 9260, 3.1).

use super::error::split;
use super::{Header, HeaderError};
use crate::bytes::{be16, be32};

/// A view of SCTP's common header and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct SctpView<'a> {
    header: &'a [u8; 12],
    payload: &'a [u8],
}

impl<'a> SctpView<'a> {
    /// The header at the start of `bytes`. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<SctpView<'a>, HeaderError> {
        let (header, payload) = split("sctp", bytes)?;
        Ok(SctpView { header, payload })
    }

    /// Source port.
    pub fn src(&self) -> u16 {
        be16(self.header, 0)
    }

    /// Destination port.
    pub fn dst(&self) -> u16 {
        be16(self.header, 2)
    }

    /// Verification tag.
    pub fn tag(&self) -> u32 {
        be32(self.header, 4)
    }

    /// CRC-32C, as a number in network order (see [`crate::checksum::sctp`]).
    pub fn checksum(&self) -> u32 {
        be32(self.header, 8)
    }

    /// What follows: chunks.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// SCTP's common header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sctp {
    /// Source port.
    pub src: u16,
    /// Destination port.
    pub dst: u16,
    /// Verification tag.
    pub tag: u32,
    /// CRC-32C, as a number in network order (see [`crate::checksum::sctp`]).
    pub checksum: u32,
}

impl Header for Sctp {
    fn parse(bytes: &[u8]) -> Result<Sctp, HeaderError> {
        let view = SctpView::new_checked(bytes)?;
        Ok(Sctp { src: view.src(), dst: view.dst(), tag: view.tag(), checksum: view.checksum() })
    }

    fn buffer_len(&self) -> usize {
        12
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[0..2].copy_from_slice(&self.src.to_be_bytes());
        buf[2..4].copy_from_slice(&self.dst.to_be_bytes());
        buf[4..8].copy_from_slice(&self.tag.to_be_bytes());
        buf[8..12].copy_from_slice(&self.checksum.to_be_bytes());
    }
}
