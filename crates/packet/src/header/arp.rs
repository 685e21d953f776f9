//! ARP for Ethernet and IPv4 (RFC 826).

use std::net::Ipv4Addr;

use super::error::split;
use super::{Header, HeaderError};
use crate::MacAddr;
use crate::bytes::{be16, be32, sub};

/// A view of an ARP message.
#[derive(Clone, Copy, Debug)]
pub struct ArpView<'a> {
    header: &'a [u8; 28],
    payload: &'a [u8],
}

impl<'a> ArpView<'a> {
    /// The message at the start of `bytes`. Errors: cut off, or not for Ethernet and IPv4.
    pub fn new_checked(bytes: &'a [u8]) -> Result<ArpView<'a>, HeaderError> {
        let (header, payload) = split("arp", bytes)?;
        let types = be32(header, 0);
        if types != 0x0001_0800 {
            let expected = "Ethernet and IPv4, 0x00010800";
            return Err(HeaderError::Malformed { header: "arp", offset: 0, expected, found: types });
        }
        let lengths = be16(header, 4);
        if lengths != 0x0604 {
            let expected = "address lengths 0x0604";
            return Err(HeaderError::Malformed { header: "arp", offset: 4, expected, found: lengths.into() });
        }
        Ok(ArpView { header, payload })
    }

    /// Opcode: 1 request, 2 reply.
    pub fn op(&self) -> u16 {
        be16(self.header, 6)
    }

    /// Sender hardware address.
    pub fn sha(&self) -> MacAddr {
        MacAddr(sub(self.header, 8))
    }

    /// Sender protocol address.
    pub fn spa(&self) -> Ipv4Addr {
        sub(self.header, 14).into()
    }

    /// Target hardware address.
    pub fn tha(&self) -> MacAddr {
        MacAddr(sub(self.header, 18))
    }

    /// Target protocol address.
    pub fn tpa(&self) -> Ipv4Addr {
        sub(self.header, 24).into()
    }

    /// What follows: padding.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// An ARP message for Ethernet and IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arp {
    /// Opcode: 1 request, 2 reply.
    pub op: u16,
    /// Sender hardware address.
    pub sha: MacAddr,
    /// Sender protocol address.
    pub spa: Ipv4Addr,
    /// Target hardware address.
    pub tha: MacAddr,
    /// Target protocol address.
    pub tpa: Ipv4Addr,
}

impl Header for Arp {
    fn parse(bytes: &[u8]) -> Result<Arp, HeaderError> {
        let view = ArpView::new_checked(bytes)?;
        Ok(Arp { op: view.op(), sha: view.sha(), spa: view.spa(), tha: view.tha(), tpa: view.tpa() })
    }

    fn buffer_len(&self) -> usize {
        28
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[0..6].copy_from_slice(&[0, 1, 8, 0, 6, 4]);
        buf[6..8].copy_from_slice(&self.op.to_be_bytes());
        buf[8..14].copy_from_slice(&self.sha.0);
        buf[14..18].copy_from_slice(&self.spa.octets());
        buf[18..24].copy_from_slice(&self.tha.0);
        buf[24..28].copy_from_slice(&self.tpa.octets());
    }
}
