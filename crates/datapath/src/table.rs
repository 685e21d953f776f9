//! A flow table: entries with counters, timeouts and a capacity.
//!
//! It knows no messages: [`crate::flow_mod`] turns those into additions, selections and removals.

use crate::changes::Before;
use crate::classifier::Classifier;
use crate::program::Program;
use crate::rule::Rule;
use crate::settings::{Candidate, Settings};
use crate::timers::{Deadline, Timers};
use flowgauge_clock::Nanos;
use flowgauge_openflow::{ErrorCode, FlowModFlags, FlowRemovedReason, PortNo};
use flowgauge_packet::FlowKey;
use std::sync::Arc;

/// Flags of entries that don't count everything.
const UNCOUNTED: u32 = FlowModFlags::NO_PACKET_COUNTS.0 | FlowModFlags::NO_BYTE_COUNTS.0;

/// A flow entry, but for its match and priority, which the classifier keeps.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it does with frames.
    pub program: Arc<Program>,
    /// The controller's own mark.
    pub cookie: u64,
    /// Frames that matched.
    pub packets: u64,
    /// Bytes of those frames, without FCS.
    pub bytes: u64,
    /// When it was added.
    pub created: Nanos,
    /// When a frame last matched; at first when it was added.
    pub used: Nanos,
    /// Seconds without a frame after which it goes; 0: never.
    pub idle_timeout: u16,
    /// Seconds after which it goes; 0: never.
    pub hard_timeout: u16,
    /// Whether it is the table-miss entry of 1.3: what it sends to the controller matched nothing else.
    pub is_miss: bool,
    /// The flags it was added with.
    pub flags: FlowModFlags,
    /// How much it matters when a full table evicts entries (1.4).
    pub importance: u16,
    /// Tells it from others that have had its number.
    pub(crate) serial: u32,
}

impl Entry {
    /// A new entry without counts.
    pub fn new(program: Arc<Program>, cookie: u64, now: Nanos) -> Entry {
        Entry {
            program,
            cookie,
            packets: 0,
            bytes: 0,
            created: now,
            used: now,
            idle_timeout: 0,
            hard_timeout: 0,
            is_miss: false,
            flags: FlowModFlags::NONE,
            importance: 0,
            serial: 0,
        }
    }

    /// Frames that matched; all ones if they aren't counted.
    pub fn told_packets(&self) -> u64 {
        if self.flags.contains(FlowModFlags::NO_PACKET_COUNTS) { u64::MAX } else { self.packets }
    }

    /// Bytes of frames that matched; all ones if they aren't counted.
    pub fn told_bytes(&self) -> u64 {
        if self.flags.contains(FlowModFlags::NO_BYTE_COUNTS) { u64::MAX } else { self.bytes }
    }

    /// What a frame adds to the counters, some of which are to stay.
    #[cold]
    fn counted(&self, bytes: usize) -> (u64, u64) {
        let is_counted = |without| !self.flags.contains(without);
        let packets = u64::from(is_counted(FlowModFlags::NO_PACKET_COUNTS));
        (packets, if is_counted(FlowModFlags::NO_BYTE_COUNTS) { bytes as u64 } else { 0 })
    }

    /// Why it goes, given that it has timed out.
    pub fn overdue(&self, now: Nanos) -> FlowRemovedReason {
        let is_hard =
            self.hard_timeout != 0 && self.created + Nanos::from_secs(self.hard_timeout.into()) <= now;
        if is_hard { FlowRemovedReason::HardTimeout } else { FlowRemovedReason::IdleTimeout }
    }

    /// When it goes unless a frame comes, and why.
    pub(crate) fn deadline(&self) -> Option<(Nanos, FlowRemovedReason)> {
        let after = |start: Nanos, seconds: u16, reason| {
            (seconds != 0).then(|| (start + Nanos::from_secs(seconds.into()), reason))
        };
        let hard = after(self.created, self.hard_timeout, FlowRemovedReason::HardTimeout);
        let idle = after(self.used, self.idle_timeout, FlowRemovedReason::IdleTimeout);
        [hard, idle].into_iter().flatten().min_by_key(|&(at, _)| at)
    }
}

/// Which entries a request means.
#[derive(Clone, Debug)]
pub struct Selection {
    /// With `strict` the very match, otherwise all that it covers.
    pub rule: Rule,
    /// The priority of the one entry that is meant; `None` for all that `rule` covers.
    pub strict: Option<u16>,
    /// Only entries whose cookie equals this in the bits of the mask.
    pub cookie: u64,
    /// Which bits of the cookie count.
    pub cookie_mask: u64,
    /// Only entries that send to this port, unless it is ANY.
    pub out_port: PortNo,
    /// Only entries that send to this group, unless it is OFPG_ANY.
    pub out_group: u32,
}

impl Selection {
    /// Whether the entry passes the filters besides the match.
    pub fn accepts(&self, entry: &Entry) -> bool {
        (entry.cookie ^ self.cookie) & self.cookie_mask == 0
            && entry.program.sends_to(self.out_port, self.out_group)
    }
}

/// An entry that left its table.
#[derive(Clone, Debug)]
pub struct Removed {
    /// What it matched.
    pub rule: Rule,
    /// Its priority.
    pub priority: u16,
    /// The rest of it, with its final counts.
    pub entry: Entry,
}

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
