//! Storage with stable numbers: a value keeps its number until it is removed, and growing moves nothing.
//!
//! Values live in chunks, so that a table which grows to a million entries never pauses to copy them.

const CHUNK_BITS: u32 = 10;
const CHUNK: usize = 1 << CHUNK_BITS;

/// Values numbered by `u32`; numbers of removed values are used again.
#[derive(Debug)]
pub struct Slab<T> {
    chunks: Vec<Box<[Option<T>]>>,
    free: Vec<u32>,
    len: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { chunks: Vec::new(), free: Vec::new(), len: 0 }
    }
}

impl<T> Slab<T> {
    /// Number of values held.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no value is held.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One more than the largest number that may be in use: the end for a walk over all numbers.
    pub fn end(&self) -> u32 {
        (self.chunks.len() * CHUNK) as u32
    }

    /// Stores `value` and gives its number.
    pub fn insert(&mut self, value: T) -> u32 {
        if self.free.is_empty() {
            let start = self.end();
            self.chunks.push((0..CHUNK).map(|_| None).collect());
            self.free.extend((start..start + CHUNK as u32).rev());
        }
        let id = self.free.pop().expect("a chunk was just added");
        *self.slot(id) = Some(value);
        self.len += 1;
        id
    }

    /// Removes the value of that number, if there is one.
    pub fn remove(&mut self, id: u32) -> Option<T> {
        if id >= self.end() {
            return None;
        }
        let value = self.slot(id).take()?;
        self.free.push(id);
        self.len -= 1;
        Some(value)
    }

    /// The value of that number.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&T> {
        self.chunks.get(id as usize >> CHUNK_BITS)?[id as usize & (CHUNK - 1)].as_ref()
    }

    /// The value of that number, to change.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.chunks.get_mut(id as usize >> CHUNK_BITS)?[id as usize & (CHUNK - 1)].as_mut()
    }

    /// All values with their numbers, in the order of the numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let slots = self.chunks.iter().flat_map(|c| c.iter());
        slots.enumerate().filter_map(|(id, slot)| Some((id as u32, slot.as_ref()?)))
    }

    fn slot(&mut self, id: u32) -> &mut Option<T> {
        &mut self.chunks[id as usize >> CHUNK_BITS][id as usize & (CHUNK - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stable_and_used_again() {
        let mut slab = Slab::default();
        let ids: Vec<u32> = (0..3000).map(|i| slab.insert(i)).collect();
        assert_eq!(slab.remove(ids[7]), Some(7));
        assert_eq!(slab.remove(ids[7]), None);
        assert_eq!(slab.remove(1 << 30), None);
        assert_eq!((slab.get(ids[2999]), slab.get(ids[7]), slab.len()), (Some(&2999), None, 2999));
        assert_eq!(slab.insert(8), ids[7]);
        assert_eq!(slab.iter().count(), 3000);
    }
}
