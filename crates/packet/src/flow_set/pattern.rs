//! Patterns: how a field's value depends on the index of the flow.

use crate::Field;

/// How one field varies over the flows of a set. Values are cut to the field's width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The same value in each flow.
    Fixed(u128),
    /// `start + i * step`, wrapping within `mask`; bits outside `mask` stay as in `start`.
    Increment {
        /// Value of flow 0.
        start: u128,
        /// Added per flow.
        step: u128,
        /// The bits that vary.
        mask: u128,
    },
    /// The values in turn, from the start again when they are used up. Never empty.
    List(Vec<u128>),
    /// Random bits where `mask` is set, the bits of `base` elsewhere. Flow `i` depends on `seed`, the field
    /// and `i` only, and is the same on every machine.
    Random {
        /// Bits outside the mask.
        base: u128,
        /// The bits that vary.
        mask: u128,
        /// The same seed gives the same values on every machine.
        seed: u64,
    },
}

impl Pattern {
    /// The value of flow `i`, cut to the field's width. An empty list gives 0.
    pub fn value(&self, field: Field, i: u32) -> u128 {
        let value = match self {
            Pattern::Fixed(value) => *value,
            Pattern::Increment { start, step, mask } => {
                let varied = start.wrapping_add(step.wrapping_mul(i.into()));
                start & !mask | varied & mask
            }
            Pattern::List(values) => match values.len() {
                0 => 0,
                len => values[i as usize % len],
            },
            Pattern::Random { base, mask, seed } => base & !mask | random(*seed, field, i) & mask,
        };
        value & field.full_mask()
    }
}

/// 128 random bits that depend on the seed, the field's name and the index only (counter-based, so that any
/// flow can be computed by itself): SplitMix64 at stream `seed ^ fnv1a(name)`, outputs `2i` and `2i + 1`.
fn random(seed: u64, field: Field, i: u32) -> u128 {
    let stream = split_mix(seed ^ fnv1a(field.name()));
    let output = |n: u64| split_mix(stream.wrapping_add(n.wrapping_mul(GOLDEN_GAMMA)));
    let n = u64::from(i) * 2;
    u128::from(output(n)) << 64 | u128::from(output(n + 1))
}

/// 2^64 divided by the golden ratio, odd.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub(crate) fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GOLDEN_GAMMA);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// FNV-1a of a name: fields keep their values when the list of fields grows.
fn fnv1a(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increments_wrap_within_their_mask() {
        let pattern = Pattern::Increment { start: 0x0a00_00fe, step: 1, mask: 0xff };
        let values: Vec<_> = (0..4).map(|i| pattern.value(Field::Ipv4Dst, i)).collect();
        assert_eq!(values, [0x0a00_00fe, 0x0a00_00ff, 0x0a00_0000, 0x0a00_0001]);
    }

    #[test]
    fn values_are_cut_to_the_fields_width() {
        assert_eq!(Pattern::Fixed(0x1_0007).value(Field::UdpDst, 0), 7);
        let pattern = Pattern::Increment { start: u128::MAX, step: 1, mask: u128::MAX };
        assert_eq!(pattern.value(Field::Ipv6Dst, 1), 0);
    }

    #[test]
    fn lists_come_round() {
        let pattern = Pattern::List(vec![1, 2, 3]);
        assert_eq!((0..5).map(|i| pattern.value(Field::UdpDst, i)).collect::<Vec<_>>(), [1, 2, 3, 1, 2]);
    }

    #[test]
    fn split_mix_agrees_with_its_authors() {
        assert_eq!(split_mix(1234567), 6457827717110365317);
    }

    #[test]
    fn random_values_are_the_same_everywhere_and_stay_within_the_mask() {
        let pattern = Pattern::Random { base: 0x0a00_0000, mask: 0xffff, seed: 7 };
        let values: Vec<_> = (0..3).map(|i| pattern.value(Field::Ipv4Dst, i)).collect();
        assert!(values.iter().all(|v| v >> 16 == 0x0a00), "{values:x?}");
        assert_eq!(values, GOLDEN);
        assert_ne!(pattern.value(Field::Ipv4Src, 0), values[0]);
    }

    /// Computed by a second program, in Python.
    const GOLDEN: [u128; 3] = [0x0a00_d853, 0x0a00_91d8, 0x0a00_d9e9];
}
