//! What the loop shares with others while it runs: a few counters and flags, written and read without locks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use flowgauge_clock::Nanos;

/// Not known.
const UNKNOWN: u64 = u64::MAX;

pub(crate) struct Shared {
    /// Somebody wants all streams to end.
    pub stop: AtomicBool,
    /// Somebody wants the drain to end.
    pub cut_drain: AtomicBool,
    start: AtomicU64,
    end: AtomicU64,
    pub streams: Box<[Counts]>,
}

/// Counts of one stream.
pub(crate) struct Counts {
    pub sent: AtomicU64,
    pub received: AtomicU64,
    announced: AtomicU64,
}

impl Shared {
    pub fn new(streams: usize) -> Shared {
        let counts = || Counts {
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            announced: AtomicU64::new(UNKNOWN),
        };
        Shared {
            stop: AtomicBool::new(false),
            cut_drain: AtomicBool::new(false),
            start: AtomicU64::new(UNKNOWN),
            end: AtomicU64::new(UNKNOWN),
            streams: (0..streams).map(|_| counts()).collect(),
        }
    }

    pub fn begin(&self, at: Nanos) {
        self.start.store(at.0, Relaxed);
    }

    pub fn end(&self, at: Nanos) {
        self.end.store(at.0, Relaxed);
    }

    /// Time since the streams started, until they ended.
    pub fn elapsed(&self, now: Nanos) -> Nanos {
        match (self.start.load(Relaxed), self.end.load(Relaxed)) {
            (UNKNOWN, _) => Nanos::ZERO,
            (start, UNKNOWN) => now - Nanos(start),
            (start, end) => Nanos(end) - Nanos(start),
        }
    }
}

impl Counts {
    /// Says how many frames somebody else sent, at the end of it.
    pub fn announce(&self, frames: u64) {
        self.announced.store(frames, Relaxed);
    }

    pub fn announced(&self) -> Option<u64> {
        Some(self.announced.load(Relaxed)).filter(|&n| n != UNKNOWN)
    }
}
