//! OpenFlow 1.0.

mod actions;
mod flags;
mod flow_match;
mod messages;
mod queue;
mod stats;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::reader::Reader;
use super::wire::{Before, Port16, Rest};
use super::writer::Writer;
use super::{get, nicira, put, shared};
use crate::model::{Body, Kind};
pub(crate) use actions::{read_instructions, write_instructions};

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
        Body::PortMod(port) => put::<messages::PortModWire>(port, w),
        Body::MultipartRequest(request) => stats::write_request(request, w),
        Body::MultipartReply(reply) => stats::write_reply(reply, w),
        Body::QueueGetConfigRequest(port) => put::<Before<2, Port16>>(port, w),
        Body::QueueGetConfigReply(config) => put::<queue::QueueConfigWire>(config, w),
        Body::RoleRequest(role) => nicira::write_role(role, false, w),
        Body::RoleReply(role) => nicira::write_role(role, true, w),
        Body::GroupMod(_)
        | Body::TableMod(_)
        | Body::GetAsyncRequest
        | Body::GetAsyncReply(_)
        | Body::SetAsync(_)
        | Body::MeterMod(_) => Err(w.inexpressible("message type")),
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
        Kind::PortMod => get::<messages::PortModWire>(r).map(Body::PortMod),
        Kind::MultipartRequest => stats::read_request(r).map(Body::MultipartRequest),
        Kind::MultipartReply => stats::read_reply(r).map(Body::MultipartReply),
        Kind::QueueGetConfigRequest => get::<Before<2, Port16>>(r).map(Body::QueueGetConfigRequest),
        Kind::QueueGetConfigReply => get::<queue::QueueConfigWire>(r).map(Body::QueueGetConfigReply),
        Kind::GroupMod
        | Kind::TableMod
        | Kind::RoleRequest
        | Kind::RoleReply
        | Kind::GetAsyncRequest
        | Kind::GetAsyncReply
        | Kind::SetAsync
        | Kind::MeterMod => Err(r.error(DecodeErrorKind::BadValue, "a message type of OpenFlow 1.0", 0)),
    }
}
