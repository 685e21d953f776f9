//! What the actions of all versions share: type, length, arguments, in multiples of eight bytes.

use super::error::{DecodeError, EncodeError, Part};
use super::reader::Reader;
use super::writer::Writer;
use crate::model::Action;

/// Reads type and length, then what `arguments` makes of the rest.
#[inline]
pub(crate) fn read(
    r: &mut Reader,
    arguments: impl FnOnce(u16, &mut Reader) -> Result<Action, DecodeError>,
) -> Result<Action, DecodeError> {
    let action_type = r.u16("action type")?;
    let length = usize::from(r.u16("action length")?);
    if length < 8 || length % 8 != 0 || length - 4 > r.left() {
        let error = r.bad_length(2, "action length, a multiple of 8", length);
        return Err(DecodeError { part: Part::Action, ..error });
    }
    let mut body = r.sub(length - 4, "action")?.within(Part::Action);
    let action = arguments(action_type, &mut body)?;
    body.finish("the action")?;
    Ok(action)
}

/// Writes an action of eight bytes.
pub(crate) fn write_fixed(action_type: u16, argument: u32, w: &mut Writer) {
    w.u16(action_type);
    w.u16(8);
    w.u32(argument);
}

/// Writes an action of any length that makes a multiple of eight.
pub(crate) fn write_open(
    action_type: u16,
    prefix: &[u8],
    data: &[u8],
    w: &mut Writer,
) -> Result<(), EncodeError> {
    let length = 4 + prefix.len() + data.len();
    if length % 8 != 0 {
        return Err(w.out_of_range("length of an action", length as u128));
    }
    let start = w.position();
    w.u16(action_type);
    w.u16(0);
    w.bytes(prefix);
    w.bytes(data);
    w.patch_length(start + 2, start);
    Ok(())
}
