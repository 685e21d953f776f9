//! Statistics and descriptions, and all that is done in steps between which frames have their turn.

use crate::core::{Core, Outcome};
use crate::monitors::Cause;
use flowgauge_datapath::{Cursor, FlowQuery, Removal};
use flowgauge_openflow::{
    Action, Age, AggregateStats, Body, FlowCounters, FlowCountersReason, FlowCountersReport,
    FlowRemovedReason, FlowStats, Instruction, MultipartReply, MultipartRequest, ReplyBody, RequestBody,
};

/// Entries looked at in one step.
const ENTRIES_PER_STEP: u32 = 1024;
/// Entries deleted in one step.
const DELETIONS_PER_STEP: usize = 256;
/// Bytes of entries in one message; what does not fit is left for the next.
const BYTES_PER_MESSAGE: usize = 32 << 10;

/// A request that isn't finished. Later requests of the same controller wait for it.
#[derive(Debug)]
pub enum Pending {
    /// Flow entries.
    Flow(Reply<()>),
    /// Flow entries' counters alone.
    FlowCounters(Reply<()>),
    /// Flow statistics, added up.
    Aggregate(Reply<AggregateStats>),
    /// Table features, from that table on.
    TableFeatures {
        /// Of the request.
        xid: u32,
        /// The next table.
        next: usize,
    },
    /// A deletion.
    Delete {
        /// Of the request.
        xid: u32,
        /// What is left to delete.
        removal: Removal,
    },
}

/// A reply about flow entries that isn't finished.
#[derive(Debug)]
pub struct Reply<T> {
    xid: u32,
    query: FlowQuery,
    from: Cursor,
    so_far: T,
}

impl<T: Default> Reply<T> {
    fn new(xid: u32, query: FlowQuery) -> Reply<T> {
        Reply { xid, query, from: Cursor::default(), so_far: T::default() }
    }
}

impl Core {
    /// Does one step of a request. What is left of it, if anything.
    pub fn go_on(&mut self, who: usize, pending: Pending) -> Option<Pending> {
        match pending {
            Pending::Flow(reply) => self.tell_flows(who, reply, false),
            Pending::FlowCounters(reply) => self.tell_flows(who, reply, true),
            Pending::Aggregate(reply) => self.add_up(who, reply),
            Pending::TableFeatures { xid, next } => self.tell_tables(who, xid, next),
            Pending::Delete { xid, mut removal } => {
                let (now, limit) = (self.outlet.now, DELETIONS_PER_STEP);
                let more = self.pipeline.delete_some(&mut removal, limit, now, &mut self.outlet);
                if self.pipeline.is_watched() {
                    let reason = Some(FlowRemovedReason::Delete);
                    self.tell_changes(Cause { request: Some((who, xid)), reason });
                }
                more.then_some(Pending::Delete { xid, removal })
            }
        }
    }

    /// Answers a statistics request, or begins to.
    pub fn multipart(&mut self, who: usize, xid: u32, request: MultipartRequest) -> Outcome {
        let version = self.controller(who).version;
        let flows = |core: &Core, wanted: &_| core.pipeline.flow_query(wanted, version);
        match request.body {
            RequestBody::Flow(wanted) => Ok(Some(Pending::Flow(Reply::new(xid, flows(self, &wanted)?)))),
            RequestBody::FlowStats(wanted) => {
                Ok(Some(Pending::FlowCounters(Reply::new(xid, flows(self, &wanted)?))))
            }
            RequestBody::Aggregate(wanted) => {
                Ok(Some(Pending::Aggregate(Reply::new(xid, flows(self, &wanted)?))))
            }
            RequestBody::TableFeatures(wanted) if wanted.is_empty() => {
                Ok(Some(Pending::TableFeatures { xid, next: 0 }))
            }
            RequestBody::TableFeatures(wanted) => self.set_tables(who, xid, &wanted, request.more),
            RequestBody::FlowMonitor(requests) => self.flow_monitor(who, xid, requests),
            other => {
                let reply = self.tell(who, other)?;
                self.send_in_parts(who, xid, reply)
            }
        }
    }

    fn send_part(&mut self, who: usize, xid: u32, more: bool, body: ReplyBody) {
        self.controller(who).send(xid, Body::MultipartReply(MultipartReply { more, body }));
    }

    fn tell_flows(&mut self, who: usize, reply: Reply<()>, only_counters: bool) -> Option<Pending> {
        let now = self.outlet.now;
        let (mut part, mut bytes): (Vec<FlowStats>, usize) = (Vec::new(), 0);
        let next = self.pipeline.walk(&reply.query, reply.from, ENTRIES_PER_STEP, |visited| {
            let stats = visited.stats(now);
            bytes += most_bytes(&stats);
            let fits = bytes <= BYTES_PER_MESSAGE || part.is_empty();
            if fits {
                part.push(stats);
            }
            fits
        });
        if next.is_none() || !part.is_empty() {
            let told = if only_counters {
                ReplyBody::FlowStats(part.into_iter().map(counters).collect())
            } else {
                ReplyBody::Flow(part)
            };
            self.send_part(who, reply.xid, next.is_some(), told);
        }
        let rest = next.map(|from| Reply { from, ..reply });
        rest.map(if only_counters { Pending::FlowCounters } else { Pending::Flow })
    }

    fn add_up(&mut self, who: usize, mut reply: Reply<AggregateStats>) -> Option<Pending> {
        let next = self.pipeline.aggregate(&reply.query, reply.from, ENTRIES_PER_STEP, &mut reply.so_far);
        let Some(from) = next else {
            self.send_part(who, reply.xid, false, ReplyBody::Aggregate(reply.so_far));
            return None;
        };
        Some(Pending::Aggregate(Reply { from, ..reply }))
    }
}

/// An entry's counters as 1.5 tells them alone.
fn counters(entry: FlowStats) -> FlowCountersReport {
    let duration = Age { sec: entry.duration_sec, nsec: entry.duration_nsec };
    let counters = FlowCounters {
        duration: Some(duration),
        idle_time: entry.idle_time,
        flow_count: None,
        packet_count: Some(entry.packet_count),
        byte_count: Some(entry.byte_count),
        unknown: vec![],
    };
    let FlowStats { table_id, priority, match_, .. } = entry;
    FlowCountersReport { table_id, reason: FlowCountersReason::Request, priority, match_, counters }
}

/// At least as many bytes as the entry takes in a reply of any version.
fn most_bytes(stats: &FlowStats) -> usize {
    // A few of Nicira's actions are long.
    let action = |a: &Action| if let Action::Nicira(_) = a { 1024 } else { 40 };
    let instruction = |i: &Instruction| match i {
        Instruction::ApplyActions(actions) | Instruction::WriteActions(actions) => {
            8 + actions.iter().map(action).sum::<usize>()
        }
        Instruction::GotoTable(_)
        | Instruction::WriteMetadata { .. }
        | Instruction::ClearActions
        | Instruction::Meter(_)
        | Instruction::StatTrigger { .. } => 64,
        Instruction::Experimenter { data, .. } | Instruction::Unknown { data, .. } => 16 + data.len(),
    };
    96 + stats.match_.entries.len() * 40 + stats.instructions.iter().map(instruction).sum::<usize>()
}
