//! Multipart messages: type, flags, padding, body.

use super::group::{GroupDescWire, GroupFeaturesWire, GroupStatsWire};
use super::messages::PortWire;
use super::meter::{MeterConfigWire, MeterFeaturesWire, MeterStatsWire};
use super::stats::{
    AggregateWire, DescWire, FlowRequest, FlowStatsWire, PortStatsWire, QueueStatsWire, TableStatsWire,
};
use super::table_features::TableFeaturesWire;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::shared::ExperimenterWire;
use crate::codec::wire::{All, Before, Coded, Port32, Rest, Sized16, U32, Wire};
use crate::codec::writer::Writer;
use crate::codec::{get, nicira, put};
use crate::model::{MultipartKind, MultipartReply, MultipartRequest, PortNo, ReplyBody, RequestBody};

/// The flag that says that more parts follow.
const MORE: u16 = 1;

fn write_head(kind: MultipartKind, more: bool, w: &mut Writer) -> Result<(), EncodeError> {
    Coded::<MultipartKind, u16>::write(&kind, "multipart type", w)?;
    w.u16(if more { MORE } else { 0 });
    w.zeros(4);
    Ok(())
}

fn read_head(r: &mut Reader) -> Result<(MultipartKind, bool), DecodeError> {
    let kind = Coded::<MultipartKind, u16>::read(r, "multipart type")?;
    let more = r.u16("multipart flags")? & MORE != 0;
    r.skip(4)?;
    Ok((kind, more))
}

pub(crate) fn write_request(request: &MultipartRequest, w: &mut Writer) -> Result<(), EncodeError> {
    write_head(request.body.kind(), request.more, w)?;
    match &request.body {
        RequestBody::Flow(flow) | RequestBody::Aggregate(flow) => put::<FlowRequest>(flow, w),
        RequestBody::PortStats(port) => put::<Before<4, Port32>>(port, w),
        RequestBody::Queue { port, queue_id } => {
            w.u32(port.0);
            w.u32(*queue_id);
            Ok(())
        }
        RequestBody::Group(id) | RequestBody::Meter(id) | RequestBody::MeterConfig(id) => {
            put::<Before<4, U32>>(id, w)
        }
        RequestBody::TableFeatures(tables) => put::<All<TableFeaturesWire>>(tables, w),
        RequestBody::NiciraFlow(flow) => nicira::write_request(flow, false, w),
        RequestBody::NiciraAggregate(flow) => nicira::write_request(flow, true, w),
        RequestBody::Experimenter(experimenter) => put::<ExperimenterWire>(experimenter, w),
        RequestBody::Unknown { data, .. } => put::<Rest>(data, w),
        RequestBody::Desc
        | RequestBody::Table
        | RequestBody::GroupDesc
        | RequestBody::GroupFeatures
        | RequestBody::MeterFeatures
        | RequestBody::PortDesc => Ok(()),
    }
}

pub(crate) fn read_request(r: &mut Reader) -> Result<MultipartRequest, DecodeError> {
    let (kind, more) = read_head(r)?;
    let body = match kind {
        MultipartKind::Desc => RequestBody::Desc,
        MultipartKind::Flow => RequestBody::Flow(get::<FlowRequest>(r)?),
        MultipartKind::Aggregate => RequestBody::Aggregate(get::<FlowRequest>(r)?),
        MultipartKind::Table => RequestBody::Table,
        MultipartKind::PortStats => RequestBody::PortStats(get::<Before<4, Port32>>(r)?),
        MultipartKind::Queue => {
            RequestBody::Queue { port: PortNo(r.u32("port")?), queue_id: r.u32("queue_id")? }
        }
        MultipartKind::Group => RequestBody::Group(get::<Before<4, U32>>(r)?),
        MultipartKind::GroupDesc => RequestBody::GroupDesc,
        MultipartKind::GroupFeatures => RequestBody::GroupFeatures,
        MultipartKind::Meter => RequestBody::Meter(get::<Before<4, U32>>(r)?),
        MultipartKind::MeterConfig => RequestBody::MeterConfig(get::<Before<4, U32>>(r)?),
        MultipartKind::MeterFeatures => RequestBody::MeterFeatures,
        MultipartKind::TableFeatures => RequestBody::TableFeatures(get::<All<TableFeaturesWire>>(r)?),
        MultipartKind::PortDesc => RequestBody::PortDesc,
        MultipartKind::Experimenter => nicira::read_request(get::<ExperimenterWire>(r)?, r.version),
        MultipartKind::Unknown(kind) => RequestBody::Unknown { kind, data: r.rest().to_vec() },
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
        ReplyBody::Group(groups) => put::<All<Sized16<GroupStatsWire>>>(groups, w),
        ReplyBody::GroupDesc(groups) => put::<All<Sized16<GroupDescWire>>>(groups, w),
        ReplyBody::GroupFeatures(features) => put::<GroupFeaturesWire>(features, w),
        ReplyBody::Meter(meters) => put::<All<MeterStatsWire>>(meters, w),
        ReplyBody::MeterConfig(meters) => put::<All<Sized16<MeterConfigWire>>>(meters, w),
        ReplyBody::MeterFeatures(features) => put::<MeterFeaturesWire>(features, w),
        ReplyBody::TableFeatures(tables) => put::<All<TableFeaturesWire>>(tables, w),
        ReplyBody::PortDesc(ports) => put::<All<PortWire>>(ports, w),
        ReplyBody::NiciraFlow(flows) => nicira::write_reply(flows, w),
        ReplyBody::NiciraAggregate(sum) => nicira::write_aggregate(sum, w),
        ReplyBody::Experimenter(experimenter) => put::<ExperimenterWire>(experimenter, w),
        ReplyBody::Unknown { data, .. } => put::<Rest>(data, w),
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
        MultipartKind::Group => ReplyBody::Group(get::<All<Sized16<GroupStatsWire>>>(r)?),
        MultipartKind::GroupDesc => ReplyBody::GroupDesc(get::<All<Sized16<GroupDescWire>>>(r)?),
        MultipartKind::GroupFeatures => ReplyBody::GroupFeatures(get::<GroupFeaturesWire>(r)?),
        MultipartKind::Meter => ReplyBody::Meter(get::<All<MeterStatsWire>>(r)?),
        MultipartKind::MeterConfig => ReplyBody::MeterConfig(get::<All<Sized16<MeterConfigWire>>>(r)?),
        MultipartKind::MeterFeatures => ReplyBody::MeterFeatures(get::<MeterFeaturesWire>(r)?),
        MultipartKind::TableFeatures => ReplyBody::TableFeatures(get::<All<TableFeaturesWire>>(r)?),
        MultipartKind::PortDesc => ReplyBody::PortDesc(get::<All<PortWire>>(r)?),
        MultipartKind::Experimenter => nicira::read_reply(get::<ExperimenterWire>(r)?, r.version),
        MultipartKind::Unknown(kind) => ReplyBody::Unknown { kind, data: r.rest().to_vec() },
    };
    Ok(MultipartReply { more, body })
}
