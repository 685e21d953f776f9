//! How a select group chooses: Netronome's group property, which Open vSwitch takes in 1.5.
//!
//! ```text
//! padding 4 | method 16, ending in zeros | parameter 8 | OXM fields that are hashed, each with its mask as value
//! ```

use std::fmt;

use flowgauge_packet::Field;

use super::print::{Hex, List};
use super::scan::Span;
use super::{SyntaxError, names, value};
use crate::codec::{read_fields, write_fields};
use crate::{MatchEntry, Property};

const NETRONOME: u32 = 0x0000_154d;
const SELECTION_METHOD: u32 = 1;
const METHOD_LEN: usize = 16;
/// What a method's name must be, for errors.
const NAME: &str = "a name of at most 15 letters, digits, _ and -";

/// A method under construction.
#[derive(Default)]
pub(super) struct Method {
    name: String,
    parameter: u64,
    fields: Vec<MatchEntry>,
}

impl Method {
    /// Takes a key of a group if it is about the method.
    pub fn option(&mut self, name: Span<'_>, text: Span<'_>) -> Result<bool, SyntaxError> {
        match name.text {
            "selection_method" if is_name(text.text) => self.name = text.text.into(),
            "selection_method" => return Err(text.expected(NAME)),
            "selection_method_param" => self.parameter = value::number(text, u64::MAX.into())? as u64,
            "fields" => {
                for item in text.items()? {
                    self.fields.push(field(item)?);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The property; none if nothing was said.
    pub fn property(self) -> Option<Property> {
        if self.name.is_empty() {
            return None;
        }
        let mut data = vec![0; 4];
        data.extend(self.name.as_bytes());
        data.resize(4 + METHOD_LEN, 0);
        data.extend(self.parameter.to_be_bytes());
        write_fields(&self.fields, &mut data);
        Some(Property::Experimenter { experimenter: NETRONOME, experimenter_type: SELECTION_METHOD, data })
    }

    fn of(property: &Property) -> Option<Method> {
        let Property::Experimenter { experimenter: NETRONOME, experimenter_type: SELECTION_METHOD, data } =
            property
        else {
            return None;
        };
        let name = data.get(4..4 + METHOD_LEN)?;
        let name = std::str::from_utf8(name.split(|&b| b == 0).next()?).ok()?;
        if !is_name(name) {
            return None;
        }
        let parameter = data.get(4 + METHOD_LEN..)?.first_chunk::<8>()?;
        let fields = read_fields(&data[4 + METHOD_LEN + 8..])?;
        Some(Method { name: name.into(), parameter: u64::from_be_bytes(*parameter), fields })
    }
}

/// Whether a method can be called that, and be read again when it is printed.
fn is_name(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..METHOD_LEN).contains(&text.len()) && text.chars().all(is_word)
}

/// `ip_src`, or `ip_src=255.255.0.0` for some of its bits.
fn field(item: Span<'_>) -> Result<MatchEntry, SyntaxError> {
    let (name, mask) = match item.split_once("=") {
        Some((name, mask)) => (name, Some(mask)),
        None => (item, None),
    };
    let field: Field = names::settable(name.text).ok_or_else(|| name.expected("a field"))?;
    let mask = mask.map_or(Ok(field.full_mask()), |mask| value::value(field, mask))?;
    Ok(MatchEntry::exact(field, mask))
}

/// Prints a group's property: the method, or another as it is.
pub(super) fn print(property: &Property, list: &mut List<'_, '_>) -> fmt::Result {
    match (Method::of(property), property) {
        (Some(method), _) => {
            list.item(format_args!("selection_method={}", method.name))?;
            list.number("selection_method_param", method.parameter, 0)?;
            let fields: Vec<String> = method.fields.iter().map(print_field).collect();
            match &fields[..] {
                [] => Ok(()),
                [field] => list.item(format_args!("fields={field}")),
                fields => list.item(format_args!("fields({})", fields.join(","))),
            }
        }
        (None, Property::Experimenter { experimenter, experimenter_type, data }) => list
            .item(format_args!("experimenter_property({experimenter:#x},{experimenter_type},{})", Hex(data))),
        (None, Property::Unknown { property_type, data }) => {
            list.item(format_args!("property({property_type},{})", Hex(data)))
        }
    }
}

fn print_field(entry: &MatchEntry) -> String {
    let name = names::in_set_field(entry.field);
    if entry.value == entry.field.full_mask() {
        return name.into();
    }
    format!("{name}={}", value::print_set(entry.field, entry.value, entry.field.full_mask()))
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse_group;

    #[test]
    fn a_method_has_a_name_that_can_be_read_again() {
        for name in ["hash", "dp_hash", "my-method_2", "abcdefghijklmno"] {
            let text = format!("group_id=1,type=select,selection_method={name}");
            let group = parse_group(&text).unwrap();
            assert_eq!(parse_group(&group.to_string()), Ok(group), "{name}");
        }
        for name in ["", "abcdefghijklmnop", "',',,*", "h\u{e4}sh"] {
            let error = parse_group(&format!("group_id=1,type=select,selection_method({name})")).unwrap_err();
            let wanted = "expected a name of at most 15 letters, digits, _ and -";
            assert!(error.to_string().contains(wanted), "{name}: {error}");
        }
    }
}
