//! A provider backbone bridge's service instance tag (802.1ah, 9.7), behind its EtherType 0x88e7.

use super::error::split;
use super::{Header, HeaderError};
use crate::bytes::be32;

/// A view of a service instance tag and the customer's frame behind it.
#[derive(Clone, Copy, Debug)]
pub struct PbbView<'a> {
    header: &'a [u8; 4],
    payload: &'a [u8],
}

impl<'a> PbbView<'a> {
    /// The tag at the start of `bytes`. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<PbbView<'a>, HeaderError> {
        let (header, payload) = split("pbb", bytes)?;
        Ok(PbbView { header, payload })
    }

    /// Priority code point, 3 bits.
    pub fn pcp(&self) -> u8 {
        self.header[0] >> 5
    }

    /// Drop eligible indicator.
    pub fn dei(&self) -> bool {
        self.header[0] & 0x10 != 0
    }

    /// Use-customer-address bit.
    pub fn uca(&self) -> bool {
        self.header[0] & 0x08 != 0
    }

    /// Service instance identifier, 24 bits.
    pub fn isid(&self) -> u32 {
        be32(self.header, 0) & 0xff_ffff
    }

    /// The customer's frame.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// A service instance tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pbb {
    /// Priority code point, 3 bits.
    pub pcp: u8,
    /// Drop eligible indicator.
    pub dei: bool,
    /// Use-customer-address bit.
    pub uca: bool,
    /// Service instance identifier, 24 bits.
    pub isid: u32,
}

impl Header for Pbb {
    fn parse(bytes: &[u8]) -> Result<Pbb, HeaderError> {
        let view = PbbView::new_checked(bytes)?;
        Ok(Pbb { pcp: view.pcp(), dei: view.dei(), uca: view.uca(), isid: view.isid() })
    }

    fn buffer_len(&self) -> usize {
        4
    }

    fn emit(&self, buf: &mut [u8]) {
        let tag = u32::from(self.pcp) << 29
            | u32::from(self.dei) << 28
            | u32::from(self.uca) << 27
            | self.isid & 0xff_ffff;
        buf[..4].copy_from_slice(&tag.to_be_bytes());
    }
}
