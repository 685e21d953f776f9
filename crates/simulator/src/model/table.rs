//! The flow tables.

use serde::{Deserialize, Serialize};

use super::{Distribution, ModelError, check};

/// The flow tables, and how long it takes to change them.
///
/// A change is written in `write + per_entry_ns * entries + shift_ns * shifted` (twice that where there are two copies), where
/// `entries` is how many the table holds and `shifted` how many of lower priority an added entry moves. Changes are written one
/// after the other; each is active `lag` after it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableModel {
    /// How many there are, 1 to 255.
    pub tables: u32,
    /// The most entries in each.
    pub entries: u32,
    /// Bits of match that an entry's place holds: a wider match takes several places. 0: every entry takes one.
    pub place_bits: u32,
    /// Whether a full table drops its oldest entry to take a new one, rather than refuse it.
    pub evicts: bool,
    /// Time to write a change, whatever the table holds.
    pub write: Distribution,
    /// Time for each entry that the table holds.
    pub per_entry_ns: f64,
    /// Time for each entry of lower priority that an added entry moves.
    pub shift_ns: f64,
    /// Whether there are two copies: changes are written to the idle one, which takes over when all that waited are written, and
    /// are then written to the other.
    pub double_buffered: bool,
    /// Time from the written change to the first frame that meets it. Changes stay in order.
    pub lag: Distribution,
}

impl Default for TableModel {
    fn default() -> Self {
        TableModel {
            tables: 255,
            entries: 1_000_000,
            place_bits: 0,
            evicts: false,
            write: Distribution::default(),
            per_entry_ns: 0.0,
            shift_ns: 0.0,
            double_buffered: false,
            lag: Distribution::default(),
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
        check::distribution("table.write", &self.write)?;
        check::positive("table.per_entry_ns", self.per_entry_ns)?;
        check::positive("table.shift_ns", self.shift_ns)?;
        check::distribution("table.lag", &self.lag)
    }
}
