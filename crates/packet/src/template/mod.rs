//! Frame templates: the frames of a flow set, ready to be copied.
//!
//! ```text
//! Ethernet | tags | IP | UDP | probe: 18 zero bytes | payload | (FCS, added by the port)
//! '------- one per flow, precomputed -------------' '- one for all -'
//! ```
//!
//! The probe area is zero and inside the L4 checksum. Any 18 bytes whose one's-complement sum of 16-bit words
//! is 0 (0x0000 or 0xffff) may replace it, and the checksum stays right. SCTP's CRC is the exception: it is
//! right for the zero probe only.

mod emit;
mod payload;
#[cfg(test)]
mod tests;

use crate::FlowSet;
use crate::checksum::Sum;
use crate::flow_set::stack::TransportHeader;
use crate::header::Vlan;
use emit::Emitter;
pub use payload::Payload;

/// Bytes of the probe, right behind the last header.
pub const PROBE_LEN: usize = 18;

/// Bytes of the frame check sequence, which frame sizes count and buffers don't hold.
pub const FCS_LEN: usize = 4;

/// The smallest Ethernet frame, FCS included.
pub const SMALLEST_FRAME: usize = 64;

/// The largest frame, FCS included.
pub const LARGEST_FRAME: usize = 9018;

/// Flows are mostly written in order, and many flows do not fit into a core's cache: the one that is this far ahead is
/// fetched meanwhile.
const AHEAD: usize = 24;

/// Why there are no such frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The headers and a probe don't fit, or the frame is larger than any of ours.
    #[error(
        "frames of {size} bytes (FCS included) are not possible with these headers; allowed: {smallest} to {largest}"
    )]
    Size {
        /// The size asked for.
        size: usize,
        /// The smallest size that these headers and a probe fit into.
        smallest: usize,
        /// The largest size.
        largest: usize,
    },
    /// Inner VLAN tags without an outer one.
    #[error("inner VLAN tags need an outer one: name vlan_vid in the flow set")]
    NoOuterTag,
}

impl TemplateError {
    /// The smallest size possible, if the size was the trouble.
    pub fn smallest(&self) -> Option<usize> {
        match *self {
            TemplateError::Size { smallest, .. } => Some(smallest),
            TemplateError::NoOuterTag => None,
        }
    }
}

/// Bytes that are copied at once: a cache line.
const BLOCK: usize = 64;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Block([u8; BLOCK]);

/// The frames of a flow set, headers precomputed for each flow in one contiguous table.
#[derive(Clone, Debug)]
pub struct FrameTemplate {
    /// Of each flow the first `head_len` bytes of its frame, in whole blocks.
    heads: Box<[Block]>,
    /// Blocks per flow.
    blocks: usize,
    head_len: usize,
    /// What follows them, the same in all frames.
    tail: Box<[u8]>,
    payload_offset: usize,
}

impl FrameTemplate {
    /// The frames of `flows` with a size of `frame_size` bytes, FCS included, from
    /// [`FrameTemplate::smallest`] to [`LARGEST_FRAME`].
    ///
    /// # Errors
    /// [`TemplateError::Size`] for other sizes.
    pub fn new(flows: &FlowSet, frame_size: usize, payload: Payload) -> Result<FrameTemplate, TemplateError> {
        FrameTemplate::with_inner_tags(flows, frame_size, payload, &[])
    }

    /// As [`FrameTemplate::new`], with VLAN tags inside of the one that the flow set names: that one is then
    /// a service tag (0x88a8), these are customer tags (0x8100), outermost first. Their `eth_type` is
    /// ignored.
    ///
    /// # Errors
    /// [`TemplateError`]: other sizes, or a flow set without a tag.
    pub fn with_inner_tags(
        flows: &FlowSet,
        frame_size: usize,
        payload: Payload,
        inner_tags: &[Vlan],
    ) -> Result<FrameTemplate, TemplateError> {
        if !inner_tags.is_empty() && !flows.stack().vlan {
            return Err(TemplateError::NoOuterTag);
        }
        let smallest = FrameTemplate::smallest_with(flows, inner_tags.len());
        if !(smallest..=LARGEST_FRAME).contains(&frame_size) {
            return Err(TemplateError::Size { size: frame_size, smallest, largest: LARGEST_FRAME });
        }
        let len = frame_size - FCS_LEN;
        let payload_offset = flows.stack().header_len() + 4 * inner_tags.len();
        let mut frame = vec![0; len];
        payload.fill(&mut frame[payload_offset + PROBE_LEN..]);
        if is_neighbor(flows) {
            emit::neighbor_options(&mut frame[payload_offset - 2..]);
        }
        // Small frames are one copy; of larger ones the head ends at a cache line.
        let head_len = len.min((payload_offset + PROBE_LEN).next_multiple_of(BLOCK));
        let emitter = Emitter {
            stack: *flows.stack(),
            inner_tags,
            len,
            payload: Sum::default().bytes(&frame[payload_offset..]),
        };
        let blocks = head_len.div_ceil(BLOCK);
        let mut heads = vec![Block([0; BLOCK]); blocks * flows.count() as usize].into_boxed_slice();
        let mut head = vec![0; blocks * BLOCK];
        for (i, to) in (0..).zip(heads.chunks_exact_mut(blocks)) {
            head[..head_len].copy_from_slice(&frame[..head_len]);
            emitter.emit(&flows.flow(i), &frame[payload_offset..], &mut head[..head_len]);
            to.iter_mut().zip(head.chunks_exact(BLOCK)).for_each(|(to, from)| to.0.copy_from_slice(from));
        }
        Ok(FrameTemplate { heads, blocks, head_len, tail: frame[head_len..].into(), payload_offset })
    }

