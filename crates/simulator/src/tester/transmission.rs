//! A transmission: accounts of its streams, its end, its drain, its outcome. The same as on the bench, but for the clock.

use flowgauge_clock::Nanos;
use flowgauge_measure::{Account, AccountOptions, GapErrors, Schedule};
use flowgauge_ports::{PortStats, StampSource};
use flowgauge_traffic::{
    Drain, Options, Outcome, PacketInCounts, PortOutcome, Sink, Sorted, Sorter, Stop, Stream, StreamOutcome,
};

use super::port::TxPort;
use crate::picos::Picos;

/// How often it is looked whether a drain is over.
const LOOK_EVERY: Nanos = Nanos::from_millis(1);
/// Sequence numbers for which there is room from the start, and ahead of what was sent.
const ROOM: u64 = 1 << 18;
const MOST_ROOM: u64 = 1 << 27;

/// How far a transmission has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Streams run.
    Streams,
    /// What is under way is waited for.
    Draining,
    /// It is over.
    Over,
}

/// What is kept of a stream.
struct State {
    id: u16,
    sink: Sink,
    probed: bool,
    account: Account,
    gaps: GapErrors,
    paced: bool,
    sent_here: bool,
    announced: Option<u64>,
    by_port: Vec<u64>,
    misrouted: u64,
    start: Nanos,
    stop: Nanos,
    last_left: Nanos,
    /// Where somebody else sends: the end that its schedule gives it.
    scheduled_end: Option<Nanos>,
}

/// A transmission.
pub struct Transmission {
    /// Its number.
    pub id: u64,
    /// How far it has come.
    pub reached: Reached,
    states: Vec<State>,
    ports: Vec<PortOutcome>,
    sorter: Sorter,
    /// Where its probes count time from.
    pub origin: Nanos,
    start: Nanos,
    stop: Nanos,
    end: Nanos,
    asked_drain: Option<Nanos>,
    drain: Option<Drain>,
    drain_began: Nanos,
    earlier: u64,
    is_stopped: bool,
    is_cut: bool,
}

impl State {
    fn new(stream: &Stream, ports: usize, origin: Nanos, now: Nanos, window: Nanos) -> State {
        let sent_here = stream.tx_port.is_some();
        let estimate = match stream.stop {
            Stop::After(duration) => stream.schedule.estimate_within(duration),
            Stop::Count(n) => Some(n),
            Stop::UntilStopped => None,
        };
        let expected = estimate.filter(|_| sent_here).unwrap_or(ROOM).clamp(1, MOST_ROOM);
        let mut account = Account::new(AccountOptions {
            expected,
            sent_here,
            flows: stream.frames.flows(),
            order: stream.flow_order,
            record: stream.record,
            origin,
            window,
        });
        let start = now + stream.start_after;
        account.begin(start);
        State {
            id: stream.id,
            sink: stream.sink,
            probed: stream.frames.is_probed(),
            account,
            gaps: GapErrors::new(stream.schedule.mean_gap()),
            paced: stream.schedule != Schedule::Max,
            sent_here,
            announced: None,
            by_port: vec![0; ports],
            misrouted: 0,
            start,
            stop: Nanos::MAX,
            last_left: Nanos::ZERO,
            scheduled_end: match stream.stop {
                Stop::After(duration) => Some(start + duration),
                Stop::Count(_) | Stop::UntilStopped => None,
            },
        }
    }

    fn complete(&self) -> bool {
        let known = self.account.sent_known() && self.sink != Sink::Control && self.probed;
        known && self.account.received() >= self.account.sent_count()
    }
}

