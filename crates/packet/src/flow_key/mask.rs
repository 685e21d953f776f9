//! Masks over flow keys: which bits of which fields a comparison looks at.

use super::FlowKey;
use super::slot::{self, PRESENCE, WORDS, presence};
use crate::Field;

/// Bits of a [`FlowKey`] that a comparison looks at. A field in the mask must also be present in the key: a
/// frame without UDP doesn't match `udp_dst=0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowMask {
    words: [u64; WORDS],
}

impl Default for FlowMask {
    /// Looks at nothing.
    #[inline]
    fn default() -> FlowMask {
        FlowMask { words: [0; WORDS] }
    }
}

impl FlowMask {
    /// Looks at `mask` of the field; a mask of 0 looks only whether the field is present.
    #[inline]
    pub fn set(&mut self, field: Field, mask: u128) {
        self.words[PRESENCE] |= presence(field);
        slot::write(&mut self.words, field, mask);
    }

    /// The bits of the field that are looked at, or `None` when not even its presence matters.
    #[inline]
    pub fn get(&self, field: Field) -> Option<u128> {
        let (bit, mask) = (presence(field), slot::read(&self.words, field));
        let matters = if bit == 0 { mask != 0 } else { self.words[PRESENCE] & bit != 0 };
        matters.then_some(mask)
    }

    /// Looks also at what `other` looks at.
    #[inline]
    pub fn add(&mut self, other: &FlowMask) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    /// What is left of a key: the value to hash and compare. Fields that are not in the mask become absent.
    #[inline]
    pub fn apply(&self, key: &FlowKey) -> FlowKey {
        let mut out = FlowKey::default();
        for (out, (key, mask)) in out.words.iter_mut().zip(key.words.iter().zip(&self.words)) {
            *out = key & mask;
        }
        out
    }

    /// Whether `key` equals `value` in all bits looked at. `value` must be masked already
    /// ([`FlowMask::apply`]).
    #[inline]
    pub fn matches(&self, key: &FlowKey, value: &FlowKey) -> bool {
        let differences = key.words.iter().zip(&self.words).zip(&value.words);
        differences.fold(0, |all, ((key, mask), value)| all | (key & mask ^ value)) == 0
    }

    /// The words, laid out as those of a key; only non-zero ones need to be compared.
    #[inline]
    pub fn words(&self) -> &[u64; WORDS] {
        &self.words
    }
}

impl FromIterator<(Field, u128)> for FlowMask {
    fn from_iter<I: IntoIterator<Item = (Field, u128)>>(fields: I) -> FlowMask {
        let mut mask = FlowMask::default();
        for (field, bits) in fields {
            mask.set(field, bits);
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields() -> impl Strategy<Value = Vec<(Field, u128)>> {
        proptest::collection::vec((proptest::sample::select(Field::ALL), any::<u128>()), 0..20)
    }

    proptest! {
        #[test]
        fn matching_is_equality_of_each_masked_field(
            mask in fields(), key in fields(), changes in fields(), same: bool
        ) {
            let mask = FlowMask::from_iter(mask);
            let mut key = FlowKey::from_iter(key);
            let value = mask.apply(&key);
            if !same {
                changes.into_iter().for_each(|(field, bits)| key.set(field, bits));
            }
            let naive = Field::ALL.iter().all(|&f| match (mask.get(f), key.get(f), value.get(f)) {
                (None, _, _) => true,
                (Some(bits), Some(key), Some(value)) => key & bits == value,
                (Some(_), key, value) => key.is_none() && value.is_none(),
            });
            prop_assert_eq!(mask.matches(&key, &value), naive);
        }
    }

    #[test]
    fn an_absent_field_is_not_zero() {
        let mask = FlowMask::from_iter([(Field::UdpDst, 0xffff)]);
        let zero = mask.apply(&FlowKey::from_iter([(Field::UdpDst, 0)]));
        assert!(!mask.matches(&FlowKey::from_iter([(Field::TcpDst, 0)]), &zero));
    }
}
