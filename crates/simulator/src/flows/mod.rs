//! What becomes of the frames of a flow: looked up once in the pipeline, remembered until the pipeline changes.
//!
//! The bytes of a frame are made when the pipeline is to see them: for the first frame of a flow after each change, for every
//! frame of a flow whose treatment varies (meters, learning), and now and then to check what is remembered.

mod sinks;
mod slow;

use flowgauge_clock::Nanos;
use flowgauge_datapath::{Frame as Bytes, Pipeline, Trace};
use flowgauge_measure::Probe;
use flowgauge_packet::FrameSource;

use crate::control::{ControlPlane, Punted};
use crate::frame::Frame;
use crate::model::SoftwareModel;
use crate::picos::Picos;
use sinks::{Collected, RawSink, find_probe};
use slow::Slow;

pub use sinks::RawDecision;

/// One of so many frames is looked up although its fate is remembered, to see whether that is right.
const CHECKED: u32 = if cfg!(debug_assertions) { 31 } else { 4096 };

/// A frame (or copy) that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    /// OpenFlow number of the port.
    pub port: u32,
    /// Its queue, or [`NO_QUEUE`].
    pub queue: u32,
    /// Length without FCS.
    pub len: u32,
    /// Whether the probe is still in it.
    pub is_probed: bool,
}

/// What becomes of a frame.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// Where it goes.
    pub outs: Vec<Out>,
    /// What goes to the controller, with the probe of one frame of the flow.
    pub punts: Vec<Punted>,
    /// Whether the software path deals with it.
    pub is_software: bool,
    /// How many tables it was looked up in.
    pub tables: u32,
}

impl Decision {
    /// Whether frames fare alike. (Probes in punts differ.)
    fn agrees(&self, other: &Decision) -> bool {
        let heads =
            |d: &Decision| d.punts.iter().map(|p| (p.table_id, p.cookie, p.reason)).collect::<Vec<_>>();
        self.outs == other.outs && heads(self) == heads(other) && self.is_software == other.is_software
    }
}

/// What is remembered of a flow.
#[derive(Clone, Debug, Default)]
struct Memo {
    /// Of the pipeline, plus one; 0: nothing is remembered.
    version: u64,
    /// Frames that fared so and are not counted in the pipeline yet.
    pending: u64,
    /// When the last of them was looked up.
    last: Nanos,
    decision: Decision,
    trace: Trace,
}

/// The flows of one stream.
#[derive(Debug)]
pub struct StreamFlows {
    /// The transmission that the stream belongs to, and its position there.
    pub transmission: u64,
    /// Its position there.
    pub position: usize,
    /// What its probes say.
    pub nonce: u16,
    /// What its probes say.
    pub id: u16,
    /// Where its probes count time from.
    pub origin: Nanos,
    /// OpenFlow number of the switch port on which its frames come in.
    pub in_port: u16,
    /// Its frames.
    pub frames: FrameSource,
    memos: Vec<Memo>,
}

/// All flows of which frames may be under way.
#[derive(Debug)]
pub struct Flows {
    streams: Vec<StreamFlows>,
    /// Flows of which frames are not counted in the pipeline yet.
    dirty: Vec<(u32, u32)>,
    slow: Slow,
    until_check: u32,
    buffer: Vec<u8>,
}

impl Flows {
    /// Without any.
    pub fn new(software: &SoftwareModel) -> Flows {
        Flows {
            streams: Vec::new(),
            dirty: Vec::new(),
            slow: Slow::new(software),
            until_check: CHECKED,
            buffer: Vec::new(),
        }
    }

    /// Adds a stream's; gives its place.
    pub fn add(&mut self, stream: StreamFlows) -> u32 {
        self.streams.push(stream);
        (self.streams.len() - 1) as u32
    }

    /// Forgets all streams: no frame of theirs is under way.
    pub fn clear(&mut self) {
        debug_assert!(self.dirty.is_empty());
        self.streams.clear();
    }

    /// A stream.
    #[inline]
    pub fn stream(&self, place: u32) -> &StreamFlows {
        &self.streams[place as usize]
    }

    /// How many tables the flow's frames were last looked up in, at least 1.
    pub fn tables(&self, stream: u32, flow: u32) -> u32 {
        self.streams[stream as usize].memos[flow as usize].decision.tables.max(1)
    }

    /// What was decided last for a flow.
    #[inline]
    pub fn decision(&self, stream: u32, flow: u32) -> &Decision {
        &self.streams[stream as usize].memos[flow as usize].decision
    }