impl Transmission {
    /// Starts now.
    pub fn new(
        id: u64,
        streams: &[Stream],
        options: Options,
        ports: usize,
        origin: Nanos,
        now: Nanos,
    ) -> Transmission {
        let window = options.window.unwrap_or_else(|| window(streams));
        let port = |number: usize| PortOutcome {
            name: format!("simulated {number}"),
            stats: PortStats { link_up: true, ..PortStats::default() },
            foreign: 0,
            strays: 0,
            rx_stamps: StampSource::Virtual,
            tx_stamps: StampSource::Virtual,
            tx_lag: None,
            ring: None,
        };
        Transmission {
            id,
            reached: Reached::Streams,
            states: streams.iter().map(|s| State::new(s, ports, origin, now, window)).collect(),
            ports: (1..=ports).map(port).collect(),
            sorter: Sorter::new(options.nonce, streams),
            origin,
            start: now,
            stop: Nanos::MAX,
            end: Nanos::MAX,
            asked_drain: options.drain,
            drain: None,
            drain_began: Nanos::ZERO,
            earlier: 0,
            is_stopped: false,
            is_cut: false,
        }
    }

    /// A frame left.
    #[inline]
    pub fn left(&mut self, port: usize, stream: usize, due: Nanos, at: Nanos) {
        let state = &mut self.states[stream];
        state.account.sent(at);
        state.last_left = at;
        if state.account.sent_count() + ROOM / 2 > state.account.room() {
            state.account.reserve(state.account.sent_count() + ROOM);
        }
        if state.paced {
            state.gaps.record(due, at);
        }
        self.ports[port].stats.tx_frames += 1;
    }

    /// A frame of one of its streams arrived, with its probe or without.
    #[inline]
    pub fn arrived(&mut self, port: usize, stream: usize, frame: (u64, Nanos, bool), at: Nanos) {
        self.ports[port].stats.rx_frames += 1;
        let (seq, left, is_probed) = frame;
        if is_probed { self.arrived_at(port, stream, (seq, left), at) } else { self.ports[port].foreign += 1 }
    }

    #[inline]
    fn arrived_at(&mut self, port: usize, stream: usize, (seq, left): (u64, Nanos), at: Nanos) {
        let state = &mut self.states[stream];
        state.by_port[port] += 1;
        match state.sink {
            Sink::Port(expected) if expected != port => state.misrouted += 1,
            Sink::Control => state.misrouted += 1,
            Sink::Any | Sink::Port(_) => {
                state.account.arrived(seq, left, at);
            }
        }
    }

    /// A frame of an earlier transmission arrived.
    pub fn arrived_late(&mut self, port: usize) {
        self.ports[port].stats.rx_frames += 1;
        self.earlier += 1;
    }

    /// A frame arrived whose bytes say what it is.
    pub fn arrived_raw(&mut self, port: usize, bytes: &[u8], at: Nanos) {
        self.ports[port].stats.rx_frames += 1;
        match self.sorter.sort(bytes) {
            Sorted::Ours(stream, probe) => {
                self.arrived_at(port, stream, (probe.seq, self.origin + probe.time), at);
            }
            Sorted::Damaged(stream) => self.states[stream].account.corrupt(),
            Sorted::Earlier => self.earlier += 1,
            Sorted::Foreign => self.ports[port].foreign += 1,
        }
    }

    /// Sent and received so far, by stream.
    pub fn progress(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.states.iter().map(|s| (s.account.sent_count(), s.account.received()))
    }

    /// Since the streams started, until they ended.
    pub fn elapsed(&self, now: Nanos) -> Nanos {
        self.stop.min(now) - self.start
    }

    /// All streams are to end.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// The drain is to end.
    pub fn cut_drain(&mut self) {
        self.is_cut = true;
    }

    /// Somebody else has sent that many frames of a stream.
    pub fn announce(&mut self, stream: usize, frames: u64) {
        if let Some(state) = self.states.get_mut(stream) {
            state.announced = Some(frames);
        }
    }

    /// Goes on as far as it can at this time; returns when to come again ([`Picos::MAX`]: when something has changed).
    pub fn advance(&mut self, ports: &[TxPort], now: Nanos) -> Picos {
        if self.reached == Reached::Streams {
            match self.streams_end(ports, now) {
                Some(at) if at <= now => self.end_streams(ports, now),
                Some(at) => return at.into(),
                None => return Picos::MAX,
            }
        }
        if self.reached == Reached::Draining {
            if !self.drain_is_over(now) {
                let asked = self.asked_drain.map(|drain| self.drain_began + drain);
                return asked.unwrap_or(now + LOOK_EVERY).into();
            }
            self.reached = Reached::Over;
            self.end = now;
        }
        Picos::MAX
    }

