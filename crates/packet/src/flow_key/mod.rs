//! Flow keys: all fields of a frame and its pipeline state as plain words, ready to be masked and hashed.
//!
//! Word 0 holds a presence bit per field; the other words hold the fields, zero when absent. The Nicira extensions' fields
//! are always present, zero unless they are set. So an absent
//! field never equals a present one, a key's hash and equality need no interpretation, and a classifier
//! matches by a loop over words: `key & mask == value` ([`FlowMask`]).

mod mask;
mod parse;
pub mod slot;

use std::fmt;

use crate::Field;
pub use mask::FlowMask;
use slot::{PRESENCE, WORDS, presence};

/// `ACTSET_OUTPUT` while the action set has no output action (OFPP_UNSET, OpenFlow 1.5).
pub const OUTPUT_UNSET: u32 = 0xffff_fff7;

/// In `vlan_vid`: a VLAN tag is present (OFPVID_PRESENT).
pub const VLAN_PRESENT: u16 = 0x1000;

/// The fields of a frame and its pipeline state, each with a value or absent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    words: [u64; WORDS],
}

impl Default for FlowKey {
    /// No field is present.
    #[inline]
    fn default() -> FlowKey {
        FlowKey { words: [0; WORDS] }
    }
}

impl FlowKey {
    /// The field's value, below `2^field.bits()`; `None` when it is absent.
    #[inline]
    pub fn get(&self, field: Field) -> Option<u128> {
        self.has(field).then(|| slot::read(&self.words, field))
    }

    /// Whether the field is present.
    #[inline]
    pub fn has(&self, field: Field) -> bool {
        let bit = presence(field);
        self.words[PRESENCE] & bit == bit
    }

    /// Gives the field a value; bits above its width are cut off.
    #[inline]
    pub fn set(&mut self, field: Field, value: u128) {
        self.words[PRESENCE] |= presence(field);
        slot::write(&mut self.words, field, value);
    }

    /// Makes the field absent; one of the Nicira extensions' 0.
    #[inline]
    pub fn clear(&mut self, field: Field) {
        self.words[PRESENCE] &= !presence(field);
        slot::write(&mut self.words, field, 0);
    }

    /// The fields that are present, in the order of [`Field::ALL`], with their values; of the Nicira extensions' those that
    /// are not 0.
    pub fn fields(&self) -> impl Iterator<Item = (Field, u128)> + '_ {
        let told = |&(field, value): &(Field, u128)| value != 0 || !field.is_nicira();
        Field::ALL.iter().filter_map(|&field| Some((field, self.get(field)?))).filter(told)
    }

    /// Takes over what does not stand in a frame and stays when the frame changes: physical port, metadata, tunnel, and
    /// the Nicira extensions' fields.
    #[inline]
    pub fn inherit(&mut self, before: &FlowKey) {
        for field in [Field::InPhyPort, Field::Metadata, Field::TunnelId] {
            if let Some(value) = before.get(field) {
                self.set(field, value);
            }
        }
        let registers = slot::slot(Field::Reg0).word as usize;
        self.words[registers..].copy_from_slice(&before.words[registers..]);
        slot::write(&mut self.words, Field::PktMark, slot::read(&before.words, Field::PktMark));
    }

    /// The key with these words, laid out as [`slot`] says: the inverse of [`FlowKey::words`].
    #[inline]
    pub fn from_words(words: [u64; WORDS]) -> FlowKey {
        FlowKey { words }
    }

    /// The words, laid out as [`slot`] says.
    #[inline]
    pub fn words(&self) -> &[u64; WORDS] {
        &self.words
    }
}

impl FromIterator<(Field, u128)> for FlowKey {
    fn from_iter<I: IntoIterator<Item = (Field, u128)>>(fields: I) -> FlowKey {
        let mut key = FlowKey::default();
        for (field, value) in fields {
            key.set(field, value);
        }
        key
    }
}

impl fmt::Debug for FlowKey {
    /// The fields that are present: `{eth_type: 0x800, ipv4_dst: 0xa000001}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields().map(|(k, v)| (Name(k), Hex(v)))).finish()
    }
}

struct Name(Field);

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

struct Hex(u128);

impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn field() -> impl Strategy<Value = Field> {
        proptest::sample::select(Field::ALL)
    }

    proptest! {
        #[test]
        fn behaves_as_a_map(sets in proptest::collection::vec((field(), any::<Option<u128>>()), 0..40)) {
            let mut key = FlowKey::default();
            let mut map = std::collections::BTreeMap::new();
            for (field, value) in sets {
                match value {
                    Some(value) => {
                        key.set(field, value);
                        map.insert(field, value & field.full_mask());
                    }
                    None => {
                        key.clear(field);
                        map.remove(&field);
                    }
                }
            }
            map.retain(|field, value| *value != 0 || !field.is_nicira());
            prop_assert_eq!(key.fields().collect::<Vec<_>>(), map.clone().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(key, map.into_iter().collect());
        }
    }

    #[test]
    fn prints_what_is_there() {
        let key = FlowKey::from_iter([(Field::Ipv4Dst, 0x0a00_0001), (Field::EthType, 0x800)]);
        assert_eq!(format!("{key:?}"), "{eth_type: 0x800, ipv4_dst: 0xa000001}");
    }
}
