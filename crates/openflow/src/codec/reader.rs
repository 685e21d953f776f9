//! A cursor over a message, which knows where in the message it is.

use super::error::{DecodeError, DecodeErrorKind, Part};
use crate::model::Version;

/// Reads big-endian numbers; whatever is missing is an error with its offset and the field's name.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    /// What has not been read yet.
    bytes: &'a [u8],
    /// Where that begins, from the message's start.
    offset: usize,
    pub version: Version,
    /// Whether the message only reports something.
    pub is_report: bool,
    part: Part,
}

macro_rules! numbers {
    ($($name:ident $int:ty;)*) => {
        $(#[inline]
        pub fn $name(&mut self, name: &'static str) -> Result<$int, DecodeError> {
            let bytes = self.array(name)?;
            Ok(<$int>::from_be_bytes(bytes))
        })*
    };
}

impl<'a> Reader<'a> {
    /// Reads the body of a message, which follows `offset` bytes of header.
    pub fn new(bytes: &'a [u8], offset: usize, version: Version) -> Reader<'a> {
        Reader { bytes, offset, version, is_report: false, part: Part::Message }
    }

    /// This reader, of a message that reports something if `is_report`.
    #[inline]
    pub fn reporting(mut self, is_report: bool) -> Reader<'a> {
        self.is_report = is_report;
        self
    }

    numbers! { u8 u8; u16 u16; u32 u32; u64 u64; }

    #[inline]
    fn array<const N: usize>(&mut self, name: &'static str) -> Result<[u8; N], DecodeError> {
        let Some((head, rest)) = self.bytes.split_first_chunk::<N>() else {
            return Err(self.error(DecodeErrorKind::Truncated, name, self.bytes.len() as u64));
        };
        self.bytes = rest;
        self.offset += N;
        Ok(*head)
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize, name: &'static str) -> Result<&'a [u8], DecodeError> {
        let Some((head, rest)) = self.bytes.split_at_checked(n) else {
            return Err(self.error(DecodeErrorKind::Truncated, name, self.bytes.len() as u64));
        };
        self.bytes = rest;
        self.offset += n;
        Ok(head)
    }

    /// The next `n` bytes; `None`, and nothing read, if there are fewer.
    #[inline]
    pub fn take_some(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        self.offset += n;
        Some(head)
    }

    /// Passes over `n` bytes of padding.
    #[inline]
    pub fn skip(&mut self, n: usize) -> Result<(), DecodeError> {
        self.take(n, "padding").map(|_| ())
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes;
        self.offset += rest.len();
        self.bytes = &[];
        rest
    }

    /// A reader of the next `n` bytes.
    #[inline]
    pub fn sub(&mut self, n: usize, name: &'static str) -> Result<Reader<'a>, DecodeError> {
        let &mut Reader { offset, version, is_report, part, .. } = self;
        Ok(Reader { bytes: self.take(n, name)?, offset, version, is_report, part })
    }

    /// This reader, whose errors lie in `part`.
    #[inline]
    pub fn within(mut self, part: Part) -> Reader<'a> {
        self.part = part;
        self
    }

    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Passes over zero to seven bytes of padding, to the next multiple of eight after `length` bytes.
    pub fn skip_padding(&mut self, length: usize) -> Result<(), DecodeError> {
        self.skip(length.next_multiple_of(8) - length)
    }

    /// An error unless everything has been read.
    pub fn finish(&self, what: &'static str) -> Result<(), DecodeError> {
        if self.is_empty() {
            return Ok(());
        }
        Err(self.error(DecodeErrorKind::TrailingBytes, what, self.bytes.len() as u64))
    }

    /// An error at the next byte.
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind, expected: &'static str, found: u64) -> DecodeError {
        DecodeError { kind, offset: self.offset, expected, found, part: self.part }
    }

    /// An error in a length that stands `back` bytes before the next byte.
    #[cold]
    pub fn bad_length(&self, back: usize, expected: &'static str, found: usize) -> DecodeError {
        let offset = self.offset - back;
        DecodeError {
            kind: DecodeErrorKind::BadLength,
            offset,
            expected,
            found: found as u64,
            part: self.part,
        }
    }
}
