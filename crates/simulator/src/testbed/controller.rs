//! The tester's end of the control channel, in virtual time: what `flowgauge_channel::Connection` is on a socket.

use std::collections::HashMap;

use flowgauge_channel::wire::{self, Header};
use flowgauge_channel::{ChannelError, Job, JobIo, Log, Next, Reply, Written, reject_errors};
use flowgauge_clock::Nanos;

use crate::control::Delivered;

/// A job that always wants another turn gets it after this long: virtual time must move.
const TURN: Nanos = Nanos::from_micros(1);

/// A request that waits for its reply.
#[derive(Default)]
struct Transaction {
    replies: Vec<Reply>,
    done: bool,
}

/// A play, or whatever else sends and receives.
struct Running {
    job: Box<dyn Job>,
    next: Next,
    claimed: bool,
}

/// The tester's end of the channel.
#[derive(Default)]
pub struct Controller {
    next_xid: u32,
    transactions: HashMap<u32, Transaction>,
    jobs: Vec<Running>,
    log: Log,
    received: HashMap<u8, u64>,
    ended: Option<ChannelError>,
    poked: bool,
}

/// A job's turn: what it writes is gathered.
struct Turn {
    now: Nanos,
    window: u64,
    position: u64,
    acknowledged: u64,
    written: Vec<Vec<u8>>,
}

impl JobIo for Turn {
    fn now(&self) -> Nanos {
        self.now
    }

    fn write(&mut self, messages: &[u8]) -> Written {
        let mut taken = 0;
        for (_, message) in wire::split(messages) {
            if self.window == 0 {
                break;
            }
            taken += message.len();
            self.window = self.window.saturating_sub(message.len() as u64);
            self.position += message.len() as u64;
            self.written.push(message.to_vec());
        }
        Written { taken, at: self.now, position: self.position }
    }

    fn acknowledged(&mut self) -> u64 {
        self.acknowledged
    }
}

/// How the channel stands: bytes that its TCP takes, were written, and were acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Stand {
    pub window: u64,
    pub written: u64,
    pub acknowledged: u64,
}

impl Controller {
    /// The first of `n` transaction ids that nobody else uses.
    pub fn reserve_xids(&mut self, n: u32) -> u32 {
        match self.next_xid.checked_add(n) {
            Some(next) if self.next_xid > 0 => std::mem::replace(&mut self.next_xid, next),
            Some(_) | None => {
                self.next_xid = n.saturating_add(1);
                1
            }
        }
    }

    /// Waits for the replies with these transaction ids from now on.
    pub fn expect(&mut self, xids: impl IntoIterator<Item = u32>) {
        self.transactions.extend(xids.into_iter().map(|xid| (xid, Transaction::default())));
    }

    /// Whether the reply is whole.
    pub fn is_answered(&self, xid: u32) -> bool {
        self.transactions.get(&xid).is_none_or(|transaction| transaction.done)
    }

    /// Takes what came of a request; it is waited for no more.
    ///
    /// # Errors
    /// The switch refused it.
    pub fn take_replies(&mut self, xid: u32) -> Result<Vec<Reply>, ChannelError> {
        reject_errors(self.transactions.remove(&xid).map_or(Vec::new(), |transaction| transaction.replies))
    }

    /// Messages came.
    pub fn receive(&mut self, delivered: Vec<Delivered>) {
        for Delivered { at, bytes } in delivered {
            let Some(header) = Header::parse(&bytes) else { continue };
            *self.received.entry(header.message_type).or_default() += 1;
            let stamp = at.nanos();
            if !wire::is_asynchronous(header.message_type) {
                if let Some(transaction) = self.transactions.get_mut(&header.xid) {
                    let is_part = header.message_type == wire::multipart_reply(header.version)
                        && wire::more_follows(&bytes);
                    transaction.done |= !is_part;
                    transaction.replies.push(Reply { stamp, frame: bytes });
                    continue;
                }
                let claimed = self.jobs.iter_mut().find_map(|running| {
                    let claims = running.job.received(&bytes, stamp);
                    running.claimed |= claims;
                    claims.then_some(())
                });
                if claimed.is_some() {
                    continue;
                }
            }
            self.log.push(&bytes, stamp);
        }
    }

    /// Takes a job.
    pub fn start(&mut self, mut job: Box<dyn Job>) {
        match &self.ended {
            Some(why) => job.ended(why, 0),
            None => self.jobs.push(Running { job, next: Next::At(Nanos::ZERO), claimed: false }),
        }
    }

    /// Gives every job a turn the next time.
    pub fn poke(&mut self) {
        self.poked = true;
    }

    /// Whether anybody waits for messages as they come.
    pub fn is_busy(&self) -> bool {
        !self.jobs.is_empty() || !self.transactions.is_empty()
    }

    /// When a job wants its turn; [`Nanos::MAX`]: when something else happens.
    pub fn next_turn(&self, stand: Stand) -> Nanos {
        let at = |running: &Running| match running.next {
            _ if self.poked || running.claimed => Nanos::ZERO,
            Next::At(at) => at,
            Next::Writable(_) if stand.window > 0 => Nanos::ZERO,
            Next::Writable(at) => at,
            Next::Received | Next::Done => Nanos::MAX,
        };
        self.jobs.iter().map(at).min().unwrap_or(Nanos::MAX)
    }

    /// Gives turns to the jobs whose time has come; gives the messages that they write.
    pub fn turn(&mut self, now: Nanos, mut stand: Stand) -> Vec<Vec<u8>> {
        let mut written = Vec::new();
        let poked = std::mem::take(&mut self.poked);
        for running in &mut self.jobs {
            let is_due = match running.next {
                _ if poked || running.claimed => true,
                Next::At(at) => at <= now,
                Next::Writable(at) => stand.window > 0 || at <= now,
                Next::Received | Next::Done => false,
            };
            if !is_due {
                continue;
            }
            running.claimed = false;
            let Stand { window, written: position, acknowledged } = stand;
            let mut turn = Turn { now, window, position, acknowledged, written: Vec::new() };
            running.next = match running.job.turn(&mut turn) {
                Next::At(at) if at <= now => Next::At(now + TURN),
                other => other,
            };
            stand = Stand { window: turn.window, written: turn.position, ..stand };
            written.append(&mut turn.written);
        }
        self.jobs.retain(|running| running.next != Next::Done);
        written
    }

    /// The channel has ended.
    pub fn end(&mut self, why: ChannelError) {
        for mut running in self.jobs.drain(..) {
            running.job.ended(&why, 0);
        }
        self.transactions.values_mut().for_each(|transaction| transaction.done = true);
        self.ended.get_or_insert(why);
    }

    /// Why the channel has ended.
    pub fn ended(&self) -> Option<ChannelError> {
        self.ended.clone()
    }

    /// Messages that came unasked since the last call.
    pub fn take_log(&mut self) -> Log {
        std::mem::take(&mut self.log)
    }

    /// Messages of a type that came so far.
    pub fn received(&self, kind: u8) -> u64 {
        self.received.get(&kind).copied().unwrap_or(0)
    }
}
