//! An MPLS label stack entry (RFC 3032, 5462).

use super::error::split;
use super::{Header, HeaderError};
use crate::bytes::be32;

/// A view of an MPLS label stack entry and what follows it.
#[derive(Clone, Copy, Debug)]
pub struct MplsView<'a> {
    header: &'a [u8; 4],
    payload: &'a [u8],
}

impl<'a> MplsView<'a> {
    /// The entry at the start of `bytes`. Errors: cut off.
    pub fn new_checked(bytes: &'a [u8]) -> Result<MplsView<'a>, HeaderError> {
        let (header, payload) = split("mpls", bytes)?;
        Ok(MplsView { header, payload })
    }

    /// Label, 20 bits.
    pub fn label(&self) -> u32 {
        be32(self.header, 0) >> 12
    }

    /// Traffic class, 3 bits.
    pub fn tc(&self) -> u8 {
        self.header[2] >> 1 & 7
    }

    /// Whether this entry is the last of the stack.
    pub fn bottom(&self) -> bool {
        self.header[2] & 1 != 0
    }

    /// Time to live.
    pub fn ttl(&self) -> u8 {
        self.header[3]
    }

    /// What follows: another entry, or, at the bottom, what the label stands for.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// An MPLS label stack entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mpls {
    /// Label, 20 bits.
    pub label: u32,
    /// Traffic class, 3 bits.
    pub tc: u8,
    /// Whether this entry is the last of the stack.
    pub bottom: bool,
    /// Time to live.
    pub ttl: u8,
}

impl Header for Mpls {
    fn parse(bytes: &[u8]) -> Result<Mpls, HeaderError> {
        let view = MplsView::new_checked(bytes)?;
        Ok(Mpls { label: view.label(), tc: view.tc(), bottom: view.bottom(), ttl: view.ttl() })
    }

    fn buffer_len(&self) -> usize {
        4
    }

    fn emit(&self, buf: &mut [u8]) {
        let entry = self.label << 12
            | u32::from(self.tc & 7) << 9
            | u32::from(self.bottom) << 8
            | u32::from(self.ttl);
        buf[..4].copy_from_slice(&entry.to_be_bytes());
    }
}
