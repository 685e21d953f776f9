//! The loop: one thread owns ports of a transmission and turns between sending what is due and receiving.
//!
//! Where there are several, each has its own ports, or its own queues of ports. A stream is sent by the worker that has its
//! queue, and each worker counts what of it arrives at its own; at the end the counts are put together ([`Part::merge`]).

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::StallLog;

use crate::drain::Drain;
use crate::error::TrafficError;
use crate::host::{self, Disturbance};
use crate::options::{Options, SpinPolicy};
use crate::part::{Part, QueuePart, together};
use crate::ports::{Queue, sets};
use crate::receiver::{PortState, Receiver};
use crate::sender::Sender;
use crate::shared::Shared;
use crate::sorter::Sorter;
use crate::source::Source;
use crate::state::StreamState;
use crate::stream::Stream;

/// How often, at the most, the loop looks at what need not be looked at in each turn.
const CHORES_EVERY: Nanos = Nanos::from_micros(100);
/// How often ports are asked whether they still work.
const CHECK_EVERY: Nanos = Nanos::from_millis(10);
/// How long the loop spins before it offers its core to others.
const SPIN: Nanos = Nanos::from_micros(50);

pub(crate) struct Worker {
    ports: Vec<PortState>,
    senders: Vec<Sender>,
    receiver: Receiver,
    /// All streams; where it has several queues of a port, all of them again for each further one, so that each queue's
    /// arrivals are counted by themselves: between queues there is no order.
    streams: Vec<StreamState>,
    shared: Arc<Shared>,
    options: Options,
    origin: Nanos,
    start: Nanos,
    stalls: StallLog,
    /// Whether the streams that it sends have ended, and everybody knows.
    announced: bool,
    next_chores: Nanos,
    next_check: Nanos,
    idle_since: Nanos,
    /// When the last burst left, if nothing happened since: the next turn need not look at the clock again.
    recent: Option<Nanos>,
}

/// Whether the loop is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Again,
    Done,
}

impl Worker {
    /// For `queues` of `all` ports that the transmission has. `senders`: the number of the queue that sends each stream.
    pub fn new(
        queues: Vec<Queue>,
        all: usize,
        (streams, senders): (&[Stream], &[Option<usize>]),
        options: Options,
        origin: Nanos,
        shared: Arc<Shared>,
    ) -> Worker {
        let window = options.window_of(streams);
        let sent_by = |queue: &Queue| {
            let number = Some(queue.number);
            streams.iter().zip(senders).enumerate().filter(move |(_, (_, sender))| **sender == number)
        };
        let sending = queues.iter().enumerate().map(|(i, queue)| {
            let source = |(position, (stream, _))| Source::new(position, stream, options.nonce);
            Sender::new(i, sent_by(queue).map(source).collect(), options.burst, origin)
        });
        let sending = sending.filter(|sender| !sender.sources.is_empty()).collect();
        let sent_here = |position| queues.iter().any(|queue| sent_by(queue).any(|(i, _)| i == position));
        let sets = sets(&queues);
        let count = |set: usize| {
            let state =
                move |(i, stream)| StreamState::new(stream, set == 0 && sent_here(i), all, origin, window);
            streams.iter().enumerate().map(state)
        };
        let states = (0..sets.iter().max().map_or(1, |last| last + 1)).flat_map(count).collect();
        let ports =
            queues.into_iter().zip(sets).map(|(queue, set)| PortState::new(queue, set * streams.len()));
        Worker {
            senders: sending,
            receiver: Receiver::new(Sorter::new(options.nonce, streams), origin),
            streams: states,
            ports: ports.collect(),
            shared,
            options,
            origin,
            start: origin,
            stalls: StallLog::default(),
            announced: false,
            next_chores: Nanos::ZERO,
            next_check: Nanos::ZERO,
            idle_since: origin,
            recent: None,
        }
    }

    /// The whole transmission.
    pub fn run(mut self) -> Part {
        let pinned = self.options.core.is_none_or(host::pin);
        let disturbance = Disturbance::begin();
        let result = self.transmit();
        let stop = Clock.now();
        self.end_streams(stop);
        let result = result.and_then(|()| self.drain());
        if result.is_err() {
            // What others still do is of no use.
            self.shared.stop.store(true, Relaxed);
            self.shared.cut_drain.store(true, Relaxed);
        }
        let end = Clock.now();
        self.publish();
        let disturbance = disturbance.end();
        self.finish(result.err(), disturbance, (stop, end), pinned)
    }

    /// From the start until all streams have ended.
    fn transmit(&mut self) -> Result<(), TrafficError> {
        let flushed = self.receiver.flush(&mut self.ports);
        self.start = self.shared.meet();
        flushed?;
        self.idle_since = self.start;
        self.receiver.begin(self.start);
        for source in self.senders.iter_mut().flat_map(|sender| &mut sender.sources) {
            source.timetable.begin(self.start);
        }
        self.streams.iter_mut().for_each(|stream| stream.begin(self.start));
        while self.turn(Worker::after_streams)? == Turn::Again {}
        Ok(())
    }

