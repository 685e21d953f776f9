//! The rings between a socket and the kernel: one side writes entries and publishes them, the other reads and releases
//! them. Both count without end (modulo 2^32); an entry's place is its count modulo the ring's size, a power of two.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::map::Map;

/// What both sides see.
#[derive(Debug)]
struct Shared<T> {
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    size: u32,
    _map: Arc<Map>,
}

// SAFETY: the counters are atomics, and the protocol (each entry belongs to one side at a time) rules the entries.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// A ring of `size` entries in `map`, where `at` says. Panics when it would not lie within it.
    fn new(map: Arc<Map>, at: &libc::xdp_ring_offset, size: u32) -> Shared<T> {
        assert!(size.is_power_of_two(), "a ring of {size} entries");
        assert!(
            at.desc as usize + size as usize * size_of::<T>() <= map.len(),
            "a ring outgrows its mapping"
        );
        assert!(
            [at.producer, at.consumer, at.flags].iter().all(|&x| x as usize + 4 <= map.len() && x % 4 == 0)
        );
        assert!(at.desc as usize % align_of::<T>() == 0, "misaligned entries");
        // SAFETY: all of these lie within the mapping and are aligned, as just checked.
        unsafe {
            Shared {
                producer: map.start().add(at.producer as usize).cast(),
                consumer: map.start().add(at.consumer as usize).cast(),
                flags: map.start().add(at.flags as usize).cast(),
                entries: map.start().add(at.desc as usize).cast(),
                size,
                _map: map,
            }
        }
    }

    fn producer(&self) -> &AtomicU32 {
        // SAFETY: within the mapping (`new`), which `_map` keeps alive; both sides access it atomically.
        unsafe { self.producer.as_ref() }
    }

    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as in `producer`.
        unsafe { self.consumer.as_ref() }
    }

    fn flags(&self) -> &AtomicU32 {
        // SAFETY: as in `producer`.
        unsafe { self.flags.as_ref() }
    }

    #[inline]
    fn entry(&self, count: u32) -> NonNull<T> {
        // SAFETY: the masked index is below `size`.
        unsafe { self.entries.add((count & (self.size - 1)) as usize) }
    }
}

/// The writing side: of the fill and the transmit ring.
#[derive(Debug)]
pub(super) struct Producer<T> {
    shared: Shared<T>,
    /// Counts what was pushed, published or not.
    next: u32,
    /// The other side's count when it was last looked at.
    consumed: u32,
}

impl<T: Copy> Producer<T> {
    /// The writing side of a ring in `map`.
    pub fn new(map: Arc<Map>, at: &libc::xdp_ring_offset, size: u32) -> Producer<T> {
        let shared = Shared::new(map, at, size);
        let (next, consumed) =
            (shared.producer().load(Ordering::Relaxed), shared.consumer().load(Ordering::Acquire));
        Producer { shared, next, consumed }
    }

    /// How many entries fit, looking at the other side's count only when fewer than `wanted` are known to.
    #[inline]
    pub fn room(&mut self, wanted: u32) -> u32 {
        let room = self.shared.size - self.next.wrapping_sub(self.consumed);
        if room >= wanted {
            return room;
        }
        self.consumed = self.shared.consumer().load(Ordering::Acquire);
        self.shared.size - self.next.wrapping_sub(self.consumed)
    }

    /// Writes an entry that has [`room`](Producer::room); the other side does not see it yet.
    #[inline]
    pub fn push(&mut self, entry: T) {
        debug_assert!(self.next.wrapping_sub(self.consumed) < self.shared.size, "no room was asked for");
        // SAFETY: the place lies in the ring, and the other side reads it only after it was published.
        unsafe { self.shared.entry(self.next).write(entry) };
        self.next = self.next.wrapping_add(1);
    }

    /// Shows what was pushed to the other side.
    #[inline]
    pub fn publish(&mut self) {
        self.shared.producer().store(self.next, Ordering::Release);
    }

    /// How many entries the other side has not consumed yet.
    #[inline]
    pub fn pending(&mut self) -> u32 {
        self.consumed = self.shared.consumer().load(Ordering::Acquire);
        self.next.wrapping_sub(self.consumed)
    }

