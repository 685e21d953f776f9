//! Where a stream's frames come from: made from a flow set, or given byte for byte.

use std::sync::Arc;

use crate::{FrameTemplate, RawFrames};

/// The frames of a stream, numbered from 0. A flow of a flow set has one frame; raw frames are a flow each.
#[derive(Clone, Debug)]
pub enum FrameSource {
    /// Made from a flow set, all of one length, each with room for a probe.
    Template(Arc<FrameTemplate>),
    /// Given as they are.
    Raw(Arc<RawFrames>),
}

impl From<Arc<FrameTemplate>> for FrameSource {
    fn from(template: Arc<FrameTemplate>) -> FrameSource {
        FrameSource::Template(template)
    }
}

impl From<Arc<RawFrames>> for FrameSource {
    fn from(frames: Arc<RawFrames>) -> FrameSource {
        FrameSource::Raw(frames)
    }
}

impl FrameSource {
    /// Number of flows, at least 1.
    #[inline]
    pub fn flows(&self) -> u32 {
        match self {
            FrameSource::Template(template) => template.flows(),
            FrameSource::Raw(frames) => frames.flows(),
        }
    }

    /// Length of a flow's frame in bytes, without FCS. Panics when there is no such flow.
    #[inline]
    pub fn len(&self, flow: u32) -> usize {
        match self {
            FrameSource::Template(template) => template.len(),
            FrameSource::Raw(frames) => frames.frame(flow).len(),
        }
    }

    /// Length of the longest frame in bytes, without FCS.
    pub fn longest(&self) -> usize {
        match self {
            FrameSource::Template(template) => template.len(),
            FrameSource::Raw(frames) => frames.longest(),
        }
    }

    /// Writes the frame of a flow to the first [`FrameSource::len`] bytes of `buf`.
    ///
    /// # Panics
    /// When there is no such flow, or `buf` is too short.
    #[inline]
    pub fn write(&self, flow: u32, buf: &mut [u8]) {
        match self {
            FrameSource::Template(template) => template.write(flow, buf),
            FrameSource::Raw(frames) => {
                let frame = frames.frame(flow);
                buf[..frame.len()].copy_from_slice(frame);
            }
        }
    }

    /// Where the probe of a flow's frame begins; `None` when its frames bear none.
    #[inline]
    pub fn probe_offset(&self, flow: u32) -> Option<usize> {
        match self {
            FrameSource::Template(template) => Some(template.payload_offset()),
            FrameSource::Raw(frames) => frames.probe_offset(flow),
        }
    }

    /// Every offset at which a probe may begin, each once, the most frequent first. Empty: frames bear none.
    pub fn probe_offsets(&self) -> Vec<usize> {
        match self {
            FrameSource::Template(template) => vec![template.payload_offset()],
            FrameSource::Raw(frames) => frames.probe_offsets(),
        }
    }

    /// Whether its frames bear probes, so that they are recognised where they arrive.
    pub fn is_probed(&self) -> bool {
        match self {
            FrameSource::Template(_) => true,
            FrameSource::Raw(frames) => frames.is_probed(),
        }
    }
}
