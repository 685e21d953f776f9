//! Undoing: what a bundle has changed when one of its requests fails.
//!
//! Entries are noted as they were before each change; groups, meters and tables' settings, of which there are few,
//! are copied when the bundle begins. No frame is processed between beginning and end.

use crate::group::Groups;
use crate::meter::Meters;
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::settings::Settings;
use crate::table::Entry;

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

/// Everything else as it was when the bundle began.
#[derive(Debug)]
pub struct Snapshot {
    groups: Groups,
    meters: Meters,
    settings: Vec<Settings>,
}

impl Pipeline {
    /// Notes from now on what is changed, until [`Pipeline::commit`] or [`Pipeline::roll_back`].
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
        for number in 0..self.tables.len() {
            for before in self.tables[number].notes.take().unwrap_or_default() {
                if let Some(entry) = before.entry {
                    self.programs.release(entry.program);
                }
            }
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
    }
}
