//! Statistics: type, flags, body.

use super::actions::InstructionsWire;
use super::flow_match::MatchWire;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::shared::ExperimenterWire;
use crate::codec::v1_3::{AggregateWire, DescWire};
use crate::codec::wire::{After, All, Before, Coded, Port16, Rest, Sized16, Text, U8, U16, U32, U64, Wire};
use crate::codec::writer::Writer;
use crate::codec::{get, nicira, put};
use crate::model::{
    FlowModFlags, FlowStats, FlowStatsRequest, GROUP_ANY, MultipartKind, MultipartReply, MultipartRequest,
    PortStats, QueueStats, ReplyBody, RequestBody, TableStats,
};

layout!(FlowRequest: FlowStatsRequest {
    match_: MatchWire,
    table_id: Before<1, U8>,
    out_port: Port16,
} none { out_group: GROUP_ANY, cookie: 0, cookie_mask: 0 });

layout!(FlowStatsWire: FlowStats {
    table_id: Before<1, U8>,
    match_: MatchWire,
    duration_sec: U32,
    duration_nsec: U32,
    priority: U16,
    idle_timeout: U16,
    hard_timeout: U16,
    cookie: After<6, U64>,
    packet_count: U64,
    byte_count: U64,
    instructions: InstructionsWire,
} lost { flags: FlowModFlags::NONE, importance: 0 });

layout!(TableStatsWire: TableStats {
    table_id: Before<3, U8>,
    name: Text<32>,
    wildcards: U32,
    max_entries: U32,
    active_count: U32,
    lookup_count: U64,
    matched_count: U64,
});

layout!(PortStatsWire: PortStats {
    port_no: Before<6, Port16>,
    rx_packets: U64,
    tx_packets: U64,
    rx_bytes: U64,
    tx_bytes: U64,
    rx_dropped: U64,
    tx_dropped: U64,
    rx_errors: U64,
    tx_errors: U64,
    rx_frame_errors: U64,
    rx_over_errors: U64,
    rx_crc_errors: U64,
    collisions: U64,
} lost { duration_sec: 0, duration_nsec: 0 });

layout!(QueueStatsWire: QueueStats {
    port_no: Before<2, Port16>,
    queue_id: U32,
    tx_bytes: U64,
    tx_packets: U64,
    tx_errors: U64,
} lost { duration_sec: 0, duration_nsec: 0 });

/// The flag that says that more parts follow.
const MORE: u16 = 1;

fn write_head(kind: MultipartKind, more: bool, w: &mut Writer) -> Result<(), EncodeError> {
    Coded::<MultipartKind, u16>::write(&kind, "multipart type", w)?;
    w.u16(if more { MORE } else { 0 });
    Ok(())
}

fn read_head(r: &mut Reader) -> Result<(MultipartKind, bool), DecodeError> {
    let code = r.u16("statistics type")?;
    // What later versions number as well is unknown to 1.0.
    let known = Some(MultipartKind::from_code(code)).filter(|kind| kind.versions().include(r.version));
    Ok((known.unwrap_or(MultipartKind::Unknown(code)), r.u16("statistics flags")? & MORE != 0))
}

pub(crate) fn write_request(request: &MultipartRequest, w: &mut Writer) -> Result<(), EncodeError> {
    write_head(request.body.kind(), request.more, w)?;
    match &request.body {
        RequestBody::Desc | RequestBody::Table => Ok(()),
        RequestBody::Flow(flow) | RequestBody::Aggregate(flow) => put::<FlowRequest>(flow, w),
        RequestBody::PortStats(port) => put::<Before<6, Port16>>(port, w),
        RequestBody::Queue { port, queue_id } => {
            put::<Before<2, Port16>>(port, w)?;
            w.u32(*queue_id);
            Ok(())
        }
        RequestBody::NiciraFlow(flow) => nicira::write_request(flow, false, w),
        RequestBody::NiciraAggregate(flow) => nicira::write_request(flow, true, w),
        RequestBody::Experimenter(experimenter) => put::<ExperimenterWire>(experimenter, w),
        RequestBody::Unknown { data, .. } => put::<Rest>(data, w),
        RequestBody::Group(_)
        | RequestBody::GroupDesc
        | RequestBody::GroupFeatures
        | RequestBody::Meter(_)
        | RequestBody::MeterConfig(_)
        | RequestBody::MeterFeatures
        | RequestBody::TableFeatures(_)
        | RequestBody::PortDesc => Err(w.inexpressible("multipart type")),
    }
}

