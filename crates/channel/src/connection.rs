//! A connection as its users hold it: send, ask, take what came.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use flowgauge_clock::Nanos;

use crate::address::Address;
use crate::error::ChannelError;
use crate::job::Job;
use crate::log::Log;
use crate::shared::{Command, Reply, Shared, Transaction, lock};
use crate::wire::{self, Header};

/// Where received messages were stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamps {
    /// All by the kernel, when the segment with their last byte came.
    Kernel,
    /// All when they were read from the socket.
    Read,
    /// Some by the kernel, so many when they were read.
    Mixed {
        /// Messages that have no kernel stamp.
        read: u64,
    },
}

/// An established connection. Clones are the same connection; it lives until either side closes it or its
/// [`crate::Channel`] is dropped, and remembers why it ended.
#[derive(Clone)]
pub struct Connection {
    pub(crate) shared: Arc<Shared>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>) -> Connection {
        Connection { shared }
    }

    /// The wire version agreed on: 1 is OpenFlow 1.0, 4 is 1.3.
    pub fn version(&self) -> u8 {
        self.shared.agreed.get().map_or(0, |agreed| agreed.version)
    }

    /// The FEATURES_REPLY, whole; empty on the switch's side.
    pub fn features(&self) -> &[u8] {
        self.shared.agreed.get().map_or(&[], |agreed| &agreed.features)
    }

    /// The switch's datapath id, on the controller's side.
    pub fn datapath_id(&self) -> Option<u64> {
        self.features().get(8..16).map(|b| u64::from_be_bytes(b.try_into().expect("eight bytes")))
    }

    /// The peer's address.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.shared.peer
    }

    /// The peer's name (CN) by its certificate, with TLS.
    pub fn peer_name(&self) -> Option<&str> {
        self.shared.peer_name.get().map(String::as_str)
    }

    /// The endpoint's address that it came from.
    pub fn address(&self) -> Address {
        self.shared.address
    }

    /// The place of that address among those given to [`crate::Channel::open_all`].
    pub fn source(&self) -> usize {
        self.shared.source
    }

    /// Whether it was made with TLS.
    pub fn is_tls(&self) -> bool {
        self.shared.address.is_tls()
    }

    /// The auxiliary id of this connection to a switch (1.3 and later), 0 for its main one.
    pub fn auxiliary_id(&self) -> u8 {
        // 1.0 has padding there.
        if self.version() == 1 { 0 } else { self.features().get(21).copied().unwrap_or(0) }
    }

    /// Somebody has it now: its log may grow to its cap.
    pub(crate) fn take(&self) {
        self.shared.taken.store(true, Ordering::Relaxed);
    }

    /// The first of `n` transaction ids that nobody else on this connection uses.
    pub fn reserve_xids(&self, n: u32) -> u32 {
        self.shared.reserve_xids(n)
    }

    /// Echo requests that we left unanswered because the peer does not read our answers.
    pub fn echoes_dropped(&self) -> u64 {
        self.shared.counters.echoes_dropped.load(Ordering::Relaxed)
    }

    /// Sends a request and waits for its reply, matched by transaction id; parts of a multipart reply are
    /// collected.
    ///
    /// # Errors
    /// [`ChannelError::Rejected`] when the peer answers with an ERROR; [`ChannelError::Timeout`];
    /// [`ChannelError::ReplyTooLong`]; as [`Connection::send_with`].
    pub fn transact_raw(&self, request: &[u8], timeout: Duration) -> Result<Vec<Reply>, ChannelError> {
        let xid = Header::parse(request).map_or(0, |header| header.xid);
        lock(&self.shared.transactions).insert(xid, Transaction::default());
        let result = self.send_raw(request).and_then(|()| self.await_reply(xid, request, timeout));
        lock(&self.shared.transactions).remove(&xid);
        result
    }

    fn await_reply(&self, xid: u32, request: &[u8], timeout: Duration) -> Result<Vec<Reply>, ChannelError> {
        let deadline = Instant::now() + timeout;
        let mut transactions = lock(&self.shared.transactions);
        loop {
            let transaction = transactions.entry(xid).or_default();
            if let Some(limit) = transaction.too_long {
                return Err(ChannelError::ReplyTooLong { what: format!("reply to xid {xid}"), limit });
            }
            if transaction.done {
                return reject_errors(std::mem::take(&mut transaction.replies));
            }
            self.check_open()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ChannelError::no_reply(request, timeout));
            }
            let signal = &self.shared.transactions_signal;
            transactions = signal.wait_timeout(transactions, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sends a BARRIER_REQUEST and waits for its reply; gives the reply's arrival.
    ///
    /// # Errors
    /// As [`Connection::transact_raw`].
    pub fn barrier(&self, timeout: Duration) -> Result<Nanos, ChannelError> {
        let (version, xid) = (self.version(), self.reserve_xids(1));
        let request = wire::message(version, wire::barrier_request(version), xid, &[]);
        let replies = self.transact_raw(&request, timeout).map_err(|e| e.awaiting("BARRIER_REPLY"))?;
        Ok(replies.last().map_or(Nanos::ZERO, |reply| reply.stamp))
    }

    /// Sends messages that have no reply (FLOW_MOD, SET_CONFIG, ...), then a barrier, and waits for it.
    /// The messages' transaction ids are replaced by ones of our own.
    ///
    /// # Errors
    /// [`ChannelError::Rejected`] for the first message that the peer refused; as [`Connection::barrier`].
    pub fn apply_raw(&self, messages: &mut [Vec<u8>], timeout: Duration) -> Result<Nanos, ChannelError> {
        let first = self.reserve_xids(u32::try_from(messages.len()).unwrap_or(u32::MAX));
        let xids = (0..messages.len() as u32).map(|i| first.wrapping_add(i));
        for (message, xid) in messages.iter_mut().zip(xids.clone()) {
            wire::set_xid(message, xid);
        }
        lock(&self.shared.transactions).extend(xids.clone().map(|xid| (xid, Transaction::default())));
        let sent = messages.iter().try_for_each(|message| self.send_raw(message));
        let barrier = sent.and_then(|()| self.barrier(timeout));
        let mut transactions = lock(&self.shared.transactions);
        let refusals: Vec<_> = xids.filter_map(|xid| transactions.remove(&xid)).collect();
        drop(transactions);
        for refusal in refusals {
            reject_errors(refusal.replies)?;
        }
        barrier
    }

    /// Starts a job in the I/O loop. Several may run and take turns. On a connection that has ended it is told so at once.
    pub fn start_job(&self, job: Box<dyn Job>) {
        if let Err((why, mut job)) = self.shared.start(job) {
            job.ended(&why, 0);
        }
    }

    /// Gives every job a turn, for instance because its owner wants it to stop.
    pub fn poke_jobs(&self) {
        self.shared.command(Command::Poke);
    }

    /// Takes all messages that came unasked (or, on the switch's side, were asked of us) so far.
    pub fn take_log(&self) -> Log {
        let mut log = Log::new();
        self.poll_log(&mut log);
        log
    }

    /// The same without allocation: swaps the log with `log`, which is cleared first. Gives the number of
    /// messages; when there are none it costs one atomic load.
    pub fn poll_log(&self, log: &mut Log) -> usize {
        log.clear();
        if self.shared.log_len.load(Ordering::Acquire) == 0 {
            return 0;
        }
        let mut filled = lock(&self.shared.log);
        std::mem::swap(&mut *filled, log);
        // Under the lock: a message that comes right behind the lock must not be counted out.
        self.shared.log_len.store(0, Ordering::Release);
        drop(filled);
        if self.shared.paused.swap(false, Ordering::AcqRel) {
            self.shared.wake.notify();
        }
        log.len()
    }

    /// Waits until the log holds a message: `false` if none came in time or the connection has ended.
    pub fn wait_log(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut log = lock(&self.shared.log);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if !log.is_empty() {
                return true;
            }
            if left.is_zero() || self.shared.why().is_some() {
                return false;
            }
            log = self.shared.log_signal.wait_timeout(log, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Messages in the log, without a lock.
    pub fn log_len(&self) -> usize {
        self.shared.log_len.load(Ordering::Acquire)
    }

    /// Messages that the log had no room for.
    pub fn log_dropped(&self) -> u64 {
        self.shared.log_dropped.load(Ordering::Relaxed)
    }

    /// Messages of a type received so far (see [`wire`]), without a lock.
    pub fn received(&self, kind: u8) -> u64 {
        self.shared.counters.received(kind)
    }

    /// Where the messages so far were stamped.
    pub fn timestamps(&self) -> Timestamps {
        let counters = &self.shared.counters;
        let kernel = counters.kernel_stamps.load(Ordering::Relaxed);
        match (kernel, counters.read_stamps.load(Ordering::Relaxed)) {
            (_, 0) => Timestamps::Kernel,
            (0, _) => Timestamps::Read,
            (_, read) => Timestamps::Mixed { read },
        }
    }

    /// Why the connection has ended; `None` while it is up.
    pub fn ended(&self) -> Option<ChannelError> {
        self.shared.why()
    }

    /// Waits for the connection's end.
    pub fn wait_ended(&self, timeout: Duration) -> Option<ChannelError> {
        let ended = lock(&self.shared.ended);
        let wait = self.shared.ended_signal.wait_timeout_while(ended, timeout, |why| why.is_none());
        wait.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Sends what is queued (for at most a second), then closes.
    pub fn close(&self) {
        self.shared.command(Command::Close);
    }

    pub(crate) fn check_open(&self) -> Result<(), ChannelError> {
        self.shared.why().map_or(Ok(()), Err)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Connection(peer {:?}, version {})", self.peer(), self.version())
    }
}

/// The replies to a request, unless one of them is an ERROR.
///
/// # Errors
/// [`ChannelError::Rejected`] with the first ERROR.
pub fn reject_errors(replies: Vec<Reply>) -> Result<Vec<Reply>, ChannelError> {
    let is_error = |reply: &&Reply| reply.frame.get(1) == Some(&wire::ERROR);
    match replies.iter().find(is_error) {
        None => Ok(replies),
        Some(reply) => {
            let (error_type, code, data) = wire::error_fields(&reply.frame);
            let xid = Header::parse(&reply.frame).map_or(0, |header| header.xid);
            Err(ChannelError::Rejected { xid, error_type, code, data: data.to_vec() })
        }
    }
}
