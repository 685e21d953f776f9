//! What is sent, and where it is expected.

use flowgauge_clock::Nanos;
use flowgauge_measure::{FlowOrder, Schedule};
use flowgauge_packet::FrameSource;

use crate::error::TrafficError;

/// What to do with frames whose time has passed, because the loop or the port could not keep up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatePolicy {
    /// Send them at once, back to back: the mean rate stays exact.
    #[default]
    CatchUp,
    /// Send those that are late by no more than this; leave out those that a later one has overtaken by more, and count them
    /// as not offered. After a disturbance the stream is soon on schedule again, and no more than this has piled up.
    Within(Nanos),
}

impl LatePolicy {
    /// Leave out whatever a later frame has overtaken: gaps stay at least what the schedule says.
    pub const SKIP: LatePolicy = LatePolicy::Within(Nanos::ZERO);
}

/// When a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// That long after its start. What is due before then is sent, if need be a little later.
    After(Nanos),
    /// After that many frames.
    Count(u64),
    /// When the transmission is stopped.
    UntilStopped,
}

/// Where a stream's frames are expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sink {
    /// At any port.
    #[default]
    Any,
    /// At the port with that position; elsewhere they are misrouted.
    Port(usize),
    /// In PACKET_INs, which are accounted for afterwards; at any port they are misrouted.
    Control,
}

/// A stream of frames: which, when, from where, to where.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its number in the probes; no two streams of a transmission have the same.
    pub id: u16,
    /// Position of the port that sends it; `None`: somebody else does, with probes of this transmission's nonce and
    /// origin, and only arrivals are counted.
    pub tx_port: Option<usize>,
    /// Where it is expected.
    pub sink: Sink,
    /// Its frames.
    pub frames: FrameSource,
    /// When they leave, from the stream's start.
    pub schedule: Schedule,
    /// When it ends.
    pub stop: Stop,
    /// Its start, from that of the transmission.
    pub start_after: Nanos,
    /// In which order the flows are walked.
    pub flow_order: FlowOrder,
    /// What to do with its frames that are late.
    pub late: LatePolicy,
    /// Of [`Schedule::Max`]: its share, when several such streams leave by one port; at least 1.
    pub weight: u32,
    /// How many departures and arrivals to keep.
    pub record: usize,
}

impl Stream {
    /// A stream that starts with the transmission, walks its flows in turn, is expected anywhere, and keeps no records.
    pub fn new(
        id: u16,
        tx_port: Option<usize>,
        frames: impl Into<FrameSource>,
        schedule: Schedule,
        stop: Stop,
    ) -> Stream {
        let (sink, flow_order) = (Sink::Any, FlowOrder::Sequential);
        Stream {
            id,
            tx_port,
            sink,
            frames: frames.into(),
            schedule,
            stop,
            start_after: Nanos::ZERO,
            flow_order,
            late: LatePolicy::CatchUp,
            weight: 1,
            record: 0,
        }
    }

    /// Roughly how many frames it has, if that can be said.
    pub fn estimate(&self) -> Option<u64> {
        match self.stop {
            Stop::After(duration) => self.schedule.estimate_within(duration),
            Stop::Count(n) => Some(n),
            Stop::UntilStopped => None,
        }
    }

    /// How long it is meant to last; zero for one that ends when stopped.
    pub(crate) fn length(&self) -> Nanos {
        match self.stop {
            Stop::After(duration) => duration,
            Stop::Count(n) => Nanos(self.schedule.mean_gap().0.saturating_mul(n)),
            Stop::UntilStopped => Nanos::ZERO,
        }
    }
}

/// Whether streams can be sent between that many ports.
///
/// # Errors
/// A stream names a port that is not there; two streams have one number.
pub fn check_streams(streams: &[Stream], ports: usize) -> Result<(), TrafficError> {
    for (i, stream) in streams.iter().enumerate() {
        if streams[..i].iter().any(|other| other.id == stream.id) {
            return Err(TrafficError::DuplicateStream { stream: stream.id });
        }
        let sink = match stream.sink {
            Sink::Port(port) => Some(port),
            Sink::Any | Sink::Control => None,
        };
        for port in [stream.tx_port, sink].into_iter().flatten() {
            if port >= ports {
                return Err(TrafficError::NoSuchPort { stream: stream.id, port, ports });
            }
        }
    }
    Ok(())
}
