//! The control path: its channel, entries, barriers, PACKET_INs and PACKET_OUTs.

use serde::{Deserialize, Serialize};

use super::ModelError;

/// The control path: its channel, entries, barriers, PACKET_INs and PACKET_OUTs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlModel {}

impl ControlModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        Ok(())
    }
}
