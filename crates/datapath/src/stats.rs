//! Flow statistics: walks over entries in steps, so that a million of them don't hold frames up.

use crate::check;
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::table::{Entry, Selection};
use flowgauge_clock::Nanos;
use flowgauge_openflow::{Age, AggregateStats, ErrorCode, FlowStats, FlowStatsRequest, TABLE_ALL, Version};
use std::ops::Range;

/// A request for flow statistics, checked.
#[derive(Clone, Debug)]
pub struct FlowQuery {
    selection: Selection,
    tables: Range<u8>,
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    table: u8,
    entry: u32,
}

/// An entry on a walk.
pub struct Visited<'a> {
    /// Its table's number.
    pub table_id: u8,
    /// Its match.
    pub rule: &'a Rule,
    /// Its priority.
    pub priority: u16,
    /// The rest of it.
    pub entry: &'a Entry,
}

impl Pipeline {
    /// Checks a request for flow statistics.
    ///
    /// # Errors
    /// A match that makes no sense, a table that isn't there.
    pub fn flow_query(&self, request: &FlowStatsRequest, version: Version) -> Result<FlowQuery, ErrorCode> {
        let is_old = version == Version::V1_0;
        let tables = match request.table_id {
            TABLE_ALL if is_old => 0..1,
            TABLE_ALL => 0..self.tables.len() as u8,
            number if usize::from(number) < self.tables.len() => number..number + 1,
            // 1.0 has no error for this: an empty table is as good as none.
            _ if is_old => 0..0,
            _ => return Err(ErrorCode::BadTableId),
        };
        let selection = Selection {
            rule: check::rule(&request.match_, version)?,
            strict: None,
            cookie: request.cookie,
            cookie_mask: if is_old { 0 } else { request.cookie_mask },
            out_port: request.out_port,
            out_group: request.out_group,
        };
        Ok(FlowQuery { selection, tables })
    }

    /// Visits the entries that a query means, from `from` on, looking at about `budget` places, until `visit`
    /// gives false for an entry that it has no room for. Returns where to go on, or `None` at the end.
    ///
    /// Entries that are added meanwhile may be visited or not; none is visited twice.
    pub fn walk(
        &self,
        query: &FlowQuery,
        from: Cursor,
        budget: u32,
        mut visit: impl FnMut(&Visited<'_>) -> bool,
    ) -> Option<Cursor> {
        let mut cursor = Cursor { table: from.table.max(query.tables.start), ..from };
        while cursor.table < query.tables.end {
            let table_id = cursor.table;
            let table = self.tables.get(usize::from(table_id))?;
            let visit_one =
                |rule: &Rule, priority, entry: &Entry| visit(&Visited { table_id, rule, priority, entry });
            if let Some(entry) = table.walk(&query.selection, cursor.entry, budget, visit_one) {
                return Some(Cursor { entry, ..cursor });
            }
            cursor = Cursor { table: cursor.table + 1, entry: 0 };
        }
        None
    }

    /// Adds up the entries that a query means, from `from` on, looking at about `budget` places. Returns
    /// where to go on, or `None` at the end.
    pub fn aggregate(
        &self,
        query: &FlowQuery,
        from: Cursor,
        budget: u32,
        sum: &mut AggregateStats,
    ) -> Option<Cursor> {
        self.walk(query, from, budget, |v| {
            sum.packet_count += v.entry.packets;
            sum.byte_count += v.entry.bytes;
            sum.flow_count += 1;
            true
        })
    }
}

impl Visited<'_> {
    /// The entry as flow statistics tell it.
    pub fn stats(&self, now: Nanos) -> FlowStats {
        let (duration_sec, duration_nsec) = seconds(now - self.entry.created);
        FlowStats {
            table_id: self.table_id,
            duration_sec,
            duration_nsec,
            priority: self.priority,
            idle_timeout: self.entry.idle_timeout,
            hard_timeout: self.entry.hard_timeout,
            flags: self.entry.flags,
            importance: self.entry.importance,
            cookie: self.entry.cookie,
            packet_count: self.entry.told_packets(),
            byte_count: self.entry.told_bytes(),
            idle_time: Some(age(now - self.entry.used)),
            match_: self.rule.into(),
            instructions: self.entry.program.instructions().to_vec(),
            unknown_stats: Vec::new(),
        }
    }
}

/// A duration as 1.5 tells it.
pub(crate) fn age(duration: Nanos) -> Age {
    let (sec, nsec) = seconds(duration);
    Age { sec, nsec }
}

/// A duration as OpenFlow tells it: whole seconds, and nanoseconds beyond those.
pub fn seconds(duration: Nanos) -> (u32, u32) {
    ((duration.0 / 1_000_000_000) as u32, (duration.0 % 1_000_000_000) as u32)
}
