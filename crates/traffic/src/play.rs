//! Paced control messages: played inside the channel's I/O loop, so that each is stamped as it is handed to the socket.
//!
//! A [`Source`] makes the messages, a schedule says when they leave, and the [`PlayResult`] holds for each when its first
//! byte left, when its reply came, and what the switch refused. When the socket is full, messages leave late (they catch
//! up); what is still unsent when the play ends was not offered.

mod job;
mod result;
mod source;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use flowgauge_channel::{ChannelError, Connection, Job};
use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::Schedule;

use job::PlayJob;
pub use result::{PlayError, PlayResult};
pub use source::{Awaits, Echoes, EncodeFn, Encoded, Messages, PacketOuts, Source};

/// Transaction ids reserved for a play whose length nobody knows beforehand.
const UNKNOWN_LENGTH: u64 = 1 << 26;

/// When messages leave, and when the play ends.
#[derive(Clone, Debug)]
pub struct PlayOptions {
    /// When messages leave.
    pub schedule: Schedule,
    /// Play at most this many (`None`: as many as the source has).
    pub count: Option<u64>,
    /// Play the messages that are scheduled within this time; what could not be sent by its end was not offered.
    pub duration: Option<Nanos>,
    /// When the schedule begins, on the tester's clock; `None`: at once.
    pub start: Option<Nanos>,
    /// Close with a BARRIER_REQUEST.
    pub barrier: bool,
    /// Without replies and barrier: how long to wait at the end until the peer's TCP has acknowledged everything.
    pub settle: Nanos,
}

impl Default for PlayOptions {
    /// As fast as possible, all of the source, with a closing barrier.
    fn default() -> PlayOptions {
        PlayOptions {
            schedule: Schedule::Max,
            count: None,
            duration: None,
            start: None,
            barrier: true,
            settle: Nanos::from_millis(200),
        }
    }
}

/// Counters of a play under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayProgress {
    /// Messages handed to the socket.
    pub sent: u64,
    /// Messages answered.
    pub replied: u64,
    /// Messages refused with an ERROR.
    pub errors: u64,
    /// Whether the play is over.
    pub done: bool,
}

/// What the job and its owner share.
#[derive(Default)]
struct Shared {
    sent: AtomicU64,
    replied: AtomicU64,
    errors: AtomicU64,
    stop: AtomicBool,
    result: Mutex<Option<Arc<PlayResult>>>,
    signal: Condvar,
}

/// A play as its owner sees it, whoever runs it.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
    barrier: bool,
}

/// Makes ready a play that begins at `start` on a connection of that wire version; `reserve` gives the first of so many
/// transaction ids. The job is for whoever runs the connection.
pub fn prepare(
    source: Box<dyn Source>,
    options: &PlayOptions,
    start: Nanos,
    version: u8,
    reserve: impl FnOnce(u32) -> u32,
) -> (Box<dyn Job>, Handle) {
    let scheduled = options.duration.and_then(|d| options.schedule.count_within(d));
    let total = [options.count, source.count(), scheduled].into_iter().flatten().min();
    let shared = Arc::new(Shared::default());
    // One more for the barrier.
    let reserved = total.unwrap_or(UNKNOWN_LENGTH).saturating_add(1);
    let first_xid = reserve(u32::try_from(reserved).unwrap_or(u32::MAX - 1));
    let job = PlayJob::new(source, options, start, total, first_xid, version, shared.clone());
    (Box::new(job), Handle { shared, barrier: options.barrier })
}

impl Handle {
    /// Counters so far, without a lock in the loop.
    pub fn progress(&self) -> PlayProgress {
        PlayProgress {
            sent: self.shared.sent.load(Ordering::Relaxed),
            replied: self.shared.replied.load(Ordering::Relaxed),
            errors: self.shared.errors.load(Ordering::Relaxed),
            done: self.lock().is_some(),
        }
    }

    /// What came of it, once it is over.
    pub fn result(&self) -> Option<Arc<PlayResult>> {
        self.lock().clone()
    }

    /// Lets it end at its next turn, which it must be given.
    pub fn end(&self) {
        self.shared.stop.store(true, Ordering::Release);
    }

    fn overdue(&self, waited: Duration) -> ChannelError {
        // Without the lock, which the caller holds.
        let sent = self.shared.sent.load(Ordering::Relaxed);
        let answered =
            self.shared.replied.load(Ordering::Relaxed) + self.shared.errors.load(Ordering::Relaxed);
        let what = if self.barrier {
            format!("BARRIER_REPLY behind {sent} messages")
        } else {
            format!("end of the play: {sent} messages sent, {answered} answered")
        };
        ChannelError::Timeout { what, waited }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<PlayResult>>> {
        self.shared.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sequence of messages on its way. Dropping it stops it.
pub struct Play {
    connection: Connection,
    handle: Handle,
}

impl Play {
    /// Starts playing on `connection`, behind the messages that are queued there already.
    pub fn start(connection: &Connection, source: Box<dyn Source>, options: PlayOptions) -> Play {
        let start = options.start.unwrap_or_else(|| Clock.now());
        let reserve = |n| connection.reserve_xids(n);
        let (job, handle) = prepare(source, &options, start, connection.version(), reserve);
        connection.start_job(job);
        Play { connection: connection.clone(), handle }
    }

    /// Counters so far, without a lock in the loop.
    pub fn progress(&self) -> PlayProgress {
        self.handle.progress()
    }

    /// Waits until everything is sent and answered, or the channel has ended (see [`PlayResult::closed`]).
    ///
    /// # Errors
    /// [`ChannelError::Timeout`] when that takes longer than `timeout`; the play goes on, and [`Play::stop`] still gives
    /// what was done.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Arc<PlayResult>, ChannelError> {
        let limit = timeout.unwrap_or(Duration::MAX);
        let (guard, signal) = (self.handle.lock(), &self.handle.shared.signal);
        let unfinished = |result: &mut Option<Arc<PlayResult>>| result.is_none();
        let waited = if timeout.is_some() {
            signal.wait_timeout_while(guard, limit, unfinished).unwrap_or_else(PoisonError::into_inner).0
        } else {
            signal.wait_while(guard, unfinished).unwrap_or_else(PoisonError::into_inner)
        };
        waited.clone().ok_or_else(|| self.handle.overdue(limit))
    }

    /// Sends no more and gives what was done.
    pub fn stop(&self) -> Arc<PlayResult> {
        self.handle.end();
        self.connection.poke_jobs();
        let guard = self.handle.lock();
        let waited = self.handle.shared.signal.wait_while(guard, |result| result.is_none());
        let result = waited.unwrap_or_else(PoisonError::into_inner).clone();
        result.expect("waited for it")
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        if self.handle.result().is_none() {
            self.handle.end();
            self.connection.poke_jobs();
        }
    }
}
