//! A flow table: entries with counters, timeouts and a capacity.
//!
//! It knows no messages: [`crate::flow_mod`] turns those into additions, selections and removals.

use crate::changes::Before;
use crate::classifier::Classifier;
use crate::entry::{Entry, Removed, Selection, UNCOUNTED};
use crate::rule::Rule;
use crate::settings::{Candidate, Settings};
use crate::timers::{Deadline, Timers};
use flowgauge_clock::Nanos;
use flowgauge_openflow::{ErrorCode, FlowRemovedReason};
use flowgauge_packet::FlowKey;

/// A flow table.
#[derive(Debug)]
pub struct FlowTable {
    classifier: Classifier<Entry>,
    timers: Timers,
    capacity: usize,
    next_serial: u32,
    pub(crate) settings: Settings,
    /// Entries before they were changed, while somebody wants to know.
    pub(crate) notes: Option<Vec<Before>>,
    /// Frames looked up.
    pub lookups: u64,
    /// Frames that matched an entry.
    pub matched: u64,
}

impl FlowTable {
    /// An empty table for at most `capacity` entries.
    pub fn new(capacity: usize) -> FlowTable {
        FlowTable {
            classifier: Classifier::default(),
            timers: Timers::default(),
            capacity,
            next_serial: 0,
            settings: Settings::default(),
            notes: None,
            lookups: 0,
            matched: 0,
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.classifier.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.classifier.is_empty()
    }

    /// The most entries it takes.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Looks a frame up and counts it.
    #[inline]
    pub fn hit(&mut self, key: &FlowKey, bytes: usize, now: Nanos) -> Option<&Entry> {
        self.lookups += 1;
        let id = self.classifier.lookup(key)?;
        self.matched += 1;
        let entry = self.classifier.get_mut(id)?;
        let (packets, bytes) =
            if entry.flags.0 & UNCOUNTED == 0 { (1, bytes as u64) } else { entry.counted(bytes) };
        entry.packets += packets;
        entry.bytes += bytes;
        entry.used = now;
        Some(entry)
    }

    /// Whether an entry may be added; the number of the one that it would replace.
    ///
    /// # Errors
    /// Overlap when `check_overlap` and some entry of that priority could match the same frame.
    pub fn place(&self, rule: &Rule, priority: u16, check_overlap: bool) -> Result<Option<u32>, ErrorCode> {
        if check_overlap && self.classifier.overlapping(rule, priority).is_some() {
            return Err(ErrorCode::FlowModOverlap);
        }
        Ok(self.classifier.find(rule, priority))
    }

    /// The room that is left, in percent, rounded down.
    pub fn room(&self) -> u8 {
        (self.capacity.saturating_sub(self.len()) * 100 / self.capacity.max(1)) as u8
    }

    /// Whether there is no room for another entry.
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    /// Adds an entry in the place found for it. The one that was there is returned.
    pub fn put(&mut self, place: Option<u32>, rule: &Rule, priority: u16, entry: Entry) -> Option<Entry> {
        self.next_serial = self.next_serial.wrapping_add(1);
        let entry = Entry { serial: self.next_serial, ..entry };
        let deadline = entry.deadline();
        let candidate = Candidate::of(&entry, self.settings.eviction);
        let (id, replaced) = match place {
            Some(id) => {
                let old = self.classifier.get_mut(id).expect("the place was just found");
                (id, Some(std::mem::replace(old, entry)))
            }
            None => (self.classifier.insert(rule, priority, entry), None),
        };
        if let Some(notes) = &mut self.notes {
            notes.push(Before { rule: rule.clone(), priority, entry: replaced.clone() });
        }
        if let Some(replaced) = &replaced {
            self.disarm(replaced);
        }
        if let Some((at, _)) = deadline {
            self.timers.arm(Deadline { at, id, serial: self.next_serial });
        }
        let len = self.classifier.len();
        self.settings.note(candidate, id, len);
        replaced
    }

    /// Removes the entry that matters least, if it matters no more than one of that importance.
    pub fn evict(&mut self, importance: u16) -> Option<Removed> {
        if !self.settings.evicts() {
            return None;
        }
        let classifier = &self.classifier;
        let all = || (0..classifier.end()).filter_map(|id| Some((id, classifier.get(id)?)));
        let victim = self.settings.least(importance, all, |id| classifier.get(id))?;
        self.remove(victim)
    }

    /// The numbers of the entries that `is_meant` picks.
    pub fn ids(&self, is_meant: impl Fn(&Entry) -> bool) -> Vec<u32> {
        let ids = 0..self.classifier.end();
        ids.filter(|&id| self.classifier.get(id).is_some_and(&is_meant)).collect()
    }

    /// The entry with that very match and priority.
    pub fn find(&self, rule: &Rule, priority: u16) -> Option<&Entry> {
        self.classifier.get(self.classifier.find(rule, priority)?)
    }

    /// The numbers of the entries selected.
    pub fn select(&self, selection: &Selection) -> Vec<u32> {
        let is_meant = |id| self.classifier.get(id).is_some_and(|e| selection.accepts(e));
        match selection.strict {
            Some(priority) => self
                .classifier
                .find(&selection.rule, priority)
                .filter(|&id| is_meant(id))
                .into_iter()
                .collect(),
            None => {
                let mut found = Vec::new();
                self.classifier.for_each_covered(&selection.rule, |id| {
                    if is_meant(id) {
                        found.push(id);
                    }
                });
                found
            }
        }
    }

    /// An entry by its number.
    pub fn entry(&self, id: u32) -> Option<&Entry> {
        self.classifier.get(id)
    }

    /// The number of the entry that a frame matches, without counting it.
    pub(crate) fn look_for(&mut self, key: &FlowKey) -> Option<u32> {
        self.classifier.lookup(key)
    }

    /// An entry by its number, for its counters.
    pub(crate) fn entry_quietly(&mut self, id: u32) -> Option<&mut Entry> {
        self.classifier.get_mut(id)
    }

    /// What an entry matches.
    pub fn rule(&self, id: u32) -> Option<Rule> {
        self.classifier.rule(id)
    }

    /// An entry by its number, to change.
    pub fn entry_mut(&mut self, id: u32) -> Option<&mut Entry> {
        if let Some(notes) = &mut self.notes {
            let (rule, priority) = (self.classifier.rule(id)?, self.classifier.priority(id)?);
            notes.push(Before { rule, priority, entry: self.classifier.get(id).cloned() });
        }
        self.classifier.get_mut(id)
    }

    /// Visits the selected entries with numbers from `from` on, at most `budget` numbers, until `visit` gives
    /// false for one it has no room for. Returns the number to go on from, or `None` at the end of the table.
    pub fn walk(
        &self,
        selection: &Selection,
        from: u32,
        budget: u32,
        mut visit: impl FnMut(&Rule, u16, &Entry) -> bool,
    ) -> Option<u32> {
        let end = self.classifier.end();
        let stop = from.saturating_add(budget).min(end);
        for id in from..stop {
            let Some(entry) = self.classifier.get(id).filter(|e| selection.accepts(e)) else { continue };
            let (Some(rule), Some(priority)) = (self.classifier.rule(id), self.classifier.priority(id))
            else {
                continue;
            };
            if selection.rule.covers(&rule) && !visit(&rule, priority, entry) {
                return Some(id);
            }
        }
        (stop < end).then_some(stop)
    }

    /// Removes an entry.
    pub fn remove(&mut self, id: u32) -> Option<Removed> {
        let (rule, priority) = (self.classifier.rule(id)?, self.classifier.priority(id)?);
        let entry = self.classifier.remove(id)?;
        self.disarm(&entry);
        if let Some(notes) = &mut self.notes {
            notes.push(Before { rule: rule.clone(), priority, entry: Some(entry.clone()) });
        }
        Some(Removed { rule, priority, entry })
    }

    /// Makes an entry what it was before; gives the one that was there meanwhile.
    pub(crate) fn put_back(&mut self, before: Before) -> Option<Entry> {
        let Before { rule, priority, entry } = before;
        let place = self.classifier.find(&rule, priority);
        match entry {
            Some(entry) => self.put(place, &rule, priority, entry),
            None => place.and_then(|id| self.remove(id)).map(|removed| removed.entry),
        }
    }

    /// When the next entry may time out.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.timers.next()
    }

    /// Removes one entry that has timed out.
    pub fn expire_one(&mut self, now: Nanos) -> Option<(Removed, FlowRemovedReason)> {
        while let Some(due) = self.timers.due(now) {
            let Some(entry) = self.classifier.get(due.id).filter(|e| e.serial == due.serial) else {
                self.timers.was_stale();
                continue;
            };
            let Some((at, reason)) = entry.deadline() else { continue };
            if at > now {
                self.timers.arm(Deadline { at, ..due });
                continue;
            }
            let (rule, priority) = (self.classifier.rule(due.id)?, self.classifier.priority(due.id)?);
            let entry = self.classifier.remove(due.id)?;
            if let Some(notes) = &mut self.notes {
                notes.push(Before { rule: rule.clone(), priority, entry: Some(entry.clone()) });
            }
            return Some((Removed { rule, priority, entry }, reason));
        }
        None
    }

    fn disarm(&mut self, gone: &Entry) {
        if gone.deadline().is_some() {
            let classifier = &self.classifier;
            self.timers.left_over(|d| classifier.get(d.id).is_some_and(|e| e.serial == d.serial));
        }
    }
}
