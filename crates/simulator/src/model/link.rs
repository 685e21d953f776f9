//! The cables.

use serde::{Deserialize, Serialize};

use super::{ModelError, check};

/// The cables between tester ports and switch ports, all alike, in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkModel {
    /// Speed in Mbit/s; 0: infinite.
    pub rate_mbps: f64,
    /// Time of a bit from one end to the other.
    pub propagation_ns: f64,
    /// Bytes on the wire besides a frame and its FCS: preamble, start delimiter, gap.
    pub overhead_bytes: u32,
    /// Share of frames that are lost on a cable, 0 to 1.
    pub loss: f64,
}

impl Default for LinkModel {
    fn default() -> Self {
        LinkModel { rate_mbps: 10_000.0, propagation_ns: 0.0, overhead_bytes: 20, loss: 0.0 }
    }
}

impl LinkModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        check::positive("link.rate_mbps", self.rate_mbps)?;
        check::positive("link.propagation_ns", self.propagation_ns)?;
        check::within("link.loss", self.loss, 1.0)
    }
}
