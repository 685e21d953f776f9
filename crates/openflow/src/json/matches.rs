//! Matches as maps from field to value: `{"in_port": 1, "ipv4_dst": "10.0.0.0/255.0.0.0"}`.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use flowgauge_packet::{Field, MacAddr};
use serde::de::{DeserializeSeed, Error, MapAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::{HexBytes, parse_hex, parse_number, parse_port};
use crate::syntax::value::{Kind, kind};
use crate::{Match, MatchEntry, OxmId, PortNo, RawOxm};

impl Serialize for Match {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len() + self.unknown.len()))?;
        for entry in &self.entries {
            map.serialize_entry(entry.field.name(), &FieldValue::of(entry))?;
        }
        for raw in &self.unknown {
            map.serialize_entry(
                &format_args!("{:#010x}", raw.header),
                &format_args!("{}", HexBytes(&raw.payload)),
            )?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Match {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Match, D::Error> {
        struct MatchVisitor;
        impl<'de> Visitor<'de> for MatchVisitor {
            type Value = Match;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from fields to values, such as {\"in_port\": 1}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Match, A::Error> {
                let mut result = Match::any();
                while let Some(name) = map.next_key::<String>()? {
                    match Field::from_name(&name) {
                        Some(field) => result.entries.push(map.next_value_seed(ValueOf(field))?),
                        None => result.unknown.push(raw_oxm(&name, &map.next_value::<String>()?)?),
                    }
                }
                Ok(result)
            }
        }
        deserializer.deserialize_map(MatchVisitor)
    }
}

/// A field that is not known here: its OXM header in hexadecimal, and its bytes.
fn raw_oxm<E: Error>(name: &str, payload: &str) -> Result<RawOxm, E> {
    let header = name.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let header = header.ok_or_else(|| unknown_field(name))?;
    let payload = parse_hex(payload)
        .ok_or_else(|| E::invalid_value(Unexpected::Str(payload), &"the field's bytes in hexadecimal"))?;
    Ok(RawOxm { header, payload })
}

/// The error for a name that no field has.
pub fn unknown_field<E: Error>(name: &str) -> E {
    E::custom(format_args!(
        "no field is named {name:?}; names are those of OXM in lower case, such as \"ipv4_dst\""
    ))
}

/// A field's value and mask, without its name.
pub struct FieldValue<'a>(&'a MatchEntry);

impl<'a> FieldValue<'a> {
    /// The value of `entry`.
    pub fn of(entry: &'a MatchEntry) -> FieldValue<'a> {
        FieldValue(entry)
    }
}

impl Serialize for FieldValue<'_> {
    /// A number where that reads best; otherwise text, with a mask behind `/` unless all bits count.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let MatchEntry { field, value, mask } = *self.0;
        match kind(field) {
            Kind::Decimal if self.0.is_exact() => serializer.serialize_u64(value as u64),
            Kind::Port if self.0.is_exact() => PortNo(value as u32).serialize(serializer),
            Kind::Decimal | Kind::Hexadecimal | Kind::Port | Kind::Mac | Kind::Ipv4 | Kind::Ipv6 => {
                let (value, mask) = (ValueText { field, value }, ValueText { field, value: mask });
                if self.0.is_exact() {
                    serializer.collect_str(&value)
                } else {
                    serializer.collect_str(&format_args!("{value}/{mask}"))
                }
            }
        }
    }
}

struct ValueText {
    field: Field,
    value: u128,
}

impl fmt::Display for ValueText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match kind(self.field) {
            Kind::Hexadecimal if self.field == Field::EthType => write!(f, "{:#06x}", self.value),
            Kind::Decimal | Kind::Hexadecimal | Kind::Port => write!(f, "{:#x}", self.value),
            Kind::Mac => MacAddr::from_u64(self.value as u64).fmt(f),
            Kind::Ipv4 => Ipv4Addr::from(self.value as u32).fmt(f),
            Kind::Ipv6 => Ipv6Addr::from(self.value).fmt(f),
        }
    }
}

/// Reads the value of a field.
pub struct ValueOf(pub Field);

