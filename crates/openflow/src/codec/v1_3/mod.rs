//! OpenFlow 1.3, and what the versions after it keep of it.

mod actions;
mod group;
mod instructions;
mod messages;
mod meter;
mod multipart;
mod queue;
mod stats;
mod table_features;

use super::error::{DecodeError, EncodeError};
use super::reader::Reader;
use super::wire::{Before, Port32, Rest};
use super::writer::Writer;
use super::{get, nicira, put, shared};
use crate::model::{Body, Kind};
pub(crate) use queue::PropertyWire;
pub(crate) use stats::{AggregateWire, DescWire};

/// Writes what follows the header.
pub(crate) fn write_body(body: &Body, w: &mut Writer) -> Result<(), EncodeError> {
    match body {
        Body::Hello(hello) => put::<shared::HelloWire>(hello, w),
        Body::Error(error) => put::<shared::ErrorWire>(error, w),
        Body::EchoRequest(data) | Body::EchoReply(data) | Body::Unknown { data, .. } => put::<Rest>(data, w),
        Body::Experimenter(experimenter) => put::<shared::ExperimenterWire>(experimenter, w),
        Body::Nicira(message) => nicira::write_message(message, w),
        Body::GetConfigReply(config) | Body::SetConfig(config) => put::<shared::Config>(config, w),
        Body::FeaturesRequest | Body::GetConfigRequest | Body::BarrierRequest | Body::BarrierReply => Ok(()),
        Body::FeaturesReply(features) => put::<messages::FeaturesReply>(features, w),
        Body::PacketIn(packet) => put::<messages::PacketInWire>(packet, w),
        Body::FlowRemoved(removed) => put::<messages::FlowRemovedWire>(removed, w),
        Body::PortStatus(status) => put::<messages::PortStatusWire>(status, w),
        Body::PacketOut(packet) => put::<messages::PacketOutWire>(packet, w),
        Body::FlowMod(flow) => put::<messages::FlowModWire>(flow, w),
        Body::GroupMod(group) => put::<group::GroupModWire>(group, w),
        Body::PortMod(port) => put::<messages::PortModWire>(port, w),
        Body::TableMod(table) => put::<messages::TableModWire>(table, w),
        Body::MultipartRequest(request) => multipart::write_request(request, w),
        Body::MultipartReply(reply) => multipart::write_reply(reply, w),
        Body::QueueGetConfigRequest(port) => put::<Before<4, Port32>>(port, w),
        Body::QueueGetConfigReply(config) => put::<queue::QueueConfigWire>(config, w),
        Body::RoleRequest(role) | Body::RoleReply(role) => put::<messages::RoleWire>(role, w),
        Body::GetAsyncRequest => Ok(()),
        Body::GetAsyncReply(config) | Body::SetAsync(config) => put::<messages::AsyncWire>(config, w),
        Body::MeterMod(meter) => put::<meter::MeterModWire>(meter, w),
    }
}

/// Reads what follows the header.
pub(crate) fn read_body(kind: Kind, r: &mut Reader) -> Result<Body, DecodeError> {
    match kind {
        Kind::Hello => get::<shared::HelloWire>(r).map(Body::Hello),
        Kind::Error => get::<shared::ErrorWire>(r).map(Body::Error),
        Kind::EchoRequest => get::<Rest>(r).map(Body::EchoRequest),
        Kind::EchoReply => get::<Rest>(r).map(Body::EchoReply),
        Kind::Experimenter | Kind::Nicira => get::<shared::ExperimenterWire>(r).map(|e| nicira::read_message(e, r.version)),
        Kind::FeaturesRequest => Ok(Body::FeaturesRequest),
        Kind::GetConfigRequest => Ok(Body::GetConfigRequest),
        Kind::GetConfigReply => get::<shared::Config>(r).map(Body::GetConfigReply),
        Kind::SetConfig => get::<shared::Config>(r).map(Body::SetConfig),
        Kind::BarrierRequest => Ok(Body::BarrierRequest),
        Kind::BarrierReply => Ok(Body::BarrierReply),
        Kind::Unknown(message_type) => get::<Rest>(r).map(|data| Body::Unknown { message_type, data }),
        Kind::FeaturesReply => get::<messages::FeaturesReply>(r).map(Body::FeaturesReply),
        Kind::PacketIn => get::<messages::PacketInWire>(r).map(Body::PacketIn),
        Kind::FlowRemoved => get::<messages::FlowRemovedWire>(r).map(Body::FlowRemoved),
        Kind::PortStatus => get::<messages::PortStatusWire>(r).map(Body::PortStatus),
        Kind::PacketOut => get::<messages::PacketOutWire>(r).map(Body::PacketOut),
        Kind::FlowMod => get::<messages::FlowModWire>(r).map(Body::FlowMod),
        Kind::GroupMod => get::<group::GroupModWire>(r).map(Body::GroupMod),
        Kind::PortMod => get::<messages::PortModWire>(r).map(Body::PortMod),
        Kind::TableMod => get::<messages::TableModWire>(r).map(Body::TableMod),
        Kind::MultipartRequest => multipart::read_request(r).map(Body::MultipartRequest),
        Kind::MultipartReply => multipart::read_reply(r).map(Body::MultipartReply),
        Kind::QueueGetConfigRequest => get::<Before<4, Port32>>(r).map(Body::QueueGetConfigRequest),
        Kind::QueueGetConfigReply => get::<queue::QueueConfigWire>(r).map(Body::QueueGetConfigReply),
        Kind::RoleRequest => get::<messages::RoleWire>(r).map(Body::RoleRequest),
        Kind::RoleReply => get::<messages::RoleWire>(r).map(Body::RoleReply),
        Kind::GetAsyncRequest => Ok(Body::GetAsyncRequest),
        Kind::GetAsyncReply => get::<messages::AsyncWire>(r).map(Body::GetAsyncReply),
        Kind::SetAsync => get::<messages::AsyncWire>(r).map(Body::SetAsync),
        Kind::MeterMod => get::<meter::MeterModWire>(r).map(Body::MeterMod),
    }
}
