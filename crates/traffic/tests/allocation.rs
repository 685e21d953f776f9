//! The loop allocates nothing per frame: ten times the frames, the same number of allocations.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use common::*;
use flowgauge_measure::Schedule;
use flowgauge_ports::ring;
use flowgauge_traffic::{Options, Stop};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: the system's allocator does the work; counting touches no memory of its.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of a transmission of `frames` frames, all of which arrive.
fn allocations(schedule: Schedule, frames: u64) -> u64 {
    let (a, b) = ring::pair(1 << 12);
    let mut probes = stream(1, schedule, Stop::Count(frames));
    (probes.frames, probes.record) = (template(1000).into(), 100);
    let before = ALLOCATIONS.load(Relaxed);
    let outcome = run(boxed(vec![a, b]), vec![probes], Options { drain: Some(MS(5)), ..options() }).outcome;
    let after = ALLOCATIONS.load(Relaxed);
    let counters = outcome.streams[0].account.counters();
    assert_eq!((counters.sent, counters.received + outcome.rx_dropped()), (frames, frames));
    after - before
}

#[test]
fn nothing_is_allocated_per_frame() {
    for schedule in [Schedule::Max, cbr(1_000_000)] {
        allocations(schedule.clone(), 1000);
        let (few, many) = (allocations(schedule.clone(), 5_000), allocations(schedule, 50_000));
        assert!(many <= few + 4, "{few} allocations for 5 000 frames, {many} for 50 000");
    }
}
