//! How full a table is, and with entries of which priorities: what the time and the room of a new entry depend on.

use std::collections::BTreeMap;

use flowgauge_datapath::rule::Rule;
use flowgauge_datapath::{Cursor, Pipeline};
use flowgauge_openflow::{FlowMod, FlowModCommand, FlowStatsRequest, TABLE_ALL, Version};

/// Counts of one table's entries, taken again whenever the table holds another number than it should.
#[derive(Debug, Default)]
pub struct Census {
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

impl Census {
    /// Brings the counts up to date.
    fn take(&mut self, pipeline: &Pipeline, table: u8, place_bits: u32) {
        let held = pipeline.tables().get(usize::from(table)).map_or(0, |t| t.len());
        if (self.table, self.entries) == (table, held) {
            return;
        }
        *self = Census { table, entries: held, ..Census::default() };
        let wanted = FlowStatsRequest { table_id: table, ..FlowStatsRequest::default() };
        let Ok(query) = pipeline.flow_query(&wanted, Version::V1_3) else { return };
        pipeline.walk(&query, Cursor::default(), u32::MAX, |visited| {
            self.places += places(visited.rule, place_bits);
            *self.by_priority.entry(visited.priority).or_default() += 1;
            true
        });
    }

    /// How many entries of lower priority a FLOW_MOD moves.
    pub fn moved(&mut self, pipeline: &Pipeline, request: &FlowMod, place_bits: u32) -> u64 {
        if request.command != FlowModCommand::Add || request.table_id == TABLE_ALL {
            return 0;
        }
        self.take(pipeline, request.table_id, place_bits);
        self.by_priority.range(..request.priority).map(|(_, count)| count).sum()
    }

    /// Whether the table has too few places for a FLOW_MOD.
    pub fn lacks_room(
        &mut self,
        pipeline: &Pipeline,
        request: &FlowMod,
        place_bits: u32,
        capacity: u32,
    ) -> bool {
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

    /// A FLOW_MOD was carried out: what it added is counted without looking at all the others.
    pub fn note(&mut self, pipeline: &Pipeline, request: &FlowMod, place_bits: u32) {
        let held = pipeline.tables().get(usize::from(request.table_id)).map_or(0, |t| t.len());
        let is_one_more = request.table_id == self.table && held == self.entries + 1;
        if request.command == FlowModCommand::Add && is_one_more {
            self.entries = held;
            self.places += places(&rule(request), place_bits);
            *self.by_priority.entry(request.priority).or_default() += 1;
        }
    }
}
