//! The flow tables.

use serde::{Deserialize, Serialize};

use super::ModelError;

/// The flow tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableModel {
    /// How many there are, 1 to 255.
    pub tables: u32,
    /// The most entries in each.
    pub entries: u32,
    /// Whether a full table drops its oldest entry to take a new one, rather than refuse it.
    pub evicts: bool,
}

impl Default for TableModel {
    fn default() -> Self {
        TableModel { tables: 255, entries: 1_000_000, evicts: false }
    }
}

impl TableModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        if !(1..=255).contains(&self.tables) {
            return Err(ModelError::new(
                "table.tables",
                format!("{} is not allowed, only 1 to 255", self.tables),
            ));
        }
        Ok(())
    }
}
