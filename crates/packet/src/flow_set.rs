//! Flow sets: families of header values, from which both flow entries and frames are made, so that rules
//! and traffic can't disagree.

use crate::Field;

/// How one field varies over the flows of a set. Values are cut to the field's width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The same value in each flow.
    Fixed(u128),
    /// `start + i * step`, wrapping within `mask`; bits outside `mask` stay as in `start`.
    Increment {
        /// Value of flow 0.
        start: u128,
        /// Added per flow.
        step: u128,
        /// The bits that vary.
        mask: u128,
    },
    /// The values in turn, from the start again when they are used up. Never empty.
    List(Vec<u128>),
    /// Random bits where `mask` is set, the bits of `base` elsewhere. Flow `i` depends on `seed` and `i` only.
    Random {
        /// Bits outside the mask.
        base: u128,
        /// The bits that vary.
        mask: u128,
        /// The same seed gives the same values on every machine.
        seed: u64,
    },
}

/// A family of `count` header values: base header and patterns on fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSet {
    /// Number of flows, at least 1.
    pub count: u32,
    /// The fields that have a value, each with its pattern; at most one pattern per field.
    pub patterns: Vec<(Field, Pattern)>,
}
