//! The reading side: one loop over all ports, which never waits for the file.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use flowgauge_clock::{Clock, Nanos, WallOffset};
use flowgauge_ports::pcap::InterfaceCounts;
use flowgauge_ports::{BURST, Burst, Port, PortStats, StampSource};

use super::judge::Judge;
use super::writer::{CHUNK, Chunk, Queue};
use super::{CaptureOptions, CaptureOutcome, Captured, Shared};
use crate::error::TrafficError;
use crate::host;
use crate::ports::Ports;

/// How often the loop looks at what need not be looked at in each turn.
const CHORES_EVERY: Nanos = Nanos::from_millis(10);
/// How long a chunk that is not full may wait before it goes to the file.
const HAND_OVER_AFTER: Nanos = Nanos::from_millis(100);
/// How long the loop spins before it rests.
const SPIN: Nanos = Nanos::from_micros(50);
/// How long it rests where somebody else stamps frames.
const REST: Duration = Duration::from_micros(100);
/// How long it reads what is left in the ring of a port that has failed, at the most.
const REST_OF_FAILED: Nanos = Nanos::from_millis(100);

pub(super) struct Reader {
    /// The queues of all ports.
    ports: Vec<Box<dyn Port>>,
    /// The port that each of them belongs to.
    owners: Vec<usize>,
    before: Vec<PortStats>,
    queue: Option<Queue>,
    /// What frames are written into; `None`: all chunks are full, or there is no file.
    chunk: Option<Chunk>,
    chunk_since: Nanos,
    judge: Option<Judge>,
    options: CaptureOptions,
    shared: Arc<Shared>,
    offset: WallOffset,
    burst: Burst,
    frames: u64,
    bytes: u64,
    lost: u64,
    /// Frames lost by queue.
    lost_at: Vec<u64>,
    left: u64,
    end: Nanos,
    next_chores: Nanos,
    idle_since: Nanos,
    /// Whether frames get their time when they are read, so that reading must not be late.
    stamps_here: bool,
}

impl Reader {
    pub fn new(ports: Ports, queue: Option<Queue>, options: CaptureOptions, shared: Arc<Shared>) -> Reader {
        let now = Clock.now();
        let (owners, ports) = (ports.owners().to_vec(), ports.into_handles());
        Reader {
            owners,
            before: vec![PortStats::default(); ports.len()],
            lost_at: vec![0; ports.len()],
            stamps_here: ports.iter().any(|port| port.capabilities().rx_stamps == StampSource::User),
            queue,
            chunk: None,
            chunk_since: now,
            judge: options.probes.then(Judge::new),
            left: options.count.unwrap_or(u64::MAX),
            end: options.duration.map_or(Nanos::MAX, |duration| now + duration),
            options,
            shared,
            offset: Clock.offset_from_wall(),
            burst: Burst::new(),
            frames: 0,
            bytes: 0,
            lost: 0,
            next_chores: Nanos::ZERO,
            idle_since: now,
            ports,
        }
    }

    /// The whole capture.
    pub fn run(mut self) -> Captured {
        self.options.core.map(host::pin);
        self.begin();
        let error = self.read().err();
        self.shared.end.store(Clock.now().0, Relaxed);
        self.finish(error)
    }

    fn begin(&mut self) {
        for (before, port) in self.before.iter_mut().zip(&mut self.ports) {
            *before = port.stats();
        }
        let Some(queue) = &self.queue else { return };
        let Some(mut chunk) = queue.take() else { return };
        let names: Vec<_> = self.firsts().map(|port| port.describe()).collect();
        queue.format.start(&names, self.options.snaplen, &mut chunk.records);
        // The start goes to the file at once, so that who reads along can begin, and a file without frames is whole.
        queue.give(chunk);
        self.chunk = queue.take();
    }

    fn read(&mut self) -> Result<(), TrafficError> {
        while self.left > 0 {
            let came = self.receive_each()?;
            let now = Clock.now();
            if came > 0 {
                self.idle_since = now;
            } else {
                self.rest(now);
            }
            if now >= self.next_chores && self.chores(now).inspect_err(|_| self.receive_left(now))? {
                break;
            }
        }
        Ok(())
    }

    /// A port does not work any more: what came before is still in its ring.
    fn receive_left(&mut self, now: Nanos) {
        while Clock.now() - now < REST_OF_FAILED && self.left > 0 && self.receive_each().is_ok_and(|n| n > 0)
        {
        }
    }

    /// A burst of each port at the most; returns how many frames it was.
    #[inline]
    fn receive_each(&mut self) -> Result<usize, TrafficError> {
        let mut came = 0;
        for port in 0..self.ports.len() {
            came += self.receive(port)?;
        }
        Ok(came)
    }

