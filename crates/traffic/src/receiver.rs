//! The receiving side of a worker's ports: what arrives, sorted and taken account of.

use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::Distribution;
use flowgauge_ports::{BURST, Burst, Port, PortError, PortStats, TxStamp};

use crate::outcome::{PortOutcome, TxLag};
use crate::ports::Queue;
use crate::sorter::{Sorted, Sorter};
use crate::state::StreamState;

/// How many frames are received before it is looked whether a paced stream's frame is due; a whole burst where none ever is.
const SHARE: usize = 32;
/// How many such shares are received from a port in one turn: more than are sent, so that receipt never falls behind.
const SHARES: usize = 4;
/// How long ports are emptied before the start, at the most.
const FLUSH: Nanos = Nanos::from_millis(50);

/// A queue of a port, and what came of it so far.
pub(crate) struct PortState {
    /// Of its port among all ports of the transmission.
    pub position: usize,
    pub port: Box<dyn Port>,
    /// Of its handle among all.
    number: usize,
    /// Where the accounts of what arrives here begin.
    accounts: usize,
    foreign: u64,
    strays: u64,
    bytes: u64,
    before: PortStats,
    tx_lag: Distribution,
}

pub(crate) struct Receiver {
    pub sorter: Sorter,
    /// Probes of earlier trials.
    pub earlier: u64,
    burst: Burst,
    departures: Vec<TxStamp>,
    origin: Nanos,
    /// What arrived before is not of this transmission.
    start: Nanos,
}

impl Receiver {
    pub fn new(sorter: Sorter, origin: Nanos) -> Receiver {
        let (burst, departures) = (Burst::new(), Vec::with_capacity(BURST));
        Receiver { sorter, earlier: 0, burst, departures, origin, start: origin }
    }

    /// Throws away what arrived before the start, and takes the counters from which this transmission counts.
    pub fn flush(&mut self, ports: &mut [PortState]) -> Result<(), PortError> {
        let began = Clock.now();
        let mut quiet = false;
        while !quiet && Clock.now() - began < FLUSH {
            quiet = true;
            for state in &mut *ports {
                let n = state.port.rx(&mut self.burst, BURST)?;
                state.strays += n as u64;
                state.port.free(&mut self.burst);
                quiet &= n == 0;
            }
        }
        for state in ports {
            state.before = state.port.stats();
            state.port.tx_stamps(&mut self.departures);
        }
        self.departures.clear();
        Ok(())
    }

    /// The transmission starts.
    pub fn begin(&mut self, at: Nanos) {
        self.start = at;
    }

    /// Receives from each port in turn what there is, within bounds: from each at least as much as was `sent`, so that
    /// receipt never falls behind, and no more once a paced stream's frame is due. Returns how many frames it was.
    #[inline]
    pub fn turn(
        &mut self,
        ports: &mut [PortState],
        streams: &mut [StreamState],
        (now, due): (Nanos, Nanos),
        sent: usize,
    ) -> Result<usize, PortError> {
        let share = if due == Nanos::MAX { BURST } else { SHARE };
        let mut all = 0;
        for state in ports {
            let streams = &mut streams[state.accounts..];
            let mut from_this = 0;
            for _ in 0..SHARES {
                let (n, now) = self.share(state, streams, share, now)?;
                from_this += n;
                if n < share || (now >= due && from_this >= sent) {
                    break;
                }
            }
            all += from_this;
        }
        Ok(all)
    }

    /// Receives a share of `most` frames; returns how many frames it was, and the time.
    #[inline]
    fn share(
        &mut self,
        state: &mut PortState,
        streams: &mut [StreamState],
        most: usize,
        now: Nanos,
    ) -> Result<(usize, Nanos), PortError> {
        let n = state.port.rx(&mut self.burst, most)?;
        if n == 0 {
            return Ok((0, now));
        }
        let now = Clock.now();
        let mut together = Together::default();
        for slot in self.burst.iter() {
            let at = slot.stamp().unwrap_or(now);
            state.bytes += slot.len() as u64;
            match self.sorter.sort(slot.bytes()) {
                Sorted::Ours(stream, probe) => {
                    let left = self.origin + probe.time;
                    if streams[stream].arrived_at(state.position, probe.seq, left, at) {
                        together.add(stream, left, at, streams);
                    }
                }
                _ if at < self.start => state.strays += 1,
                Sorted::Damaged(stream) => streams[stream].account.corrupt(),
                Sorted::Earlier => self.earlier += 1,
                Sorted::Foreign => state.foreign += 1,
            }
        }
        together.settle(streams);
        state.port.free(&mut self.burst);
        Ok((n, now))
    }

    /// Notes how late the frames left whose departures the ports have sampled.
    pub fn take_departures(&mut self, ports: &mut [PortState]) {
        for state in ports {
            state.port.tx_stamps(&mut self.departures);
            self.departures.drain(..).for_each(|stamp| state.tx_lag.record(stamp.left - stamp.handed));
        }
    }
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

impl PortState {
    pub fn new(queue: Queue, accounts: usize) -> PortState {
        let (before, tx_lag) = (PortStats::default(), Distribution::new());
        let Queue { port: position, number, handle: port } = queue;
        PortState { position, port, number, accounts, foreign: 0, strays: 0, bytes: 0, before, tx_lag }
    }

    pub fn into_queue(self) -> Queue {
        Queue { port: self.position, number: self.number, handle: self.port }
    }

    /// What came of it in a transmission that took so long.
    pub fn outcome(&mut self, elapsed: Nanos) -> PortOutcome {
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
