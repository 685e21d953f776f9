//! One stream as its port sees it: which frame is next, and when it is due.

use flowgauge_clock::Nanos;
use flowgauge_measure::{Departures, FlowOrder, Schedule};
use flowgauge_traffic::{LatePolicy, Stop, Stream};

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
    /// When the next frame is due; [`Nanos::MAX`] when there is none.
    pub next_due: Nanos,
    /// Whether frames are always due.
    pub greedy: bool,
    /// Its share among those that are always due.
    pub weight: u32,
    /// Frames that were due and left out.
    pub skipped: u64,
    late: LatePolicy,
    order: FlowOrder,
    flows: u32,
    flow: u32,
    seq: u64,
    departures: Departures,
    stop: Stop,
    start: Nanos,
    /// Departures from here on are not the stream's.
    end: Nanos,
    left: u64,
}

impl Source {
    /// A stream that starts with a transmission at `at`.
    pub fn new(position: usize, place: u32, stream: &Stream, at: Nanos) -> Source {
        let start = at + stream.start_after;
        let mut source = Source {
            stream: position,
            place,
            next_due: Nanos::MAX,
            greedy: stream.schedule == Schedule::Max,
            weight: stream.weight.max(1),
            skipped: 0,
            late: stream.late,
            order: stream.flow_order,
            flows: stream.frames.flows(),
            flow: 0,
            seq: 0,
            departures: stream.schedule.departures(),
            stop: stream.stop,
            start,
            end: Nanos::MAX,
            left: u64::MAX,
        };
        match stream.stop {
            Stop::After(duration) => source.end = start + duration,
            Stop::Count(n) => source.left = n,
            Stop::UntilStopped => {}
        }
        source.flow = source.order.flow(0, source.flows);
        source.find_due();
        source
    }

    #[inline]
    fn find_due(&mut self) {
        let due = self.start + self.departures.peek();
        self.next_due = if self.left == 0 || due >= self.end { Nanos::MAX } else { due };
    }

    /// Whether it has nothing more to send.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.next_due == Nanos::MAX
    }

    #[inline]
    fn advance(&mut self) {
        self.left -= 1;
        if !self.greedy {
            self.departures.advance();
        }
        self.find_due();
    }

    /// With [`LatePolicy::Skip`], leaves out what is due while a later frame is due as well.
    #[inline]
    pub fn skip_late(&mut self, now: Nanos) {
        if self.late == LatePolicy::Skip && !self.greedy && self.next_due < now {
            let limit = now.min(self.end - Nanos(1)) - self.start;
            let skipped = self.departures.skip_overtaken(limit, self.left - 1);
            self.skipped += skipped;
            self.left -= skipped;
            self.find_due();
        }
    }

    /// Takes the next frame.
    #[inline]
    pub fn take(&mut self) -> Due {
        let due = Due { flow: self.flow, seq: self.seq, at: self.next_due };
        self.seq += 1;
        self.flow = match self.order {
            FlowOrder::Sequential if self.flow + 1 < self.flows => self.flow + 1,
            FlowOrder::Sequential => 0,
            order @ (FlowOrder::Blocks { .. } | FlowOrder::Random { .. }) => order.flow(self.seq, self.flows),
        };
        self.advance();
        due
    }

    /// Ends the stream if its time is over.
    #[inline]
    pub fn expire(&mut self, now: Nanos) {
        let grace = if self.greedy { Nanos::ZERO } else { GRACE };
        if self.end != Nanos::MAX && now >= self.end + grace {
            self.cut(self.end);
        }
    }

    /// Ends the stream at `at`, unless it has ended before. What was due before and has not left is skipped.
    pub fn cut(&mut self, at: Nanos) {
        if self.exhausted() && self.scheduled_stop().is_none_or(|stop| stop <= at) {
            return;
        }
        while !self.greedy && self.next_due < at {
            self.skipped += 1;
            self.advance();
        }
        self.next_due = Nanos::MAX;
        self.end = self.end.min(at);
    }

    /// How many frames were taken.
    pub fn taken(&self) -> u64 {
        self.seq
    }

    /// When the stream ends by its schedule, or was ended: at the end of its last interval. `None` when that is as soon
    /// as its last frame has left.
    pub fn scheduled_stop(&self) -> Option<Nanos> {
        if self.end != Nanos::MAX {
            return Some(self.end);
        }
        match self.stop {
            Stop::Count(_) if !self.greedy => Some(self.start + self.departures.peek()),
            Stop::Count(_) | Stop::After(_) | Stop::UntilStopped => None,
        }
    }
}
