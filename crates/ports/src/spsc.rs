//! A bounded queue of small values between two threads: one pushes, one pops, nobody locks.
//!
//! Both sides keep their position to themselves and publish it once per burst; each remembers the last position
//! that it saw of the other, so that the shared cache lines move once per burst, not once per value.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[repr(align(128))]
struct Position(AtomicUsize);

struct Shared<T> {
    cells: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// Everything before it was popped. Written by the consumer.
    head: Position,
    /// Everything before it was pushed. Written by the producer.
    tail: Position,
}

// SAFETY: a cell is written only by the producer while it is outside head..tail, and read only by the consumer while it
// is inside; the release stores and acquire loads of the positions order the two.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<T> {}

/// The side that pushes.
pub(crate) struct Producer<T> {
    shared: Arc<Shared<T>>,
    tail: usize,
    head_seen: usize,
}

/// The side that pops.
pub(crate) struct Consumer<T> {
    shared: Arc<Shared<T>>,
    head: usize,
    tail_seen: usize,
}

/// A queue for `capacity` values, rounded up to a power of two.
pub(crate) fn queue<T: Copy + Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let cells = (0..capacity.next_power_of_two()).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let position = || Position(AtomicUsize::new(0));
    let shared = Arc::new(Shared { cells, head: position(), tail: position() });
    (
        Producer { shared: Arc::clone(&shared), tail: 0, head_seen: 0 },
        Consumer { shared, head: 0, tail_seen: 0 },
    )
}

impl<T: Copy + Send> Producer<T> {
    /// Adds a value, to be seen after [`publish`](Producer::publish); false when the queue is full.
    #[inline]
    pub fn push(&mut self, value: T) -> bool {
        let cells = &self.shared.cells;
        if self.tail.wrapping_sub(self.head_seen) == cells.len() {
            self.head_seen = self.shared.head.0.load(Ordering::Acquire);
            if self.tail.wrapping_sub(self.head_seen) == cells.len() {
                return false;
            }
        }
        // SAFETY: the cell is outside head..tail (just checked), so only the producer may touch it.
        unsafe { (*cells[self.tail & (cells.len() - 1)].get()).write(value) };
        self.tail = self.tail.wrapping_add(1);
        true
    }

    /// Lets the consumer see everything pushed so far.
    #[inline]
    pub fn publish(&mut self) {
        self.shared.tail.0.store(self.tail, Ordering::Release);
    }

    /// Whether the consumer is still there.
    pub fn connected(&self) -> bool {
        Arc::strong_count(&self.shared) > 1
    }
}

impl<T: Copy + Send> Consumer<T> {
    /// The next value, if there is one. Its place is the producer's again after [`release`](Consumer::release).
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.head == self.tail_seen {
            self.tail_seen = self.shared.tail.0.load(Ordering::Acquire);
            if self.head == self.tail_seen {
                return None;
            }
        }
        let cells = &self.shared.cells;
        // SAFETY: the cell is inside head..tail, so it was written, and only the consumer may touch it.
        let value = unsafe { (*cells[self.head & (cells.len() - 1)].get()).assume_init() };
        self.head = self.head.wrapping_add(1);
        Some(value)
    }

    /// Gives the places of everything popped so far back to the producer.
    #[inline]
    pub fn release(&mut self) {
        self.shared.head.0.store(self.head, Ordering::Release);
    }

    /// Whether the producer is still there.
    pub fn connected(&self) -> bool {
        Arc::strong_count(&self.shared) > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_and_empty_and_around() {
        let (mut tx, mut rx) = queue::<u32>(4);
        for round in 0..100 {
            for i in 0..4 {
                assert!(tx.push(round * 4 + i));
            }
            assert!(!tx.push(0));
            assert_eq!(rx.pop(), None, "nothing is seen before it is published");
            tx.publish();
            for i in 0..4 {
                assert_eq!(rx.pop(), Some(round * 4 + i));
            }
            assert_eq!(rx.pop(), None);
            assert!(!tx.push(0), "places are not free before they are released");
            rx.release();
        }
    }

    #[test]
    fn two_threads_lose_and_reorder_nothing() {
        let (mut tx, mut rx) = queue::<u64>(64);
        const N: u64 = 200_000;
        let producer = std::thread::spawn(move || {
            let mut next = 0;
            while next < N {
                let before = next;
                while next < N && next - before < 17 && tx.push(next) {
                    next += 1;
                }
                tx.publish();
                if next == before {
                    std::thread::yield_now();
                }
            }
        });
        let mut expected = 0;
        while expected < N {
            let before = expected;
            while let Some(value) = rx.pop() {
                assert_eq!(value, expected);
                expected += 1;
            }
            rx.release();
            if expected == before {
                std::thread::yield_now();
            }
        }
        producer.join().unwrap();
    }
}
