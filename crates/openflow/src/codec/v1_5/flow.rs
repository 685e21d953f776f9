//! Flow entries and their counters. The counters are a list of fields; those that the model always has are left out
//! when they are all ones.

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::oxm::OxmMatch;
use crate::codec::oxs::CountersWire;
use crate::codec::reader::Reader;
use crate::codec::v1_3::Instructions;
use crate::codec::wire::{After, Before, Bits, Coded, Sized16, U8, U16, U64, Wire};
use crate::codec::writer::Writer;
use crate::model::{Age, AggregateStats, FlowCounters, FlowCountersReport, FlowRemoved, FlowStats, RawOxm};

/// The counters that a flow entry of the model always has.
struct Always {
    duration_sec: u32,
    duration_nsec: u32,
    packet_count: u64,
    byte_count: u64,
}

/// The same as a list of fields.
fn fields(always: &Always, idle_time: Option<Age>, unknown: &[RawOxm]) -> FlowCounters {
    let duration = Age { sec: always.duration_sec, nsec: always.duration_nsec };
    FlowCounters {
        duration: Some(duration).filter(|d| *d != Age { sec: u32::MAX, nsec: u32::MAX }),
        idle_time,
        flow_count: None,
        packet_count: Some(always.packet_count).filter(|&n| n != u64::MAX),
        byte_count: Some(always.byte_count).filter(|&n| n != u64::MAX),
        unknown: unknown.to_vec(),
    }
}

fn always(counters: &FlowCounters) -> Always {
    let duration = counters.duration.unwrap_or(Age { sec: u32::MAX, nsec: u32::MAX });
    Always {
        duration_sec: duration.sec,
        duration_nsec: duration.nsec,
        packet_count: counters.packet_count.unwrap_or(u64::MAX),
        byte_count: counters.byte_count.unwrap_or(u64::MAX),
    }
}

layout!(RemovedHead: FlowRemoved {
    table_id: U8,
    reason: Coded<_, u8>,
    priority: U16,
    idle_timeout: U16,
    hard_timeout: U16,
    cookie: U64,
    match_: OxmMatch,
} lost {
    duration_sec: 0,
    duration_nsec: 0,
    packet_count: 0,
    byte_count: 0,
    idle_time: None,
    unknown_stats: Vec::new(),
});

/// A flow entry that went, and its counters.
pub(crate) struct FlowRemovedWire;

impl Wire for FlowRemovedWire {
    type Value = FlowRemoved;
    fn read(r: &mut Reader, name: &'static str) -> Result<FlowRemoved, DecodeError> {
        let head = RemovedHead::read(r, name)?;
        let counters = CountersWire::read(r, name)?;
        let Always { duration_sec, duration_nsec, packet_count, byte_count } = always(&counters);
        let (idle_time, unknown_stats) = (counters.idle_time, counters.unknown);
        Ok(FlowRemoved {
            duration_sec,
            duration_nsec,
            packet_count,
            byte_count,
            idle_time,
            unknown_stats,
            ..head
        })
    }
    fn write(value: &FlowRemoved, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        RemovedHead::write(value, name, w)?;
        let &FlowRemoved { duration_sec, duration_nsec, packet_count, byte_count, .. } = value;
        let always = Always { duration_sec, duration_nsec, packet_count, byte_count };
        CountersWire::write(&fields(&always, value.idle_time, &value.unknown_stats), name, w)
    }
}

layout!(DescHead: FlowStats {
    table_id: After<2, Before<1, U8>>,
    priority: U16,
    idle_timeout: U16,
    hard_timeout: U16,
    flags: Bits<_, u16>,
    importance: U16,
    cookie: U64,
    match_: OxmMatch,
} lost default);

/// A flow entry with counters and instructions, length first.
pub(crate) type FlowDescWire = Sized16<DescBody>;

/// What follows the length.
pub(crate) struct DescBody;

impl Wire for DescBody {
    type Value = FlowStats;
    fn read(r: &mut Reader, name: &'static str) -> Result<FlowStats, DecodeError> {
        let head = DescHead::read(r, name)?;
        let counters = CountersWire::read(r, name)?;
        let Always { duration_sec, duration_nsec, packet_count, byte_count } = always(&counters);
        let (idle_time, unknown_stats) = (counters.idle_time, counters.unknown);
        Ok(FlowStats {
            duration_sec,
            duration_nsec,
            packet_count,
            byte_count,
            idle_time,
            unknown_stats,
            instructions: Instructions::read(r, "instructions")?,
            ..head
        })
    }
    fn write(value: &FlowStats, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        DescHead::write(value, name, w)?;
        let &FlowStats { duration_sec, duration_nsec, packet_count, byte_count, .. } = value;
        let always = Always { duration_sec, duration_nsec, packet_count, byte_count };
        CountersWire::write(&fields(&always, value.idle_time, &value.unknown_stats), name, w)?;
        Instructions::write(&value.instructions, "instructions", w)
    }
}

layout!(CountersReportBody: FlowCountersReport {
    table_id: After<2, U8>,
    reason: Coded<_, u8>,
    priority: U16,
    match_: OxmMatch,
    counters: CountersWire,
});

/// A flow entry's counters alone, length first.
pub(crate) type CountersReportWire = Sized16<CountersReportBody>;

/// The counters of several flow entries.
pub(crate) struct AggregateWire;

impl Wire for AggregateWire {
    type Value = AggregateStats;
    fn read(r: &mut Reader, name: &'static str) -> Result<AggregateStats, DecodeError> {
        let counters = CountersWire::read(r, name)?;
        let Always { packet_count, byte_count, .. } = always(&counters);
        let flow_count = counters.flow_count.unwrap_or(u32::MAX);
        Ok(AggregateStats { packet_count, byte_count, flow_count, unknown_stats: counters.unknown })
    }
    fn write(value: &AggregateStats, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let counters = FlowCounters {
            flow_count: Some(value.flow_count).filter(|&n| n != u32::MAX),
            packet_count: Some(value.packet_count).filter(|&n| n != u64::MAX),
            byte_count: Some(value.byte_count).filter(|&n| n != u64::MAX),
            unknown: value.unknown_stats.clone(),
            ..FlowCounters::default()
        };
        CountersWire::write(&counters, name, w)
    }
}
