//! The loop: one thread owns all ports of a transmission and turns between sending what is due and receiving.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::{Distribution, StallLog};
use flowgauge_ports::{BURST, Burst, Port, PortStats, TxStamp};

use crate::drain::Drain;
use crate::error::TrafficError;
use crate::host::{self, Disturbance};
use crate::options::{Options, SpinPolicy};
use crate::outcome::{Outcome, PortOutcome, StreamOutcome, TxLag};
use crate::running::Finished;
use crate::sender::Sender;
use crate::shared::Shared;
use crate::sorter::{Sorted, Sorter};
use crate::source::Source;
use crate::state::StreamState;
use crate::stream::{Stop, Stream};

/// How often the loop looks at what need not be looked at in each turn.
const CHORES_EVERY: Nanos = Nanos::from_micros(100);
/// How often ports are asked whether they still work.
const CHECK_EVERY: Nanos = Nanos::from_millis(10);
/// How long the loop spins before it offers its core to others.
const SPIN: Nanos = Nanos::from_micros(50);
/// How many frames it receives before it looks whether a paced stream's frame is due.
const RX_SHARE: usize = 32;
/// How many such shares it receives from a port in one turn: more than are sent, so that receipt never falls behind.
const RX_SHARES: usize = 4;
/// How long it empties ports before the start, at the most.
const FLUSH: Nanos = Nanos::from_millis(50);

pub(crate) struct Worker {
    ports: Vec<PortState>,
    senders: Vec<Sender>,
    streams: Vec<StreamState>,
    sorter: Sorter,
    shared: Arc<Shared>,
    options: Options,
    origin: Nanos,
    start: Nanos,
    stalls: StallLog,
    received: Burst,
    departures: Vec<TxStamp>,
    earlier: u64,
    next_chores: Nanos,
    next_check: Nanos,
    idle_since: Nanos,
}

struct PortState {
    port: Box<dyn Port>,
    foreign: u64,
    strays: u64,
    bytes: u64,
    before: PortStats,
    tx_lag: Distribution,
}

/// Frames of one stream that left in one burst and arrived in one: they share their delay, which is noted once.
#[derive(Default)]
struct Together {
    stream: usize,
    left: Nanos,
    arrived: Nanos,
    frames: u64,
}

impl Together {
    #[inline]
    fn add(&mut self, stream: usize, left: Nanos, arrived: Nanos, streams: &mut [StreamState]) {
        if (self.stream, self.left, self.arrived) != (stream, left, arrived) {
            self.settle(streams);
            *self = Together { stream, left, arrived, frames: 0 };
        }
        self.frames += 1;
    }

    #[inline]
    fn settle(&self, streams: &mut [StreamState]) {
        if self.frames > 0 {
            streams[self.stream].account.delayed(self.left, self.arrived, self.frames);
        }
    }
}

/// Whether the loop is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Again,
    Done,
}

impl Worker {
    pub fn new(
        ports: Vec<Box<dyn Port>>,
        streams: Vec<Stream>,
        options: Options,
        origin: Nanos,
        shared: Arc<Shared>,
    ) -> Worker {
        let window = options.window.unwrap_or_else(|| window(&streams));
        let states = streams.iter().map(|stream| StreamState::new(stream, ports.len(), origin, window));
        let states = states.collect();
        let sources = |port| {
            let mine = streams.iter().enumerate().filter(move |(_, stream)| stream.tx_port == Some(port));
            mine.map(|(position, stream)| Source::new(position, stream, options.nonce)).collect::<Vec<_>>()
        };
        let senders = (0..ports.len()).map(|port| Sender::new(port, sources(port), options.burst, origin));
        let senders = senders.filter(|sender| !sender.sources.is_empty()).collect();
        Worker {
            senders,
            sorter: Sorter::new(options.nonce, &streams),
            ports: ports.into_iter().map(PortState::new).collect(),
            streams: states,
            shared,
            options,
            origin,
            start: origin,
            stalls: StallLog::default(),
            received: Burst::new(),
            departures: Vec::with_capacity(BURST),
            earlier: 0,
            next_chores: Nanos::ZERO,
            next_check: Nanos::ZERO,
            idle_since: origin,
        }
    }

    /// The whole transmission.
    pub fn run(mut self) -> Finished {
        let pinned = self.options.core.is_none_or(host::pin);
        let disturbance = Disturbance::begin();
        let result = self.transmit();
        let stop = Clock.now();
        self.end_streams(stop);
        self.shared.end(stop);
        let result = result.and_then(|()| self.drain());
        let end = Clock.now();
        self.publish();
        let disturbance = disturbance.end();
        self.finish(result.err(), disturbance, (stop, end), pinned)
    }

