//! What a frame's way touched, so that equal frames need not go it again.
//!
//! Frames of one flow fare alike until the pipeline changes. Who knows that can send one frame through with
//! [`Pipeline::process_traced`], remember what came out, and afterwards only say how many more there were
//! ([`Pipeline::credit`]): all counters are as if each had gone the way itself.

use crate::pipeline::Pipeline;
use crate::sink::{Datapath, Frame, Sink};
use crate::table::FlowTable;
use flowgauge_clock::Nanos;
use flowgauge_openflow::FlowModFlags;
use flowgauge_packet::FlowKey;

/// A lookup in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The table.
    pub table: u8,
    /// Number of the entry that matched.
    pub entry: Option<u32>,
    /// Length of the frame there, without FCS.
    pub bytes: u32,
    serial: u32,
}

/// What the way of a frame touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// In order.
    pub lookups: Vec<Lookup>,
    /// Groups and the frame's length there.
    groups: Vec<(u32, u32)>,
    /// Groups, places of buckets, the frame's length there.
    buckets: Vec<(u32, usize, u32)>,
    /// Whether it passed something that treats equal frames differently: a meter, addresses to learn, entries that it
    /// makes itself.
    pub varies: bool,
}

impl Trace {
    /// As new.
    pub fn clear(&mut self) {
        self.lookups.clear();
        self.groups.clear();
        self.buckets.clear();
        self.varies = false;
    }

    #[cold]
    pub(crate) fn lookup(&mut self, number: u8, table: Option<&mut FlowTable>, key: &FlowKey, bytes: usize) {
        let found = table.and_then(|table| table.find_for(key));
        let (entry, serial) = found.map_or((None, 0), |(id, serial)| (Some(id), serial));
        self.lookups.push(Lookup { table: number, entry, bytes: bytes as u32, serial });
    }

    #[cold]
    pub(crate) fn group(&mut self, id: u32, bytes: usize) {
        self.groups.push((id, bytes as u32));
    }

    #[cold]
    pub(crate) fn bucket(&mut self, group: u32, place: usize, bytes: usize) {
        self.buckets.push((group, place, bytes as u32));
    }
}

impl Pipeline {
    /// Processes one frame and notes in `trace`, cleared before, what its way touched.
    pub fn process_traced(&mut self, frame: Frame<'_>, now: Nanos, sink: &mut dyn Sink, trace: &mut Trace) {
        trace.clear();
        self.machine.trace = Some(std::mem::take(trace));
        self.process(&[frame], now, sink);
        *trace = self.machine.trace.take().unwrap_or_default();
    }

    /// Counts `frames` more that went the way of `trace`, the last one at `last`. The pipeline must not have changed since,
    /// and the way must not vary.
    pub fn credit(&mut self, trace: &Trace, frames: u64, last: Nanos) {
        for lookup in &trace.lookups {
            if let Some(table) = self.tables.get_mut(usize::from(lookup.table)) {
                table.credit(lookup, frames, last);
            }
        }
        for &(id, bytes) in &trace.groups {
            self.machine.groups.credit(id, frames, u64::from(bytes) * frames);
        }
        for &(id, place, bytes) in &trace.buckets {
            self.machine.groups.credit_bucket(id, place, frames, u64::from(bytes) * frames);
        }
    }
}

impl FlowTable {
    /// The entry that a frame matches, not counted: its number and what tells it from others of that number.
    fn find_for(&mut self, key: &FlowKey) -> Option<(u32, u32)> {
        let id = self.look_for(key)?;
        Some((id, self.entry(id)?.serial))
    }

    fn credit(&mut self, lookup: &Lookup, frames: u64, last: Nanos) {
        self.lookups += frames;
        let Some(id) = lookup.entry else { return };
        self.matched += frames;
        let Some(entry) = self.entry_quietly(id).filter(|entry| entry.serial == lookup.serial) else {
            return;
        };
        if !entry.flags.contains(FlowModFlags::NO_PACKET_COUNTS) {
            entry.packets += frames;
        }
        if !entry.flags.contains(FlowModFlags::NO_BYTE_COUNTS) {
            entry.bytes += u64::from(lookup.bytes) * frames;
        }
        entry.used = entry.used.max(last);
    }
}
