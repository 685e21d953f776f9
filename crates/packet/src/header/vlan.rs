//! A VLAN tag (802.1Q, 802.1ad) behind its tag protocol identifier, and the EtherType that follows it.

use super::error::split;
use super::{Header, HeaderError};
use crate::bytes::be16;

/// A view of a VLAN tag and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct VlanView<'a> {
    header: &'a [u8; 4],
    payload: &'a [u8],
}

impl<'a> VlanView<'a> {
    /// The tag at the start of `bytes`, which begin behind the identifier 0x8100 or 0x88a8. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<VlanView<'a>, HeaderError> {
        let (header, payload) = split("vlan", bytes)?;
        Ok(VlanView { header, payload })
    }

    /// Priority code point, 0 to 7.
    pub fn pcp(&self) -> u8 {
        self.header[0] >> 5
    }

    /// Drop eligible indicator.
    pub fn dei(&self) -> bool {
        self.header[0] & 0x10 != 0
    }

    /// VLAN identifier, 12 bits.
    pub fn vid(&self) -> u16 {
        be16(self.header, 0) & 0x0fff
    }

    /// EtherType of what follows.
    pub fn eth_type(&self) -> u16 {
        be16(self.header, 2)
    }

    /// What follows.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// A VLAN tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vlan {
    /// Priority code point, 0 to 7.
    pub pcp: u8,
    /// Drop eligible indicator.
    pub dei: bool,
    /// VLAN identifier, 12 bits.
    pub vid: u16,
    /// EtherType of what follows.
    pub eth_type: u16,
}

impl Header for Vlan {
    fn parse(bytes: &[u8]) -> Result<Vlan, HeaderError> {
        let view = VlanView::new_checked(bytes)?;
        Ok(Vlan { pcp: view.pcp(), dei: view.dei(), vid: view.vid(), eth_type: view.eth_type() })
    }

    fn buffer_len(&self) -> usize {
        4
    }

    fn emit(&self, buf: &mut [u8]) {
        let tci = u16::from(self.pcp) << 13 | u16::from(self.dei) << 12 | self.vid & 0x0fff;
        buf[0..2].copy_from_slice(&tci.to_be_bytes());
        buf[2..4].copy_from_slice(&self.eth_type.to_be_bytes());
    }
}
