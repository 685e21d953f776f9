//! The entries that share one set of masks, indexed by a hash of their masked values.

use super::index::Index;
use crate::rule::Rule;
use flowgauge_packet::Field;
use flowgauge_packet::flow_key::slot::WORDS;
use std::collections::BTreeMap;

/// The words of a flow key. One of them has a presence bit per field, so that an entry on a field never
/// matches a frame without it.
pub type Row = [u64; WORDS];

/// Fields and masks of a subtable, sorted by field.
pub type Shape = Box<[(Field, u128)]>;

/// The fields and masks of `rule`.
pub fn shape(rule: &Rule) -> Shape {
    rule.terms().iter().map(|t| (t.field, t.mask)).collect()
}

/// The words of a [`rule`](Rule) that compare any bit, with those bits.
pub fn masks(rule: &Rule) -> Box<[(u8, u64)]> {
    let mask = rule.mask();
    let words = mask.words().iter().enumerate().filter(|(_, bits)| **bits != 0);
    words.map(|(word, &bits)| (word as u8, bits)).collect()
}

/// All entries of one shape. Entries that differ only in priority form a chain, highest priority first; the
/// index knows its head.
#[derive(Debug)]
pub struct Subtable {
    /// Fields and masks, to give an entry's match back.
    pub shape: Shape,
    /// The same as words of a row.
    pub masks: Box<[(u8, u64)]>,
    /// Hash of the masked values to the head of the chain.
    pub index: Index,
    /// How many entries have each priority.
    pub priorities: BTreeMap<u16, u32>,
}

impl Subtable {
    /// A subtable without entries.
    pub fn new(shape: Shape, masks: Box<[(u8, u64)]>) -> Subtable {
        Subtable { shape, masks, index: Index::default(), priorities: BTreeMap::new() }
    }

    /// The highest priority of any entry; `None` when there is none.
    pub fn max_priority(&self) -> Option<u16> {
        self.priorities.last_key_value().map(|(&p, _)| p)
    }

    /// The hash of a row's masked words.
    #[inline]
    pub fn hash(&self, row: &Row) -> u32 {
        hash_masked(&self.masks, row)
    }

    /// Whether a row's masked words are `values`.
    #[inline]
    pub fn is_equal(&self, row: &Row, values: &[u64]) -> bool {
        self.masks.iter().zip(values).all(|(&(word, mask), &value)| row[word as usize] & mask == value)
    }

    /// The masked words of a row, as an entry keeps them.
    pub fn masked(&self, row: &Row) -> Box<[u64]> {
        self.masks.iter().map(|&(word, mask)| row[word as usize] & mask).collect()
    }

    /// Counts an entry of that priority; whether the highest priority changed.
    pub fn count(&mut self, priority: u16) -> bool {
        let before = self.max_priority();
        *self.priorities.entry(priority).or_insert(0) += 1;
        self.max_priority() != before
    }

    /// Uncounts an entry of that priority; whether the highest priority changed.
    pub fn uncount(&mut self, priority: u16) -> bool {
        let before = self.max_priority();
        if let Some(count) = self.priorities.get_mut(&priority) {
            *count -= 1;
            if *count == 0 {
                self.priorities.remove(&priority);
            }
        }
        self.max_priority() != before
    }
}

/// A 32-bit hash of the masked words. Not meant to withstand an attacker: a measuring tool's DUT.
#[inline]
pub fn hash_masked(masks: &[(u8, u64)], row: &Row) -> u32 {
    let mut hash = 0u64;
    for &(word, mask) in masks {
        hash = (hash ^ (row[word as usize] & mask)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    hash as u32
}
