//! Changes of entries: noted, so that a bundle whose requests can't all be done is undone, and so that controllers can
//! watch.
//!
//! Entries are noted as they were before each change. For a bundle, groups, meters and tables' settings, of which there
//! are few, are copied when it begins; no frame is processed between its beginning and its end.

use crate::group::Groups;
use crate::meter::Meters;
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::settings::Settings;
use crate::table::Entry;
use std::collections::HashSet;

/// An entry before it was changed.
#[derive(Debug)]
pub struct Before {
    /// What it matches.
    pub rule: Rule,
    /// Its priority.
    pub priority: u16,
    /// The rest; `None` if there was none.
    pub entry: Option<Entry>,
}

/// Everything besides entries as it was when a bundle began.
#[derive(Debug)]
pub struct Snapshot {
    groups: Groups,
    meters: Meters,
    settings: Vec<Settings>,
}

/// An entry that has come, gone or changed.
#[derive(Debug)]
pub struct Change<'a> {
    /// Its table.
    pub table_id: u8,
    /// What it matches.
    pub rule: &'a Rule,
    /// Its priority.
    pub priority: u16,
    /// What it was; `None` if it is new.
    pub before: Option<&'a Entry>,
    /// What it is; `None` if it is gone.
    pub now: Option<&'a Entry>,
}

impl Pipeline {
    /// Begins a bundle: from now on changes are noted, until [`Pipeline::commit`] or [`Pipeline::roll_back`]. Changes
    /// that were noted for others must have been taken.
    pub fn begin(&mut self) {
        self.snapshot = Some(Box::new(Snapshot {
            groups: self.machine.groups.clone(),
            meters: self.machine.meters.clone(),
            settings: self.tables.iter().map(|t| t.settings.clone()).collect(),
        }));
        self.tables.iter_mut().for_each(|table| table.notes = Some(Vec::new()));
    }

    /// Everything shall stay as it is now.
    pub fn commit(&mut self) {
        self.snapshot = None;
        if !self.is_watched {
            self.take_changes(|_| {});
            self.watch(false);
        }
    }

    /// Everything becomes as it was when [`Pipeline::begin`] was called.
    pub fn roll_back(&mut self) {
        for number in 0..self.tables.len() {
            let table = &mut self.tables[number];
            for before in table.notes.take().unwrap_or_default().into_iter().rev() {
                if let Some(entry) = table.put_back(before) {
                    self.programs.release(entry.program);
                }
            }
        }
        if let Some(snapshot) = self.snapshot.take() {
            self.machine.groups = snapshot.groups;
            self.machine.meters = snapshot.meters;
            for (table, settings) in self.tables.iter_mut().zip(snapshot.settings) {
                table.settings = settings;
            }
        }
        self.watch(self.is_watched);
    }

    /// Says whether changes of entries are noted for [`Pipeline::take_changes`], which should then be called after
    /// every request and after timeouts.
    pub fn watch(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
        for table in &mut self.tables {
            if is_watched {
                table.notes.get_or_insert_with(Vec::new);
            } else {
                table.notes = None;
            }
        }
    }

    /// Whether changes are noted.
    pub fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Tells of each entry that has changed since the last call, once.
    pub fn take_changes(&mut self, mut tell: impl FnMut(&Change<'_>)) {
        for number in 0..self.tables.len() {
            let notes = self.tables[number].notes.as_mut().map(std::mem::take).unwrap_or_default();
            let mut told = HashSet::new();
            for Before { rule, priority, entry } in notes {
                let now = self.tables[number].find(&rule, priority);
                let is_news = entry.is_some() || now.is_some();
                if is_news && told.insert((rule.clone(), priority)) {
                    let before = entry.as_ref();
                    tell(&Change { table_id: number as u8, rule: &rule, priority, before, now });
                }
                if let Some(entry) = entry {
                    self.programs.release(entry.program);
                }
            }
        }
    }
}
