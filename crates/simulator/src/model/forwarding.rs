//! The way of a frame through the switch.

use serde::{Deserialize, Serialize};

use super::{Distribution, ModelError, check};

/// When a switch begins with a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// When its last bit is in.
    #[default]
    StoreAndForward,
    /// When its header is in.
    CutThrough,
}

/// The way of a frame through the switch: a server takes one frame after the other (or batches of them) and looks it up;
/// then a pipeline delays it without holding up others.
///
/// A frame occupies the server for `service + per_byte_ns * size + per_word_ns * words + per_cache_line_ns * lines +
/// per_table_ns * tables`, at least `1 / pipeline_pps`. The size counts the FCS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForwardingModel {
    /// When the switch begins with a frame.
    pub mode: Mode,
    /// How much of a frame a cut-through switch wants to see first.
    pub header_bytes: u32,
    /// Frames per second that the lookup pipeline takes at most; 0: any number.
    pub pipeline_pps: f64,
    /// Time of the server for a frame, whatever its size: the reciprocal of the service rate mu.
    pub service: Distribution,
    /// Time of the server for each byte.
    pub per_byte_ns: f64,
    /// Time of the server for each word, the last one counted whole.
    pub per_word_ns: f64,
    /// Bytes in a word.
    pub word_bytes: u32,
    /// Time of the server for each cache line, the last one counted whole.
    pub per_cache_line_ns: f64,
    /// Bytes in a cache line.
    pub cache_line_bytes: u32,
    /// Time of the server for each table that the frame is looked up in after the first.
    pub per_table_ns: f64,
    /// Time from the server to the output queue, during which the server is free: pipeline delay and jitter. Frames to a
    /// port stay in order.
    pub latency: Distribution,
    /// The same for each byte.
    pub latency_per_byte_ns: f64,
    /// Share of frames that the switch loses for no reason, 0 to 1.
    pub loss: f64,
    /// Most frames that the server takes at once; they leave it together.
    pub batch_frames: u32,
    /// Time of the server for each batch, whatever is in it.
    pub batch_ns: f64,
    /// How long an idle server waits after a first frame for a batch to fill.
    pub batch_wait_ns: f64,
}

impl Default for ForwardingModel {
    fn default() -> Self {
        ForwardingModel {
            mode: Mode::default(),
            header_bytes: 64,
            pipeline_pps: 0.0,
            service: Distribution::default(),
            per_byte_ns: 0.0,
            per_word_ns: 0.0,
            word_bytes: 8,
            per_cache_line_ns: 0.0,
            cache_line_bytes: 64,
            per_table_ns: 0.0,
            latency: Distribution::default(),
            latency_per_byte_ns: 0.0,
            loss: 0.0,
            batch_frames: 1,
            batch_ns: 0.0,
            batch_wait_ns: 0.0,
        }
    }
}

impl ForwardingModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        check::positive("forwarding.pipeline_pps", self.pipeline_pps)?;
        check::distribution("forwarding.service", &self.service)?;
        check::positive("forwarding.per_byte_ns", self.per_byte_ns)?;
        check::positive("forwarding.per_word_ns", self.per_word_ns)?;
        check::at_least_one("forwarding.word_bytes", self.word_bytes)?;
        check::positive("forwarding.per_cache_line_ns", self.per_cache_line_ns)?;
        check::at_least_one("forwarding.cache_line_bytes", self.cache_line_bytes)?;
        check::positive("forwarding.per_table_ns", self.per_table_ns)?;
        check::distribution("forwarding.latency", &self.latency)?;
        check::positive("forwarding.latency_per_byte_ns", self.latency_per_byte_ns)?;
        check::within("forwarding.loss", self.loss, 1.0)?;
        check::at_least_one("forwarding.batch_frames", self.batch_frames)?;
        check::positive("forwarding.batch_ns", self.batch_ns)?;
        check::positive("forwarding.batch_wait_ns", self.batch_wait_ns)
    }
}
