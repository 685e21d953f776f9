//! What is wrong with a text, and where.

/// A flow text that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: expected {expected}, found {}", describe(.found))]
pub struct SyntaxError {
    /// Column of the fault, from 1, in characters.
    pub column: usize,
    /// What would have been right.
    pub expected: String,
    /// What is there; empty at the end of the text.
    pub found: String,
}

fn describe(found: &str) -> String {
    if found.is_empty() { "nothing".into() } else { format!("{found:?}") }
}
