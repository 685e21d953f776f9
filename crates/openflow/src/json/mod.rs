//! Messages as JSON that people can read and write; docs/reference/openflow-json.md describes it.
//!
//! The model's own types carry serde's derives. What those can't say stands here: addresses and matches as text,
//! byte strings in hexadecimal, codes and flags by name, numbers that are read as bit patterns in hexadecimal.
//! No number is larger than 64 bits.

mod actions;
mod line;
mod matches;
mod names;
mod text;

pub use line::Line;

pub(crate) use actions::{output, set_field};
pub(crate) use names::{read_code, read_flags, write_code, write_flags};
pub(crate) use text::{hex, hex_number};

/// The mask of which all bits count.
pub(crate) const fn all_bits() -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests;
