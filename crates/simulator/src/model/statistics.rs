//! Counters as the controller sees them.

use serde::{Deserialize, Serialize};

use super::ModelError;

/// Counters as the controller sees them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsModel {}

impl StatisticsModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        Ok(())
    }
}
