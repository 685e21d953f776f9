//! What the I/O thread and the holders of a connection share.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use flowgauge_clock::Nanos;

use crate::address::Address;
use crate::config::Config;
use crate::error::ChannelError;
use crate::job::Job;
use crate::log::Log;
use crate::outbox::Outbox;
use crate::poll::Wake;
use crate::wire;

/// Locks, also when a holder of the lock has panicked: our data stay valid between statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reply and when it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Arrival.
    pub stamp: Nanos,
    /// The whole message.
    pub frame: Vec<u8>,
}

/// A request that waits for its reply.
#[derive(Default)]
pub struct Transaction {
    /// Parts so far.
    pub replies: Vec<Reply>,
    /// Their bytes.
    pub bytes: usize,
    /// The limit that they exceeded, if they did: then they are gone.
    pub too_long: Option<usize>,
    /// Whether the last part, or an error, has come.
    pub done: bool,
}

/// What a holder asks of the I/O thread.
pub enum Command {
    /// Run this job.
    Start(Box<dyn Job>),
    /// Give every job a turn.
    Poke,
    /// Send what is queued, then close.
    Close,
}

/// Counters that anybody may read without a lock.
pub struct Counters {
    by_type: [AtomicU64; wire::LAST_TYPE as usize + 1],
    /// Messages with a kernel stamp.
    pub kernel_stamps: AtomicU64,
    /// Messages stamped when they were read.
    pub read_stamps: AtomicU64,
    /// Echo requests left unanswered because the peer does not read its answers.
    pub echoes_dropped: AtomicU64,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            by_type: std::array::from_fn(|_| AtomicU64::new(0)),
            kernel_stamps: AtomicU64::new(0),
            read_stamps: AtomicU64::new(0),
            echoes_dropped: AtomicU64::new(0),
        }
    }
}

impl Counters {
    /// Counts a received message. Only the I/O thread writes, so a load and a store do.
    pub fn count(&self, kind: u8, kernel_stamp: bool) {
        let bump = |counter: &AtomicU64| {
            counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        };
        if let Some(counter) = self.by_type.get(usize::from(kind)) {
            bump(counter);
        }
        bump(if kernel_stamp { &self.kernel_stamps } else { &self.read_stamps });
    }

    /// Received messages of a type.
    pub fn received(&self, kind: u8) -> u64 {
        self.by_type.get(usize::from(kind)).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }
}

/// What versions were agreed on, and what the switch said of itself.
#[derive(Debug)]
pub struct Agreed {
    pub version: u8,
    pub features: Vec<u8>,
}

/// One connection, as both sides see it.
pub struct Shared {
    pub wake: Arc<Wake>,
    pub peer: Option<SocketAddr>,
    /// The endpoint's address that it came from.
    pub address: Address,
    /// Its place among the endpoint's addresses.
    pub source: usize,
    /// The name in the peer's certificate.
    pub peer_name: OnceLock<String>,
    /// Whether somebody has taken the connection from its endpoint.
    pub taken: AtomicBool,
    pub agreed: OnceLock<Agreed>,
    pub outbox: Mutex<Outbox>,
    /// Bytes in the outbox that the I/O thread has not fetched: read without the lock.
    pub outbox_filled: AtomicBool,
    /// Bytes queued and not yet handed to the kernel.
    pub queued: AtomicU64,
    /// How much may be queued before more is refused.
    pub outbox_cap: Option<u64>,
    /// Somebody waits (with the outbox's lock) until there is room.
    pub room_wanted: AtomicBool,
    pub room_signal: Condvar,
    pub log: Mutex<Log>,
    pub log_signal: Condvar,
    pub log_len: AtomicUsize,
    pub log_dropped: AtomicU64,
    /// The I/O thread has stopped reading until the log is taken.
    pub paused: AtomicBool,
    pub transactions: Mutex<HashMap<u32, Transaction>>,
    pub transactions_signal: Condvar,
    pub next_xid: AtomicU32,
    pub commands: Mutex<Vec<Command>>,
    pub commanded: AtomicBool,
    pub ended: Mutex<Option<ChannelError>>,
    pub ended_signal: Condvar,
    pub counters: Counters,
}

