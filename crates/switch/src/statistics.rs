//! Statistics and descriptions, and all that is done in steps between which frames have their turn.

use crate::abilities;
use crate::core::Core;
use flowgauge_clock::{Clock, Nanos};
use flowgauge_datapath::{Cursor, FlowQuery, MAX_TABLES, Removal};
use flowgauge_openflow::{
    AggregateStats, Body, Desc, ErrorCode, FlowStats, Instruction, MultipartReply, MultipartRequest, PortNo,
    PortStats, ReplyBody, RequestBody, TableStats, Version,
};

/// Entries looked at in one step.
const ENTRIES_PER_STEP: u32 = 1024;
/// Entries deleted in one step.
const DELETIONS_PER_STEP: usize = 256;
/// Tables described in one message.
const TABLES_PER_MESSAGE: usize = 16;
/// Bytes of entries in one message; what does not fit is left for the next.
const BYTES_PER_MESSAGE: usize = 32 << 10;

/// A request that isn't finished. Later requests of the same controller wait for it.
#[derive(Debug)]
pub enum Pending {
    /// Flow statistics.
    Flow(Reply<()>),
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
    Delete(Removal),
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
            Pending::Flow(reply) => self.tell_flows(who, reply),
            Pending::Aggregate(reply) => self.add_up(who, reply),
            Pending::TableFeatures { xid, next } => self.tell_tables(who, xid, next),
            Pending::Delete(mut removal) => {
                let (now, limit) = (Clock.now(), DELETIONS_PER_STEP);
                let more = self.pipeline.delete_some(&mut removal, limit, now, &mut self.outlet);
                more.then_some(Pending::Delete(removal))
            }
        }
    }

    /// Answers a statistics request, or begins to.
    pub fn multipart(
        &mut self,
        who: usize,
        xid: u32,
        request: MultipartRequest,
    ) -> Result<Option<Pending>, ErrorCode> {
        let version = self.controller(who).version;
        let reply = match request.body {
            RequestBody::Flow(wanted) => {
                let query = self.pipeline.flow_query(&wanted, version)?;
                return Ok(Some(Pending::Flow(Reply::new(xid, query))));
            }
            RequestBody::Aggregate(wanted) => {
                let query = self.pipeline.flow_query(&wanted, version)?;
                return Ok(Some(Pending::Aggregate(Reply::new(xid, query))));
            }
            RequestBody::TableFeatures(wanted) if wanted.is_empty() => {
                return Ok(Some(Pending::TableFeatures { xid, next: 0 }));
            }
            RequestBody::TableFeatures(_) => return Err(ErrorCode::TableFeaturesPermission),
            RequestBody::Desc => ReplyBody::Desc(self.description()),
            RequestBody::Table => ReplyBody::Table(self.table_stats(version)),
            RequestBody::PortStats(port) => ReplyBody::PortStats(self.port_stats(port, version)?),
            RequestBody::PortDesc => {
                ReplyBody::PortDesc(self.outlet.ports.iter().map(|p| p.describe()).collect())
            }
            RequestBody::Queue { .. } => ReplyBody::Queue(vec![]),
            RequestBody::Group(_)
            | RequestBody::GroupDesc
            | RequestBody::GroupFeatures
            | RequestBody::Meter(_)
            | RequestBody::MeterConfig(_)
            | RequestBody::MeterFeatures
            | RequestBody::Unknown { .. } => return Err(ErrorCode::BadMultipart),
            RequestBody::NiciraFlow(_) | RequestBody::NiciraAggregate(_) => {
                return Err(ErrorCode::BadExperimenterType);
            }
            RequestBody::Experimenter(_) => return Err(ErrorCode::BadExperimenter),
        };
        self.send_part(who, xid, false, reply);
        Ok(None)
    }

    fn send_part(&mut self, who: usize, xid: u32, more: bool, body: ReplyBody) {
        self.controller(who).send(xid, Body::MultipartReply(MultipartReply { more, body }));
    }

    fn tell_flows(&mut self, who: usize, reply: Reply<()>) -> Option<Pending> {
        let now = Clock.now();
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
            self.send_part(who, reply.xid, next.is_some(), ReplyBody::Flow(part));
        }
        next.map(|from| Pending::Flow(Reply { from, ..reply }))
    }

    fn add_up(&mut self, who: usize, mut reply: Reply<AggregateStats>) -> Option<Pending> {
        let next = self.pipeline.aggregate(&reply.query, reply.from, ENTRIES_PER_STEP, &mut reply.so_far);
        let Some(from) = next else {
            self.send_part(who, reply.xid, false, ReplyBody::Aggregate(reply.so_far));
            return None;
        };
        Some(Pending::Aggregate(Reply { from, ..reply }))
    }

    fn tell_tables(&mut self, who: usize, xid: u32, next: usize) -> Option<Pending> {
        let count = self.pipeline.tables().len().min(MAX_TABLES);
        let end = (next + TABLES_PER_MESSAGE).min(count);
        let part = (next..end).map(|n| abilities::table(n as u8, count as u8, self.max_entries)).collect();
        self.send_part(who, xid, end < count, ReplyBody::TableFeatures(part));
        (end < count).then_some(Pending::TableFeatures { xid, next: end })
    }

    fn description(&self) -> Desc {
        Desc {
            mfr_desc: "Flowgauge".into(),
            hw_desc: "software".into(),
            sw_desc: concat!("flowgauge switch ", env!("CARGO_PKG_VERSION")).into(),
            serial_num: format!("{:016x}", self.datapath_id),
            dp_desc: "embedded device under test".into(),
        }
    }

    fn table_stats(&self, version: Version) -> Vec<TableStats> {
        let told = if version == Version::V1_0 { 1 } else { self.pipeline.tables().len() };
        let tables = self.pipeline.tables().iter().take(told).enumerate();
        let stats = tables.map(|(number, table)| TableStats {
            table_id: number as u8,
            name: format!("table{number}"),
            wildcards: abilities::WILDCARDS_1_0,
            max_entries: self.max_entries,
            active_count: table.len() as u32,
            lookup_count: table.lookups,
            matched_count: table.matched,
        });
        stats.collect()
    }

    fn port_stats(&mut self, wanted: PortNo, version: Version) -> Result<Vec<PortStats>, ErrorCode> {
        let age: Nanos = Clock.now() - self.started;
        let ports = self.outlet.ports.iter_mut();
        let found: Vec<PortStats> = ports
            .filter(|p| wanted == PortNo::ANY || p.number == wanted.0)
            .map(|p| p.counters(age))
            .collect();
        let is_unknown = found.is_empty() && wanted != PortNo::ANY;
        // 1.0 has no error for a port that isn't there: there is nothing to tell of it.
        if is_unknown && version != Version::V1_0 { Err(ErrorCode::BadPort) } else { Ok(found) }
    }
}

/// At least as many bytes as the entry takes in a reply of any version.
fn most_bytes(stats: &FlowStats) -> usize {
    let instruction = |i: &Instruction| match i {
        Instruction::ApplyActions(actions) | Instruction::WriteActions(actions) => 8 + actions.len() * 40,
        Instruction::GotoTable(_)
        | Instruction::WriteMetadata { .. }
        | Instruction::ClearActions
        | Instruction::Meter(_) => 24,
        Instruction::Experimenter { data, .. } | Instruction::Unknown { data, .. } => 16 + data.len(),
    };
    96 + stats.match_.entries.len() * 40 + stats.instructions.iter().map(instruction).sum::<usize>()
}
