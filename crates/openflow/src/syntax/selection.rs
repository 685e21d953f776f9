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
            "selection_method" if text.text.len() < METHOD_LEN && text.text.is_ascii() => {
                self.name = text.text.into();
            }
            "selection_method" => return Err(text.expected("a name of at most 15 characters")),
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
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(is_word) {
            return None;
        }
        let parameter = data.get(4 + METHOD_LEN..)?.first_chunk::<8>()?;
        let fields = read_fields(&data[4 + METHOD_LEN + 8..])?;
        Some(Method { name: name.into(), parameter: u64::from_be_bytes(*parameter), fields })
    }
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
