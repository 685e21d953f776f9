//! How full a table is, and with entries of which priorities: what the time and the room of a new entry depend on.

use std::collections::BTreeMap;

use flowgauge_datapath::rule::Rule;
use flowgauge_datapath::{Cursor, Pipeline};
use flowgauge_openflow::{Body, FlowMod, FlowModCommand, FlowStatsRequest, TABLE_ALL, Version, decode};

use crate::model::TableModel;
use crate::picos::Picos;

/// What tables cost by their model, and counts of one table's entries.
#[derive(Debug)]
pub struct Census {
    model: TableModel,
    counts: Counts,
}

/// Counts of one table's entries, taken again whenever the table holds another number than it should.
#[derive(Debug, Default)]
struct Counts {
    table: u8,
    entries: usize,
    places: u64,
    by_priority: BTreeMap<u16, u64>,
}

/// Places that a match takes.
fn places(rule: &Rule, place_bits: u32) -> u64 {
    let bits: u32 = rule.terms().iter().map(|term| term.field.bits()).sum();
    if place_bits == 0 { 1 } else { u64::from(bits.div_ceil(place_bits)).max(1) }
}

/// The rule of a FLOW_MOD.
fn rule(request: &FlowMod) -> Rule {
    Rule::new(request.match_.entries.iter().map(|entry| (entry.field, entry.value, entry.mask)))
}

fn flow_mod(message: &[u8]) -> Option<FlowMod> {
    match decode(message).ok()?.1.body {
        Body::FlowMod(request) => Some(request),
        _ => None,
    }
}

fn entries(pipeline: &Pipeline, table: u8) -> usize {
    pipeline.tables().get(usize::from(table)).map_or(0, |table| table.len())
}

impl Census {
    pub fn new(model: &TableModel) -> Census {
        Census { model: model.clone(), counts: Counts::default() }
    }

    /// The time that the table's state adds to the write of a message; `unseen`: entries that are written and not yet active.
    pub fn write_time(&mut self, pipeline: &Pipeline, message: &[u8], unseen: i64) -> Picos {
        let TableModel { per_entry_ns, shift_ns, place_bits, .. } = self.model;
        if per_entry_ns == 0.0 && shift_ns == 0.0 {
            return Picos::ZERO;
        }
        let Some(request) = flow_mod(message) else { return Picos::ZERO };
        let held = entries(pipeline, request.table_id) as i64;
        let moved = if shift_ns > 0.0 { self.counts.moved(pipeline, &request, place_bits) } else { 0 };
        let entries = (held + unseen).max(0) as f64;
        Picos::from_ns_f64(per_entry_ns * entries + shift_ns * moved as f64)
    }

    /// How many entries a message adds to what its table holds, as far as that matters and can be said of it alone.
    pub fn added(&self, message: &[u8]) -> i64 {
        if self.model.per_entry_ns == 0.0 {
            return 0;
        }
        match flow_mod(message).map(|request| request.command) {
            Some(FlowModCommand::Add) => 1,
            Some(FlowModCommand::DeleteStrict) => -1,
            _ => 0,
        }
    }

    /// The FLOW_MOD in a message, if what it does to the table is to be looked at.
    pub fn watched(&self, message: &[u8]) -> Option<FlowMod> {
        if self.model.place_bits == 0 && self.model.shift_ns <= 0.0 {
            return None;
        }
        flow_mod(message)
    }

    /// Whether the table has too few places for a FLOW_MOD.
    pub fn lacks_room(&mut self, pipeline: &Pipeline, request: &FlowMod) -> bool {
        self.counts.lacks_room(pipeline, request, self.model.place_bits, self.model.entries)
    }

    /// A FLOW_MOD was carried out: what it added is counted without looking at all the others.
    pub fn note(&mut self, pipeline: &Pipeline, request: &FlowMod) {
        self.counts.note(pipeline, request, self.model.place_bits);
    }
}

impl Counts {
    /// Brings the counts up to date.
    fn take(&mut self, pipeline: &Pipeline, table: u8, place_bits: u32) {
        let held = entries(pipeline, table);
        if (self.table, self.entries) == (table, held) {
            return;
        }
        *self = Counts { table, entries: held, ..Counts::default() };
        let wanted = FlowStatsRequest { table_id: table, ..FlowStatsRequest::default() };
        let Ok(query) = pipeline.flow_query(&wanted, Version::V1_3) else { return };
        pipeline.walk(&query, Cursor::default(), u32::MAX, |visited| {
            self.places += places(visited.rule, place_bits);
            *self.by_priority.entry(visited.priority).or_default() += 1;
            true
        });
    }

    /// How many entries of lower priority a FLOW_MOD moves.
    fn moved(&mut self, pipeline: &Pipeline, request: &FlowMod, place_bits: u32) -> u64 {
        if request.command != FlowModCommand::Add || request.table_id == TABLE_ALL {
            return 0;
        }
        self.take(pipeline, request.table_id, place_bits);
        self.by_priority.range(..request.priority).map(|(_, count)| count).sum()
    }

    fn lacks_room(&mut self, pipeline: &Pipeline, request: &FlowMod, place_bits: u32, capacity: u32) -> bool {
        if request.command != FlowModCommand::Add || request.table_id == TABLE_ALL || place_bits == 0 {
            return false;
        }
        let rule = rule(request);
        let table = pipeline.tables().get(usize::from(request.table_id));
        if table.is_none_or(|table| table.find(&rule, request.priority).is_some()) {
            return false;
        }
        self.take(pipeline, request.table_id, place_bits);
        self.places + places(&rule, place_bits) > u64::from(capacity)
    }

    fn note(&mut self, pipeline: &Pipeline, request: &FlowMod, place_bits: u32) {
        let held = entries(pipeline, request.table_id);
        let is_one_more = request.table_id == self.table && held == self.entries + 1;
        if request.command == FlowModCommand::Add && is_one_more {
            self.entries = held;
            self.places += places(&rule(request), place_bits);
            *self.by_priority.entry(request.priority).or_default() += 1;
        }
    }
}
