//! Frame templates.
use crate::FlowSet;

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

/// Frame size can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("frames of {size} bytes (FCS included) are not possible here; allowed: {smallest} to {largest}")]
pub struct TemplateError {
    /// The size asked for, in bytes with FCS.
    pub size: usize,
    /// The smallest size for these headers and a probe.
    pub smallest: usize,
    /// The largest size.
    pub largest: usize,
}

/// Frames of a flow set.
#[derive(Clone, Debug)]
pub struct FrameTemplate {}

impl FrameTemplate {
    /// Template.
    pub fn new(
        _flows: &FlowSet,
        _frame_size: usize,
        _payload: Payload,
    ) -> Result<FrameTemplate, TemplateError> {
        todo!()
    }
    /// Length of a buffer: frame size without FCS.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// Where the probe goes.
    pub fn payload_offset(&self) -> usize {
        todo!()
    }
    /// Writes the frame of a flow.
    pub fn write(&self, _flow: u32, _buf: &mut [u8]) {
        todo!()
    }
    /// The smallest frame size.
    pub fn smallest(_flows: &FlowSet) -> usize {
        todo!()
    }
}