    /// From the start until all streams have ended.
    fn transmit(&mut self) -> Result<(), TrafficError> {
        self.flush()?;
        self.start = Clock.now();
        self.idle_since = self.start;
        for source in self.senders.iter_mut().flat_map(|sender| &mut sender.sources) {
            source.begin(self.start);
        }
        self.streams.iter_mut().for_each(|stream| stream.begin(self.start));
        self.shared.begin(self.start);
        while self.turn(Worker::after_streams)? == Turn::Again {}
        Ok(())
    }

    /// From the end of the streams until nothing is expected any more.
    fn drain(&mut self) -> Result<(), TrafficError> {
        let mut drain = Drain::new(self.options.drain, Clock.now());
        let chores = |worker: &mut Worker, now| {
            let streams = &worker.streams;
            let largest = streams.iter().filter_map(|s| s.account.latency().max_ns()).max().unwrap_or(0);
            let complete = streams.iter().all(StreamState::complete);
            let cut = worker.shared.cut_drain.load(Relaxed);
            if cut || drain.over(now, Nanos(largest), complete) { Turn::Done } else { Turn::Again }
        };
        let mut chores = chores;
        while self.turn(&mut chores)? == Turn::Again {}
        Ok(())
    }

    /// One turn: send, receive, and now and then the chores, which say whether it was the last one.
    #[inline]
    fn turn(&mut self, chores: impl FnOnce(&mut Worker, Nanos) -> Turn) -> Result<Turn, TrafficError> {
        let now = Clock.now();
        self.stalls.turn(now);
        let mut moved = 0;
        for sender in &mut self.senders {
            let port = &mut *self.ports[sender.port].port;
            moved += sender.turn(now, port, &mut self.streams)?;
        }
        moved += self.receive_from_all(now, moved)?;
        if moved > 0 {
            self.idle_since = now;
        } else if self.options.spin == SpinPolicy::SpinThenYield && now - self.idle_since > SPIN {
            self.offer_core(now);
        }
        if now < self.next_chores {
            return Ok(Turn::Again);
        }
        self.chores(now)?;
        Ok(chores(self, now))
    }

    /// Lets others run, unless a frame is due soon.
    fn offer_core(&mut self, now: Nanos) {
        let due = self.senders.iter().map(Sender::next_due);
        let events = self.ports.iter().filter_map(|port| port.port.next_event());
        if due.chain(events).all(|at| at > now + SPIN) {
            std::thread::yield_now();
        }
    }

    /// Receives from each port in turn what there is, within bounds: from each at least as much as was `sent`, so that
    /// receipt never falls behind, and no more while a paced stream's frame is due.
    #[inline]
    fn receive_from_all(&mut self, now: Nanos, sent: usize) -> Result<usize, TrafficError> {
        let due = self.senders.iter().map(Sender::next_paced).min().unwrap_or(Nanos::MAX);
        let mut all = 0;
        for port in 0..self.ports.len() {
            let mut from_this = 0;
            for _ in 0..RX_SHARES {
                let (n, now) = self.receive(port, now)?;
                from_this += n;
                if n < RX_SHARE || (now >= due && from_this >= sent) {
                    break;
                }
            }
            all += from_this;
        }
        Ok(all)
    }

    /// Receives a share; returns how many frames it was, and the time.
    #[inline]
    fn receive(&mut self, port: usize, now: Nanos) -> Result<(usize, Nanos), TrafficError> {
        let state = &mut self.ports[port];
        let n = state.port.rx(&mut self.received, RX_SHARE)?;
        if n == 0 {
            return Ok((0, now));
        }
        let now = Clock.now();
        let mut together = Together::default();
        for slot in self.received.iter() {
            let at = slot.stamp().unwrap_or(now);
            state.bytes += slot.len() as u64;
            match self.sorter.sort(slot.bytes()) {
                Sorted::Ours(stream, probe) => {
                    let left = self.origin + probe.time;
                    if self.streams[stream].arrived_at(port, probe.seq, left, at) {
                        together.add(stream, left, at, &mut self.streams);
                    }
                }
                _ if at < self.start => state.strays += 1,
                Sorted::Damaged(stream) => self.streams[stream].account.corrupt(),
                Sorted::Earlier => self.earlier += 1,
                Sorted::Foreign => state.foreign += 1,
            }
        }
        together.settle(&mut self.streams);
        state.port.free(&mut self.received);
        Ok((n, now))
    }

    /// Throws away what arrived before the start, and takes the counters from which this transmission counts.
    fn flush(&mut self) -> Result<(), TrafficError> {
        let began = Clock.now();
        let mut quiet = false;
        while !quiet && Clock.now() - began < FLUSH {
            quiet = true;
            for state in &mut self.ports {
                let n = state.port.rx(&mut self.received, BURST)?;
                state.strays += n as u64;
                state.port.free(&mut self.received);
                quiet &= n == 0;
            }
        }
        for state in &mut self.ports {
            state.before = state.port.stats();
            state.port.tx_stamps(&mut self.departures);
        }
        self.departures.clear();
        Ok(())
    }