    /// Length of a frame's buffer in bytes: its size without the FCS.
    #[expect(clippy::len_without_is_empty, reason = "no frame is empty")]
    pub fn len(&self) -> usize {
        self.head_len + self.tail.len()
    }

    /// Where the probe's [`PROBE_LEN`] bytes begin: right behind the last header.
    pub fn payload_offset(&self) -> usize {
        self.payload_offset
    }

    /// Number of flows.
    pub fn flows(&self) -> u32 {
        (self.heads.len() / self.blocks) as u32
    }

    /// Writes the frame of a flow to the first [`FrameTemplate::len`] bytes of `buf`.
    ///
    /// # Panics
    /// When there is no such flow, or `buf` is too short.
    pub fn write(&self, flow: u32, buf: &mut [u8]) {
        let mut left = self.head_len;
        for (block, to) in self.head(flow).iter().zip(buf.chunks_mut(BLOCK)) {
            to[..left.min(BLOCK)].copy_from_slice(&block.0[..left.min(BLOCK)]);
            left -= left.min(BLOCK);
        }
        buf[self.head_len..self.len()].copy_from_slice(&self.tail);
    }

    /// Writes the frames of consecutive flows from `first` on, one into each room: as [`FrameTemplate::write`], and faster where
    /// a room is longer than the frame: what lies behind the frame, up to the next multiple of 64 bytes, may be overwritten.
    ///
    /// # Panics
    /// When there are fewer flows than rooms, or a room is too short.
    #[inline]
    pub fn write_run<'a>(&self, first: u32, rooms: impl ExactSizeIterator<Item = &'a mut [u8]>) {
        if self.blocks > 1 || !self.tail.is_empty() {
            return (first..).zip(rooms).for_each(|(flow, room)| self.write_blocks(flow, room));
        }
        // The smallest frames, of which there are the most per second, are one block and nothing else.
        for (head, room) in self.heads[first as usize..][..rooms.len()].iter().zip(rooms) {
            fetch(head);
            self.write_block(head, room);
        }
    }

    /// Writes the frame of one flow into each room, under the terms of [`FrameTemplate::write_run`].
    #[inline]
    pub fn write_repeated<'a>(&self, flow: u32, rooms: impl Iterator<Item = &'a mut [u8]>) {
        if self.blocks > 1 || !self.tail.is_empty() {
            return rooms.for_each(|room| self.write_blocks(flow, room));
        }
        let head = self.heads[flow as usize];
        rooms.for_each(|room| self.write_block(&head, room));
    }

    /// Writes a frame that is one block.
    #[inline]
    fn write_block(&self, head: &Block, room: &mut [u8]) {
        match room.first_chunk_mut::<BLOCK>() {
            Some(to) => *to = head.0,
            None => room[..self.head_len].copy_from_slice(&head.0[..self.head_len]),
        }
    }

    fn write_blocks(&self, flow: u32, room: &mut [u8]) {
        if room.len() < self.blocks * BLOCK {
            return self.write(flow, room);
        }
        for (block, to) in self.head(flow).iter().zip(room.chunks_exact_mut(BLOCK)) {
            to.copy_from_slice(&block.0);
        }
        room[self.head_len..self.len()].copy_from_slice(&self.tail);
    }

    fn head(&self, flow: u32) -> &[Block] {
        &self.heads[flow as usize * self.blocks..][..self.blocks]
    }

    /// The smallest frame that holds these headers and a probe, in bytes with FCS: 64 for Ethernet, IPv4 and
    /// UDP, 84 for IPv6.
    pub fn smallest(flows: &FlowSet) -> usize {
        FrameTemplate::smallest_with(flows, 0)
    }

    fn smallest_with(flows: &FlowSet, inner_tags: usize) -> usize {
        SMALLEST_FRAME.max(flows.stack().header_len() + 4 * inner_tags + PROBE_LEN + FCS_LEN)
    }
}

/// Has the head of a flow further on fetched into the cache, if there is such a flow.
#[inline]
fn fetch(head: &Block) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch takes any address, and neither reads nor faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *head).wrapping_add(AHEAD).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = head;
}

fn is_neighbor(flows: &FlowSet) -> bool {
    use crate::flow_set::stack::NetworkHeader::{Arp, Ipv4, Ipv6, None};
    match flows.stack().network {
        Ipv6(transport) => matches!(transport, TransportHeader::Neighbor { .. }),
        None { .. } | Arp | Ipv4(_) => false,
    }
}
