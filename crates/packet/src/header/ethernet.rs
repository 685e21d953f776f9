//! The Ethernet header (IEEE 802.3, 3.2).

use super::error::split;
use super::{Header, HeaderError};
use crate::MacAddr;
use crate::bytes::{be16, sub};

/// A view of an Ethernet header and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct EthernetView<'a> {
    header: &'a [u8; 14],
    payload: &'a [u8],
}

impl<'a> EthernetView<'a> {
    /// The header at the start of `bytes`. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<EthernetView<'a>, HeaderError> {
        let (header, payload) = split("ethernet", bytes)?;
        Ok(EthernetView { header, payload })
    }

    /// Destination address.
    pub fn dst(&self) -> MacAddr {
        MacAddr(sub(self.header, 0))
    }

    /// Source address.
    pub fn src(&self) -> MacAddr {
        MacAddr(sub(self.header, 6))
    }

    /// EtherType: of the first tag, if there is one. Below 0x600 it is a length (802.3).
    pub fn eth_type(&self) -> u16 {
        be16(self.header, 12)
    }

    /// What follows.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// An Ethernet header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ethernet {
    /// Destination address.
    pub dst: MacAddr,
    /// Source address.
    pub src: MacAddr,
    /// EtherType of what follows.
    pub eth_type: u16,
}

impl Header for Ethernet {
    fn parse(bytes: &[u8]) -> Result<Ethernet, HeaderError> {
        let view = EthernetView::new_checked(bytes)?;
        Ok(Ethernet { dst: view.dst(), src: view.src(), eth_type: view.eth_type() })
    }

    fn buffer_len(&self) -> usize {
        14
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[0..6].copy_from_slice(&self.dst.0);
        buf[6..12].copy_from_slice(&self.src.0);
        buf[12..14].copy_from_slice(&self.eth_type.to_be_bytes());
    }
}
