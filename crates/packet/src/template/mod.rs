//! Frame templates: the frames of a flow set, ready to be copied.
//!
//! ```text
//! Ethernet | tags | IP | UDP | probe: 18 zero bytes | payload | (FCS, added by the port)
//!                 '-part-'
//! ```
//!
//! One frame is kept whole; of each flow, the *part* in which any flow differs from the first, from the first such byte to the
//! last. For an address that changes, with the checksums that change with it, these are 18 bytes: 64 000 flows fit into a core's cache.
//!
//! The probe area is zero and inside the L4 checksum. Any 18 bytes whose one's-complement sum of 16-bit words
//! is 0 (0x0000 or 0xffff) may replace it, and the checksum stays right. SCTP's CRC is the exception: it is
//! right for the zero probe only.

mod emit;
mod payload;
#[cfg(test)]
mod tests;

use std::ops::Range;

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

/// Lengths of parts that are copied without a loop or a call. Parts are made longer so that they have one of these.
const PARTS: [usize; 4] = [16, 24, 32, 48];

/// By how much at the most.
const LONGEST_MARGIN: usize = 16;

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

/// The smallest frames, of which there are the most per second, are copied as one block: a cache line.
const BLOCK: usize = 64;

/// The frames of a flow set, headers precomputed for each flow in one contiguous table.
#[derive(Clone, Debug)]
pub struct FrameTemplate {
    /// The first flow's, and zeros up to a block.
    frame: Box<[u8]>,
    len: usize,
    /// What differs, of one flow after the other.
    parts: Box<[u8]>,
    /// Where that stands in a frame.
    part: Range<usize>,
    flows: u32,
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
        let emitter = Emitter {
            stack: *flows.stack(),
            inner_tags,
            len,
            payload: Sum::default().bytes(&frame[payload_offset..]),
        };
        let stride = payload_offset + LONGEST_MARGIN;
        let mut heads = Vec::with_capacity(stride * flows.count() as usize);
        for i in 0..flows.count() {
            heads.extend_from_slice(&frame[..stride]);
            let start = heads.len() - stride;
            emitter.emit(&flows.flow(i), &frame[payload_offset..], &mut heads[start..]);
        }
        frame[..stride].copy_from_slice(&heads[..stride]);
        frame.resize(len.next_multiple_of(BLOCK), 0);
        let part = part(&frame, heads.chunks_exact(stride));
        let parts = heads.chunks_exact(stride).flat_map(|head| &head[part.clone()]).copied().collect();
        let frame = frame.into_boxed_slice();
        Ok(FrameTemplate { frame, len, parts, part, flows: flows.count(), payload_offset })
    }

    /// Length of a frame's buffer in bytes: its size without the FCS.
    #[expect(clippy::len_without_is_empty, reason = "no frame is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where the probe's [`PROBE_LEN`] bytes begin: right behind the last header.
    pub fn payload_offset(&self) -> usize {
        self.payload_offset
    }

    /// Number of flows.
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// Writes the frame of a flow to the first [`FrameTemplate::len`] bytes of `buf`.
    ///
    /// # Panics
    /// When there is no such flow, or `buf` is too short.
    pub fn write(&self, flow: u32, buf: &mut [u8]) {
        let part = &self.parts[flow as usize * self.part.len()..][..self.part.len()];
        buf[..self.len].copy_from_slice(&self.frame[..self.len]);
        buf[self.part.clone()].copy_from_slice(part);
    }

    /// Writes the frames of consecutive flows from `first` on, one into each room: as [`FrameTemplate::write`], and faster. Behind a
    /// frame of fewer than 64 bytes, the rest of 64 may be overwritten where a room has it.
    ///
    /// # Panics
    /// When there are fewer flows than rooms, or a room is too short.
    #[inline]
    pub fn write_run<'a>(&self, first: u32, rooms: impl ExactSizeIterator<Item = &'a mut [u8]>) {
        match self.part.len() {
            16 => self.write_parts::<16>(first, rooms),
            24 => self.write_parts::<24>(first, rooms),
            32 => self.write_parts::<32>(first, rooms),
            48 => self.write_parts::<48>(first, rooms),
            _ => (first..).zip(rooms).for_each(|(flow, room)| self.write(flow, room)),
        }
    }

    #[inline]
    fn write_parts<'a, const LEN: usize>(
        &self,
        first: u32,
        rooms: impl ExactSizeIterator<Item = &'a mut [u8]>,
    ) {
        let parts = &self.parts[first as usize * LEN..][..rooms.len() * LEN];
        let block = self.block();
        for (part, room) in parts.chunks_exact(LEN).zip(rooms) {
            fetch(part);
            self.write_whole(block.as_ref(), room);
            room[self.part.start..][..LEN].copy_from_slice(part);
        }
    }

    /// Writes the frame of one flow into each room, under the terms of [`FrameTemplate::write_run`].
    #[inline]
    pub fn write_repeated<'a>(&self, flow: u32, rooms: impl Iterator<Item = &'a mut [u8]>) {
        let Some(mut block) = self.block() else {
            return rooms.for_each(|room| self.write(flow, room));
        };
        self.write(flow, &mut block);
        rooms.for_each(|room| self.write_whole(Some(&block), room));
    }

    /// The first flow's frame, if it is one block.
    fn block(&self) -> Option<[u8; BLOCK]> {
        self.frame.first_chunk().copied().filter(|_| self.frame.len() == BLOCK)
    }

    /// Writes a frame that is one block, or else the first flow's.
    #[inline]
    fn write_whole(&self, block: Option<&[u8; BLOCK]>, room: &mut [u8]) {
        match (block, room.first_chunk_mut()) {
            (Some(block), Some(room)) => *room = *block,
            (Some(block), None) => room[..self.len].copy_from_slice(&block[..self.len]),
            (None, _) => room[..self.len].copy_from_slice(&self.frame[..self.len]),
        }
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

/// Has the part of a flow further on fetched into the cache, if there is such a flow.
#[inline]
fn fetch(part: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch takes any address, and neither reads nor faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(part.as_ptr().wrapping_add(AHEAD * part.len()).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = part;
}

/// Where any of the heads differs from the frame, from the first such byte to the last, and a margin.
fn part<'a>(frame: &[u8], heads: impl Iterator<Item = &'a [u8]>) -> Range<usize> {
    let (mut start, mut end) = (usize::MAX, 0);
    for head in heads {
        let differs = |&at: &usize| head[at] != frame[at];
        if let Some(first) = (0..head.len()).find(differs) {
            start = start.min(first);
            end = (end..head.len()).rfind(differs).map_or(end, |last| last + 1);
        }
    }
    let start = start.min(end);
    let len = PARTS.into_iter().find(|&len| len >= end - start).unwrap_or(end - start);
    start..start + len
}

fn is_neighbor(flows: &FlowSet) -> bool {
    use crate::flow_set::stack::NetworkHeader::{Arp, Ipv4, Ipv6, None};
    match flows.stack().network {
        Ipv6(transport) => matches!(transport, TransportHeader::Neighbor { .. }),
        None { .. } | Arp | Ipv4(_) => false,
    }
}
