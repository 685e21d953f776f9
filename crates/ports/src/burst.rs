//! A burst: up to 128 slots that move together, so that dispatch costs once per burst.

use crate::Slot;

/// The most slots in a burst.
pub const BURST: usize = 128;

/// Up to [`BURST`] slots. It never allocates after it was made.
#[derive(Debug)]
pub struct Burst {
    slots: Vec<Slot>,
}

impl Default for Burst {
    fn default() -> Self {
        Self::new()
    }
}

impl Burst {
    /// An empty burst.
    pub fn new() -> Burst {
        Burst { slots: Vec::with_capacity(BURST) }
    }

    /// How many more slots fit.
    #[inline]
    pub fn room(&self) -> usize {
        BURST - self.slots.len()
    }

    /// How many slots it holds.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether it holds none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a slot at the end. Panics when the burst is full.
    #[inline]
    pub fn push(&mut self, slot: Slot) {
        assert!(self.slots.len() < BURST, "a burst holds {BURST} slots");
        self.slots.push(slot);
    }

    /// Takes the first `n` slots (all, when it holds fewer) out; the others move up.
    #[inline]
    pub fn take(&mut self, n: usize) -> std::vec::Drain<'_, Slot> {
        let n = n.min(self.slots.len());
        self.slots.drain(..n)
    }

    /// Drops the first `n` slots, which somebody else has taken over by their tokens; the others move up.
    #[inline]
    pub(crate) fn drop_first(&mut self, n: usize) {
        if n == self.slots.len() {
            self.slots.clear();
        } else {
            self.slots.drain(..n);
        }
    }

    /// Adds slots at the end, as many as fit.
    #[inline]
    pub(crate) fn extend(&mut self, slots: impl Iterator<Item = Slot>) {
        self.slots.extend(slots.take(self.room()));
    }

    /// Takes the last slot out.
    #[inline]
    pub fn pop(&mut self) -> Option<Slot> {
        self.slots.pop()
    }

    /// Takes the slot at `index` out; those behind it move up. Panics when there is none.
    #[inline]
    pub fn take_at(&mut self, index: usize) -> Slot {
        self.slots.remove(index)
    }

    /// Moves slots from the front of `other` to the end of this one, as many as fit.
    pub fn append(&mut self, other: &mut Burst) {
        let n = self.room();
        self.slots.extend(other.take(n));
    }
}

impl std::ops::Deref for Burst {
    type Target = [Slot];
    #[inline]
    fn deref(&self) -> &[Slot] {
        &self.slots
    }
}

impl std::ops::DerefMut for Burst {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }
}