    /// What every tenth of a millisecond is soon enough for.
    fn chores(&mut self, now: Nanos) -> Result<(), TrafficError> {
        self.next_chores = now + CHORES_EVERY;
        if self.shared.stop.load(Relaxed) {
            self.senders.iter_mut().for_each(|sender| sender.cut(now));
        }
        for sender in &mut self.senders {
            sender.expire(now, &mut *self.ports[sender.port].port);
        }
        self.streams.iter_mut().for_each(StreamState::reserve);
        self.publish();
        if now >= self.next_check {
            self.next_check = now + CHECK_EVERY;
            for state in &mut self.ports {
                state.port.check()?;
            }
            self.take_departures();
        }
        Ok(())
    }

    /// Notes how late the frames left whose departures the ports have sampled.
    fn take_departures(&mut self) {
        for state in &mut self.ports {
            state.port.tx_stamps(&mut self.departures);
            self.departures.drain(..).for_each(|stamp| state.tx_lag.record(stamp.left - stamp.handed));
        }
    }

    fn publish(&mut self) {
        for (counts, stream) in self.shared.streams.iter().zip(&self.streams) {
            counts.sent.store(stream.account.sent_count(), Relaxed);
            counts.received.store(stream.account.received(), Relaxed);
        }
    }

    /// While streams run: done when all have ended and the last one's time is over.
    fn after_streams(&mut self, now: Nanos) -> Turn {
        let stopped = self.shared.stop.load(Relaxed);
        let ours = self.senders.iter().all(Sender::exhausted);
        let sources = self.senders.iter().flat_map(|sender| &sender.sources);
        let last = sources.filter_map(Source::scheduled_stop).max();
        let mut theirs = true;
        for (counts, stream) in self.shared.streams.iter().zip(&mut self.streams) {
            theirs &= stream.sent_here() || stream.ended_elsewhere(now, counts.announced()) || stopped;
        }
        let over = stopped || last.is_none_or(|last| now >= last);
        if ours && theirs && over { Turn::Done } else { Turn::Again }
    }

    /// Notes when each stream ended.
    fn end_streams(&mut self, now: Nanos) {
        for source in self.senders.iter().flat_map(|sender| &sender.sources) {
            let stream = &mut self.streams[source.stream];
            stream.end(source.scheduled_stop().unwrap_or(Nanos::ZERO).max(stream.last_left).min(now));
        }
        for stream in self.streams.iter_mut().filter(|stream| !stream.sent_here()) {
            stream.end(stream.scheduled_end().map_or(now, |end| end.min(now)));
        }
    }

    fn finish(
        mut self,
        error: Option<TrafficError>,
        disturbance: Disturbance,
        (stop, end): (Nanos, Nanos),
        pinned: bool,
    ) -> Finished {
        self.take_departures();
        let mut requested = vec![0; self.streams.len()];
        for sender in &mut self.senders {
            sender.finish(&mut *self.ports[sender.port].port);
            for source in &sender.sources {
                requested[source.stream] = source.taken() + source.skipped;
            }
        }
        let elapsed = stop - self.start;
        let outcome = Outcome {
            streams: self.streams.into_iter().zip(requested).map(|(s, n)| StreamOutcome::new(s, n)).collect(),
            ports: self.ports.iter_mut().map(|port| port.outcome(elapsed)).collect(),
            start: self.start,
            stop,
            end,
            origin: self.origin,
            stalls: self.stalls,
            involuntary_switches: disturbance.involuntary_switches,
            steal: disturbance.steal,
            earlier: self.earlier,
            pinned,
            error,
            sorter: self.sorter,
        };
        Finished { ports: self.ports.into_iter().map(|state| state.port).collect(), outcome }
    }
}

impl PortState {
    fn new(port: Box<dyn Port>) -> PortState {
        let (before, tx_lag) = (PortStats::default(), Distribution::new());
        PortState { port, foreign: 0, strays: 0, bytes: 0, before, tx_lag }
    }

    fn outcome(&mut self, elapsed: Nanos) -> PortOutcome {
        let stats = self.port.stats().since(self.before);
        let capabilities = self.port.capabilities();
        let length = self.bytes / stats.rx_frames.max(1);
        let lasts = |frames: u64| Nanos((frames as f64 * elapsed.0 as f64 / stats.rx_frames as f64) as u64);
        let ring = (stats.rx_frames > 0).then(|| lasts(capabilities.rx_capacity.frames(length)));
        PortOutcome {
            name: self.port.describe().to_owned(),
            stats,
            foreign: self.foreign,
            strays: self.strays,
            rx_stamps: capabilities.rx_stamps,
            tx_stamps: capabilities.tx_stamps,
            tx_lag: TxLag::of(&self.tx_lag),
            ring,
        }
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