impl<'de> DeserializeSeed<'de> for ValueOf {
    type Value = MatchEntry;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<MatchEntry, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl ValueOf {
    /// One value; masks are values too.
    fn parse(&self, text: &str) -> Option<u128> {
        match kind(self.0) {
            Kind::Decimal | Kind::Hexadecimal => parse_number(text),
            Kind::Port => parse_port(text).map(|port| port.0.into()),
            Kind::Mac => text.parse::<MacAddr>().ok().map(|mac| mac.to_u64().into()),
            Kind::Ipv4 => text.parse::<Ipv4Addr>().ok().map(|address| u32::from(address).into()),
            Kind::Ipv6 => text.parse::<Ipv6Addr>().ok().map(u128::from),
        }
        .filter(|value| *value <= self.0.full_mask())
    }

    /// A mask as a value, or for addresses as a prefix length.
    fn parse_mask(&self, text: &str) -> Option<u128> {
        let full = self.0.full_mask();
        let length = || {
            let length = text.parse().ok().filter(|n: &u32| *n <= self.0.bits())?;
            Some(full & !full.checked_shr(length).unwrap_or(0))
        };
        match kind(self.0) {
            Kind::Ipv4 | Kind::Ipv6 => self.parse(text).or_else(length),
            Kind::Decimal | Kind::Hexadecimal | Kind::Port | Kind::Mac => self.parse(text),
        }
    }
}

impl Visitor<'_> for ValueOf {
    type Value = MatchEntry;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let example = match kind(self.0) {
            Kind::Decimal => "a number such as 5 or \"0x4/0x6\"",
            Kind::Hexadecimal => "a number such as \"0x5\" or \"0x4/0x6\"",
            Kind::Port => "a port number or name such as 1 or \"LOCAL\"",
            Kind::Mac => "an address such as \"02:00:00:00:00:01\", with or without a mask behind \"/\"",
            Kind::Ipv4 => "an address such as \"10.0.0.1\" or \"10.0.0.0/255.0.0.0\"",
            Kind::Ipv6 => "an address such as \"2001:db8::1\" or \"2001:db8::/ffff:ffff::\"",
        };
        write!(f, "for {}, which has {} bits, {example}", self.0, self.0.bits())
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<MatchEntry, E> {
        match kind(self.0) {
            Kind::Decimal | Kind::Hexadecimal | Kind::Port if u128::from(number) <= self.0.full_mask() => {
                Ok(MatchEntry::exact(self.0, number.into()))
            }
            Kind::Decimal | Kind::Hexadecimal | Kind::Port | Kind::Mac | Kind::Ipv4 | Kind::Ipv6 => {
                Err(E::invalid_value(Unexpected::Unsigned(number), &self))
            }
        }
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<MatchEntry, E> {
        let entry = match text.split_once('/') {
            None => self.parse(text).map(|value| MatchEntry::exact(self.0, value)),
            Some((value, mask)) => self
                .parse(value)
                .zip(self.parse_mask(mask))
                .map(|(value, mask)| MatchEntry::masked(self.0, value, mask)),
        };
        entry.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// An OXM header that is not known here.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawId {
    #[serde(with = "super::hex_number")]
    header: u32,
    experimenter: Option<u32>,
}

impl Serialize for OxmId {
    /// The field's name, with `/mask` if it may be masked; unknown ones as `{"header": "0x...", "experimenter": null}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            OxmId::Field { field, masked: false } => serializer.serialize_str(field.name()),
            OxmId::Field { field, masked: true } => serializer.collect_str(&format_args!("{field}/mask")),
            OxmId::Unknown { header, experimenter } => RawId { header, experimenter }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for OxmId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OxmId, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Name(String),
            Raw(RawId),
        }
        match Form::deserialize(deserializer)? {
            Form::Raw(RawId { header, experimenter }) => Ok(OxmId::Unknown { header, experimenter }),
            Form::Name(text) => {
                let (name, masked) =
                    text.strip_suffix("/mask").map_or((&text[..], false), |name| (name, true));
                let field = Field::from_name(name).ok_or_else(|| unknown_field(name))?;
                Ok(OxmId::Field { field, masked })
            }
        }
    }
}