    /// When the streams end, if that can be said by now.
    fn streams_end(&mut self, ports: &[TxPort], now: Nanos) -> Option<Nanos> {
        let mut sources = ports.iter().flat_map(TxPort::sources);
        if !sources.clone().all(|source| source.timetable.exhausted()) {
            return None;
        }
        if self.is_stopped {
            return Some(now);
        }
        let mut last =
            sources.by_ref().filter_map(|source| source.timetable.scheduled_stop()).max().unwrap_or(now);
        for state in self.states.iter_mut().filter(|state| !state.sent_here) {
            if let (Some(frames), false) = (state.announced, state.account.sent_known()) {
                state.account.set_sent(frames);
            }
            if !state.account.sent_known() {
                last = last.max(state.scheduled_end?);
            }
        }
        Some(last.max(now))
    }

    fn end_streams(&mut self, ports: &[TxPort], now: Nanos) {
        for source in ports.iter().flat_map(TxPort::sources) {
            let state = &mut self.states[source.stream];
            let stop = source.timetable.scheduled_stop().unwrap_or(Nanos::ZERO).max(state.last_left).min(now);
            state.stop = stop;
            state.account.set_stop(stop);
        }
        for state in self.states.iter_mut().filter(|state| !state.sent_here) {
            state.stop = state.scheduled_end.map_or(now, |end| end.min(now));
            state.account.set_stop(state.stop);
        }
        self.stop = now;
        self.drain = Some(Drain::new(self.asked_drain, now));
        self.drain_began = now;
        self.reached = Reached::Draining;
    }

    fn drain_is_over(&mut self, now: Nanos) -> bool {
        let largest = self.states.iter().filter_map(|s| s.account.latency().max_ns()).max().unwrap_or(0);
        let complete = self.states.iter().all(State::complete);
        self.is_cut || self.drain.as_mut().is_none_or(|drain| drain.over(now, Nanos(largest), complete))
    }

    /// What came of it. One that is not over is cut off.
    pub fn finish(mut self, ports: &[TxPort], now: Nanos) -> Outcome {
        if self.reached == Reached::Streams {
            self.end_streams(ports, now);
        }
        if self.reached != Reached::Over {
            self.end = now;
        }
        let mut requested = vec![0; self.states.len()];
        for source in ports.iter().flat_map(TxPort::sources) {
            requested[source.stream] = source.timetable.requested();
        }
        let streams =
            self.states.into_iter().zip(requested).map(|(state, requested)| outcome(state, requested));
        let times = (self.start, self.stop, self.end);
        Outcome::simulated(streams.collect(), self.ports, times, (self.origin, self.earlier), self.sorter)
    }
}

fn outcome(state: State, requested: u64) -> StreamOutcome {
    let sent = state.account.sent_count();
    StreamOutcome {
        id: state.id,
        sink: state.sink,
        probed: state.probed,
        requested: requested.max(sent),
        not_offered: requested.saturating_sub(sent),
        gap_errors: state.gaps,
        by_port: state.by_port,
        misrouted: state.misrouted,
        packet_ins: PacketInCounts::default(),
        start: state.start,
        stop: state.stop,
        account: state.account,
    }
}

/// A hundredth of the longest stream.
fn window(streams: &[Stream]) -> Nanos {
    let length = |stream: &Stream| match stream.stop {
        Stop::After(duration) => duration,
        Stop::Count(n) => Nanos(stream.schedule.mean_gap().0.saturating_mul(n)),
        Stop::UntilStopped => Nanos::ZERO,
    };
    match streams.iter().map(length).max() {
        Some(Nanos(ns)) if ns >= 100_000 => Nanos(ns / 100),
        Some(_) | None => Nanos::from_millis(10),
    }
}
