//! What the loop keeps of each stream.

use flowgauge_clock::Nanos;
use flowgauge_measure::{Account, AccountOptions, Arrival, GapErrors};
use flowgauge_packet::template::PROBE_LEN;

use crate::stream::{Sink, Stop, Stream};

/// Sequence numbers for which there is room from the start, whatever the stream says of its length.
const ROOM: u64 = 1 << 20;
/// The most for which there is room from the start: 16 MiB.
const MOST_ROOM: u64 = 1 << 27;
/// How far ahead of what was sent there is always room.
const AHEAD: u64 = 1 << 18;

pub(crate) struct StreamState {
    pub id: u16,
    pub sink: Sink,
    pub account: Account,
    pub gaps: GapErrors,
    /// Whether its frames bear probes; of others nothing is known once they have left.
    pub probed: bool,
    /// Whether this loop sends it.
    sent_here: bool,
    /// The most frames that it has, if that is known.
    most: u64,
    /// Frames that arrived at each port, further copies included.
    pub by_port: Vec<u64>,
    /// Frames that arrived where they were not expected.
    pub misrouted: u64,
    pub start: Nanos,
    pub stop: Nanos,
    /// When its last frame left.
    pub last_left: Nanos,
    /// Where somebody else sends: the end that its schedule gives it.
    scheduled_end: Option<Nanos>,
    start_after: Nanos,
}

impl StreamState {
    pub fn new(stream: &Stream, ports: usize, origin: Nanos, window: Nanos) -> StreamState {
        let sent_here = stream.tx_port.is_some();
        let options = AccountOptions {
            expected: if sent_here { stream.estimate().unwrap_or(ROOM).clamp(1, MOST_ROOM) } else { ROOM },
            sent_here,
            flows: stream.frames.flows(),
            order: stream.flow_order,
            record: stream.record,
            origin,
            window,
        };
        StreamState {
            id: stream.id,
            sink: stream.sink,
            account: Account::new(options),
            gaps: GapErrors::new(stream.schedule.mean_gap()),
            probed: stream.frames.is_probed(),
            sent_here,
            most: stream.estimate().unwrap_or(u64::MAX),
            by_port: vec![0; ports],
            misrouted: 0,
            start: Nanos::MAX,
            stop: Nanos::MAX,
            last_left: Nanos::ZERO,
            scheduled_end: match stream.stop {
                Stop::After(duration) => Some(stream.start_after + duration),
                Stop::Count(_) | Stop::UntilStopped => None,
            },
            start_after: stream.start_after,
        }
    }

    /// The transmission starts. Windows are counted from the stream's start.
    pub fn begin(&mut self, at: Nanos) {
        self.start = at + self.start_after;
        self.account.begin(self.start);
        self.scheduled_end = self.scheduled_end.map(|end| at + end);
    }

    /// The next frames left at `at`.
    #[inline]
    pub fn left(&mut self, at: Nanos, frames: usize) {
        self.account.sent_n(at, frames as u64);
        self.last_left = at;
    }

    /// A frame arrived at a port. Whether it was the first copy, whose delay [`Account::delayed`] takes.
    #[inline]
    pub fn arrived_at(&mut self, port: usize, seq: u64, left: Nanos, at: Nanos) -> bool {
        self.by_port[port] += 1;
        let misrouted = match self.sink {
            Sink::Any => false,
            Sink::Port(expected) => expected != port,
            Sink::Control => true,
        };
        self.misrouted += misrouted as u64;
        !misrouted && self.account.count(seq, left, at) == Arrival::First
    }

    /// Whether this loop sends it.
    pub fn sent_here(&self) -> bool {
        self.sent_here
    }

    /// Where somebody else sends: the end that its schedule gives it.
    pub fn scheduled_end(&self) -> Option<Nanos> {
        self.scheduled_end
    }

    /// Makes room ahead of what is sent, where the length was not known. Called now and then.
    pub fn reserve(&mut self) {
        let needed = self.account.sent_count() + AHEAD;
        if self.sent_here && self.account.room() < needed.min(self.most) {
            self.account.reserve(needed);
        }
    }

    /// Whether somebody else's stream has ended by `now`; `announced`: how many frames it said it had.
    pub fn ended_elsewhere(&mut self, now: Nanos, announced: Option<u64>) -> bool {
        if let (Some(frames), false) = (announced, self.account.sent_known()) {
            self.account.set_sent(frames);
        }
        self.account.sent_known() || self.scheduled_end.is_some_and(|end| now >= end)
    }

    /// The stream has ended: what arrives after `at` is late.
    pub fn end(&mut self, at: Nanos) {
        self.stop = at;
        self.account.set_stop(at);
    }

    /// Whether everything that was sent is known to have arrived, or never will be known to.
    pub fn complete(&self) -> bool {
        if !self.probed {
            return true;
        }
        let known = self.account.sent_known() && self.sink != Sink::Control;
        known && self.account.received() >= self.account.sent_count()
    }
}

const _: () = assert!(PROBE_LEN == flowgauge_measure::Probe::LEN);
