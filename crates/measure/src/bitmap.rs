//! Which sequence numbers were seen: one bit each, exact, in chunks that are given out before they are needed.

/// Sequence numbers per chunk.
const CHUNK: u64 = 1 << 16;
const WORDS: usize = CHUNK as usize / 64;

type Bits = Box<[u64; WORDS]>;

/// A set of sequence numbers from 0 up, below its [`room`](SeenSet::room).
///
/// A chunk whose numbers were all seen needs no bits any more; its memory serves a later chunk. So a long lossless stream
/// takes the memory of what is in flight.
#[derive(Debug, Default)]
pub struct SeenSet {
    chunks: Vec<Chunk>,
    spare: Vec<Bits>,
}

#[derive(Debug)]
struct Chunk {
    /// `None`: all seen.
    bits: Option<Bits>,
    seen: u32,
}

impl SeenSet {
    /// A set with room for at least `numbers`.
    pub fn with_room(numbers: u64) -> SeenSet {
        let mut set = SeenSet::default();
        set.reserve(numbers);
        set
    }

    /// Numbers below this can be inserted.
    #[inline]
    pub fn room(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK
    }

    /// Makes room for at least `numbers`. Allocates, so a loop calls it rarely, ahead of need.
    pub fn reserve(&mut self, numbers: u64) {
        while self.room() < numbers {
            let bits = self.spare.pop().unwrap_or_else(zeroed);
            if self.chunks.len() == self.chunks.capacity() {
                // A chunk can come back for each one there is: with room for all of them, `insert` never allocates.
                self.chunks.reserve(self.chunks.len().max(64));
                self.spare.reserve(self.chunks.capacity() - self.spare.len());
            }
            self.chunks.push(Chunk { bits: Some(bits), seen: 0 });
        }
    }

    /// Adds a number. `Some(true)` when it is new, `Some(false)` when it was seen before, `None` when there is no room for
    /// it.
    #[inline]
    pub fn insert(&mut self, number: u64) -> Option<bool> {
        let chunk = self.chunks.get_mut((number / CHUNK) as usize)?;
        let Some(bits) = &mut chunk.bits else { return Some(false) };
        let word = &mut bits[(number % CHUNK / 64) as usize];
        let bit = 1 << (number % 64);
        if *word & bit != 0 {
            return Some(false);
        }
        *word |= bit;
        chunk.seen += 1;
        if chunk.seen as u64 == CHUNK {
            self.recycle(number);
        }
        Some(true)
    }

    #[cold]
    fn recycle(&mut self, number: u64) {
        if let Some(mut bits) = self.chunks[(number / CHUNK) as usize].bits.take() {
            bits.fill(0);
            self.spare.push(bits);
        }
    }

    /// Adds all numbers of another set; returns how many of them were there already. Allocates.
    pub fn merge(&mut self, other: &SeenSet) -> u64 {
        self.reserve(other.room());
        let pairs = self.chunks.iter_mut().zip(&other.chunks);
        pairs.map(|(mine, theirs)| mine.merge(theirs)).sum()
    }

    /// Whether a number was seen.
    pub fn contains(&self, number: u64) -> bool {
        self.chunks.get((number / CHUNK) as usize).is_some_and(|chunk| match &chunk.bits {
            Some(bits) => bits[(number % CHUNK / 64) as usize] >> (number % 64) & 1 == 1,
            None => true,
        })
    }
}

impl Chunk {
    /// Adds the other's numbers; returns how many were there already.
    fn merge(&mut self, other: &Chunk) -> u64 {
        let both = match (&mut self.bits, &other.bits) {
            (None, _) => other.seen,
            (Some(_), None) => self.seen,
            (Some(mine), Some(theirs)) => {
                let both = mine.iter().zip(theirs.iter()).map(|(a, b)| (a & b).count_ones()).sum();
                mine.iter_mut().zip(theirs.iter()).for_each(|(a, b)| *a |= b);
                both
            }
        };
        self.seen += other.seen - both;
        if self.seen as u64 == CHUNK {
            self.bits = None;
        }
        both as u64
    }
}

fn zeroed() -> Bits {
    vec![0; WORDS].into_boxed_slice().try_into().expect("the length of a chunk")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_hash_set(numbers in prop::collection::vec(0..3 * CHUNK, 0..300)) {
            let mut set = SeenSet::with_room(2 * CHUNK);
            let mut oracle = HashSet::new();
            for n in numbers {
                let expected = (n < 2 * CHUNK).then(|| oracle.insert(n));
                prop_assert_eq!(set.insert(n), expected);
                prop_assert_eq!(set.contains(n), oracle.contains(&n));
            }
        }
    }

    proptest! {
        #[test]
        fn merging_agrees_with_a_hash_set(
            a in prop::collection::vec(0..3 * CHUNK, 0..300),
            b in prop::collection::vec(0..3 * CHUNK, 0..300),
            full in prop::option::of((any::<bool>(), 0..3 * CHUNK)),
        ) {
            let set = |numbers: &[u64], fill: Option<u64>| {
                let mut set = SeenSet::with_room(3 * CHUNK);
                let filled = fill.map(|n| n / CHUNK * CHUNK..(n / CHUNK + 1) * CHUNK);
                let all: HashSet<u64> = filled.into_iter().flatten().chain(numbers.iter().copied()).collect();
                all.iter().for_each(|&n| assert_eq!(set.insert(n), Some(true)));
                (set, all)
            };
            let (mut mine, my_oracle) = set(&a, full.filter(|f| f.0).map(|f| f.1));
            let (theirs, their_oracle) = set(&b, full.filter(|f| !f.0).map(|f| f.1));
            prop_assert_eq!(mine.merge(&theirs), my_oracle.intersection(&their_oracle).count() as u64);
            for n in a.iter().chain(&b).copied().chain([0, CHUNK, 3 * CHUNK - 1]) {
                prop_assert_eq!(mine.contains(n), my_oracle.contains(&n) || their_oracle.contains(&n));
            }
        }
    }

    #[test]
    fn full_chunks_are_used_again() {
        let mut set = SeenSet::with_room(CHUNK);
        for n in 0..5 * CHUNK {
            set.reserve(n + 1);
            assert_eq!(set.insert(n), Some(true));
        }
        assert_eq!(set.spare.len(), 1, "one chunk served all five");
        assert_eq!(set.insert(3), Some(false));
        assert!(set.contains(5 * CHUNK - 1) && !set.contains(5 * CHUNK));
    }
}
