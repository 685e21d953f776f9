//! What came of a transmission by one worker's count, and how the counts of several make one outcome.

use flowgauge_clock::Nanos;
use flowgauge_measure::StallLog;
use flowgauge_ports::Port;

use crate::error::TrafficError;
use crate::host::Disturbance;
use crate::outcome::{Outcome, PortOutcome, StreamOutcome};
use crate::running::Finished;
use crate::sorter::Sorter;
use crate::state::StreamState;

/// What came of it by one worker's count.
pub(crate) struct Part {
    /// All streams of the transmission, and how many frames of each were asked for here.
    pub streams: Vec<(StreamState, u64)>,
    /// This worker's ports: what came of them, where they stand among all, and they themselves.
    pub ports: Vec<PortOutcome>,
    pub positions: Vec<usize>,
    pub handles: Vec<Box<dyn Port>>,
    /// Start, stop and end.
    pub times: (Nanos, Nanos, Nanos),
    pub origin: Nanos,
    pub stalls: StallLog,
    pub disturbance: Disturbance,
    pub earlier: u64,
    pub pinned: bool,
    pub error: Option<TrafficError>,
    pub sorter: Sorter,
}

impl Part {
    /// Adds the count of another worker, which has the ports that follow.
    pub fn merge(&mut self, other: Part) {
        for ((mine, requested), (theirs, also)) in self.streams.iter_mut().zip(other.streams) {
            mine.merge(theirs);
            *requested += also;
        }
        self.ports.extend(other.ports);
        self.positions.extend(other.positions);
        self.handles.extend(other.handles);
        let ((_, stop, end), (_, their_stop, their_end)) = (&mut self.times, other.times);
        (*stop, *end) = ((*stop).max(their_stop), (*end).max(their_end));
        self.stalls.merge(&other.stalls);
        self.disturbance = self.disturbance.and(other.disturbance);
        self.earlier += other.earlier;
        self.pinned &= other.pinned;
        self.error = self.error.take().or(other.error);
    }

    pub fn finished(self) -> Finished {
        debug_assert!(self.positions.iter().copied().eq(0..self.ports.len()));
        let (start, stop, end) = self.times;
        let streams = self.streams.into_iter().map(|(state, n)| StreamOutcome::new(state, n)).collect();
        let outcome = Outcome {
            streams,
            ports: self.ports,
            start,
            stop,
            end,
            origin: self.origin,
            stalls: self.stalls,
            involuntary_switches: self.disturbance.involuntary_switches,
            steal: self.disturbance.steal,
            earlier: self.earlier,
            pinned: self.pinned,
            error: self.error,
            sorter: self.sorter,
        };
        Finished { ports: self.handles, outcome }
    }
}
