//! Why a flow set is refused.

use crate::Field;

/// Why a flow set is refused. Each message names the field and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowSetError {
    /// A set of no flows.
    #[error("a flow set has at least 1 flow")]
    NoFlows,
    /// Two patterns for one field.
    #[error("{field}: given twice; a field has one pattern")]
    Twice {
        /// The field.
        field: Field,
    },
    /// A list without values.
    #[error("{field}: the list of values is empty; give at least one")]
    EmptyList {
        /// The field.
        field: Field,
    },
    /// The field decides which headers follow.
    #[error("{field}: decides which headers follow, so it must be one fixed value")]
    MustBeFixed {
        /// The field.
        field: Field,
    },
    /// A value that no frame of ours can have.
    #[error("{field}: {value:#x} is not possible; allowed: {allowed}")]
    NotAllowed {
        /// The field.
        field: Field,
        /// The value given.
        value: u128,
        /// What is possible.
        allowed: &'static str,
    },
    /// A field that our frames don't carry.
    #[error("{field}: frames made from flow sets don't carry it; leave it out")]
    NotInFrames {
        /// The field.
        field: Field,
    },
    /// Two fields that no frame has both of.
    #[error("{field}: needs {needs}, but {other} is there; leave one of them out")]
    Conflict {
        /// The field that doesn't fit.
        field: Field,
        /// The header that it needs.
        needs: &'static str,
        /// The field that decided otherwise.
        other: Field,
    },
}
