//! One stream as its sender sees it: which frames are next, and when they are due.

use flowgauge_clock::Nanos;
use flowgauge_measure::{Departures, FlowOrder, FlowWalk, Probe, ProbeRun, Schedule};
use flowgauge_packet::{FrameSource, FrameTemplate, RawFrames};
use flowgauge_ports::Slot;

use crate::stream::{LatePolicy, Stop, Stream};

/// How often, after its end, a stream may still be called on to send what was due before. In calls rather than in time: a
/// loop that the host takes off its core must not lose the time that it did not have.
const GRACE: u32 = 1000;

pub(crate) struct Source {
    /// Position of its stream.
    pub stream: usize,
    /// When the next frame is due; [`Nanos::MAX`] when there is none.
    pub next_due: Nanos,
    /// Whether frames are always due.
    pub greedy: bool,
    /// Its share among streams that are always due.
    pub weight: u32,
    /// Frames that were due and left out.
    pub skipped: u64,
    id: u16,
    nonce: u16,
    frames: FrameSource,
    order: FlowOrder,
    walk: FlowWalk,
    /// Frames that were taken.
    taken: u64,
    departures: Departures,
    late: LatePolicy,
    stop: Stop,
    start_after: Nanos,
    start: Nanos,
    /// Departures from here on are not the stream's.
    end: Nanos,
    left: u64,
    /// How often it was called on since.
    overtime: u32,
}

impl Source {
    pub fn new(position: usize, stream: &Stream, nonce: u16) -> Source {
        Source {
            stream: position,
            next_due: Nanos::MAX,
            greedy: stream.schedule == Schedule::Max,
            weight: stream.weight.max(1),
            skipped: 0,
            id: stream.id,
            nonce,
            frames: stream.frames.clone(),
            order: stream.flow_order,
            walk: FlowWalk::new(stream.flow_order, stream.frames.flows()),
            taken: 0,
            departures: stream.schedule.departures(),
            late: stream.late,
            stop: stream.stop,
            start_after: stream.start_after,
            start: Nanos::MAX,
            end: Nanos::MAX,
            left: u64::MAX,
            overtime: 0,
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
        self.departures.advance();
        self.find_due();
    }

    /// With [`LatePolicy::Skip`], leaves out what is due while a later frame is due as well.
    #[inline]
    pub fn skip_late(&mut self, now: Nanos) {
        if self.late == LatePolicy::Skip && self.next_due < now {
            let limit = now.min(self.end - Nanos(1)) - self.start;
            let skipped = self.departures.skip_overtaken(limit, self.left - 1);
            self.skipped += skipped;
            self.left -= skipped;
            self.find_due();
        }
    }

    /// Takes the next frames, up to `most`, that are due at `until`; returns the first one's sequence number and how many
    /// there are. `dues`: when each of them is due, of streams with a pace.
    #[inline]
    pub fn take(&mut self, until: Nanos, most: usize, dues: &mut Vec<Nanos>) -> (u64, usize) {
        let first = self.taken;
        let mut frames = 0;
        if self.greedy {
            frames = self.left.min(most as u64) as usize;
            self.left -= frames as u64;
            self.find_due();
        } else {
            while frames < most && self.next_due <= until {
                dues.push(self.next_due);
                frames += 1;
                self.advance();
            }
        }
        self.taken += frames as u64;
        (first, frames)
    }

    /// Writes the frames that follow those written so far, but for their probes.
    #[inline]
    pub fn write(&mut self, slots: &mut [Slot]) {
        match &self.frames {
            FrameSource::Template(template) => write_template(template, &mut self.walk, slots),
            FrameSource::Raw(frames) => write_raw(frames, &mut self.walk, slots),
        }
    }

    /// Writes the probes of frames from `first` on, which leave at `time` after the origin, if the frames bear some.
    #[inline]
    pub fn stamp(&self, slots: &mut [Slot], first: u64, time: Nanos) {
        let mut probes = ProbeRun::new(Probe { nonce: self.nonce, stream: self.id, seq: first, time });
        match &self.frames {
            FrameSource::Template(template) => {
                let at = template.payload_offset();
                slots.iter_mut().for_each(|slot| probes.write_next(&mut slot.bytes_mut()[at..]));
            }
            FrameSource::Raw(frames) if frames.is_probed() => {
                for (seq, slot) in (first..).zip(slots) {
                    let at = frames.probe_offset(self.order.flow(seq, frames.flows())).unwrap_or(0);
                    probes.write_next(&mut slot.bytes_mut()[at..]);
                }
            }
            FrameSource::Raw(_) => {}
        }
    }

    /// Ends the stream if its time is over. Called now and then.
    pub fn expire(&mut self, now: Nanos) {
        if self.exhausted() || self.end == Nanos::MAX || now < self.end {
            return;
        }
        self.overtime += 1;
        if self.greedy || self.overtime > GRACE {
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

    /// How many frames were taken.
    pub fn taken(&self) -> u64 {
        self.taken
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

#[inline]
fn write_template<'a>(template: &FrameTemplate, walk: &mut FlowWalk, mut slots: &'a mut [Slot]) {
    let len = template.len();
    let room = |slot: &'a mut Slot| {
        slot.set_len(len);
        slot.room_mut()
    };
    if template.flows() == 1 {
        return template.write_repeated(0, slots.iter_mut().map(room));
    }
    while !slots.is_empty() {
        let flows = walk.next_flows(slots.len());
        let (now, later) = slots.split_at_mut(flows.len());
        template.write_run(flows.start, now.iter_mut().map(room));
        slots = later;
    }
}

fn write_raw(frames: &RawFrames, walk: &mut FlowWalk, slots: &mut [Slot]) {
    for slot in slots {
        let frame = frames.frame(walk.next_flows(1).start);
        slot.set_len(frame.len());
        slot.bytes_mut().copy_from_slice(frame);
    }
}
