//! Capturing: what arrives at ports goes to a file, and probes among it are judged.
//!
//! ```text
//!   ports ─► reader: stamp, cut, write into a chunk ─► full chunks ─► writer ─► file
//!                        ▲                                              │
//!                        └────────────────── empty chunks ◄─────────────┘
//! ```
//!
//! The reader never waits for the file: where no chunk is empty, frames are lost, and counted. There are as many chunks as there are, so
//! that nothing is allocated per frame, and memory has a limit.

mod judge;
mod reader;
mod writer;

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flowgauge_clock::{Clock, Nanos};
use flowgauge_ports::pcap::{Format, OutputFile};
use flowgauge_ports::{Port, StampSource};

use crate::error::TrafficError;
use crate::ports::Ports;
pub use judge::{Judge, ProbeStream};
use reader::Reader;
use writer::Queue;

/// How to capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// What is kept of each frame at the most, in bytes; 0: all.
    pub snaplen: u32,
    /// After how many frames it ends.
    pub count: Option<u64>,
    /// After how long it ends.
    pub duration: Option<Nanos>,
    /// Whether probes are judged.
    pub probes: bool,
    /// The core to read on.
    pub core: Option<usize>,
    /// Bytes that may wait for the file.
    pub queue: usize,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        CaptureOptions { snaplen: 0, count: None, duration: None, probes: false, core: None, queue: 64 << 20 }
    }
}

/// Counters so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureProgress {
    /// Since the start.
    pub elapsed: Nanos,
    /// Frames that were read.
    pub frames: u64,
    /// Their bytes, without FCS.
    pub bytes: u64,
    /// Frames that we lost: the file did not keep pace, or could not be written any more.
    pub lost: u64,
    /// Frames that ring, socket or card dropped before we saw them.
    pub dropped: u64,
    /// Bytes of the file.
    pub written: u64,
}

/// What came of a capture.
pub struct CaptureOutcome {
    /// Counters at the end.
    pub progress: CaptureProgress,
    /// Of each port: name, frames, frames dropped.
    pub ports: Vec<(String, u64, u64)>,
    /// Where frames were stamped, by port.
    pub stamps: Vec<StampSource>,
    /// Streams of probes, if they were judged.
    pub probes: Vec<ProbeStream>,
    /// Why a port broke, if one did.
    pub error: Option<TrafficError>,
    /// Why the file could not be written any more, if so. What it holds is whole.
    pub write_error: Option<io::Error>,
}

/// The ports, and what came of the capture.
pub struct Captured {
    /// Their handles, in the order given.
    pub ports: Vec<Box<dyn Port>>,
    /// What came of it.
    pub outcome: CaptureOutcome,
}

/// What reader and starter share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    start: AtomicU64,
    end: AtomicU64,
    frames: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    dropped: AtomicU64,
    written: AtomicU64,
    /// Frames in the file.
    in_file: AtomicU64,
}

impl Shared {
    fn progress(&self) -> CaptureProgress {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let end = match read(&self.end) {
            0 => Clock.now(),
            end => Nanos(end),
        };
        CaptureProgress {
            elapsed: end - Nanos(read(&self.start)),
            frames: read(&self.frames),
            bytes: read(&self.bytes),
            lost: read(&self.lost),
            dropped: read(&self.dropped),
            written: read(&self.written),
        }
    }
}

/// A capture under way. Dropping it ends it.
pub struct Capturing {
    thread: Option<JoinHandle<Captured>>,
    shared: Arc<Shared>,
}

/// Starts a capture, on threads of its own; without a file, frames are counted and judged only.
///
/// # Errors
/// [`TrafficError::Thread`].
pub fn capture(
    ports: impl Into<Ports>,
    file: Option<(File, Format)>,
    options: CaptureOptions,
) -> Result<Capturing, TrafficError> {
    let shared = Arc::new(Shared::default());
    shared.start.store(Clock.now().0, Relaxed);
    let queue = match file {
        Some((file, format)) => {
            let output = OutputFile::new(file, format);
            Some(Queue::start(output, options.queue, Arc::clone(&shared)).map_err(TrafficError::Thread)?)
        }
        None => None,
    };
    let reader = Reader::new(ports.into(), queue, options, Arc::clone(&shared));
    let thread = std::thread::Builder::new().name("fg-capture".into()).spawn(move || reader.run());
    Ok(Capturing { thread: Some(thread.map_err(TrafficError::Thread)?), shared })
}

impl Capturing {
    /// Counters so far; at most 10 ms old.
    pub fn progress(&self) -> CaptureProgress {
        self.shared.progress()
    }

    /// Ends it: what has arrived is still written.
    pub fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }

    /// Waits until it has ended, for at most `patience`; whether it has.
    pub fn wait(&self, patience: Duration) -> bool {
        let started = Instant::now();
        while !self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            if started.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Waits until it has ended, and gives everything back.
    pub fn finish(mut self) -> Captured {
        match self.thread.take().expect("only finish takes it, once").join() {
            Ok(captured) => captured,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop();
            // A panic of the reader was its own; there is nobody to tell.
            let _ = thread.join();
        }
    }
}