    /// From the end of the streams until nothing is expected any more, by any worker.
    fn drain(&mut self) -> Result<(), TrafficError> {
        let mut drain = Drain::new(self.options.drain, Clock.now());
        let mut voted = false;
        let mut chores = |worker: &mut Worker, now| {
            let largest = worker.streams.iter().filter_map(|s| s.account.latency().max_ns()).max();
            let mut counted = worker.streams.iter().zip(worker.shared.streams.iter().cycle());
            let complete = counted.all(|(stream, counts)| stream.complete(counts.received()));
            if !voted && drain.over(now, Nanos(largest.unwrap_or(0)), complete) {
                voted = true;
                worker.shared.vote();
            }
            if worker.shared.drained() { Turn::Done } else { Turn::Again }
        };
        while self.turn(&mut chores)? == Turn::Again {}
        Ok(())
    }

    /// One turn: send, receive, and now and then the chores, which say whether it was the last one.
    #[inline]
    fn turn(&mut self, chores: impl FnOnce(&mut Worker, Nanos) -> Turn) -> Result<Turn, TrafficError> {
        let now = self.recent.take().unwrap_or_else(|| Clock.now());
        self.stalls.turn(now);
        let mut moved = 0;
        for sender in &mut self.senders {
            let port = &mut *self.ports[sender.port].port;
            if let Some((frames, at)) = sender.turn(now, port, &mut self.streams)? {
                moved += frames;
                self.recent = Some(at);
            }
        }
        let due = self.senders.iter().map(Sender::next_paced).min().unwrap_or(Nanos::MAX);
        let received = self.receiver.turn(&mut self.ports, &mut self.streams, (now, due), moved)?;
        if due != Nanos::MAX || received > 0 {
            self.recent = None;
        }
        moved += received;
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

    /// What every tenth of a millisecond is soon enough for.
    fn chores(&mut self, now: Nanos) -> Result<(), TrafficError> {
        self.next_chores = now + CHORES_EVERY;
        if self.shared.stop.load(Relaxed) {
            self.senders.iter_mut().for_each(|sender| sender.cut(now));
        }
        for sender in &mut self.senders {
            sender.expire(now, &mut *self.ports[sender.port].port);
        }
        self.publish();
        for (stream, counts) in self.streams.iter_mut().zip(self.shared.streams.iter().cycle()) {
            stream.reserve(counts.sent.load(Relaxed));
            stream.hear(counts.announced());
        }
        if now >= self.next_check {
            self.next_check = now + CHECK_EVERY;
            for state in &mut self.ports {
                state.port.check()?;
            }
            self.receiver.take_departures(&mut self.ports);
        }
        Ok(())
    }

    fn publish(&mut self) {
        for (stream, counts) in self.streams.iter_mut().zip(self.shared.streams.iter().cycle()) {
            if stream.sent_here() {
                counts.sent.store(stream.account.sent_count(), Relaxed);
            }
            counts.add_received(stream.newly_received());
        }
    }

    /// While streams run: done when all have ended and the last one's time is over.
    fn after_streams(&mut self, now: Nanos) -> Turn {
        let stopped = self.shared.stop.load(Relaxed);
        let sources = self.senders.iter().flat_map(|sender| &sender.sources);
        let last = sources.filter_map(|source| source.timetable.scheduled_stop()).max();
        let over = stopped || last.is_none_or(|last| now >= last);
        let ours = over && self.senders.iter().all(Sender::exhausted);
        if ours {
            self.announce(now);
        }
        let mut others = self.streams.iter().filter(|stream| !stream.sent_here());
        let theirs = stopped || others.all(|stream| stream.ended_elsewhere(now));
        if ours && theirs { Turn::Done } else { Turn::Again }
    }

    /// Notes when each stream that it sends ended, and tells the other workers.
    fn announce(&mut self, now: Nanos) {
        if std::mem::replace(&mut self.announced, true) {
            return;
        }
        for source in self.senders.iter().flat_map(|sender| &sender.sources) {
            let stream = &mut self.streams[source.stream];
            let stop = stream.end(source.timetable.scheduled_stop(), now);
            self.shared.streams[source.stream].end(stream.account.sent_count(), stop);
        }
    }

    /// Notes when each stream ended.
    fn end_streams(&mut self, now: Nanos) {
        self.announce(now);
        for (stream, counts) in self.streams.iter_mut().zip(self.shared.streams.iter().cycle()) {
            if !stream.sent_here() {
                stream.end_elsewhere(counts.stop(), now);
            }
        }
        self.shared.end(now);
    }

    fn finish(
        mut self,
        error: Option<TrafficError>,
        disturbance: Disturbance,
        (stop, end): (Nanos, Nanos),
        pinned: bool,
    ) -> Part {
        self.receiver.take_departures(&mut self.ports);
        let mut requested = vec![0; self.shared.streams.len()];
        for sender in &mut self.senders {
            sender.finish(&mut *self.ports[sender.port].port);
            for source in &sender.sources {
                requested[source.stream] = source.timetable.requested();
            }
        }
        let elapsed = stop - self.start;
        let queue =
            |mut state: PortState| QueuePart { outcome: state.outcome(elapsed), queue: state.into_queue() };
        Part {
            queues: self.ports.into_iter().map(queue).collect(),
            streams: together(self.streams, requested.len()).into_iter().zip(requested).collect(),
            times: (self.start, stop, end),
            origin: self.origin,
            stalls: self.stalls,
            disturbance,
            earlier: self.receiver.earlier,
            pinned,
            error,
            sorter: self.receiver.sorter,
        }
    }
}