impl Shared {
    pub fn new(wake: Arc<Wake>, peer: Option<SocketAddr>, from: (usize, Address), config: &Config) -> Shared {
        Shared {
            wake,
            peer,
            source: from.0,
            address: from.1,
            peer_name: OnceLock::new(),
            taken: AtomicBool::new(false),
            agreed: OnceLock::new(),
            outbox: Mutex::default(),
            outbox_filled: AtomicBool::new(false),
            queued: AtomicU64::new(0),
            outbox_cap: config.outbox_cap,
            room_wanted: AtomicBool::new(false),
            room_signal: Condvar::new(),
            log: Mutex::default(),
            log_signal: Condvar::new(),
            log_len: AtomicUsize::new(0),
            log_dropped: AtomicU64::new(0),
            paused: AtomicBool::new(false),
            transactions: Mutex::default(),
            transactions_signal: Condvar::new(),
            next_xid: AtomicU32::new(1),
            commands: Mutex::default(),
            commanded: AtomicBool::new(false),
            ended: Mutex::new(None),
            ended_signal: Condvar::new(),
            counters: Counters::default(),
        }
    }

    /// Why the connection ended, if it did.
    pub fn why(&self) -> Option<ChannelError> {
        lock(&self.ended).clone()
    }

    /// The first of `n` transaction ids that nobody else uses; none of them is 0.
    pub fn reserve_xids(&self, n: u32) -> u32 {
        let first = self.next_xid.fetch_add(n, Ordering::Relaxed);
        if first != 0 && first.checked_add(n).is_some() {
            return first;
        }
        self.next_xid.store(n.saturating_add(1), Ordering::Relaxed);
        1
    }

    pub fn command(&self, command: Command) {
        lock(&self.commands).push(command);
        self.announce_commands();
    }

    /// Leaves a job to the I/O thread; gives it back when the connection has ended, as nobody would take it up.
    pub fn start(&self, job: Box<dyn Job>) -> Result<(), (ChannelError, Box<dyn Job>)> {
        // The end is marked before the last commands are taken, under this lock.
        let mut commands = lock(&self.commands);
        if let Some(why) = self.why() {
            return Err((why, job));
        }
        commands.push(Command::Start(job));
        drop(commands);
        self.announce_commands();
        Ok(())
    }

    fn announce_commands(&self) {
        self.commanded.store(true, Ordering::Release);
        self.wake.notify();
    }

    /// Refuses to queue more than the cap.
    pub fn check_room(&self) -> Result<(), ChannelError> {
        let queued = self.queued.load(Ordering::Relaxed);
        match self.outbox_cap {
            Some(limit) if queued >= limit => Err(ChannelError::OutboxFull { queued, limit }),
            Some(_) | None => Ok(()),
        }
    }

    /// Bytes have left the outbox for the kernel: wakes who waits for room once half of it is free.
    pub fn left(&self, bytes: u64) {
        let queued = self.queued.fetch_sub(bytes, Ordering::Relaxed) - bytes;
        let is_half_free = self.outbox_cap.is_none_or(|cap| queued <= cap / 2);
        if is_half_free && self.room_wanted.load(Ordering::Relaxed) {
            self.wake_for_room();
        }
    }

    fn wake_for_room(&self) {
        let outbox = lock(&self.outbox);
        self.room_wanted.store(false, Ordering::Relaxed);
        drop(outbox);
        self.room_signal.notify_all();
    }

    /// Whether a holder has left work for the I/O thread.
    pub fn has_work(&self) -> bool {
        self.outbox_filled.load(Ordering::Acquire) || self.commanded.load(Ordering::Acquire)
    }

    /// Marks the end and wakes everyone who waits. The first reason stays.
    pub fn end(&self, why: ChannelError) {
        lock(&self.ended).get_or_insert(why);
        self.ended_signal.notify_all();
        drop(lock(&self.transactions));
        self.transactions_signal.notify_all();
        drop(lock(&self.log));
        self.log_signal.notify_all();
        self.wake_for_room();
    }
}
