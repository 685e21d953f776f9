//! Properties: type, length, content, padding to a multiple of eight bytes.

use super::{DecodeError, Reader, Writer};

/// Reads a property's type and content, and passes over the padding behind it.
pub(super) fn read_property<'a>(r: &mut Reader<'a>) -> Result<(u16, Reader<'a>), DecodeError> {
    let property = r.u16("property type")?;
    let length = usize::from(r.u16("property length")?);
    if length < 4 || length - 4 > r.left() {
        return Err(r.bad_length(2, "property length", length));
    }
    let content = r.sub(length - 4, "property")?;
    r.skip((length.next_multiple_of(8) - length).min(r.left()))?;
    Ok((property, content))
}

/// Writes a property and the padding behind it.
pub(super) fn write_property(property: u16, w: &mut Writer, content: impl FnOnce(&mut Writer)) {
    let start = w.position();
    w.u16(property);
    w.u16(0);
    content(w);
    w.patch_length(start + 2, start);
    w.pad_since(start);
}
