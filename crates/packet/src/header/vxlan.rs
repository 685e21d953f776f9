//! VXLAN (RFC 7348, 5).

use super::error::split;
use super::{Header, HeaderError};
use crate::bytes::be32;

/// A view of a VXLAN header and the frame behind it.
#[derive(Clone, Copy, Debug)]
pub struct VxlanView<'a> {
    header: &'a [u8; 8],
    payload: &'a [u8],
}

impl<'a> VxlanView<'a> {
    /// The header at the start of `bytes`. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<VxlanView<'a>, HeaderError> {
        let (header, payload) = split("vxlan", bytes)?;
        Ok(VxlanView { header, payload })
    }

    /// Flags; 0x08 says that the network identifier is valid.
    pub fn flags(&self) -> u8 {
        self.header[0]
    }

    /// Network identifier, 24 bits.
    pub fn vni(&self) -> u32 {
        be32(self.header, 4) >> 8
    }

    /// The frame inside.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// A VXLAN header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vxlan {
    /// Flags; [`Vxlan::VALID`] says that the network identifier is valid.
    pub flags: u8,
    /// Network identifier, 24 bits.
    pub vni: u32,
}

impl Vxlan {
    /// The flag of a valid network identifier.
    pub const VALID: u8 = 0x08;
    /// The UDP port that IANA assigned.
    pub const PORT: u16 = 4789;
}

impl Header for Vxlan {
    /// Reserved bits are not kept.
    fn parse(bytes: &[u8]) -> Result<Vxlan, HeaderError> {
        let view = VxlanView::new_checked(bytes)?;
        Ok(Vxlan { flags: view.flags(), vni: view.vni() })
    }

    fn buffer_len(&self) -> usize {
        8
    }

    fn emit(&self, buf: &mut [u8]) {
        buf[..4].copy_from_slice(&[self.flags, 0, 0, 0]);
        buf[4..8].copy_from_slice(&(self.vni << 8).to_be_bytes());
    }
}
