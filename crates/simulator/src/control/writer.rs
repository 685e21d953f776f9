//! Changes of the tables on their way from the processor to the hardware: written one after the other, active a while later.

use std::collections::VecDeque;

use crate::model::TableModel;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// What waits for its turn.
pub struct Change {
    /// The message.
    pub bytes: Vec<u8>,
    /// Whether it is written into a table; otherwise it only waits until what came before is active.
    pub is_write: bool,
    /// How many entries the table has more once it is written.
    pub entries: i64,
}

/// Writes changes.
pub struct Writer {
    write: Sampler,
    lag: Sampler,
    double_buffered: bool,
    waiting: VecDeque<Change>,
    /// The one that is being written, and until when.
    writing: Option<(Picos, Change)>,
    /// Written to the idle copy, which does not decide yet.
    idle: Vec<Change>,
    /// How long that took: as long takes bringing the other copy up to date.
    idle_time: Picos,
    /// Until when the other copy is brought up to date.
    busy: Picos,
    /// Written, and when they are active.
    written: VecDeque<(Picos, Change)>,
    /// How many entries the changes add that are written and not yet active.
    unseen: i64,
}

impl Writer {
    pub fn new(model: &TableModel, seed: u64) -> Writer {
        Writer {
            write: Sampler::new(&model.write, element(seed, "table write", 0)),
            lag: Sampler::new(&model.lag, element(seed, "table lag", 0)),
            double_buffered: model.double_buffered,
            waiting: VecDeque::new(),
            writing: None,
            idle: Vec::new(),
            idle_time: Picos::ZERO,
            busy: Picos::ZERO,
            written: VecDeque::new(),
            unseen: 0,
        }
    }

    pub fn push(&mut self, change: Change) {
        self.waiting.push_back(change);
    }

    /// Whether everything is active.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.writing.is_none() && self.idle.is_empty() && self.written.is_empty()
    }

    /// Whether a change is being written.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// The change that is being written is held up for that long.
    pub fn stall(&mut self, time: Picos) {
        if let Some((at, _)) = &mut self.writing {
            *at += time;
        }
    }

    /// When it wants to be turned next.
    pub fn next(&self) -> Picos {
        let active = self.written.front().map_or(Picos::MAX, |&(at, _)| at);
        let written = self.writing.as_ref().map_or(Picos::MAX, |&(at, _)| at);
        let starts = if self.writing.is_none() && !self.waiting.is_empty() { self.busy } else { Picos::MAX };
        active.min(written).min(starts)
    }

    /// Goes on at `now`; `further` gives the time that the table's state adds to a write, of a message and the entries that are
    /// written and not yet active. Gives what is active now, one at a time.
    pub fn turn(&mut self, now: Picos, mut further: impl FnMut(&[u8], i64) -> Picos) -> Option<Change> {
        loop {
            if self.written.front().is_some_and(|&(at, _)| at <= now) {
                let (_, change) = self.written.pop_front()?;
                self.unseen -= change.entries;
                return Some(change);
            }
            if let Some((at, change)) = self.writing.take() {
                if at > now {
                    self.writing = Some((at, change));
                    return None;
                }
                self.finish(now, change);
                continue;
            }
            if self.busy > now {
                return None;
            }
            let change = self.waiting.pop_front()?;
            if !change.is_write {
                self.swap(now);
                let last = self.written.back().map_or(now, |&(at, _)| at.max(now));
                self.written.push_back((last, change));
                continue;
            }
            let time = self.write.next() + further(&change.bytes, self.unseen);
            self.idle_time += time;
            self.writing = Some((now + time, change));
        }
    }

    fn finish(&mut self, now: Picos, change: Change) {
        self.unseen += change.entries;
        self.idle.push(change);
        if !self.double_buffered {
            self.idle_time = Picos::ZERO;
        }
        if !self.double_buffered || self.waiting.is_empty() {
            self.swap(now);
        }
    }

    /// The idle copy takes over.
    fn swap(&mut self, now: Picos) {
        for change in self.idle.drain(..) {
            let last = self.written.back().map_or(Picos::ZERO, |&(at, _)| at);
            self.written.push_back((last.max(now + self.lag.next()), change));
        }
        self.busy = now + std::mem::replace(&mut self.idle_time, Picos::ZERO);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.writing = None;
        self.idle.clear();
        self.written.clear();
        self.unseen = 0;
        (self.idle_time, self.busy) = (Picos::ZERO, Picos::ZERO);
    }
}
