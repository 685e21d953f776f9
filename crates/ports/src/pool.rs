//! Memory for slots of a fixed size, and a stack of those that are free.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::{Owner, Slot};

/// `count` slots of `size` bytes, zeroed at the start. Freed with the last `Arc`.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    size: usize,
    count: usize,
}

// SAFETY: `Memory` only hands out slots (unsafely, see `slot`); it reads or writes no bytes itself.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Room for `count` slots of `size` bytes, both above zero.
    pub fn new(count: usize, size: usize) -> Arc<Memory> {
        assert!(count > 0 && size > 0, "a pool of {count} slots of {size} bytes");
        let layout = Layout::from_size_align(count * size, 4096).expect("a pool fits the address space");
        // SAFETY: the layout's size is not zero.
        let start =
            NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        Arc::new(Memory { start, layout, size, count })
    }

    /// The slot number `index`.
    ///
    /// # Safety
    /// No other slot of that number may be on loan, and this memory must outlive the loan.
    #[inline]
    pub unsafe fn slot(&self, index: u32, len: u32, owner: Owner) -> Slot {
        debug_assert!((index as usize) < self.count);
        // SAFETY: index < count, so that the slot lies within the allocation; the rest is the caller's contract.
        unsafe {
            let start = self.start.add(index as usize * self.size);
            Slot::from_raw(start, len, self.size as u32, index as u64, owner)
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// A pool of slots. The slot freed last is taken first: it is the one still in the cache.
#[derive(Debug)]
pub(crate) struct Pool {
    memory: Arc<Memory>,
    free: Vec<u32>,
    owner: Owner,
    lent: usize,
}

impl Pool {
    pub fn new(count: usize, size: usize) -> Pool {
        let memory = Memory::new(count, size);
        Pool { memory, free: (0..count as u32).rev().collect(), owner: Owner::unique(), lent: 0 }
    }

    #[inline]
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The memory, for a second party that lends out its slots.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// A free slot, of length 0.
    #[inline]
    pub fn get(&mut self) -> Option<Slot> {
        let index = self.free.pop()?;
        self.lent += 1;
        // SAFETY: the index was on the stack of free slots, so no slot of that number is on loan; on drop with loans
        // outstanding the memory is leaked.
        Some(unsafe { self.memory.slot(index, 0, self.owner) })
    }

    /// Takes a slot back. Panics when it is another owner's.
    #[inline]
    pub fn put(&mut self, slot: Slot) {
        assert!(slot.owner() == self.owner, "a slot went back to a port that it is not from");
        self.lent -= 1;
        self.free.push(slot.into_token() as u32);
    }

    /// Notes that `n` slots that were lent are now somebody else's, who keeps the memory alive and whose numbers come back
    /// by [`put_index`](Pool::put_index).
    #[inline]
    pub fn handed_on(&mut self, n: usize) {
        self.lent -= n;
    }

    /// Takes a slot back by its number, after it had been handed on by that number.
    #[inline]
    pub fn put_index(&mut self, index: u32) {
        debug_assert!(self.free.len() < self.memory.count);
        self.free.push(index);
    }

    /// How many slots are free.
    pub fn available(&self) -> usize {
        self.free.len()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.lent > 0 {
            // Somebody still holds slots: leak their memory rather than free it under them.
            std::mem::forget(Arc::clone(&self.memory));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_out_each_slot_once_and_survives_its_own_drop() {
        let mut pool = Pool::new(3, 64);
        let mut slots: Vec<_> = std::iter::from_fn(|| pool.get()).collect();
        assert_eq!(slots.len(), 3);
        assert!(pool.get().is_none());
        for (i, slot) in slots.iter_mut().enumerate() {
            slot.set_len(64);
            slot.bytes_mut().fill(i as u8);
        }
        pool.put(slots.pop().unwrap());
        assert_eq!(pool.available(), 1);
        drop(pool);
        assert_eq!(slots[0].bytes(), [0; 64]);
        assert_eq!(slots[1].bytes(), [1; 64]);
    }

    #[test]
    #[should_panic(expected = "not from")]
    fn refuses_a_stranger() {
        let mut a = Pool::new(1, 64);
        let mut b = Pool::new(1, 64);
        b.put(a.get().unwrap());
    }
}
