//! The flow tables.

use serde::{Deserialize, Serialize};

use super::{Distribution, ModelError, check};

/// The flow tables: how many entries they hold, and how long changes take.
///
/// Changes are made one after the other. An entry works in the data plane `lag` after it was installed, and not before the next
/// multiple of `commit_ns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableModel {
    /// How many there are, 1 to 255.
    pub tables: u32,
    /// The most entries in each.
    pub entries: u32,
    /// Whether a full table drops its oldest entry to take a new one, rather than refuse it.
    pub evicts: bool,
    /// Time to add an entry.
    pub install: Distribution,
    /// The same for each entry that is there already.
    pub install_per_entry_ns: f64,
    /// The same for each entry of lower priority, which must make room.
    pub install_per_lower_ns: f64,
    /// Time to modify an entry.
    pub modify: Distribution,
    /// Time to delete an entry by a strict delete; all entries at once take no time.
    pub delete: Distribution,
    /// Time from the end of a change until the data plane follows it.
    pub lag: Distribution,
    /// Changes reach the data plane together at multiples of this (double buffering); 0: each at once.
    pub commit_ns: f64,
}

impl Default for TableModel {
    fn default() -> Self {
        TableModel {
            tables: 255,
            entries: 1_000_000,
            evicts: false,
            install: Distribution::default(),
            install_per_entry_ns: 0.0,
            install_per_lower_ns: 0.0,
            modify: Distribution::default(),
            delete: Distribution::default(),
            lag: Distribution::default(),
            commit_ns: 0.0,
        }
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
        check::distribution("table.install", &self.install)?;
        check::positive("table.install_per_entry_ns", self.install_per_entry_ns)?;
        check::positive("table.install_per_lower_ns", self.install_per_lower_ns)?;
        check::distribution("table.modify", &self.modify)?;
        check::distribution("table.delete", &self.delete)?;
        check::distribution("table.lag", &self.lag)?;
        check::positive("table.commit_ns", self.commit_ns)
    }
}
