//! Whole messages: `{"version": "1.3", "xid": 1, "flow_mod": {...}}`.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, Error, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, Deserializer, Serialize, forward_to_deserialize_any};

use crate::{Body, Message, Version};

/// A message, and the version it is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The version, if it is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// The message.
    #[serde(flatten)]
    pub message: Message,
}

/// What a decoded line tells of a message's journey; it is no part of the message and is skipped.
const ABOUT: [&str; 3] = ["time", "from", "to"];

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Line, D::Error> {
        deserializer.deserialize_map(LineVisitor)
    }
}

impl<'de> Deserialize<'de> for Message {
    /// A [`Line`], of whatever version.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
        Line::deserialize(deserializer).map(|line| line.message)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message such as {\"xid\": 1, \"barrier_request\": null}")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let (mut version, mut xid, mut body) = (None, 0, None);
        while let Some(key) = map.next_key::<String>()? {
            match &key[..] {
                "version" => version = map.next_value()?,
                "xid" => xid = map.next_value()?,
                about if ABOUT.contains(&about) => {
                    map.next_value::<IgnoredAny>()?;
                }
                name if body.is_none() => body = Some(map.next_value_seed(BodyNamed(name))?),
                second => {
                    return Err(A::Error::custom(format_args!(
                        "one message is asked for, and {second:?} is more"
                    )));
                }
            }
        }
        let body =
            body.ok_or_else(|| A::Error::custom("the message's type is missing, such as \"flow_mod\""))?;
        Ok(Line { version, message: Message { xid, body } })
    }
}

/// Reads the content of the message type with that name.
struct BodyNamed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for BodyNamed<'_> {
    type Value = Body;
    fn deserialize<D: Deserializer<'de>>(self, content: D) -> Result<Body, D::Error> {
        Body::deserialize(Tagged { name: self.0, content })
    }
}

/// A map's key and value, as an enum's variant and content.
struct Tagged<'a, D> {
    name: &'a str,
    content: D,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tagged<'_, D> {
    type Error = D::Error;
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_enum(self)
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, D: Deserializer<'de>> EnumAccess<'de> for Tagged<'_, D> {
    type Error = D::Error;
    type Variant = Content<D>;
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content<D>), D::Error> {
        let name: StrDeserializer<'_, D::Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Content(self.content)))
    }
}

struct Content<D>(D);

impl<'de, D: Deserializer<'de>> VariantAccess<'de> for Content<D> {
    type Error = D::Error;
    /// A message without content: `null` or `{}`.
    fn unit_variant(self) -> Result<(), D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Empty {}
        Option::<Empty>::deserialize(self.0).map(|_| ())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, D::Error> {
        seed.deserialize(self.0)
    }
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct("message", fields, visitor)
    }
}
