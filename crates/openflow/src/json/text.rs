//! Numbers and byte strings as text.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{ErrorCode, PortNo, TypeId, Version};

/// Byte strings in hexadecimal: `"0a0b"`.
pub mod hex {
    use super::*;

    /// Writes the bytes' digits.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&HexBytes(bytes))
    }

    /// Reads digits; spaces between bytes are allowed.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes in hexadecimal, such as \"0a0b\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
                parse_hex(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Bytes)
    }
}

/// Bytes in hexadecimal, two digits each.
pub struct HexBytes<'a>(pub &'a [u8]);

impl fmt::Display for HexBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 128];
        for chunk in self.0.chunks(text.len() / 2) {
            for (pair, byte) in text.chunks_exact_mut(2).zip(chunk) {
                pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            }
            // Digits are ASCII.
            f.write_str(std::str::from_utf8(&text[..chunk.len() * 2]).map_err(|_| fmt::Error)?)?;
        }
        Ok(())
    }
}

/// The bytes that pairs of digits say; `None` if `text` is something else. White space may stand between bytes.
pub fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for word in text.split_ascii_whitespace() {
        let pairs = word.as_bytes().chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return None;
        }
        for pair in pairs {
            let digit = |d: u8| (d as char).to_digit(16);
            bytes.push((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
        }
    }
    Some(bytes)
}

/// Numbers that are read as bit patterns: written as `"0x2a"`, read from numbers too.
pub mod hex_number {
    use super::*;

    /// Writes `"0x2a"`.
    pub fn serialize<T: Copy + Into<u128>, S: Serializer>(n: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let number: u128 = (*n).into();
        serializer.collect_str(&format_args!("{number:#x}"))
    }

    /// Reads `"0x2a"`, `"42"` or `42`.
    pub fn deserialize<'de, T: TryFrom<u128>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(NumberVisitor(PhantomData))
    }
}

/// A number, as such or as text.
struct NumberVisitor<T>(PhantomData<T>);

impl<T: TryFrom<u128>> Visitor<'_> for NumberVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number of {} bits such as 42 or \"0x2a\"", size_of::<T>() * 8)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::try_from(number.into()).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let number = parse_number(text).and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// A number in decimal or, behind `0x`, hexadecimal.
pub fn parse_number(text: &str) -> Option<u128> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let signed = digits.starts_with('+');
    u128::from_str_radix(digits, radix).ok().filter(|_| !signed)
}

impl Serialize for PortNo {
    /// A number, or a reserved port's name.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name() {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_u32(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for PortNo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PortNo, D::Error> {
        struct Port;
        impl Visitor<'_> for Port {
            type Value = PortNo;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a port number below 2^32 or a name such as \"LOCAL\"")
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<PortNo, E> {
                let port = u32::try_from(number).map(PortNo);
                port.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<PortNo, E> {
                parse_port(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Port)
    }
}

/// A port by name or 32-bit number.
pub fn parse_port(text: &str) -> Option<PortNo> {
    let number = || u32::try_from(parse_number(text)?).ok().map(PortNo);
    PortNo::from_name(text).or_else(number)
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|e| D::Error::custom(format_args!("{e}, not {text:?}")))
    }
}

/// An error that has no name, or a type that has more than a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ErrorForm {
    Name(String),
    Numbers { r#type: u16, code: u16 },
}

impl Serialize for ErrorCode {
    /// The specification's name, or `{"type": 1, "code": 99}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            ErrorCode::Unknown { error_type, code } => {
                ErrorForm::Numbers { r#type: error_type, code }.serialize(serializer)
            }
            known => serializer.serialize_str(known.name()),
        }
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ErrorCode, D::Error> {
        match ErrorForm::deserialize(deserializer)? {
            ErrorForm::Numbers { r#type, code } => Ok(ErrorCode::Unknown { error_type: r#type, code }),
            ErrorForm::Name(name) => {
                let known = ErrorCode::KNOWN.iter().find(|e| e.name() == name);
                known.copied().ok_or_else(|| {
                    D::Error::custom(format_args!(
                        "no error is named {name:?}; give its type and code instead"
                    ))
                })
            }
        }
    }
}

/// A type without data is its number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TypeForm {
    Number(u16),
    WithData {
        code: u16,
        #[serde(with = "hex")]
        data: Vec<u8>,
    },
}

impl Serialize for TypeId {
    /// The number, or with data `{"code": 65535, "data": "00002320"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.data[..] {
            [] => serializer.serialize_u16(self.code),
            data => TypeForm::WithData { code: self.code, data: data.to_vec() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TypeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TypeId, D::Error> {
        Ok(match TypeForm::deserialize(deserializer)? {
            TypeForm::Number(code) => TypeId { code, data: Vec::new() },
            TypeForm::WithData { code, data } => TypeId { code, data },
        })
    }
}
