//! Lines: frames that are on their way for a time and arrive in the order in which they set out. Cables are lines, and
//! pipelines.

use std::collections::VecDeque;

use crate::frame::Frame;
use crate::model::LinkModel;
use crate::picos::Picos;

/// Frames under way, each with the time when it arrives.
#[derive(Debug, Default)]
pub struct Line {
    frames: VecDeque<(Picos, Frame)>,
    /// When the last one arrives.
    last: Picos,
}

impl Line {
    /// A frame sets out, to arrive at `at`, but not before those that set out earlier. Returns when the first of all
    /// arrives, if it is this one.
    #[inline]
    pub fn push(&mut self, at: Picos, frame: Frame) -> Option<Picos> {
        self.last = self.last.max(at);
        self.frames.push_back((self.last, frame));
        (self.frames.len() == 1).then_some(self.last)
    }

    /// The frame that arrives now, and when the next one will ([`Picos::MAX`]: there is none).
    #[inline]
    pub fn pop(&mut self) -> Option<(Frame, Picos)> {
        let (_, frame) = self.frames.pop_front()?;
        Some((frame, self.frames.front().map_or(Picos::MAX, |(at, _)| *at)))
    }

    /// How many frames are under way.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether none is under way.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

/// What all cables have in common, in picoseconds.
#[derive(Clone, Debug)]
pub struct Cable {
    /// Picoseconds of a byte.
    per_byte: f64,
    overhead: u64,
    /// From one end to the other.
    pub propagation: Picos,
}

const FCS: u64 = 4;

impl Cable {
    /// Of that model.
    pub fn new(model: &LinkModel) -> Cable {
        Cable {
            per_byte: if model.rate_mbps > 0.0 { 8e6 / model.rate_mbps } else { 0.0 },
            overhead: u64::from(model.overhead_bytes),
            propagation: Picos::from_ns_f64(model.propagation_ns),
        }
    }

    /// How long so many bytes take.
    #[inline]
    fn time(&self, bytes: u64) -> Picos {
        Picos((bytes as f64 * self.per_byte).round() as u64)
    }

    /// How long a frame of `len` bytes (without FCS) occupies the cable.
    #[inline]
    pub fn occupied(&self, len: u32) -> Picos {
        self.time(u64::from(len) + FCS + self.overhead)
    }

    /// From the first bit of a frame to its last.
    #[inline]
    pub fn frame(&self, len: u32) -> Picos {
        self.time(u64::from(len) + FCS)
    }

    /// From the first bit of a frame to the end of its first `bytes`, or of all of it.
    #[inline]
    pub fn head(&self, len: u32, bytes: u32) -> Picos {
        self.time((u64::from(len) + FCS).min(u64::from(bytes)))
    }
}