    #[inline]
    fn receive(&mut self, port: usize) -> Result<usize, TrafficError> {
        let most = self.left.min(BURST as u64) as usize;
        let n = self.ports[port].rx(&mut self.burst, most)?;
        if n == 0 {
            return Ok(0);
        }
        let now = Clock.now();
        self.left -= n as u64;
        self.frames += n as u64;
        if self.chunk.is_none() {
            self.chunk = self.queue.as_ref().and_then(Queue::take);
            self.chunk_since = now;
        }
        for slot in self.burst.iter() {
            let at = slot.stamp().unwrap_or(now);
            let frame = slot.bytes();
            self.bytes += frame.len() as u64;
            if let Some(judge) = &mut self.judge {
                judge.frame(frame, at);
            }
            match (&mut self.chunk, &self.queue) {
                (Some(chunk), Some(queue)) => {
                    let (wall, snaplen) = (self.offset.to_wall(at), self.options.snaplen);
                    queue.format.record(self.owners[port] as u32, wall, frame, snaplen, &mut chunk.records);
                    chunk.frames += 1;
                }
                (None, Some(_)) => {
                    self.lost += 1;
                    self.lost_at[port] += 1;
                }
                (_, None) => {}
            }
        }
        self.ports[port].free(&mut self.burst);
        if self.chunk.as_ref().is_some_and(|chunk| chunk.records.len() >= CHUNK) {
            self.hand_over(now);
        }
        Ok(n)
    }

    fn hand_over(&mut self, now: Nanos) {
        if let (Some(chunk), Some(queue)) = (self.chunk.take(), &self.queue) {
            queue.give(chunk);
            self.chunk = queue.take();
            self.chunk_since = now;
        }
    }

    fn rest(&mut self, now: Nanos) {
        if now - self.idle_since < SPIN {
            return;
        }
        if self.stamps_here {
            std::thread::yield_now();
        } else {
            std::thread::sleep(REST);
        }
    }

    /// Now and then; whether it is over.
    fn chores(&mut self, now: Nanos) -> Result<bool, TrafficError> {
        self.next_chores = now + CHORES_EVERY;
        self.offset = Clock.offset_from_wall();
        let waits = self.chunk.as_ref().is_some_and(|chunk| !chunk.records.is_empty());
        if waits && now - self.chunk_since > HAND_OVER_AFTER {
            self.hand_over(now);
        }
        self.publish();
        for port in &mut self.ports {
            port.check()?;
        }
        let broken = self.queue.as_ref().is_some_and(Queue::broken);
        Ok(broken || now >= self.end || self.shared.stop.load(Relaxed))
    }

    fn publish(&mut self) -> Vec<PortStats> {
        let counted: Vec<_> = self
            .ports
            .iter_mut()
            .zip(&self.before)
            .map(|(port, before)| port.stats().since(*before))
            .collect();
        self.shared.frames.store(self.frames, Relaxed);
        self.shared.bytes.store(self.bytes, Relaxed);
        self.shared.lost.store(self.lost, Relaxed);
        self.shared.dropped.store(counted.iter().map(|stats| stats.rx_dropped).sum(), Relaxed);
        counted
    }

    /// The first queue of each port: it tells what holds for all of them.
    fn firsts(&self) -> impl Iterator<Item = &Box<dyn Port>> {
        let first = |i: usize| i == 0 || self.owners[i] != self.owners[i - 1];
        self.ports.iter().enumerate().filter(move |&(i, _)| first(i)).map(|(_, port)| port)
    }

    /// What each port counted, and how many of its frames were lost.
    fn by_port(&self, counted: &[PortStats]) -> Vec<(PortStats, u64)> {
        let mut ports: Vec<(PortStats, u64)> = Vec::new();
        for ((&owner, stats), lost) in self.owners.iter().zip(counted).zip(&self.lost_at) {
            match ports.get_mut(owner) {
                Some((all, all_lost)) => (*all, *all_lost) = (all.and(*stats), *all_lost + lost),
                None => ports.push((*stats, *lost)),
            }
        }
        ports
    }

    fn finish(mut self, error: Option<TrafficError>) -> Captured {
        let counted = self.publish();
        let stats = self.by_port(&counted);
        let write_error = self.queue.take().and_then(|queue| {
            let counts: Vec<_> = stats.iter().map(counts).collect();
            if let Some(mut chunk) = self.chunk.take().or_else(|| queue.wait()) {
                queue.format.end(self.offset.to_wall(Clock.now()), &counts, &mut chunk.records);
                queue.give(chunk);
            }
            queue.finish().err()
        });
        if write_error.is_some() {
            self.shared.lost.store(self.frames - self.shared.in_file.load(Relaxed), Relaxed);
        }
        let outcome = CaptureOutcome {
            progress: self.shared.progress(),
            ports: (self.firsts().zip(&stats))
                .map(|(port, (stats, _))| (port.describe().to_owned(), stats.rx_frames, stats.rx_dropped))
                .collect(),
            stamps: self.firsts().map(|port| port.capabilities().rx_stamps).collect(),
            probes: self.judge.map(Judge::finish).unwrap_or_default(),
            error,
            write_error,
        };
        Captured { ports: self.ports, outcome }
    }
}

fn counts((stats, lost): &(PortStats, u64)) -> InterfaceCounts {
    InterfaceCounts { received: stats.rx_frames + stats.rx_dropped, dropped: stats.rx_dropped, lost: *lost }
}
