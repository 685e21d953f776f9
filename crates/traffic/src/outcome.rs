//! What came of a transmission.

use flowgauge_clock::Nanos;
use flowgauge_measure::{Account, Distribution, GapErrors, StallLog};
use flowgauge_ports::{PortStats, StampSource};

use crate::error::TrafficError;
use crate::sorter::{Sorted, Sorter};
use crate::state::StreamState;
use crate::stream::Sink;

/// What came of a transmission. Times are on the tester's clock.
pub struct Outcome {
    /// In the order in which they were given.
    pub streams: Vec<StreamOutcome>,
    /// In the order in which they were given.
    pub ports: Vec<PortOutcome>,
    /// When the streams started.
    pub start: Nanos,
    /// When the last stream ended; the drain came after it.
    pub stop: Nanos,
    /// When the drain was over.
    pub end: Nanos,
    /// Where probes count their time from.
    pub origin: Nanos,
    /// Turns of the loop that took long.
    pub stalls: StallLog,
    /// How often the loop's thread was taken off its core against its will.
    pub involuntary_switches: u64,
    /// Time that the hypervisor gave to others, over all cores.
    pub steal: Nanos,
    /// Probes of earlier trials that arrived.
    pub earlier: u64,
    /// Whether the thread could be bound to the core that was asked for.
    pub pinned: bool,
    /// Why the transmission broke, if it did. What was counted until then stands.
    pub error: Option<TrafficError>,
    pub(crate) sorter: Sorter,
}

/// What came of a stream.
pub struct StreamOutcome {
    /// Its number.
    pub id: u16,
    /// Where it was expected.
    pub sink: Sink,
    /// Sent, received, lost and so on; delays; arrivals.
    pub account: Account,
    /// Whether its frames bore probes. Of others, arrivals are not recognised: they count as foreign, and `account` knows no
    /// more than what was sent.
    pub probed: bool,
    /// Frames that the schedule asked for until the stream's end.
    pub requested: u64,
    /// Frames that were asked for and did not leave.
    pub not_offered: u64,
    /// How far departures missed their schedule; empty for Max.
    pub gap_errors: GapErrors,
    /// Frames that arrived at each port, further copies included.
    pub by_port: Vec<u64>,
    /// Frames that arrived where they were not expected, further copies included.
    pub misrouted: u64,
    /// Frames that arrived in PACKET_INs.
    pub packet_ins: PacketInCounts,
    /// When it started.
    pub start: Nanos,
    /// When it ended.
    pub stop: Nanos,
}

/// Frames of a stream in PACKET_INs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketInCounts {
    /// How many there were, further copies included.
    pub count: u64,
    /// The fewest bytes of the frame in one; `None` when there was none.
    pub shortest: Option<usize>,
    /// How many named a buffer.
    pub buffered: u64,
}

/// What came of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortOutcome {
    /// What it is.
    pub name: String,
    /// Its counters over the transmission.
    pub stats: PortStats,
    /// Frames that were not ours.
    pub foreign: u64,
    /// Frames of all kinds that had arrived before the start and were thrown away.
    pub strays: u64,
    /// Where its received frames are stamped.
    pub rx_stamps: StampSource,
    /// Where its departures are sampled.
    pub tx_stamps: StampSource,
    /// How much later than the times in the probes frames left, by those samples; `None` without any. Of several queues: of
    /// the one where that was most.
    pub tx_lag: Option<TxLag>,
    /// How long its receive side lasts at the rate of this transmission, with nobody polling; `None` if nothing arrived.
    pub ring: Option<Nanos>,
}

impl PortOutcome {
    /// Adds what came of another queue of the same port.
    pub(crate) fn merge(&mut self, other: &PortOutcome) {
        self.stats = self.stats.and(other.stats);
        self.foreign += other.foreign;
        self.strays += other.strays;
        self.tx_lag = [self.tx_lag, other.tx_lag].into_iter().flatten().max_by_key(|lag| lag.p50_ns);
        self.ring = [self.ring, other.ring].into_iter().flatten().min();
    }
}

/// How much later frames left than they were handed over: of the sampled departures of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxLag {
    /// How many departures were sampled.
    pub samples: u64,
    /// Median, in ns.
    pub p50_ns: u64,
    /// 99th percentile, in ns.
    pub p99_ns: u64,
}

impl TxLag {
    pub(crate) fn of(lags: &Distribution) -> Option<TxLag> {
        let (p50_ns, p99_ns) = (lags.percentile_ns(50.0)?, lags.percentile_ns(99.0)?);
        Some(TxLag { samples: lags.count(), p50_ns, p99_ns })
    }
}

