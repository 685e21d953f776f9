//! Why bytes are no message, and why a message can't become bytes.

use std::fmt;

use crate::model::{ErrorCode, Version};

/// Why a message can't be written in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// No codec for this version yet.
    #[error("OpenFlow {version} is not implemented")]
    UnsupportedVersion {
        /// The version.
        version: Version,
    },
    /// The version has no room for what the field says.
    #[error("OpenFlow {version} can't express `{field}` as it is")]
    Inexpressible {
        /// The version.
        version: Version,
        /// The field, message, action or match field.
        field: &'static str,
    },
    /// The field's value is too large for the version.
    #[error("OpenFlow {version} has no room for {value:#x} in `{field}`")]
    OutOfRange {
        /// The version.
        version: Version,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u128,
    },
    /// The field, or the whole message, is too long.
    #[error("`{field}` takes {length} bytes, and at most {max} fit")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The most that fits.
        max: usize,
    },
}

impl EncodeError {
    /// Its stable name.
    pub const fn name(&self) -> &'static str {
        match self {
            EncodeError::UnsupportedVersion { .. } => "unsupported_version",
            EncodeError::Inexpressible { .. } => "inexpressible",
            EncodeError::OutOfRange { .. } => "out_of_range",
            EncodeError::TooLong { .. } => "too_long",
        }
    }

    /// The field at fault, if it is one.
    pub const fn field(&self) -> Option<&'static str> {
        match self {
            EncodeError::UnsupportedVersion { .. } => None,
            EncodeError::Inexpressible { field, .. }
            | EncodeError::OutOfRange { field, .. }
            | EncodeError::TooLong { field, .. } => Some(field),
        }
    }
}

/// What is wrong with bytes that should be a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecodeErrorKind {
    /// They end too early; `found` is how many are left.
    Truncated,
    /// The version is unknown or not implemented; `found` is its number.
    UnsupportedVersion,
    /// A length contradicts what it is the length of; `found` is the length.
    BadLength,
    /// A code has no meaning, and nothing after it can be read without it; `found` is the code.
    BadValue,
    /// Bytes are left over; `found` is how many.
    TrailingBytes,
}

impl DecodeErrorKind {
    /// Its stable name.
    pub const fn name(self) -> &'static str {
        match self {
            DecodeErrorKind::Truncated => "truncated",
            DecodeErrorKind::UnsupportedVersion => "unsupported_version",
            DecodeErrorKind::BadLength => "bad_length",
            DecodeErrorKind::BadValue => "bad_value",
            DecodeErrorKind::TrailingBytes => "trailing_bytes",
        }
    }
}

/// The part of a message in which an error lies; it decides the error code with which a switch answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The message itself.
    Message,
    /// A match.
    Match,
    /// An action.
    Action,
    /// The field that a set-field action sets.
    SetField,
    /// An instruction.
    Instruction,
    /// A group's bucket.
    Bucket,
    /// A meter's band.
    Band,
    /// A property of a table (to 1.3).
    TableProperty,
    /// A property (since 1.4).
    Property,
    /// The header of a message within a bundle's.
    Bundled,
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What is wrong.
    pub kind: DecodeErrorKind,
    /// Where, in bytes from the message's start.
    pub offset: usize,
    /// What was expected there.
    pub expected: &'static str,
    /// What was found instead; see [`DecodeErrorKind`].
    pub found: u64,
    /// The part of the message.
    pub part: Part,
}

impl DecodeError {
    /// Its stable name.
    pub const fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The error with which a switch answers.
    pub const fn error_code(&self) -> ErrorCode {
        use DecodeErrorKind::*;
        match (self.kind, self.part) {
            (UnsupportedVersion, _) => ErrorCode::BadVersion,
            (BadValue, Part::Match) => ErrorCode::MatchBadType,
            (Truncated | BadLength | TrailingBytes, Part::Match) => ErrorCode::MatchBadLength,
            (BadValue, Part::SetField) => ErrorCode::ActionBadSetType,
            (Truncated | BadLength | TrailingBytes, Part::SetField) => ErrorCode::ActionBadSetLength,
            (BadValue, Part::Action) => ErrorCode::ActionBadType,
            (Truncated | BadLength | TrailingBytes, Part::Action) => ErrorCode::ActionBadLength,
            (BadValue, Part::Instruction) => ErrorCode::InstructionUnknown,
            (Truncated | BadLength | TrailingBytes, Part::Instruction) => ErrorCode::InstructionBadLength,
            (BadValue | Truncated | BadLength | TrailingBytes, Part::Bucket) => ErrorCode::GroupBadBucket,
            (BadValue | Truncated | BadLength | TrailingBytes, Part::Band) => ErrorCode::MeterBadBand,
            (BadValue, Part::TableProperty) => ErrorCode::TableFeaturesBadType,
            (Truncated | BadLength | TrailingBytes, Part::TableProperty) => ErrorCode::TableFeaturesBadLength,
            (BadValue, Part::Property) => ErrorCode::PropertyBadType,
            (Truncated | BadLength | TrailingBytes, Part::Property) => ErrorCode::PropertyBadLength,
            (Truncated | BadLength | TrailingBytes, Part::Bundled) => ErrorCode::BundleMessageBadLength,
            (BadValue, Part::Message | Part::Bundled) => ErrorCode::BadType,
            (Truncated | BadLength | TrailingBytes, Part::Message) => ErrorCode::BadLength,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecodeError { offset, expected, found, .. } = self;
        match self.kind {
            DecodeErrorKind::Truncated => {
                write!(f, "truncated at byte {offset}: expected {expected}, found {found} bytes")
            }
            DecodeErrorKind::UnsupportedVersion => {
                write!(f, "unsupported version at byte {offset}: expected {expected}, found {found:#04x}")
            }
            DecodeErrorKind::BadLength => {
                write!(f, "bad length at byte {offset}: expected {expected}, found {found}")
            }
            DecodeErrorKind::BadValue => {
                write!(f, "bad value at byte {offset}: expected {expected}, found {found:#x}")
            }
            DecodeErrorKind::TrailingBytes => {
                write!(
                    f,
                    "trailing bytes at byte {offset}: expected the end of {expected}, found {found} bytes"
                )
            }
        }
    }
}

impl std::error::Error for DecodeError {}
