//! The actions that read better than their types would.

/// `{"output": {"port": 2}}`, with `max_len` only where it says something.
pub mod output {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::{Action, PortNo};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Output {
        port: PortNo,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_len: Option<u16>,
    }

    /// What `max_len` is where nothing says it.
    fn default_len(port: PortNo) -> u16 {
        if port == PortNo::CONTROLLER { Action::NO_BUFFER } else { 0 }
    }

    /// Leaves out a `max_len` that is as reading would take it.
    pub fn serialize<S: Serializer>(port: &PortNo, max_len: &u16, serializer: S) -> Result<S::Ok, S::Error> {
        let max_len = Some(*max_len).filter(|len| *len != default_len(*port));
        Output { port: *port, max_len }.serialize(serializer)
    }

    /// Whole packets go to the controller if `max_len` is left out.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(PortNo, u16), D::Error> {
        let Output { port, max_len } = Output::deserialize(deserializer)?;
        Ok((port, max_len.unwrap_or(default_len(port))))
    }
}

/// `{"set_field": {"ipv4_dst": "10.0.0.1"}}`
pub mod set_field {
    use std::fmt;

    use flowgauge_packet::Field;
    use serde::de::{Error, MapAccess, Visitor};
    use serde::ser::SerializeMap;
    use serde::{Deserializer, Serializer};

    use super::super::matches::{FieldValue, ValueOf, unknown_field};
    use crate::MatchEntry;

    /// As a match of one field.
    pub fn serialize<S: Serializer>(
        field: &Field,
        value: &u128,
        mask: &u128,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let entry = MatchEntry { field: *field, value: *value, mask: *mask };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(field.name(), &FieldValue::of(&entry))?;
        map.end()
    }

    /// Reads what `serialize` writes.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(Field, u128, u128), D::Error> {
        struct OneField;
        impl<'de> Visitor<'de> for OneField {
            type Value = MatchEntry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one field and its value, such as {\"eth_dst\": \"02:00:00:00:00:01\"}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MatchEntry, A::Error> {
                let name: String = map.next_key()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                let field = Field::from_name(&name).ok_or_else(|| unknown_field(&name))?;
                let entry = map.next_value_seed(ValueOf(field))?;
                match map.next_key::<String>()? {
                    None => Ok(entry),
                    Some(_) => Err(A::Error::invalid_length(2, &self)),
                }
            }
        }
        let MatchEntry { field, value, mask } = deserializer.deserialize_map(OneField)?;
        Ok((field, value, mask))
    }
}
