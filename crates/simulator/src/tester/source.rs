//! One stream as its port sees it: its timetable, and the flow that is next.

use flowgauge_clock::Nanos;
use flowgauge_measure::FlowWalk;
use flowgauge_traffic::{Stream, Timetable};

/// How long after its end a stream may still send what was due before, as on the bench.
const GRACE: Nanos = Nanos::from_millis(100);

/// The next frame of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// Its flow.
    pub flow: u32,
    /// Its number.
    pub seq: u64,
    /// When it was due.
    pub at: Nanos,
}

/// A stream's frames in turn.
#[derive(Debug)]
pub struct Source {
    /// Position of its stream.
    pub stream: usize,
    /// Place of its flows.
    pub place: u32,
    /// Its share among those that are always due.
    pub weight: u32,
    /// When its frames are due.
    pub timetable: Timetable,
    walk: FlowWalk,
}

impl Source {
    /// A stream that starts with a transmission at `at`.
    pub fn new(position: usize, place: u32, stream: &Stream, at: Nanos) -> Source {
        let mut timetable = Timetable::new(stream);
        timetable.begin(at);
        let walk = FlowWalk::new(stream.flow_order, stream.frames.flows());
        Source { stream: position, place, weight: stream.weight.max(1), timetable, walk }
    }

    /// Takes the next frame.
    #[inline]
    pub fn take(&mut self) -> Due {
        let (seq, at) = self.timetable.take_next();
        Due { flow: self.walk.next_flows(1).start, seq, at }
    }

    /// Ends the stream if its time is over.
    #[inline]
    pub fn expire(&mut self, now: Nanos) {
        let grace = if self.timetable.greedy { Nanos::ZERO } else { GRACE };
        let end = self.timetable.end();
        if now >= end + grace {
            self.timetable.cut(end);
        }
    }
}
