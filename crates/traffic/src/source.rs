//! One stream as its sender sees it: its timetable, and the frames that are next.

use flowgauge_clock::Nanos;
use flowgauge_measure::{FlowOrder, FlowWalk, Probe, ProbeRun};
use flowgauge_packet::{FrameSource, FrameTemplate, RawFrames};
use flowgauge_ports::Slot;

use crate::stream::Stream;
use crate::timetable::Timetable;

/// How often, after its end, a stream may still be called on to send what was due before. In calls rather than in time: a
/// loop that the host takes off its core must not lose the time that it did not have.
const GRACE: u32 = 1000;

pub(crate) struct Source {
    /// Position of its stream.
    pub stream: usize,
    /// Its share among streams that are always due.
    pub weight: u32,
    /// When its frames are due.
    pub timetable: Timetable,
    id: u16,
    nonce: u16,
    frames: FrameSource,
    order: FlowOrder,
    walk: FlowWalk,
    /// How often it was called on since its end.
    overtime: u32,
}

impl Source {
    pub fn new(position: usize, stream: &Stream, nonce: u16) -> Source {
        Source {
            stream: position,
            weight: stream.weight.max(1),
            timetable: Timetable::new(stream),
            id: stream.id,
            nonce,
            frames: stream.frames.clone(),
            order: stream.flow_order,
            walk: FlowWalk::new(stream.flow_order, stream.frames.flows()),
            overtime: 0,
        }
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
        let end = self.timetable.end();
        if self.timetable.exhausted() || end == Nanos::MAX || now < end {
            return;
        }
        self.overtime += 1;
        if self.timetable.greedy || self.overtime > GRACE {
            self.timetable.cut(end);
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
