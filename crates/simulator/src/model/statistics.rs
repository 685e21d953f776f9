//! Counters as the controller sees them.

use serde::{Deserialize, Serialize};

use super::{ModelError, check};

/// What counters of flow entries count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Packets and bytes.
    #[default]
    Both,
    /// Bytes alone: packets stay 0.
    Bytes,
    /// Packets alone: bytes stay 0.
    Packets,
}

/// Counters as the controller sees them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsModel {
    /// Time of the processor for each entry that the tables hold, when it is asked for those of flow entries.
    pub per_entry_ns: f64,
    /// What counters of flow entries count.
    pub resolution: Resolution,
    /// Flow entries' counters are read from the hardware this often, and told as they were then. 0: they are told as they are.
    pub refresh_ms: f64,
}

impl StatisticsModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        check::positive("statistics.per_entry_ns", self.per_entry_ns)?;
        check::positive("statistics.refresh_ms", self.refresh_ms)
    }
}
