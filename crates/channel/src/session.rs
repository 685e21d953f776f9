//! The protocol of a connection: handshake, echoes, and who gets which message. No I/O.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowgauge_clock::Nanos;

use crate::config::{Config, Role, WhenFull};
use crate::error::ChannelError;
use crate::framing::Expect;
use crate::hello::negotiate;
use crate::job::Job;
use crate::log;
use crate::shared::{Agreed, Reply, Shared, lock};
use crate::wire::{self, Header};

/// Bytes of answers to echo requests that may wait for a peer to read them.
const URGENT_CAP: usize = 1 << 20;
/// The most that the log may hold before anybody has taken the connection from its endpoint.
const LOG_UNTAKEN: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hello,
    Features { version: u8, xid: u32 },
    Up { version: u8 },
}

/// The protocol state of one connection.
pub struct Session {
    config: Config,
    shared: Arc<Shared>,
    phase: Phase,
    /// Transaction id of the last keep-alive echo.
    keep_alive: Option<u32>,
    /// How many were sent since the last message came.
    unanswered: u32,
    logged: bool,
}

/// A job in the loop, and whether it has claimed something since its last turn.
pub type Jobs = [(Box<dyn Job>, bool)];

impl Session {
    /// Begins: puts our HELLO into `out`.
    pub fn begin(config: Config, shared: Arc<Shared>, out: &mut Vec<u8>) -> Session {
        out.extend_from_slice(&config.versions.hello(shared.reserve_xids(1)));
        Session { config, shared, phase: Phase::Hello, keep_alive: None, unanswered: 0, logged: false }
    }

    /// Which headers the framing should accept now.
    pub fn expect(&self) -> Expect {
        match self.phase {
            Phase::Hello => Expect::Opening,
            Phase::Features { version, .. } | Phase::Up { version } => Expect::Version(version),
        }
    }

    /// Whether the handshake is complete.
    pub fn is_up(&self) -> bool {
        matches!(self.phase, Phase::Up { .. })
    }

