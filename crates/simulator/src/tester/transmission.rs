//! A transmission: accounts of its streams, its end, its drain, its outcome. The same as on the bench, but for the clock.

use flowgauge_clock::Nanos;
use flowgauge_ports::{PortStats, StampSource};
use flowgauge_traffic::{
    Drain, Options, Outcome, PortOutcome, Sorted, Sorter, Stream, StreamOutcome, StreamState,
};

use super::port::TxPort;
use crate::picos::Picos;

/// How often it is looked whether a drain is over.
const LOOK_EVERY: Nanos = Nanos::from_millis(1);

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

/// A transmission.
pub struct Transmission {
    /// Its number.
    pub id: u64,
    /// How far it has come.
    pub reached: Reached,
    streams: Vec<StreamState>,
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
        let window = options.window_of(streams);
        let state = |stream: &Stream| {
            let mut state = StreamState::new(stream, stream.tx_port.is_some(), ports, origin, window);
            state.begin(now);
            state
        };
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
            streams: streams.iter().map(state).collect(),
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

    /// A frame left. `due`: when it should have, of streams with a pace.
    #[inline]
    pub fn left(&mut self, port: usize, stream: usize, due: Option<Nanos>, at: Nanos) {
        let state = &mut self.streams[stream];
        state.left(at, 1);
        state.reserve(state.account.sent_count());
        if let Some(due) = due {
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
        let state = &mut self.streams[stream];
        if state.arrived_at(port, seq, left, at) {
            state.account.delayed(left, at, 1);
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
            Sorted::Damaged(stream) => self.streams[stream].account.corrupt(),
            Sorted::Earlier => self.earlier += 1,
            Sorted::Foreign => self.ports[port].foreign += 1,
        }
    }

    /// Sent and received so far, by stream.
    pub fn progress(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.streams.iter().map(|s| (s.account.sent_count(), s.account.received()))
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
        if let (Some(stream), Reached::Streams) = (self.streams.get_mut(stream), self.reached) {
            stream.hear(Some(frames));
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
    fn streams_end(&self, ports: &[TxPort], now: Nanos) -> Option<Nanos> {
        let mut sources = ports.iter().flat_map(TxPort::sources);
        if !sources.clone().all(|source| source.timetable.exhausted()) {
            return None;
        }
        if self.is_stopped {
            return Some(now);
        }
        let mut last =
            sources.by_ref().filter_map(|source| source.timetable.scheduled_stop()).max().unwrap_or(now);
        for stream in self.streams.iter().filter(|stream| !stream.account.sent_known()) {
            last = last.max(stream.scheduled_end()?);
        }
        Some(last.max(now))
    }

    fn end_streams(&mut self, ports: &[TxPort], now: Nanos) {
        for source in ports.iter().flat_map(TxPort::sources) {
            self.streams[source.stream].end(source.timetable.scheduled_stop(), now);
        }
        for stream in self.streams.iter_mut().filter(|stream| !stream.sent_here()) {
            stream.end_elsewhere(None, now);
        }
        self.stop = now;
        self.drain = Some(Drain::new(self.asked_drain, now));
        self.drain_began = now;
        self.reached = Reached::Draining;
    }

    fn drain_is_over(&mut self, now: Nanos) -> bool {
        let largest = self.streams.iter().filter_map(|s| s.account.latency().max_ns()).max().unwrap_or(0);
        // Of frames without probes nobody knows: they are waited for.
        let complete = self.streams.iter().all(|s| s.probed && s.complete(s.account.received()));
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
        let mut requested = vec![0; self.streams.len()];
        for source in ports.iter().flat_map(TxPort::sources) {
            requested[source.stream] = source.timetable.requested();
        }
        let ended = self.streams.into_iter().zip(requested);
        let streams = ended.map(|(state, requested)| StreamOutcome::new(state, requested));
        let times = (self.start, self.stop, self.end);
        Outcome::simulated(streams.collect(), self.ports, times, (self.origin, self.earlier), self.sorter)
    }
}
