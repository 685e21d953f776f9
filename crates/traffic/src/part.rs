//! What came of a transmission by one worker's count, and how the counts of several make one outcome.

use flowgauge_clock::Nanos;
use flowgauge_measure::StallLog;

use crate::error::TrafficError;
use crate::host::Disturbance;
use crate::outcome::{Outcome, PortOutcome, StreamOutcome};
use crate::ports::Queue;
use crate::running::Finished;
use crate::sorter::Sorter;
use crate::state::StreamState;

/// What came of it by one worker's count.
pub(crate) struct Part {
    /// All streams of the transmission, and how many frames of each were asked for here.
    pub streams: Vec<(StreamState, u64)>,
    /// This worker's queues.
    pub queues: Vec<QueuePart>,
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

/// What came of a queue of a port, and the queue.
pub(crate) struct QueuePart {
    pub outcome: PortOutcome,
    pub queue: Queue,
}

impl Part {
    /// Adds the count of another worker.
    pub fn merge(&mut self, other: Part) {
        for ((mine, requested), (theirs, also)) in self.streams.iter_mut().zip(other.streams) {
            mine.merge(theirs);
            *requested += also;
        }
        self.queues.extend(other.queues);
        let ((_, stop, end), (_, their_stop, their_end)) = (&mut self.times, other.times);
        (*stop, *end) = ((*stop).max(their_stop), (*end).max(their_end));
        self.stalls.merge(&other.stalls);
        self.disturbance = self.disturbance.and(other.disturbance);
        self.earlier += other.earlier;
        self.pinned &= other.pinned;
        self.error = self.error.take().or(other.error);
    }

    pub fn finished(mut self) -> Finished {
        self.queues.sort_by_key(|part| part.queue.number);
        let (mut ports, mut handles) = (Vec::<PortOutcome>::new(), Vec::new());
        for QueuePart { outcome, queue } in self.queues {
            match ports.get_mut(queue.port) {
                Some(port) => port.merge(&outcome),
                None => ports.push(outcome),
            }
            handles.push(queue.handle);
        }
        let (start, stop, end) = self.times;
        let streams = self.streams.into_iter().map(|(state, n)| StreamOutcome::new(state, n)).collect();
        let outcome = Outcome {
            streams,
            ports,
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
        Finished { ports: handles, outcome }
    }
}

/// The counts of all sets of `count` streams, in one.
pub(crate) fn together(mut streams: Vec<StreamState>, count: usize) -> Vec<StreamState> {
    let further = streams.split_off(count);
    for (i, state) in further.into_iter().enumerate() {
        streams[i % count].merge(state);
    }
    streams
}
