//! An exact-match cache in front of the tuple-space search.
//!
//! The key is what the table's entries can see of a frame: its flow key, masked by all bits that any entry
//! compares. Frames that differ in nothing an entry looks at share a slot. Any change of the table's set of
//! entries makes a new version, and slots of older versions don't count.

use super::subtable::{Row, hash_masked};
use flowgauge_packet::flow_key::slot::WORDS;

const SLOTS: usize = 8192;
/// The lookup found no entry: worth remembering too.
const MISS: u32 = u32::MAX;

/// Direct-mapped cache from masked rows to entries.
#[derive(Debug)]
pub struct Microflows {
    /// The words and bits that any entry compares.
    union: Vec<(u8, u64)>,
    /// Version and entry of each slot; empty until first used.
    slots: Vec<(u64, u32)>,
    /// The masked words of each slot, `union.len()` apiece.
    keys: Vec<u64>,
    version: u64,
}

/// Where a lookup that missed the cache stores its result.
#[derive(Clone, Copy, Debug)]
pub struct Place(usize);

impl Default for Microflows {
    fn default() -> Self {
        Microflows { union: Vec::new(), slots: Vec::new(), keys: Vec::new(), version: 1 }
    }
}

impl Microflows {
    /// Forgets everything: the table changed. Cheap.
    pub fn invalidate(&mut self) {
        self.version += 1;
    }

    /// Adds the bits of a new subtable to the key. Bits only go with the whole cache: entries that come and
    /// go don't change the key back and forth.
    pub fn widen(&mut self, masks: &[(u8, u64)]) {
        let mut union = [0u64; WORDS];
        for &(word, mask) in self.union.iter().chain(masks) {
            union[word as usize] |= mask;
        }
        let words = union.iter().enumerate().filter(|(_, mask)| **mask != 0);
        let union: Vec<_> = words.map(|(word, &mask)| (word as u8, mask)).collect();
        if union != self.union {
            self.union = union;
            self.keys.clear();
            self.slots.clear();
        }
    }

    /// What the search found last time for the same row: `Ok(Some(entry))`, `Ok(None)` for no entry, or
    /// where to [`store`](Self::store) what it finds now.
    #[inline]
    pub fn get(&self, row: &Row) -> Result<Option<u32>, Place> {
        let at = hash_masked(&self.union, row) as usize % SLOTS;
        let Some(&(version, id)) = self.slots.get(at) else { return Err(Place(at)) };
        let words = self.union.len();
        let key = &self.keys[at * words..(at + 1) * words];
        let is_equal = self.union.iter().zip(key).all(|(&(word, mask), &k)| row[word as usize] & mask == k);
        if version == self.version && is_equal {
            Ok(Some(id).filter(|&id| id != MISS))
        } else {
            Err(Place(at))
        }
    }

    /// Remembers what the search found for `row`.
    #[inline]
    pub fn store(&mut self, Place(at): Place, row: &Row, found: Option<u32>) {
        let words = self.union.len();
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, (0, MISS));
            self.keys.resize(SLOTS * words, 0);
        }
        self.slots[at] = (self.version, found.unwrap_or(MISS));
        let key = &mut self.keys[at * words..(at + 1) * words];
        for (&(word, mask), k) in self.union.iter().zip(key) {
            *k = row[word as usize] & mask;
        }
    }
}
