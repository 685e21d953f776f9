//! What is kept of each stream while it runs.

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

/// What is kept of a stream while it runs; a [`StreamOutcome`](crate::StreamOutcome) is made of it.
#[derive(Debug)]
pub struct StreamState {
    /// Its number in the probes.
    pub(crate) id: u16,
    pub(crate) sink: Sink,
    /// Sent, received, lost and so on.
    pub account: Account,
    /// How far departures missed their schedule.
    pub gaps: GapErrors,
    /// Whether its frames bear probes; of others nothing is known once they have left.
    pub probed: bool,
    /// Whether this worker sends it.
    sent_here: bool,
    /// Whether any worker does.
    sent_by_us: bool,
    /// What of the arrivals was told the others.
    published: u64,
    /// The most frames that it has, if that is known.
    most: u64,
    /// Frames that arrived at each port, further copies included.
    pub(crate) by_port: Vec<u64>,
    /// Frames that arrived where they were not expected.
    pub(crate) misrouted: u64,
    pub(crate) start: Nanos,
    pub(crate) stop: Nanos,
    /// When its last frame left.
    last_left: Nanos,
    /// Where somebody else sends: the end that its schedule gives it.
    scheduled_end: Option<Nanos>,
    start_after: Nanos,
}

impl StreamState {
    /// `sent_here`: by the worker whose state this is; `ports`: of the transmission; `origin`: of the times in its probes;
    /// `window`: length of the slices in which delays are averaged over time.
    pub fn new(stream: &Stream, sent_here: bool, ports: usize, origin: Nanos, window: Nanos) -> StreamState {
        let options = AccountOptions {
            expected: match stream.tx_port {
                Some(_) => stream.estimate().unwrap_or(ROOM).clamp(1, MOST_ROOM),
                None => ROOM,
            },
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
            sent_by_us: stream.tx_port.is_some(),
            published: 0,
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

    /// Whether this worker sends it.
    pub fn sent_here(&self) -> bool {
        self.sent_here
    }

    /// The end that its schedule gives it, where somebody else sends it.
    pub fn scheduled_end(&self) -> Option<Nanos> {
        self.scheduled_end
    }

    /// Makes room ahead of what is sent, where the length was not known. `sent`: by the worker that sends it. Called now
    /// and then.
    #[inline]
    pub fn reserve(&mut self, sent: u64) {
        let needed = sent + AHEAD;
        if self.sent_by_us && self.account.room() < needed.min(self.most) {
            self.account.reserve(needed);
        }
    }

    /// Frames that arrived since the last call.
    pub(crate) fn newly_received(&mut self) -> u64 {
        let received = self.account.received();
        received - std::mem::replace(&mut self.published, received)
    }

    /// Who sends it said how many frames there were.
    pub fn hear(&mut self, announced: Option<u64>) {
        if let (Some(frames), false) = (announced, self.account.sent_known()) {
            self.account.set_sent(frames);
        }
    }

    /// Whether a stream that this worker does not send has ended by `now`.
    pub(crate) fn ended_elsewhere(&self, now: Nanos) -> bool {
        let over = !self.sent_by_us && self.scheduled_end.is_some_and(|end| now >= end);
        self.account.sent_known() || over
    }

    /// Adds what another worker counted. What left is known by the one that sent it.
    pub(crate) fn merge(&mut self, mut other: StreamState) {
        if other.sent_here {
            std::mem::swap(self, &mut other);
        }
        self.account.merge(&other.account);
        self.by_port.iter_mut().zip(&other.by_port).for_each(|(n, more)| *n += more);
        self.misrouted += other.misrouted;
    }

    /// The stream, which was sent here, has ended by `now`, by its timetable at `scheduled`; returns when. What arrives
    /// later is late.
    pub fn end(&mut self, scheduled: Option<Nanos>, now: Nanos) -> Nanos {
        self.end_at(scheduled.unwrap_or(Nanos::ZERO).max(self.last_left).min(now));
        self.stop
    }

    /// The stream, which somebody else sent, has ended by `now`; `told`: when, if they said so.
    pub fn end_elsewhere(&mut self, told: Option<Nanos>, now: Nanos) {
        self.end_at(told.or(self.scheduled_end).unwrap_or(now).min(now));
    }

    fn end_at(&mut self, at: Nanos) {
        self.stop = at;
        self.account.set_stop(at);
    }

    /// Whether everything that was sent is known to have arrived, or never will be known to. `received`: by all workers.
    pub fn complete(&self, received: u64) -> bool {
        if !self.probed {
            return true;
        }
        let known = self.account.sent_known() && self.sink != Sink::Control;
        known && received >= self.account.sent_count()
    }
}

const _: () = assert!(PROBE_LEN == flowgauge_measure::Probe::LEN);
