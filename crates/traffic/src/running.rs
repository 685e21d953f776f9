//! A transmission on its way, seen from the thread that started it.

use std::convert::Infallible;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::Probe;
use flowgauge_ports::Port;

use crate::error::{StartFailed, TrafficError};
use crate::options::Options;
use crate::outcome::Outcome;
use crate::part::Part;
use crate::ports::Ports;
use crate::shared::Shared;
use crate::stream::{Stream, check_streams};
use crate::worker::Worker;

/// Starts streams on ports, on a thread of its own.
///
/// # Errors
/// [`StartFailed`], with the ports: a stream names a port that is not there, or has frames that its port does not take;
/// two streams have one number.
pub fn start(
    ports: impl Into<Ports>,
    streams: Vec<Stream>,
    options: Options,
) -> Result<Running, StartFailed> {
    start_on(ports, streams, options, &[options.core])
}

/// As [`start`], on a thread for each of `cores`, but no more than there are queues: the first thread has the first
/// ports, and so on, in equal shares; where ports have several queues, their first ones come first, then their second ones,
/// and so on. `None`: a thread that runs on any core.
///
/// # Errors
/// As [`start`].
pub fn start_on(
    ports: impl Into<Ports>,
    streams: Vec<Stream>,
    options: Options,
    cores: &[Option<usize>],
) -> Result<Running, StartFailed> {
    let ports = ports.into();
    if let Err(error) = check(&ports, &streams) {
        return Err(StartFailed { error, ports: ports.into_handles() });
    }
    let origin = Probe::origin(Clock.now());
    let (all, workers) = (ports.count(), cores.len().min(ports.handles()).max(1));
    let shared = Arc::new(Shared::new(streams.len(), workers));
    let senders = ports.senders(&streams);
    let mut team = Vec::with_capacity(workers);
    for (number, queues) in ports.dealt(workers).into_iter().enumerate() {
        let options = Options { core: cores.get(number).copied().flatten(), ..options };
        team.push(Worker::new(queues, all, (&streams, &senders), options, origin, Arc::clone(&shared)));
    }
    let mut threads = Vec::with_capacity(workers);
    let (running, ended) = channel();
    for worker in team {
        let running = running.clone();
        let run = move || {
            let _running = running;
            worker.run()
        };
        match std::thread::Builder::new().name("fg-traffic".into()).spawn(run) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                shared.abandon();
                threads.into_iter().for_each(|thread| drop(thread.join()));
                return Err(StartFailed { error: TrafficError::Thread(error), ports: Vec::new() });
            }
        }
    }
    let ids = streams.iter().map(|stream| stream.id).collect();
    Ok(Running { threads, ended: Mutex::new(ended), shared, origin, nonce: options.nonce, ids })
}

fn check(ports: &Ports, streams: &[Stream]) -> Result<(), TrafficError> {
    check_streams(streams, ports.count())?;
    for stream in streams {
        let Some(port) = stream.tx_port.and_then(|port| ports.first(port)) else { continue };
        let (found, longest) = (stream.frames.longest(), port.capabilities().longest_frame);
        if found > longest {
            let port = port.describe().to_owned();
            return Err(TrafficError::FrameTooLong { stream: stream.id, port, found, longest });
        }
    }
    Ok(())
}

/// Counters of a running transmission, by stream in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Since the streams started, until they ended.
    pub elapsed: Nanos,
    /// Frames that left.
    pub sent: Vec<u64>,
    /// Distinct frames that arrived at ports where they were expected.
    pub received: Vec<u64>,
}

/// A transmission that has ended: the ports, and what came of it.
pub struct Finished {
    /// The handles of the ports, in the order given, ready for the next transmission.
    pub ports: Vec<Box<dyn Port>>,
    /// What came of it.
    pub outcome: Outcome,
}

/// A transmission on its way. Dropping it stops it and waits for its threads.
pub struct Running {
    /// Taken by `finish`.
    threads: Vec<JoinHandle<Part>>,
    /// Closes when the last thread ends, however that comes.
    ended: Mutex<Receiver<Infallible>>,
    shared: Arc<Shared>,
    origin: Nanos,
    nonce: u16,
    ids: Vec<u16>,
}

impl Running {
    /// Where probes count their time from.
    pub fn origin(&self) -> Nanos {
        self.origin
    }

    /// The trial's number in the probes.
    pub fn nonce(&self) -> u16 {
        self.nonce
    }

    /// The streams' numbers in the probes.
    pub fn ids(&self) -> &[u16] {
        &self.ids
    }

    /// Counters so far; at most a tenth of a millisecond old.
    pub fn progress(&self) -> Progress {
        let read = |count: fn(&crate::shared::Counts) -> u64| self.shared.streams.iter().map(count).collect();
        Progress {
            elapsed: self.shared.elapsed(Clock.now()),
            sent: read(|stream| stream.sent.load(Relaxed)),
            received: read(crate::shared::Counts::received),
        }
    }

    /// Waits until it takes account of what arrives (at most 50 ms, while ports are emptied of what lies in them from
    /// before). Whoever sends frames of its streams from elsewhere starts after this, or they are taken for old ones.
    pub fn wait_until_started(&self) {
        while self.progress().elapsed == Nanos::ZERO && !self.is_finished() {
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Ends all streams now; the drain follows.
    pub fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }

    /// Ends the drain as soon as it begins: whoever calls this knows that nothing is under way any more.
    pub fn cut_drain(&self) {
        self.shared.cut_drain.store(true, Relaxed);
    }

    /// Says how many frames were sent of the stream at `position`, which somebody else sends. That ends the stream.
    /// Panics when there is no such stream.
    pub fn set_sent(&self, position: usize, frames: u64) {
        self.shared.streams[position].announce(frames);
    }

    /// Whether it has ended, drain included, or broken.
    pub fn is_finished(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Waits until it has ended, for at most `patience`; whether it has. Sleeps meanwhile: to look now and then would take
    /// the loop's core away from it each time.
    pub fn wait(&self, patience: Option<Duration>) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(patience.unwrap_or(Duration::MAX)) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        while !self.is_finished() {
            std::thread::yield_now();
        }
        true
    }

    /// Waits until it has ended, and gives everything back. A transmission with streams that end only when stopped must
    /// have been stopped.
    pub fn finish(mut self) -> Finished {
        let ended = std::mem::take(&mut self.threads).into_iter().map(JoinHandle::join);
        let parts = ended.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let merged = parts.reduce(|mut all, part| {
            all.merge(part);
            all
        });
        merged.expect("there is at least one thread, and only finish takes them, once").finished()
    }

    /// Stops at once, without drain, and gives everything back.
    pub fn abort(self) -> Finished {
        self.stop();
        self.cut_drain();
        self.finish()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        self.cut_drain();
        for thread in self.threads.drain(..) {
            // A panic of the loop was its own; there is nobody to tell.
            let _ = thread.join();
        }
    }
}
