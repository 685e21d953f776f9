//! The sending side of one port: merges its streams by due time, stages bursts, stamps and sends them.
//!
//! Frames are written before they are due, and stamped when they leave. A burst holds what is due: one frame when the
//! loop keeps up with a paced stream, up to 64 when it lags or the stream goes as fast as possible. All frames of a
//! burst bear the time just before it went to the port.

use flowgauge_clock::{Clock, Nanos};
use flowgauge_ports::{BURST, Burst, Port, PortError};

use crate::options::LatePolicy;
use crate::source::Source;
use crate::state::StreamState;

/// When the next frame is due this soon, the sender waits for it on the clock rather than in the loop's next turn.
const NEAR: Nanos = Nanos(600);

/// How long the last frames of all may wait for the port; then they are not offered.
const PATIENCE: Nanos = Nanos::from_millis(100);

/// A staged frame.
#[derive(Clone, Copy)]
struct Pending {
    source: usize,
    seq: u64,
    due: Nanos,
}

pub(crate) struct Sender {
    /// Position of the port.
    pub port: usize,
    pub sources: Vec<Source>,
    /// Slots to write frames into.
    blank: Burst,
    /// Frames that wait to leave, and what each of them is.
    staged: Burst,
    pending: Vec<Pending>,
    late: LatePolicy,
    origin: Nanos,
    /// Whose turn it is among streams that are always due.
    turn: usize,
    /// Since when the port has not taken the last frames.
    waiting_since: Option<Nanos>,
}

impl Sender {
    pub fn new(port: usize, sources: Vec<Source>, late: LatePolicy, origin: Nanos) -> Sender {
        let (blank, staged, pending) = (Burst::new(), Burst::new(), Vec::with_capacity(BURST));
        Sender { port, sources, blank, staged, pending, late, origin, turn: 0, waiting_since: None }
    }

    /// Whether it has nothing more to send.
    pub fn exhausted(&self) -> bool {
        self.staged.is_empty() && self.sources.iter().all(Source::exhausted)
    }

    /// When its next frame is due.
    pub fn next_due(&self) -> Nanos {
        let waiting = self.pending.first().map_or(Nanos::MAX, |frame| frame.due);
        self.sources.iter().map(|source| source.next_due).fold(waiting, Nanos::min)
    }

    /// When the next frame of a stream with a pace is due.
    #[inline]
    pub fn next_paced(&self) -> Nanos {
        let paced = self.sources.iter().filter(|source| !source.greedy);
        paced.map(|source| source.next_due).min().unwrap_or(Nanos::MAX)
    }

    /// Sends what is due; returns how many frames left.
    #[inline]
    pub fn turn(
        &mut self,
        now: Nanos,
        port: &mut dyn Port,
        streams: &mut [StreamState],
    ) -> Result<usize, PortError> {
        let mut now = now;
        if self.staged.is_empty() {
            self.stage(now, BURST, port);
            if self.staged.is_empty() {
                let due = self.next_due();
                if due > now + NEAR || !self.stage(due, 1, port) {
                    return Ok(0);
                }
                while now < due {
                    now = Clock.now();
                }
            }
        }
        self.send(now, port, streams)
    }

    /// Stages up to `most` frames that are due at `now`; whether there were any.
    #[inline]
    fn stage(&mut self, now: Nanos, most: usize, port: &mut dyn Port) -> bool {
        while self.staged.len() < most {
            let Some(i) = self.pick(now) else { break };
            if self.blank.is_empty() && port.alloc(&mut self.blank, BURST) == 0 {
                break;
            }
            let Some(mut slot) = self.blank.pop() else { break };
            let (seq, due) = self.sources[i].write(&mut slot);
            self.pending.push(Pending { source: i, seq, due });
            self.staged.push(slot);
        }
        !self.staged.is_empty()
    }

    /// The stream whose frame is due first; those that are always due come last and take turns.
    #[inline]
    fn pick(&mut self, now: Nanos) -> Option<usize> {
        let (mut first, mut at) = (None, Nanos::MAX);
        let mut greedy = false;
        for (i, source) in self.sources.iter_mut().enumerate() {
            if source.next_due > now {
                continue;
            }
            if source.greedy {
                greedy = true;
                continue;
            }
            source.skip_late(now, self.late);
            if source.next_due < at && source.next_due <= now {
                (first, at) = (Some(i), source.next_due);
            }
        }
        if first.is_some() || !greedy {
            return first;
        }
        let n = self.sources.len();
        let ready = |i: &usize| self.sources[*i].greedy && self.sources[*i].next_due <= now;
        let i = (0..n).map(|k| (self.turn + k) % n).find(ready)?;
        self.turn = i + 1;
        Some(i)
    }

    fn send(
        &mut self,
        now: Nanos,
        port: &mut dyn Port,
        streams: &mut [StreamState],
    ) -> Result<usize, PortError> {
        let time = now - self.origin;
        for (slot, frame) in self.staged.iter_mut().zip(&self.pending) {
            self.sources[frame.source].stamp(slot, frame.seq, time);
        }
        let taken = port.tx(&mut self.staged)?;
        for frame in self.pending.drain(..taken) {
            streams[self.sources[frame.source].stream].left(frame.due, now);
        }
        if taken > 0 {
            port.flush()?;
        }
        Ok(taken)
    }

    /// Ends streams whose time is over, and gives up what the port would not take [`PATIENCE`] longer. Called now and then.
    pub fn expire(&mut self, now: Nanos, port: &mut dyn Port) {
        self.sources.iter_mut().for_each(|source| source.expire(now));
        if self.staged.is_empty() || !self.sources.iter().all(Source::exhausted) {
            self.waiting_since = None;
        } else if now - *self.waiting_since.get_or_insert(now) > PATIENCE {
            self.pending.clear();
            port.free(&mut self.staged);
        }
    }

    /// Ends all streams now.
    pub fn cut(&mut self, now: Nanos) {
        self.sources.iter_mut().for_each(|source| source.cut(now));
    }

    /// Gives unused slots back.
    pub fn finish(&mut self, port: &mut dyn Port) {
        self.pending.clear();
        port.free(&mut self.staged);
        port.free(&mut self.blank);
    }
}
