//! Why bytes are not a header.

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The bytes end before the header does.
    #[error("{header}: cut off: {needed} bytes needed, {found} there")]
    CutOff {
        /// The header's name.
        header: &'static str,
        /// Its length, as far as known.
        needed: usize,
        /// The bytes that are there.
        found: usize,
    },
    /// A value that makes the rest meaningless.
    #[error("{header}: byte {offset}: expected {expected}, found {found:#x}")]
    Malformed {
        /// The header's name.
        header: &'static str,
        /// Where, in bytes from the header's first.
        offset: usize,
        /// What would make sense.
        expected: &'static str,
        /// What is there.
        found: u32,
    },
}

/// The first `N` bytes and the rest.
#[inline]
pub(super) fn split<'a, const N: usize>(
    header: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8; N], &'a [u8]), HeaderError> {
    bytes.split_first_chunk().ok_or(HeaderError::CutOff { header, needed: N, found: bytes.len() })
}

/// The first `len` bytes and the rest.
#[inline]
pub(super) fn split_at<'a>(
    header: &'static str,
    bytes: &'a [u8],
    len: usize,
) -> Result<(&'a [u8], &'a [u8]), HeaderError> {
    bytes.split_at_checked(len).ok_or(HeaderError::CutOff { header, needed: len, found: bytes.len() })
}
