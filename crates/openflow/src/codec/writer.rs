//! Appends a message to a buffer.

use super::error::EncodeError;
use crate::model::Version;

/// Writes big-endian numbers behind what the buffer already holds.
pub(crate) struct Writer<'a> {
    pub out: &'a mut Vec<u8>,
    pub version: Version,
    /// Whether the message reports something and asks for nothing: what the version has no room for is left out.
    pub is_report: bool,
    /// What the match that was written last says; it settles what 1.0's actions mean in later versions.
    pub flow: FlowContext,
}

/// What a flow entry's match tells of the packets that its actions change.
#[derive(Clone, Copy, Default)]
pub(crate) struct FlowContext {
    pub ip_proto: Option<u8>,
    pub tagged: bool,
}

impl<'a> Writer<'a> {
    pub fn new(out: &'a mut Vec<u8>, version: Version, is_report: bool) -> Writer<'a> {
        Writer { out, version, is_report, flow: FlowContext::default() }
    }

    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    #[inline]
    pub fn u16(&mut self, value: u16) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// The low `len` bytes of `value`; `len` is at most 16.
    #[inline]
    pub fn low_bytes(&mut self, value: u128, len: usize) {
        match len {
            // The usual lengths, each a store of its own.
            1 => self.u8(value as u8),
            2 => self.u16(value as u16),
            4 => self.u32(value as u32),
            8 => self.u64(value as u64),
            _ => self.out.extend_from_slice(&value.to_be_bytes()[16 - len..]),
        }
    }

    #[inline]
    pub fn zeros(&mut self, n: usize) {
        self.out.resize(self.out.len() + n, 0);
    }

    /// Zeros up to a multiple of eight bytes since `start`.
    #[inline]
    pub fn pad_since(&mut self, start: usize) {
        let length = self.position() - start;
        self.zeros(length.next_multiple_of(8) - length);
    }

    #[inline]
    pub fn position(&self) -> usize {
        self.out.len()
    }

    /// Writes at `at` how many bytes have been written since `start`. A length that doesn't fit is cut: then
    /// the whole message is too long, which is refused when it is complete.
    #[inline]
    pub fn patch_length(&mut self, at: usize, start: usize) {
        let length = (self.position() - start) as u16;
        self.out[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }

    #[cold]
    pub fn inexpressible(&self, field: &'static str) -> EncodeError {
        EncodeError::Inexpressible { version: self.version, field }
    }

    /// What the version has no room for: an error in a request, nothing in a report.
    #[cold]
    pub fn leave_out(&self, field: &'static str) -> Result<(), EncodeError> {
        if self.is_report { Ok(()) } else { Err(self.inexpressible(field)) }
    }

    #[cold]
    pub fn out_of_range(&self, field: &'static str, value: u128) -> EncodeError {
        EncodeError::OutOfRange { version: self.version, field, value }
    }
}