    /// Looks a frame of a flow up, counted.
    #[inline]
    pub fn decide(
        &mut self,
        (stream, flow): (u32, u32),
        frame: &Frame,
        now: Picos,
        control: &mut ControlPlane,
    ) -> &Decision {
        let memo = &mut self.streams[stream as usize].memos[flow as usize];
        self.until_check -= 1;
        if memo.version == control.version() + 1 && self.until_check > 0 {
            if memo.pending == 0 {
                self.dirty.push((stream, flow));
            }
            memo.pending += 1;
            memo.last = now.nanos();
        } else {
            self.look_up((stream, flow), frame, now.nanos(), control);
        }
        &self.streams[stream as usize].memos[flow as usize].decision
    }

    /// The full lookup.
    #[cold]
    fn look_up(&mut self, (stream, flow): (u32, u32), frame: &Frame, now: Nanos, control: &mut ControlPlane) {
        self.until_check = if self.until_check == 0 { CHECKED } else { self.until_check };
        let of = &mut self.streams[stream as usize];
        let probe = of.write(flow, frame, &mut self.buffer);
        let (version, pipeline) = (control.version() + 1, control.pipeline());
        let memo = &mut of.memos[flow as usize];
        let mut collected = Collected { decision: Decision::default(), probe };
        let bytes = Bytes { bytes: &self.buffer, in_port: of.in_port.into() };
        pipeline.process_traced(bytes, now, &mut collected, &mut memo.trace);
        let mut decision = collected.decision;
        decision.tables = memo.trace.lookups.len() as u32;
        decision.is_software = self.slow.takes(&memo.trace, pipeline);
        assert!(
            memo.version != version || memo.decision.agrees(&decision),
            "the tables say {decision:?}; remembered was {:?}",
            memo.decision
        );
        memo.decision = decision;
        memo.version = if memo.trace.varies { 0 } else { version };
    }

    /// Looks a frame with bytes of its own up, counted; what goes to ports is given with its bytes.
    pub fn decide_raw(
        &mut self,
        bytes: &[u8],
        in_port: u32,
        now: Nanos,
        pipeline: &mut Pipeline,
    ) -> RawDecision {
        let mut sink = RawSink::default();
        let mut trace = Trace::default();
        pipeline.process_traced(Bytes { bytes, in_port }, now, &mut sink, &mut trace);
        let is_software = self.slow.takes(&trace, pipeline);
        RawDecision { outs: sink.outs, punts: sink.punts, is_software }
    }

    /// Counts in the pipeline what is not counted yet.
    pub fn settle(&mut self, pipeline: &mut Pipeline) {
        for (stream, flow) in self.dirty.drain(..) {
            let memo = &mut self.streams[stream as usize].memos[flow as usize];
            pipeline.credit(&memo.trace, memo.pending, memo.last);
            memo.pending = 0;
        }
    }

    /// A frame that goes to the controller, with its own probe.
    pub fn punted(&mut self, (stream, flow): (u32, u32), number: usize, frame: &Frame) -> Punted {
        let of = &self.streams[stream as usize];
        let mut punted = of.memos[flow as usize].decision.punts[number].clone();
        let Some((at, probe)) = of.probe(flow, frame) else { return punted };
        if let Some(at) = find_probe(&punted.bytes, at, |p| p.nonce == of.nonce && p.stream == of.id) {
            probe.write(&mut punted.bytes[at..]);
        }
        punted
    }
}

impl StreamFlows {
    /// Flows of which nothing is known yet.
    pub fn new(
        transmission: (u64, usize),
        probe: (u16, u16, Nanos),
        in_port: u16,
        frames: FrameSource,
    ) -> StreamFlows {
        let memos = vec![Memo::default(); frames.flows() as usize];
        let (nonce, id, origin) = probe;
        let (transmission, position) = transmission;
        StreamFlows { transmission, position, nonce, id, origin, in_port, frames, memos }
    }

    /// The probe of a frame, and where it stands.
    fn probe(&self, flow: u32, frame: &Frame) -> Option<(usize, Probe)> {
        let at = self.frames.probe_offset(flow)?;
        let time = frame.left.nanos() - self.origin;
        Some((at, Probe { nonce: self.nonce, stream: self.id, seq: frame.seq, time }))
    }

    /// Makes a frame's bytes; gives its probe.
    fn write(&self, flow: u32, frame: &Frame, buffer: &mut Vec<u8>) -> Option<(usize, Probe)> {
        buffer.clear();
        buffer.resize(self.frames.len(flow), 0);
        self.frames.write(flow, buffer);
        let probe = self.probe(flow, frame);
        if let Some((at, probe)) = &probe {
            probe.write(&mut buffer[*at..]);
        }
        probe
    }
}
