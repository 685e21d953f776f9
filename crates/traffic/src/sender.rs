//! The sending side of one port: merges its streams by due time, stages bursts, stamps and sends them.
//!
//! ```text
//!   plan: runs of frames ─► write them into slots ─► wait until due ─► stamp ─► port ─► note what left
//! ```
//!
//! Frames are written before they are due, and stamped when they leave. A burst holds what is due: one frame when the
//! loop keeps up with a paced stream, up to 128 when it lags or the stream goes as fast as possible. All frames of a
//! burst bear the time just before it went to the port.

use flowgauge_clock::{Clock, Nanos};
use flowgauge_ports::{BURST, Burst, Port, PortError};

use crate::merge::Merge;
use crate::source::Source;
use crate::state::StreamState;

/// When the next frame is due this soon, the sender waits for it on the clock rather than in the loop's next turn.
const NEAR: Nanos = Nanos(600);

/// How often the last frames of all may be offered in vain; then they are given up.
const PATIENCE: u32 = 1000;

/// Frames of one stream that follow each other.
struct Run {
    source: usize,
    /// Sequence number of the first.
    first: u64,
    frames: usize,
}

pub(crate) struct Sender {
    /// Position of the port.
    pub port: usize,
    pub sources: Vec<Source>,
    merge: Merge,
    /// The frames that leave next, in order; `planned` in all.
    runs: Vec<Run>,
    planned: usize,
    /// When they are due, of streams with a pace.
    dues: Vec<Nanos>,
    /// None of them leaves before.
    not_before: Nanos,
    /// The first of them, written into slots.
    staged: Burst,
    /// The most frames of a burst.
    most: usize,
    origin: Nanos,
    /// How often the port has not taken the last frames, as `expire` saw it.
    in_vain: u32,
}

impl Sender {
    pub fn new(port: usize, sources: Vec<Source>, burst: Option<usize>, origin: Nanos) -> Sender {
        Sender {
            port,
            merge: Merge::new(sources.len()),
            sources,
            runs: Vec::with_capacity(BURST),
            planned: 0,
            dues: Vec::with_capacity(BURST),
            not_before: Nanos::ZERO,
            staged: Burst::new(),
            most: burst.map_or(BURST, |most| most.clamp(1, BURST)),
            origin,
            in_vain: 0,
        }
    }

    /// Whether it has nothing more to send.
    pub fn exhausted(&self) -> bool {
        self.planned == 0 && self.sources.iter().all(|source| source.timetable.exhausted())
    }

    /// When its next frame is due; at once when one waits for the port.
    pub fn next_due(&self) -> Nanos {
        if self.planned > 0 {
            return Nanos::ZERO;
        }
        self.sources.iter().map(|source| source.timetable.next_due).min().unwrap_or(Nanos::MAX)
    }

    /// When the next frame of a stream with a pace is due.
    #[inline]
    pub fn next_paced(&self) -> Nanos {
        let paced = self.sources.iter().filter(|source| !source.timetable.greedy);
        paced.map(|source| source.timetable.next_due).min().unwrap_or(Nanos::MAX)
    }

    /// Sends what is due; returns how many frames left, and when, if it had any.
    #[inline]
    pub fn turn(
        &mut self,
        now: Nanos,
        port: &mut dyn Port,
        streams: &mut [StreamState],
    ) -> Result<Option<(usize, Nanos)>, PortError> {
        self.plan(now, self.most);
        if self.planned == 0 {
            let due = self.next_due();
            if due > now + NEAR {
                return Ok(None);
            }
            self.plan(due, 1);
            self.not_before = due;
        }
        self.stage(port);
        if self.staged.is_empty() {
            return Ok(None);
        }
        let mut now = Clock.now();
        while now < self.not_before {
            now = Clock.now();
        }
        Ok(Some((self.send(now, port, streams)?, now)))
    }

    /// Plans frames that are due at `now`, up to `most` in all.
    #[inline]
    fn plan(&mut self, now: Nanos, most: usize) {
        while self.planned < most {
            let Some(turn) = self.merge.turn(&mut self.sources, now) else { break };
            let source = &mut self.sources[turn.source];
            let most = turn.most.min(most - self.planned);
            let (first, frames) = source.timetable.take(turn.until, most, &mut self.dues);
            self.runs.push(Run { source: turn.source, first, frames });
            self.planned += frames;
        }
    }

    /// Writes what is planned, as far as the port has slots.
    #[inline]
    fn stage(&mut self, port: &mut dyn Port) {
        let written = self.staged.len();
        if written == self.planned {
            return;
        }
        port.alloc(&mut self.staged, self.planned - written);
        let (mut skip, mut blank) = (written, &mut self.staged[written..]);
        for run in &self.runs {
            let done = skip.min(run.frames);
            skip -= done;
            let (now, later) = blank.split_at_mut((run.frames - done).min(blank.len()));
            self.sources[run.source].write(now);
            blank = later;
        }
    }

    fn send(
        &mut self,
        now: Nanos,
        port: &mut dyn Port,
        streams: &mut [StreamState],
    ) -> Result<usize, PortError> {
        let time = now - self.origin;
        let mut rest = &mut self.staged[..];
        for run in &self.runs {
            let (frames, others) = rest.split_at_mut(run.frames.min(rest.len()));
            self.sources[run.source].stamp(frames, run.first, time);
            rest = others;
        }
        let taken = port.tx(&mut self.staged)?;
        if taken > 0 {
            self.note(taken, now, streams);
            port.flush()?;
        }
        Ok(taken)
    }

    /// The first `taken` frames left at `now`.
    #[inline]
    fn note(&mut self, taken: usize, now: Nanos, streams: &mut [StreamState]) {
        self.planned -= taken;
        let (mut rest, mut runs, mut paced) = (taken, 0, 0);
        for run in &mut self.runs {
            let (source, frames) = (&self.sources[run.source], run.frames.min(rest));
            let stream = &mut streams[source.stream];
            stream.left(now, frames);
            if !source.timetable.greedy {
                self.dues[paced..paced + frames].iter().for_each(|&due| stream.gaps.record(due, now));
                paced += frames;
            }
            rest -= frames;
            run.first += frames as u64;
            run.frames -= frames;
            if run.frames > 0 {
                break;
            }
            runs += 1;
        }
        self.runs.drain(..runs);
        self.dues.drain(..paced);
    }

    /// Ends streams whose time is over, and gives up what the port will not take. Called now and then.
    pub fn expire(&mut self, now: Nanos, port: &mut dyn Port) {
        self.sources.iter_mut().for_each(|source| source.expire(now));
        if self.planned == 0 || !self.sources.iter().all(|source| source.timetable.exhausted()) {
            self.in_vain = 0;
            return;
        }
        self.in_vain += 1;
        if self.in_vain > PATIENCE {
            self.finish(port);
        }
    }

    /// Ends all streams now.
    pub fn cut(&mut self, now: Nanos) {
        self.sources.iter_mut().for_each(|source| source.timetable.cut(now));
    }

    /// Gives up what has not left, and gives slots back.
    pub fn finish(&mut self, port: &mut dyn Port) {
        self.runs.clear();
        self.dues.clear();
        self.planned = 0;
        port.free(&mut self.staged);
    }
}
