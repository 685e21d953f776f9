//! The play inside the I/O loop.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use flowgauge_channel::wire::{self, Header};
use flowgauge_channel::{ChannelError, Job, JobIo, Next};
use flowgauge_clock::Nanos;
use flowgauge_measure::{Departures, Schedule};

use super::result::{PlayError, Record};
use super::source::{Awaits, Source};
use super::{PlayOptions, Shared};

/// Bytes encoded ahead of a write.
const BATCH: usize = 64 * 1024;
/// The same for stamped messages: their stamps age while the rest of the batch is encoded.
const STAMPED_BATCH: usize = 4 * 1024;
/// Writes per turn, then receiving has its turn.
const WRITES: usize = 4;
/// How far past its end a play may go on catching up when this thread, not the switch, was late.
const GRACE: Nanos = Nanos::from_millis(20);
const SETTLE_POLL: Nanos = Nanos::from_millis(1);

/// A play under way.
pub(super) struct PlayJob {
    source: Box<dyn Source>,
    departures: Departures,
    paced: bool,
    start: Nanos,
    /// When sending ends, whatever is left.
    end: Nanos,
    total: Option<u64>,
    /// The first transaction id; message `i` has this plus `i`.
    first_xid: u32,
    /// Scheduled times of the messages that are due and not yet handed over.
    due: VecDeque<Nanos>,
    /// Those of them that are encoded, and the length of each.
    batch: Vec<u8>,
    batch_sent: usize,
    lengths: VecDeque<usize>,
    record: Record,
    barrier: Barrier,
    version: u8,
    settle: Nanos,
    settle_until: Option<Nanos>,
    shared: Arc<Shared>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Barrier {
    None,
    Planned,
    Sent { xid: u32 },
    Answered,
}

impl PlayJob {
    pub fn new(
        source: Box<dyn Source>,
        options: &PlayOptions,
        start: Nanos,
        total: Option<u64>,
        first_xid: u32,
        version: u8,
        shared: Arc<Shared>,
    ) -> PlayJob {
        let record = Record::new(total, options.schedule.mean_gap());
        PlayJob {
            departures: options.schedule.departures(),
            paced: options.schedule != Schedule::Max,
            start,
            end: options.duration.map_or(Nanos::MAX, |d| start + d),
            total,
            first_xid,
            due: VecDeque::new(),
            batch: Vec::with_capacity(BATCH + 2048),
            batch_sent: 0,
            lengths: VecDeque::new(),
            record,
            barrier: if options.barrier { Barrier::Planned } else { Barrier::None },
            version,
            settle: options.settle,
            settle_until: None,
            source,
            shared,
        }
    }

    fn sent(&self) -> u64 {
        self.record.result.sent
    }

    /// Whether the schedule has no further message.
    fn all_scheduled(&self, now: Nanos) -> bool {
        match self.total {
            Some(total) => self.sent() + self.due.len() as u64 >= total,
            None => now >= self.end,
        }
    }

    /// Notes what is due, and encodes it, as long as the batch has room.
    fn fill(&mut self, io: &dyn JobIo) {
        let limit = if self.source.is_stamped() { STAMPED_BATCH } else { BATCH };
        let mut now = io.now();
        while self.batch.len() < limit {
            if self.lengths.len() == self.due.len() {
                let scheduled = self.start + self.departures.peek();
                if self.all_scheduled(now) || scheduled > now {
                    return;
                }
                self.due.push_back(scheduled);
                self.departures.advance();
            }
            if self.source.is_stamped() {
                now = io.now();
            }
            let i = self.sent() + self.lengths.len() as u64;
            let before = self.batch.len();
            self.source.encode(i, self.first_xid.wrapping_add(i as u32), now, &mut self.batch);
            self.lengths.push_back(self.batch.len() - before);
        }
    }

    /// Hands the batch over; `false` when the socket is full.
    fn write(&mut self, io: &mut dyn JobIo) -> bool {
        let written = io.write(&self.batch[self.batch_sent..]);
        let mut left = written.taken;
        let begin = written.position - written.taken as u64;
        while left > 0 {
            let Some(length) = self.lengths.pop_front() else { break };
            left -= length;
            self.record.sent(written.at, begin + (written.taken - left) as u64);
            let scheduled = self.due.pop_front().unwrap_or(written.at);
            if self.paced {
                self.record.result.gap_errors.record(scheduled, written.at);
            }
        }
        self.shared.sent.store(self.sent(), Ordering::Relaxed);
        self.batch_sent += written.taken;
        let all = self.batch_sent == self.batch.len();
        if all || self.source.is_stamped() {
            // What was stamped and did not leave is encoded anew.
            self.batch.clear();
            self.lengths.clear();
            self.batch_sent = 0;
        }
        all
    }