/// A frame inside a PACKET_IN.
#[derive(Clone, Copy, Debug)]
pub struct PacketIn<'a> {
    /// The bytes of the frame that the message holds.
    pub frame: &'a [u8],
    /// When the message arrived.
    pub at: Nanos,
    /// Whether it names a buffer.
    pub buffered: bool,
}

impl StreamOutcome {
    /// Of a stream that has ended, of which that many frames were asked for.
    pub fn new(state: StreamState, requested: u64) -> StreamOutcome {
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

    fn count_packet_in(&mut self, seq: u64, left: Nanos, packet_in: PacketIn<'_>) {
        let (counts, bytes) = (&mut self.packet_ins, packet_in.frame.len());
        counts.count += 1;
        counts.shortest = Some(counts.shortest.map_or(bytes, |shortest| shortest.min(bytes)));
        counts.buffered += packet_in.buffered as u64;
        match self.sink {
            Sink::Port(_) => self.misrouted += 1,
            Sink::Any | Sink::Control => {
                self.account.arrived(seq, left, packet_in.at);
            }
        }
    }

    /// How long it lasted.
    pub fn elapsed(&self) -> Nanos {
        self.stop - self.start
    }
}

impl Outcome {
    /// What came of a transmission in virtual time, where no host is in the way: `times` are start, stop and end, `probes` the
    /// origin of their times and how many of earlier trials arrived.
    pub fn simulated(
        streams: Vec<StreamOutcome>,
        ports: Vec<PortOutcome>,
        times: (Nanos, Nanos, Nanos),
        probes: (Nanos, u64),
        sorter: Sorter,
    ) -> Outcome {
        let ((start, stop, end), (origin, earlier)) = (times, probes);
        Outcome {
            streams,
            ports,
            start,
            stop,
            end,
            origin,
            stalls: StallLog::default(),
            involuntary_switches: 0,
            steal: Nanos::ZERO,
            earlier,
            pinned: true,
            error: None,
            sorter,
        }
    }

    /// Takes account of frames that arrived inside PACKET_INs, after the fact, in order of arrival.
    ///
    /// Frames that are no probes of this trial are left out; returns how many those were.
    pub fn account_packet_ins<'a>(&mut self, packet_ins: impl IntoIterator<Item = PacketIn<'a>>) -> u64 {
        let mut others = 0;
        for packet_in in packet_ins {
            match self.sorter.sort(packet_in.frame) {
                Sorted::Ours(position, probe) => {
                    let left = self.origin + probe.time;
                    self.streams[position].count_packet_in(probe.seq, left, packet_in);
                }
                Sorted::Damaged(position) => self.streams[position].account.corrupt(),
                Sorted::Earlier => self.earlier += 1,
                Sorted::Foreign => others += 1,
            }
        }
        others
    }

    /// Frames that the tester itself lost, over all ports.
    pub fn rx_dropped(&self) -> u64 {
        self.ports.iter().map(|port| port.stats.rx_dropped).sum()
    }

    /// Frames that ports refused.
    pub fn tx_errors(&self) -> u64 {
        self.ports.iter().map(|port| port.stats.tx_errors).sum()
    }

    /// How long the smallest receive ring lasts at the rate of this transmission; `None` if nothing arrived.
    pub fn ring(&self) -> Option<Nanos> {
        self.ports.iter().filter_map(|port| port.ring).min()
    }

    /// Where frames are stamped, as results print it: `user transmit, kernel receive`; where departures were sampled too,
    /// `user transmit (kernel samples), kernel receive`; of a simulation `virtual transmit, virtual receive`.
    pub fn timestamps(&self) -> String {
        let sampled = self.ports.iter().filter(|port| port.tx_lag.is_some());
        let samples = match names(sampled.map(|port| port.tx_stamps)) {
            names if names.is_empty() => names,
            names => format!(" ({names} samples)"),
        };
        let is_virtual = self.ports.iter().any(|port| port.tx_stamps == StampSource::Virtual);
        let by = if is_virtual { StampSource::Virtual } else { StampSource::User }.name();
        format!("{by} transmit{samples}, {} receive", names(self.ports.iter().map(|port| port.rx_stamps)))
    }

    /// How much later than the times in the probes frames left, at the port where that was most.
    pub fn tx_lag(&self) -> Option<TxLag> {
        self.ports.iter().filter_map(|port| port.tx_lag).max_by_key(|lag| lag.p50_ns)
    }
}

/// The names, each once.
fn names(sources: impl Iterator<Item = StampSource>) -> String {
    let mut names: Vec<_> = sources.map(StampSource::name).collect();
    names.sort();
    names.dedup();
    names.join(" and ")
}