    /// What the handshake waits for.
    pub fn awaited(&self) -> &'static str {
        match self.phase {
            Phase::Hello => "HELLO",
            Phase::Features { .. } => "FEATURES_REPLY",
            Phase::Up { .. } => "reply to the keep-alive ECHO_REQUEST",
        }
    }

    /// Handles one message; answers go to `out`. An error ends the connection after `out` was sent.
    pub fn frame(
        &mut self,
        frame: &[u8],
        (stamp, from_kernel): (Nanos, bool),
        jobs: &mut Jobs,
        out: &mut Vec<u8>,
    ) -> Result<(), ChannelError> {
        let header = Header::parse(frame).expect("the framing gives whole messages");
        self.shared.counters.count(header.message_type, from_kernel);
        self.unanswered = 0;
        match (self.phase, header.message_type) {
            (Phase::Hello, _) => self.opening(frame, header, out),
            (_, wire::HELLO) => Ok(()),
            (_, wire::ECHO_REQUEST) if self.config.answer_echo => {
                if out.len() + frame.len() > URGENT_CAP {
                    // The peer asks and asks and reads nothing.
                    self.shared.counters.echoes_dropped.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                let reply = Header { message_type: wire::ECHO_REPLY, ..header };
                out.extend_from_slice(&reply.to_bytes());
                out.extend_from_slice(&frame[wire::HEADER_LEN..]);
                Ok(())
            }
            (Phase::Features { version, xid }, wire::FEATURES_REPLY) if header.xid == xid => {
                self.up(version, frame.to_vec());
                Ok(())
            }
            (Phase::Features { .. } | Phase::Up { .. }, _) => {
                self.deliver(frame, header, stamp, jobs);
                Ok(())
            }
        }
    }

    fn opening(&mut self, frame: &[u8], header: Header, out: &mut Vec<u8>) -> Result<(), ChannelError> {
        if header.message_type == wire::ERROR {
            // The peer refuses our versions (HELLO_FAILED), or us altogether.
            let ours = self.config.versions.list();
            return Err(ChannelError::VersionMismatch { ours, theirs: vec![header.version] });
        }
        let version = negotiate(self.config.versions, frame).inspect_err(|error| {
            let version = self.config.versions.highest().min(header.version);
            // HELLO_FAILED, INCOMPATIBLE, and the reason as text.
            let mut body = vec![0, 0, 0, 0];
            body.extend_from_slice(error.to_string().as_bytes());
            out.extend_from_slice(&wire::message(version, wire::ERROR, header.xid, &body));
        })?;
        match self.config.role {
            Role::Switch => self.up(version, Vec::new()),
            Role::Controller => {
                let xid = self.shared.reserve_xids(1);
                out.extend_from_slice(&wire::message(version, wire::FEATURES_REQUEST, xid, &[]));
                self.phase = Phase::Features { version, xid };
            }
        }
        Ok(())
    }

    fn up(&mut self, version: u8, features: Vec<u8>) {
        // Set once: a connection comes up once.
        let _ = self.shared.agreed.set(Agreed { version, features });
        self.phase = Phase::Up { version };
    }

    fn deliver(&mut self, frame: &[u8], header: Header, stamp: Nanos, jobs: &mut Jobs) {
        if header.message_type == wire::ECHO_REPLY && self.keep_alive == Some(header.xid) {
            self.keep_alive = None;
            return;
        }
        for (job, claimed) in jobs {
            if job.received(frame, stamp) {
                *claimed = true;
                return;
            }
        }
        if wire::is_asynchronous(header.message_type) || !self.complete(frame, header, stamp) {
            self.log(frame, stamp);
        }
    }

    /// Hands a reply to the transaction that waits for it, if one does.
    fn complete(&self, frame: &[u8], header: Header, stamp: Nanos) -> bool {
        let mut transactions = lock(&self.shared.transactions);
        let Some(transaction) = transactions.get_mut(&header.xid).filter(|t| !t.done) else {
            return false;
        };
        let part = header.message_type == wire::multipart_reply(header.version) && wire::more_follows(frame);
        transaction.bytes += frame.len();
        if transaction.bytes > self.config.reply_cap {
            transaction.replies = Vec::new();
            transaction.too_long = Some(self.config.reply_cap);
        } else {
            transaction.replies.push(Reply { stamp, frame: frame.to_vec() });
        }
        transaction.done = !part || transaction.too_long.is_some();
        if transaction.done {
            self.shared.transactions_signal.notify_all();
        }
        true
    }

    fn log(&mut self, frame: &[u8], stamp: Nanos) {
        let mut log = lock(&self.shared.log);
        let cap = if self.shared.taken.load(Ordering::Relaxed) {
            self.config.log_cap
        } else {
            self.config.log_cap.min(LOG_UNTAKEN)
        };
        if self.config.when_full == WhenFull::Drop && log.memory() + log::cost(frame) > cap {
            self.shared.log_dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        log.push(frame, stamp);
        self.shared.log_len.store(log.len(), Ordering::Release);
        self.logged = true;
    }

    /// Whether reading must wait until the log is taken.
    pub fn is_paused(&self) -> bool {
        self.config.when_full == WhenFull::Pause
            && self.shared.log_len.load(Ordering::Acquire) > 0
            && lock(&self.shared.log).memory() >= self.config.log_cap
    }

    /// After a batch of messages: wakes those who wait for the log.
    pub fn batch_done(&mut self) {
        if std::mem::take(&mut self.logged) {
            self.shared.log_signal.notify_all();
            if let Some(notify) = &self.config.notify {
                notify();
            }
        }
    }

    /// Keep-alive requests since the last message came.
    pub fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// The peer has been silent for another keep-alive interval: asks it for an echo; `false` if enough were
    /// asked for.
    pub fn silence(&mut self, out: &mut Vec<u8>) -> bool {
        let (Phase::Up { version }, Some(keep)) = (self.phase, self.config.keep_alive) else { return true };
        if self.unanswered >= keep.misses.max(1) {
            return false;
        }
        self.unanswered += 1;
        let xid = self.shared.reserve_xids(1);
        self.keep_alive = Some(xid);
        out.extend_from_slice(&wire::message(version, wire::ECHO_REQUEST, xid, &[]));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::address::Address;
    use crate::connection::Connection;
    use crate::log::Log;
    use crate::poll::Wake;

    #[test]
    fn a_message_that_comes_while_the_log_is_taken_is_taken_next() {
        const MESSAGES: usize = 2_000_000;
        let (config, wake) = (Config::switch(), Arc::new(Wake::new().unwrap()));
        let from = (0, Address::Connect("127.0.0.1:1".parse().unwrap()));
        let shared = Arc::new(Shared::new(wake, None, from, &config));
        let connection = Connection::new(shared.clone());
        let mut session = Session::begin(config, shared, &mut Vec::new());
        let taken = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut log = Log::new();
                while taken.load(Ordering::Relaxed) < MESSAGES {
                    taken.fetch_add(connection.poll_log(&mut log), Ordering::Relaxed);
                }
            });
            // Two at a time, the next two when both are taken: none has another behind it that would bring it along.
            for logged in (2..=MESSAGES).step_by(2) {
                for _ in 0..2 {
                    session.log(&wire::message(4, wire::FLOW_MOD, 1, &[]), Nanos::ZERO);
                }
                let since = Instant::now();
                while taken.load(Ordering::Relaxed) < logged {
                    if since.elapsed() > Duration::from_secs(10) {
                        taken.store(MESSAGES, Ordering::Relaxed);
                        panic!("of {logged} messages, one was never taken");
                    }
                }
            }
        });
    }
}