pub(crate) fn read_request(r: &mut Reader) -> Result<MultipartRequest, DecodeError> {
    let (kind, more) = read_head(r)?;
    let body = match kind {
        MultipartKind::Desc => RequestBody::Desc,
        MultipartKind::Flow => RequestBody::Flow(get::<FlowRequest>(r)?),
        MultipartKind::Aggregate => RequestBody::Aggregate(get::<FlowRequest>(r)?),
        MultipartKind::Table => RequestBody::Table,
        MultipartKind::PortStats => RequestBody::PortStats(get::<Before<6, Port16>>(r)?),
        MultipartKind::Queue => {
            RequestBody::Queue { port: get::<Before<2, Port16>>(r)?, queue_id: r.u32("queue_id")? }
        }
        MultipartKind::Experimenter => nicira::read_request(get::<ExperimenterWire>(r)?, r.version),
        MultipartKind::Group
        | MultipartKind::GroupDesc
        | MultipartKind::GroupFeatures
        | MultipartKind::Meter
        | MultipartKind::MeterConfig
        | MultipartKind::MeterFeatures
        | MultipartKind::TableFeatures
        | MultipartKind::PortDesc
        | MultipartKind::Unknown(_) => RequestBody::Unknown { kind: kind.code(), data: r.rest().to_vec() },
    };
    Ok(MultipartRequest { more, body })
}

pub(crate) fn write_reply(reply: &MultipartReply, w: &mut Writer) -> Result<(), EncodeError> {
    write_head(reply.body.kind(), reply.more, w)?;
    match &reply.body {
        ReplyBody::Desc(desc) => put::<DescWire>(desc, w),
        ReplyBody::Flow(flows) => put::<All<Sized16<FlowStatsWire>>>(flows, w),
        ReplyBody::Aggregate(aggregate) => put::<AggregateWire>(aggregate, w),
        ReplyBody::Table(tables) => put::<All<TableStatsWire>>(tables, w),
        ReplyBody::PortStats(ports) => put::<All<PortStatsWire>>(ports, w),
        ReplyBody::Queue(queues) => put::<All<QueueStatsWire>>(queues, w),
        ReplyBody::NiciraFlow(flows) => nicira::write_reply(flows, w),
        ReplyBody::NiciraAggregate(sum) => nicira::write_aggregate(sum, w),
        ReplyBody::Experimenter(experimenter) => put::<ExperimenterWire>(experimenter, w),
        ReplyBody::Unknown { data, .. } => put::<Rest>(data, w),
        ReplyBody::Group(_)
        | ReplyBody::GroupDesc(_)
        | ReplyBody::GroupFeatures(_)
        | ReplyBody::Meter(_)
        | ReplyBody::MeterConfig(_)
        | ReplyBody::MeterFeatures(_)
        | ReplyBody::TableFeatures(_)
        | ReplyBody::PortDesc(_) => Err(w.inexpressible("multipart type")),
    }
}

pub(crate) fn read_reply(r: &mut Reader) -> Result<MultipartReply, DecodeError> {
    let (kind, more) = read_head(r)?;
    let body = match kind {
        MultipartKind::Desc => ReplyBody::Desc(get::<DescWire>(r)?),
        MultipartKind::Flow => ReplyBody::Flow(get::<All<Sized16<FlowStatsWire>>>(r)?),
        MultipartKind::Aggregate => ReplyBody::Aggregate(get::<AggregateWire>(r)?),
        MultipartKind::Table => ReplyBody::Table(get::<All<TableStatsWire>>(r)?),
        MultipartKind::PortStats => ReplyBody::PortStats(get::<All<PortStatsWire>>(r)?),
        MultipartKind::Queue => ReplyBody::Queue(get::<All<QueueStatsWire>>(r)?),
        MultipartKind::Experimenter => nicira::read_reply(get::<ExperimenterWire>(r)?, r.version),
        MultipartKind::Group
        | MultipartKind::GroupDesc
        | MultipartKind::GroupFeatures
        | MultipartKind::Meter
        | MultipartKind::MeterConfig
        | MultipartKind::MeterFeatures
        | MultipartKind::TableFeatures
        | MultipartKind::PortDesc
        | MultipartKind::Unknown(_) => ReplyBody::Unknown { kind: kind.code(), data: r.rest().to_vec() },
    };
    Ok(MultipartReply { more, body })
}
