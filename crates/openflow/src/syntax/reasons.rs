//! The names of reasons for which packets go to a controller.

use std::fmt;

use super::SyntaxError;
use super::scan::Span;
use super::value;

/// The names in the order of their codes.
const NAMES: [&str; 6] = ["no_match", "action", "invalid_ttl", "action_set", "group", "packet_out"];

/// The code of a reason's name, or the number that stands there.
pub(super) fn parse(text: Span<'_>) -> Result<u8, SyntaxError> {
    match NAMES.iter().position(|name| *name == text.text) {
        Some(code) => Ok(code as u8),
        None => value::number(text, 0xff)
            .map(|n| n as u8)
            .map_err(|_| text.expected(format!("a number or one of {}", NAMES.join(", ")))),
    }
}

/// A reason's name; its number if it has none.
pub(super) struct Reason(pub u8);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(usize::from(self.0)) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}
