//! What fills a frame behind the probe.

use crate::flow_set::split_mix;

/// What fills a frame behind the probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// Zeros.
    #[default]
    Zero,
    /// One byte, repeated.
    Fill(u8),
    /// 0, 1, 2 … 255, 0 … (RFC 2544's test frame).
    Increment,
    /// Random bytes, the same for the same seed on every machine.
    Random {
        /// The seed.
        seed: u64,
    },
}

impl Payload {
    pub(super) fn fill(self, buf: &mut [u8]) {
        match self {
            Payload::Zero => buf.fill(0),
            Payload::Fill(byte) => buf.fill(byte),
            Payload::Increment => (0..).zip(buf).for_each(|(i, byte): (usize, _)| *byte = i as u8),
            Payload::Random { seed } => {
                for (i, bytes) in (0..).zip(buf.chunks_mut(8)) {
                    let word = split_mix(split_mix(seed).wrapping_add(i)).to_le_bytes();
                    bytes.copy_from_slice(&word[..bytes.len()]);
                }
            }
        }
    }
}
