//! What workers share with each other and with who started them: a few counters and flags, without locks.

use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use flowgauge_clock::{Clock, Nanos};

/// Not known.
const UNKNOWN: u64 = u64::MAX;

pub(crate) struct Shared {
    /// Somebody wants all streams to end.
    pub stop: AtomicBool,
    /// Somebody wants the drain to end.
    pub cut_drain: AtomicBool,
    start: AtomicU64,
    end: AtomicU64,
    workers: usize,
    /// Workers that are ready to start.
    ready: AtomicUsize,
    /// Workers that expect nothing any more.
    votes: AtomicUsize,
    pub streams: Box<[Counts]>,
}

/// Counts of one stream.
pub(crate) struct Counts {
    pub sent: AtomicU64,
    /// By all workers.
    received: AtomicU64,
    announced: AtomicU64,
    stop: AtomicU64,
}

impl Shared {
    pub fn new(streams: usize, workers: usize) -> Shared {
        let counts = || Counts {
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            announced: AtomicU64::new(UNKNOWN),
            stop: AtomicU64::new(UNKNOWN),
        };
        Shared {
            stop: AtomicBool::new(false),
            cut_drain: AtomicBool::new(false),
            start: AtomicU64::new(UNKNOWN),
            end: AtomicU64::new(UNKNOWN),
            workers,
            ready: AtomicUsize::new(0),
            votes: AtomicUsize::new(0),
            streams: (0..streams).map(|_| counts()).collect(),
        }
    }

    /// Waits until all workers are here; the time at which they start.
    pub fn meet(&self) -> Nanos {
        if self.ready.fetch_add(1, AcqRel) + 1 == self.workers {
            self.start.store(Clock.now().0, Release);
        }
        loop {
            match self.start.load(Acquire) {
                UNKNOWN => std::thread::yield_now(),
                start => return Nanos(start),
            }
        }
    }

    /// Some worker will never come: those that are here shall end.
    pub fn abandon(&self) {
        self.stop.store(true, Relaxed);
        self.cut_drain.store(true, Relaxed);
        self.start.store(Clock.now().0, Release);
    }

    /// A worker expects nothing any more; to be called once by each.
    pub fn vote(&self) {
        self.votes.fetch_add(1, Relaxed);
    }

    /// Whether no worker expects anything any more, or it was cut short.
    pub fn drained(&self) -> bool {
        self.votes.load(Relaxed) >= self.workers || self.cut_drain.load(Relaxed)
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
        self.announced.store(frames, Release);
    }

    /// A worker's stream ended at `stop`, after that many frames.
    pub fn end(&self, frames: u64, stop: Nanos) {
        self.stop.store(stop.0, Relaxed);
        self.announce(frames);
    }

    pub fn announced(&self) -> Option<u64> {
        Some(self.announced.load(Acquire)).filter(|&n| n != UNKNOWN)
    }

    /// When a worker's stream ended.
    pub fn stop(&self) -> Option<Nanos> {
        Some(self.stop.load(Relaxed)).filter(|&at| at != UNKNOWN).map(Nanos)
    }

    pub fn add_received(&self, frames: u64) {
        if frames > 0 {
            self.received.fetch_add(frames, Relaxed);
        }
    }

    pub fn received(&self) -> u64 {
        self.received.load(Relaxed)
    }
}