    /// Sends what is due. `None`: sending is over.
    fn send(&mut self, io: &mut dyn JobIo) -> Option<Next> {
        for _ in 0..WRITES {
            let now = io.now();
            if now > self.end + GRACE {
                return None;
            }
            if now < self.start {
                return Some(Next::At(self.start));
            }
            self.fill(io);
            if self.batch.is_empty() {
                if self.all_scheduled(now) {
                    return None;
                }
                return Some(Next::At((self.start + self.departures.peek()).min(self.end)));
            }
            if !self.write(io) {
                // At the end, what the socket does not take was not offered.
                return if now >= self.end { None } else { Some(Next::Writable(self.end)) };
            }
        }
        Some(Next::At(Nanos::ZERO))
    }

    /// After the last message: barrier, replies, acknowledgements.
    fn conclude(&mut self, io: &mut dyn JobIo) -> Next {
        if self.barrier == Barrier::Planned {
            let xid = self.first_xid.wrapping_add(self.total.unwrap_or(self.sent()) as u32);
            let request = wire::message(self.version, wire::barrier_request(self.version), xid, &[]);
            if io.write(&request).taken == 0 {
                return Next::Writable(Nanos::MAX);
            }
            self.barrier = Barrier::Sent { xid };
        }
        let answered = self.source.awaits() == Awaits::Nothing || self.record.answered >= self.sent();
        match self.barrier {
            Barrier::Planned | Barrier::Sent { .. } => return Next::Received,
            Barrier::Answered | Barrier::None if !answered => return Next::Received,
            Barrier::Answered | Barrier::None => {}
        }
        let now = io.now();
        let until = *self.settle_until.get_or_insert(now + self.settle);
        if !self.is_acknowledged(io) && now < until {
            return Next::At(now + SETTLE_POLL);
        }
        self.finish(io.acknowledged());
        Next::Done
    }

    fn is_acknowledged(&self, io: &mut dyn JobIo) -> bool {
        // A reply proves that its request was received; only unanswered messages need TCP's word.
        self.barrier == Barrier::Answered
            || self.source.awaits() == Awaits::Reply
            || self.record.last_position() <= io.acknowledged()
    }

    fn finish(&mut self, acknowledged: u64) {
        let result = self.record.finish(self.total, acknowledged);
        *self.shared.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(result));
        self.shared.signal.notify_all();
    }

    fn refused(&mut self, index: u64, frame: &[u8]) {
        let (error_type, code, _) = wire::error_fields(frame);
        self.record.refused(PlayError { index, error_type, code });
        self.shared.errors.fetch_add(1, Ordering::Relaxed);
    }
}

impl Job for PlayJob {
    fn turn(&mut self, io: &mut dyn JobIo) -> Next {
        if self.shared.stop.load(Ordering::Acquire) {
            self.finish(io.acknowledged());
            return Next::Done;
        }
        if self.barrier != Barrier::None && self.barrier != Barrier::Planned || self.settle_until.is_some() {
            return self.conclude(io);
        }
        match self.send(io) {
            Some(next) => next,
            None => {
                // Nothing is offered any more, also if this turn is followed by others.
                self.end = Nanos::ZERO;
                self.conclude(io)
            }
        }
    }

    fn received(&mut self, frame: &[u8], stamp: Nanos) -> bool {
        let Some(header) = Header::parse(frame) else { return false };
        if wire::is_asynchronous(header.message_type) {
            return false;
        }
        if self.barrier == (Barrier::Sent { xid: header.xid }) {
            self.barrier = Barrier::Answered;
            if header.message_type == wire::ERROR {
                self.refused(self.total.unwrap_or(self.sent()), frame);
            } else {
                self.record.result.barrier = Some(stamp);
            }
            return true;
        }
        let i = u64::from(header.xid.wrapping_sub(self.first_xid));
        if i >= self.sent() {
            return false;
        }
        if header.message_type == wire::ERROR {
            self.refused(i, frame);
        } else if header.message_type != wire::multipart_reply(header.version) || !wire::more_follows(frame) {
            let sent = Nanos(self.record.result.sent_ns[i as usize] as u64);
            let intact = self.source.is_intact(i, sent, frame);
            self.record.replied(i, stamp, intact);
            self.shared.replied.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    fn ended(&mut self, why: &ChannelError, acknowledged: u64) {
        self.record.result.closed = Some(why.clone());
        self.finish(acknowledged);
    }
}
