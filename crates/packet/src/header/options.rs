//! Options of an IPv4 or TCP header, as bytes.

use std::fmt;

/// Up to 40 bytes of options, in whole 32-bit words.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    len: u8,
    bytes: [u8; 40],
}

impl Options {
    /// No options.
    pub const NONE: Options = Options { len: 0, bytes: [0; 40] };

    /// These bytes; `None` when there are more than 40 or they don't fill 32-bit words.
    pub fn new(options: &[u8]) -> Option<Options> {
        if options.len() > 40 || options.len() % 4 != 0 {
            return None;
        }
        let mut bytes = [0; 40];
        bytes[..options.len()].copy_from_slice(options);
        Some(Options { len: options.len() as u8, bytes })
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::NONE
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x?}", self.as_bytes())
    }
}
