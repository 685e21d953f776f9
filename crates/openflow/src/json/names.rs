//! Codes and flags by name.

use std::fmt::{self, Write as _};

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserializer, Serializer};

use super::text::parse_number;
use crate::Versions;

/// `DeleteStrict` as `delete_strict`, `SEND_FLOW_REM` as `send_flow_rem`.
struct Snake(&'static str);

impl fmt::Display for Snake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut after_lower = false;
        for c in self.0.chars() {
            if c.is_ascii_uppercase() && after_lower {
                f.write_char('_')?;
            }
            after_lower = c.is_ascii_lowercase();
            f.write_char(c.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

impl Snake {
    /// Whether this name is `text`.
    fn is(&self, text: &str) -> bool {
        let letters = |text: &str| text.bytes().filter(|b| *b != b'_').count();
        // The names are few and short; only likely ones are put together.
        letters(self.0) == letters(text) && self.to_string() == text
    }
}

/// Writes a code by its name; one without a name as a number.
pub fn write_code<S: Serializer>(
    names: &[(&'static str, u32)],
    code: u32,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match names.iter().find(|(_, known)| *known == code) {
        Some((name, _)) => serializer.collect_str(&Snake(name)),
        None => serializer.serialize_u32(code),
    }
}

/// Reads a code from its name, or from a number up to `most`.
pub fn read_code<'de, D: Deserializer<'de>>(
    names: &'static [(&'static str, u32)],
    most: u32,
    deserializer: D,
) -> Result<u32, D::Error> {
    deserializer.deserialize_any(CodeVisitor { names, most })
}

struct CodeVisitor {
    names: &'static [(&'static str, u32)],
    most: u32,
}

impl Visitor<'_> for CodeVisitor {
    type Value = u32;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one of ")?;
        self.names.iter().try_for_each(|(name, _)| write!(f, "\"{}\", ", Snake(name)))?;
        write!(f, "or a number up to {}", self.most)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        let code = u32::try_from(number).ok().filter(|n| *n <= self.most);
        code.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<u32, E> {
        let known = self.names.iter().find(|(name, _)| Snake(name).is(text));
        known.map(|(_, code)| *code).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// Bits, name, and the versions that know them.
type FlagName = (u32, &'static str, Versions);

/// Writes the names of the flags that are set, and bits without a name as `"0x40"`.
pub fn write_flags<S: Serializer>(names: &[FlagName], bits: u32, serializer: S) -> Result<S::Ok, S::Error> {
    let mut rest = bits;
    let mut list = serializer.serialize_seq(None)?;
    // Of names that share bits, the later ones have more.
    for (flag, name, _) in names.iter().rev() {
        if rest & flag == *flag {
            list.serialize_element(&format_args!("{}", Snake(name)))?;
            rest &= !flag;
        }
    }
    if rest != 0 {
        list.serialize_element(&format_args!("{rest:#x}"))?;
    }
    list.end()
}

/// Reads a list of names and numbers, or one number.
pub fn read_flags<'de, D: Deserializer<'de>>(
    names: &'static [FlagName],
    deserializer: D,
) -> Result<u32, D::Error> {
    deserializer.deserialize_any(FlagsVisitor { names })
}

struct FlagsVisitor {
    names: &'static [FlagName],
}

impl FlagsVisitor {
    fn flag<E: Error>(&self, text: &str) -> Result<u32, E> {
        let known = self.names.iter().find(|(_, name, _)| Snake(name).is(text)).map(|(bits, _, _)| *bits);
        let number = || u32::try_from(parse_number(text)?).ok();
        known.or_else(number).ok_or_else(|| E::invalid_value(Unexpected::Str(text), self))
    }
}

impl<'de> Visitor<'de> for FlagsVisitor {
    type Value = u32;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of ")?;
        self.names.iter().try_for_each(|(_, name, _)| write!(f, "\"{}\", ", Snake(name)))?;
        f.write_str("or numbers such as \"0x40\"")
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<u32, A::Error> {
        let mut bits = 0;
        while let Some(name) = list.next_element::<std::borrow::Cow<'_, str>>()? {
            bits |= self.flag::<A::Error>(&name)?;
        }
        Ok(bits)
    }
}
