//! One direction of the control channel: bytes in order, at a speed, with a delay.

use crate::model::ControlModel;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// One direction of the channel.
pub struct Direction {
    /// Picoseconds for a byte.
    per_byte: f64,
    delay: Sampler,
    /// When the last byte so far has left.
    free: Picos,
    /// When the last message so far arrives.
    last: Picos,
}

impl Direction {
    pub fn new(model: &ControlModel, seed: u64, number: u64) -> Direction {
        let per_byte = if model.rate_mbps > 0.0 { 8e6 / model.rate_mbps } else { 0.0 };
        let delay = Sampler::new(&model.delay, element(seed, "channel", number));
        Direction { per_byte, delay, free: Picos::ZERO, last: Picos::ZERO }
    }

    /// When a message of that length arrives that is written at `now`.
    pub fn send(&mut self, now: Picos, length: usize) -> Picos {
        self.free = self.free.max(now) + Picos((self.per_byte * length as f64).round() as u64);
        self.last = self.last.max(self.free + self.delay.next());
        self.last
    }
}