    /// Whether the kernel waits for a system call before it looks at the ring.
    #[inline]
    pub fn needs_wakeup(&self) -> bool {
        self.shared.flags().load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

/// The reading side: of the receive and the completion ring.
#[derive(Debug)]
pub(super) struct Consumer<T> {
    shared: Shared<T>,
    /// Counts what was popped, released or not.
    next: u32,
    /// The other side's count when it was last looked at.
    produced: u32,
}

impl<T: Copy> Consumer<T> {
    /// The reading side of a ring in `map`.
    pub fn new(map: Arc<Map>, at: &libc::xdp_ring_offset, size: u32) -> Consumer<T> {
        let shared = Shared::new(map, at, size);
        let (next, produced) =
            (shared.consumer().load(Ordering::Relaxed), shared.producer().load(Ordering::Acquire));
        Consumer { shared, next, produced }
    }

    /// How many entries there are, looking at the other side's count only when fewer than `wanted` are known.
    #[inline]
    pub fn available(&mut self, wanted: u32) -> u32 {
        if self.produced.wrapping_sub(self.next) < wanted {
            self.produced = self.shared.producer().load(Ordering::Acquire);
        }
        self.produced.wrapping_sub(self.next)
    }

    /// Reads the next entry, one of those that are [`available`](Consumer::available).
    #[inline]
    pub fn pop(&mut self) -> T {
        debug_assert!(self.produced != self.next, "nobody asked whether there is an entry");
        // SAFETY: the place lies in the ring; the other side published it and writes it again only after its release.
        let entry = unsafe { self.shared.entry(self.next).read() };
        self.next = self.next.wrapping_add(1);
        entry
    }

    /// Gives the places of what was popped back to the other side.
    #[inline]
    pub fn release(&mut self) {
        self.shared.consumer().store(self.next, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: libc::xdp_ring_offset =
        libc::xdp_ring_offset { producer: 0, consumer: 64, desc: 192, flags: 128 };

    /// Both sides of a ring of 8 whose counts start at `start`.
    fn ring(start: u32) -> (Producer<u64>, Consumer<u64>) {
        let map = Arc::new(Map::anonymous(4096).unwrap());
        let shared: Shared<u64> = Shared::new(Arc::clone(&map), &AT, 8);
        shared.producer().store(start, Ordering::Relaxed);
        shared.consumer().store(start, Ordering::Relaxed);
        (Producer::new(Arc::clone(&map), &AT, 8), Consumer::new(map, &AT, 8))
    }

    #[test]
    fn entries_come_out_in_order_past_the_end_of_the_counters() {
        let (mut producer, mut consumer) = ring(u32::MAX - 10);
        let (mut pushed, mut popped) = (0, 0);
        for step in [1u32, 8, 3, 5, 8, 2, 7, 8, 8, 1] {
            assert_eq!(producer.room(step), 8);
            for _ in 0..step {
                producer.push(pushed);
                pushed += 1;
            }
            assert_eq!(consumer.available(1), 0, "not before it is published");
            producer.publish();
            assert_eq!((consumer.available(64), producer.pending()), (step, step));
            for _ in 0..step {
                assert_eq!(consumer.pop(), popped);
                popped += 1;
            }
            assert_eq!(producer.pending(), step, "not before it is released");
            consumer.release();
            assert_eq!((consumer.available(1), producer.pending()), (0, 0));
        }
    }

    #[test]
    fn a_full_ring_has_no_room_until_entries_are_released() {
        let (mut producer, mut consumer) = ring(5);
        (0..8).for_each(|i| producer.push(i));
        producer.publish();
        assert_eq!(producer.room(1), 0);
        assert_eq!(consumer.available(2), 8);
        assert_eq!((consumer.pop(), consumer.pop()), (0, 1));
        assert_eq!(producer.room(1), 0);
        consumer.release();
        assert_eq!((producer.room(1), producer.pending()), (2, 6));
    }

    #[test]
    fn sees_the_flag_that_asks_for_a_system_call() {
        let (producer, _) = ring(0);
        assert!(!producer.needs_wakeup());
        producer.shared.flags().store(libc::XDP_RING_NEED_WAKEUP, Ordering::Relaxed);
        assert!(producer.needs_wakeup());
    }

    #[test]
    #[should_panic(expected = "outgrows")]
    fn a_ring_must_lie_in_its_mapping() {
        Producer::<u64>::new(Arc::new(Map::anonymous(4096).unwrap()), &AT, 512);
    }
}
