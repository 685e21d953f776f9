//! A frame inside a fixed slot, with room in front for tags.

use std::ops::Range;

use super::EditError;

/// A frame in a slot of fixed size: it may grow and shrink at its front as long as the slot has room, without
/// allocation. What it does to the frame's place is read back with [`FrameBuf::range`].
///
/// ```
/// use flowgauge_packet::edit::{self, FrameBuf};
/// let mut slot = [0u8; 2048];
/// let mut frame = FrameBuf::new(&mut slot, 128..188);
/// edit::push_vlan(&mut frame, 0x8100).unwrap();
/// assert_eq!(frame.range(), 124..188);
/// ```
#[derive(Debug)]
pub struct FrameBuf<'a> {
    slot: &'a mut [u8],
    range: Range<usize>,
}

impl<'a> FrameBuf<'a> {
    /// The frame at `range` of `slot`; the bytes before it are headroom.
    ///
    /// # Panics
    /// When the range isn't within the slot.
    pub fn new(slot: &'a mut [u8], range: Range<usize>) -> FrameBuf<'a> {
        assert!(range.start <= range.end && range.end <= slot.len(), "the frame lies within its slot");
        FrameBuf { slot, range }
    }

    /// Where the frame lies now.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The frame.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.slot[self.range.clone()]
    }

    /// The frame, to be changed in place.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.slot[self.range.clone()]
    }

    /// Opens a gap of `len` bytes at offset `at` of the frame, moving what is before it to the front. The gap
    /// holds whatever was there.
    pub(super) fn open(&mut self, at: usize, len: usize) -> Result<(), EditError> {
        let start = self.range.start.checked_sub(len).ok_or(EditError::NoRoom)?;
        self.slot.copy_within(self.range.start..self.range.start + at, start);
        self.range.start = start;
        Ok(())
    }

    /// Closes the gap of `len` bytes at offset `at`, moving what is before it to the back.
    pub(super) fn close(&mut self, at: usize, len: usize) {
        debug_assert!(at + len <= self.range.len());
        self.slot.copy_within(self.range.start..self.range.start + at, self.range.start + len);
        self.range.start += len;
    }
}
