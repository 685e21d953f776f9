//! One stream as its sender sees it: which frame is next, and when it is due.

use flowgauge_clock::Nanos;
use flowgauge_measure::{Departures, FlowOrder, Probe, Schedule};
use flowgauge_packet::FrameSource;
use flowgauge_ports::Slot;

use crate::options::LatePolicy;
use crate::stream::{Stop, Stream};

/// How long after its end a stream may still send what was due before: longer than a host takes the loop off its core.
const GRACE: Nanos = Nanos::from_millis(100);

pub(crate) struct Source {
    /// Position of its stream.
    pub stream: usize,
    /// When the next frame is due; [`Nanos::MAX`] when there is none.
    pub next_due: Nanos,
    /// Whether frames are always due.
    pub greedy: bool,
    /// Frames that were due and left out.
    pub skipped: u64,
    id: u16,
    nonce: u16,
    frames: FrameSource,
    order: FlowOrder,
    flow: u32,
    seq: u64,
    departures: Departures,
    stop: Stop,
    start_after: Nanos,
    start: Nanos,
    /// Departures from here on are not the stream's.
    end: Nanos,
    left: u64,
}

impl Source {
    pub fn new(position: usize, stream: &Stream, nonce: u16) -> Source {
        Source {
            stream: position,
            next_due: Nanos::MAX,
            greedy: stream.schedule == Schedule::Max,
            skipped: 0,
            id: stream.id,
            nonce,
            frames: stream.frames.clone(),
            order: stream.flow_order,
            flow: 0,
            seq: 0,
            departures: stream.schedule.departures(),
            stop: stream.stop,
            start_after: stream.start_after,
            start: Nanos::MAX,
            end: Nanos::MAX,
            left: u64::MAX,
        }
    }

    /// The transmission starts.
    pub fn begin(&mut self, at: Nanos) -> Nanos {
        self.start = at + self.start_after;
        match self.stop {
            Stop::After(duration) => self.end = self.start + duration,
            Stop::Count(n) => self.left = n,
            Stop::UntilStopped => {}
        }
        self.find_due();
        self.start
    }

    fn find_due(&mut self) {
        let due = self.start + self.departures.peek();
        self.next_due = if self.left == 0 || due >= self.end { Nanos::MAX } else { due };
    }

    /// Whether it has nothing more to send.
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

    /// With [`LatePolicy::Skip`], leaves out what is due while its successor is due as well.
    #[inline]
    pub fn skip_late(&mut self, now: Nanos, policy: LatePolicy) {
        if policy == LatePolicy::CatchUp || self.greedy {
            return;
        }
        while self.next_due <= now {
            let mut ahead = self.departures.clone();
            ahead.advance();
            if self.start + ahead.peek() > now {
                break;
            }
            self.skipped += 1;
            self.advance();
        }
    }

    /// Writes the next frame, but for its probe; returns its sequence number and when it was due.
    #[inline]
    pub fn write(&mut self, slot: &mut Slot) -> (u64, Nanos) {
        slot.set_len(self.frames.len(self.flow));
        self.frames.write(self.flow, slot.bytes_mut());
        let frame = (self.seq, self.next_due);
        self.seq += 1;
        self.flow = match self.order {
            FlowOrder::Sequential if self.flow + 1 < self.frames.flows() => self.flow + 1,
            FlowOrder::Sequential => 0,
            order @ (FlowOrder::Blocks { .. } | FlowOrder::Random { .. }) => {
                order.flow(self.seq, self.frames.flows())
            }
        };
        self.advance();
        frame
    }

    /// Writes the probe of frame `seq`, which leaves at `time` after the origin, if the frame bears one.
    #[inline]
    pub fn stamp(&self, slot: &mut Slot, seq: u64, time: Nanos) {
        let at = match &self.frames {
            FrameSource::Template(template) => template.payload_offset(),
            FrameSource::Raw(frames) => {
                let Some(at) = frames.probe_offset(self.order.flow(seq, frames.flows())) else { return };
                at
            }
        };
        Probe { nonce: self.nonce, stream: self.id, seq, time }.write(&mut slot.bytes_mut()[at..]);
    }

    /// Ends the stream if its time is over. Called now and then.
    pub fn expire(&mut self, now: Nanos) {
        let grace = if self.greedy { Nanos::ZERO } else { GRACE };
        if !self.exhausted() && self.end != Nanos::MAX && now >= self.end + grace {
            self.cut(self.end);
        }
    }

    /// Ends the stream at `at`, unless it has ended before. What was due before and is not yet written is skipped.
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

    /// How many frames were written.
    pub fn written(&self) -> u64 {
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
