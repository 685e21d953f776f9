//! A hash index from 32-bit hashes to numbers: 8 bytes per slot, linear probing, no tombstones.
//!
//! It does not know the keys: the caller compares, and growing needs only the hashes that it stores.

const FREE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    id: u32,
}

/// Open-addressing index. At most three quarters of the slots are in use.
#[derive(Debug, Default)]
pub struct Index {
    slots: Box<[Slot]>,
    len: usize,
}

impl Index {
    /// The number stored under `hash` for which `is_equal` holds.
    #[inline]
    pub fn find(&self, hash: u32, mut is_equal: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.id == FREE {
                return None;
            }
            if slot.hash == hash && is_equal(slot.id) {
                return Some(slot.id);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds `id`, which must not be `u32::MAX`.
    pub fn insert(&mut self, hash: u32, id: u32) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.place(Slot { hash, id });
        self.len += 1;
    }

    /// Stores `new` in the place of `old`, both under `hash`.
    pub fn replace(&mut self, hash: u32, old: u32, new: u32) {
        if let Some(at) = self.position(hash, old) {
            self.slots[at].id = new;
        }
    }

    /// Removes `id`, stored under `hash`; later members of its run move up, so that no tombstone stays.
    pub fn remove(&mut self, hash: u32, id: u32) {
        let Some(mut hole) = self.position(hash, id) else { return };
        let mask = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let slot = self.slots[at];
            if slot.id == FREE {
                break;
            }
            let home = slot.hash as usize & mask;
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.slots[hole] = slot;
                hole = at;
            }
        }
        self.slots[hole].id = FREE;
        self.len -= 1;
    }

    /// Every number stored, in no order.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().map(|s| s.id).filter(|&id| id != FREE)
    }

    fn position(&self, hash: u32, id: u32) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].id != FREE {
            if self.slots[at].id == id {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn place(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = slot.hash as usize & mask;
        while self.slots[at].id != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(8);
        let empty = vec![Slot { hash: 0, id: FREE }; size].into_boxed_slice();
        for slot in std::mem::replace(&mut self.slots, empty) {
            if slot.id != FREE {
                self.place(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(ops in prop::collection::vec((0u32..40, any::<bool>()), 1..400)) {
            let (mut index, mut model) = (Index::default(), HashMap::new());
            for (key, add) in ops {
                let hash = key / 5 * 7; // runs of equal and of neighbouring hashes
                if add && model.insert(key, hash).is_none() {
                    index.insert(hash, key);
                } else if !add && model.remove(&key).is_some() {
                    index.remove(hash, key);
                }
                for key in 0..40 {
                    let found = index.find(key / 5 * 7, |id| id == key);
                    prop_assert_eq!(found.is_some(), model.contains_key(&key));
                }
            }
            prop_assert_eq!(index.ids().count(), model.len());
        }
    }
}
