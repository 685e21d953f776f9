//! Messages to bytes and back.
//!
//! A *form* (`Wire`) is how a value stands on the wire, both ways. `body` and `multipart` list the form of each message
//! in each version: that is the protocol at a glance. Forms are built of smaller ones; those that several versions
//! share stand here, others in the module of the version that brought them. A form that changes in details between
//! versions asks the reader or writer for its version (`From1_5`, `Since`).

#[macro_use]
pub(crate) mod wire;
#[macro_use]
mod property;

mod action;
mod body;
mod error;
mod multipart;
mod nicira;
mod oxm;
mod oxs;
pub(crate) mod reader;
mod shared;
mod v1_0;
mod v1_3;
mod v1_4;
mod v1_5;
pub(crate) mod writer;

pub use error::{DecodeError, DecodeErrorKind, EncodeError, Part};
pub(crate) use nicira::{nxm_field, read_fields, write_fields};
pub(crate) use wire::{Code, Flags};

use crate::model::{Header, Hello, Kind, Message, Version};
use reader::Reader;
use wire::Wire as _;
use writer::Writer;

/// The longest message that the protocol has room for.
pub const MAX_LEN: usize = u16::MAX as usize;

/// Appends `message` to `out`, as `version` writes it. On an error `out` is as it was.
pub fn encode(message: &Message, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    let result = encode_at(start, message, version, out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

fn encode_at(
    start: usize,
    message: &Message,
    version: Version,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut w = Writer::new(out, version, message.body.kind().is_report());
    body::write_message(message, &mut w)?;
    let length = w.position() - start;
    if length > MAX_LEN {
        return Err(EncodeError::TooLong { field: "message", length, max: MAX_LEN });
    }
    Ok(())
}

/// Reads one whole message; `bytes` must hold exactly that.
pub fn decode(bytes: &[u8]) -> Result<(Version, Message), DecodeError> {
    let header = whole_message(bytes)?;
    let Some(version) = Version::from_wire(header.version) else {
        return Err(header_error(DecodeErrorKind::UnsupportedVersion, 0, header.version.into()));
    };
    let kind = Kind::from_code(version, header.message_type);
    let mut r = Reader::new(&bytes[Header::LEN..], Header::LEN, version).reporting(kind.is_report());
    let body = body::read(kind, &mut r)?;
    r.finish("the message")?;
    Ok((version, Message { xid: header.xid, body }))
}

/// Reads a HELLO of any version, also of one that is not implemented: with it, peers agree on one that is.
/// A message of another type is a [`DecodeErrorKind::BadValue`].
pub fn decode_hello(bytes: &[u8]) -> Result<(Header, Hello), DecodeError> {
    let header = whole_message(bytes)?;
    if header.message_type != 0 {
        let error = header_error(DecodeErrorKind::BadValue, 1, header.message_type.into());
        return Err(DecodeError { expected: "message type HELLO", ..error });
    }
    let mut r = Reader::new(&bytes[Header::LEN..], Header::LEN, Version::V1_3);
    Ok((header, shared::HelloWire::read(&mut r, "hello")?))
}

/// The length of the message at the start of a stream, from its header; `None` if more bytes are needed to tell.
/// The message itself need not be there yet.
///
/// What can't begin a message is an error at once, so that garbage is not waited for: a version that is not
/// known (but a HELLO may have any version), or a length below that of a header.
pub fn frame_len(stream: &[u8]) -> Result<Option<usize>, DecodeError> {
    let &[version, message_type, l0, l1, ..] = stream else {
        return Ok(None);
    };
    if version == 0 || (message_type != 0 && version > Version::V1_5.wire()) {
        return Err(header_error(DecodeErrorKind::UnsupportedVersion, 0, version.into()));
    }
    let length = u16::from_be_bytes([l0, l1]);
    if usize::from(length) < Header::LEN {
        return Err(header_error(DecodeErrorKind::BadLength, 2, length.into()));
    }
    Ok(Some(length.into()))
}

fn whole_message(bytes: &[u8]) -> Result<Header, DecodeError> {
    let truncated = || header_error(DecodeErrorKind::Truncated, 0, bytes.len() as u64);
    let header = Header::parse(bytes).ok_or_else(truncated)?;
    let length = usize::from(header.length);
    if length < Header::LEN || length != bytes.len() {
        return Err(header_error(DecodeErrorKind::BadLength, 2, length as u64));
    }
    Ok(header)
}

fn header_error(kind: DecodeErrorKind, offset: usize, found: u64) -> DecodeError {
    let expected = match kind {
        DecodeErrorKind::Truncated => "a header of 8 bytes",
        DecodeErrorKind::UnsupportedVersion => "OpenFlow 1.0, 1.3, 1.4 or 1.5",
        DecodeErrorKind::BadLength => "the message's length, 8 or more",
        DecodeErrorKind::BadValue | DecodeErrorKind::TrailingBytes => "an OpenFlow header",
    };
    DecodeError { kind, offset, expected, found, part: Part::Message }
}
