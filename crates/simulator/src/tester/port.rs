//! The sending side of a tester port: merges its streams by due time.

use flowgauge_clock::Nanos;

use super::source::{Due, Source};
use crate::picos::Picos;
use crate::timers::Timers;

/// The gap of streams that go as fast as possible over a cable without a rate.
const FASTEST: Picos = Picos::from_nanos(10);

/// The sending side of a tester port.
#[derive(Debug)]
pub struct TxPort {
    sources: Vec<Source>,
    /// When each source's next frame is due, of those with a pace.
    dues: Timers,
    /// The same of those which are always due: their frames leave when no other is due.
    greedy_dues: Timers,
    greedy: Vec<usize>,
    /// Which of them sends, and how many frames it has sent in this turn.
    turn: usize,
    sent: u32,
    /// When the cable is free.
    free_at: Picos,
}

impl TxPort {
    /// Without streams.
    pub fn new() -> TxPort {
        TxPort {
            sources: Vec::new(),
            dues: Timers::new(1),
            greedy_dues: Timers::new(1),
            greedy: Vec::new(),
            turn: 0,
            sent: 0,
            free_at: Picos::ZERO,
        }
    }

    /// Takes the streams of a transmission.
    pub fn begin(&mut self, sources: Vec<Source>) {
        self.dues = Timers::new(sources.len());
        self.greedy_dues = Timers::new(sources.len());
        self.greedy = (0..sources.len()).filter(|&i| sources[i].timetable.greedy).collect();
        (self.turn, self.sent) = (0, 0);
        self.sources = sources;
        (0..self.sources.len()).for_each(|i| self.note(i));
    }

    #[inline]
    fn note(&mut self, i: usize) {
        let timetable = &self.sources[i].timetable;
        let dues = if timetable.greedy { &mut self.greedy_dues } else { &mut self.dues };
        dues.set(i, timetable.next_due.into());
    }

    /// Its streams.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// When its next frame leaves; [`Picos::MAX`]: none will.
    #[inline]
    pub fn next_event(&self) -> Picos {
        let due = self.dues.first().0.min(self.greedy_dues.first().0);
        if due == Picos::MAX { due } else { due.max(self.free_at) }
    }

    /// The frame that leaves now, if one does: what it is, and its source. A source whose time is over sends no more.
    #[inline]
    pub fn next(&mut self, now: Picos) -> Option<(Due, &Source)> {
        let i = self.pick(now)?;
        let due = self.sources[i].take();
        self.note(i);
        Some((due, &self.sources[i]))
    }

    #[inline]
    fn pick(&mut self, now: Picos) -> Option<usize> {
        loop {
            let (at, i) = self.dues.first();
            if at > now {
                break;
            }
            let source = &mut self.sources[i];
            source.expire(now.nanos());
            source.timetable.skip_late(now.nanos());
            if Picos::from(source.timetable.next_due) == at {
                return Some(i);
            }
            self.note(i);
        }
        self.pick_greedy(now)
    }

    /// Those that are always due take turns, each with as many frames as its share says.
    fn pick_greedy(&mut self, now: Picos) -> Option<usize> {
        while self.greedy_dues.first().0 <= now {
            let i = self.greedy[self.turn];
            let source = &mut self.sources[i];
            source.expire(now.nanos());
            if Picos::from(source.timetable.next_due) <= now && self.sent < source.weight {
                self.sent += 1;
                return Some(i);
            }
            self.note(i);
            (self.turn, self.sent) = ((self.turn + 1) % self.greedy.len(), 0);
        }
        None
    }

    /// The cable is occupied for that long from now on.
    #[inline]
    pub fn occupy(&mut self, now: Picos, time: Picos) {
        self.free_at = now + if time == Picos::ZERO && !self.greedy.is_empty() { FASTEST } else { time };
    }

    /// Ends all streams at `at`.
    pub fn cut(&mut self, at: Nanos) {
        self.sources.iter_mut().for_each(|source| source.timetable.cut(at));
        (0..self.sources.len()).for_each(|i| self.note(i));
    }
}
