//! Which form each message has in which version.

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::property::WithProperties;
use super::reader::Reader;
use super::shared::{Config, ErrorWire, ExperimenterWire, HelloWire};
use super::wire::{Before, Coded, From1_3, From1_4, From1_5, Port16, Port32, Rest, Wire};
use super::writer::Writer;
use super::{multipart, nicira, v1_0, v1_3, v1_4, v1_5};
use crate::model::{Body, Header, Kind, Message, PortStatus, Role};

/// A port as each version describes it.
pub(crate) type PortForm = From1_3<v1_0::PortWire, From1_4<v1_3::PortWire, v1_4::PortWire>>;

layout!(PortStatusWire: PortStatus { reason: Before<7, Coded<_, u8>>, port: PortForm });

/// 1.0's ROLE_REQUEST or ROLE_REPLY: Nicira's, and read as an experimenter's message.
struct OldRole<const IS_REPLY: bool>;

impl<const IS_REPLY: bool> Wire for OldRole<IS_REPLY> {
    type Value = Role;
    fn read(r: &mut Reader, _: &'static str) -> Result<Role, DecodeError> {
        Err(r.error(DecodeErrorKind::BadValue, "a message type of OpenFlow 1.0", 0))
    }
    fn write(value: &Role, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        nicira::write_role(value, IS_REPLY, w)
    }
}

macro_rules! messages {
    ($($kind:ident: $form:ty,)* ; $($empty:ident,)*) => {
        /// Writes what follows the header.
        pub(crate) fn write(body: &Body, w: &mut Writer) -> Result<(), EncodeError> {
            match body {
                $(Body::$kind(content) => <$form as Wire>::write(content, "body", w),)*
                $(Body::$empty => Ok(()),)*
                Body::Experimenter(content) => ExperimenterWire::write(content, "body", w),
                Body::Nicira(content) => nicira::write_message(content, w),
                Body::Unknown { data, .. } => Rest::write(data, "body", w),
            }
        }

        /// Reads what follows the header.
        #[inline(always)]
        pub(crate) fn read(kind: Kind, r: &mut Reader) -> Result<Body, DecodeError> {
            match kind {
                $(Kind::$kind => <$form as Wire>::read(r, "body").map(Body::$kind),)*
                $(Kind::$empty => Ok(Body::$empty),)*
                Kind::Experimenter | Kind::Nicira => {
                    ExperimenterWire::read(r, "body").map(|message| nicira::read_message(message, r.version))
                }
                Kind::Unknown(message_type) => Ok(Body::Unknown { message_type, data: r.rest().to_vec() }),
            }
        }
    };
}

// A version that lacks a message never gets here: its type has no number there.
messages! {
    Hello: HelloWire,
    Error: ErrorWire,
    EchoRequest: Rest,
    EchoReply: Rest,
    FeaturesReply: From1_3<v1_0::FeaturesReply, v1_3::FeaturesReply>,
    GetConfigReply: Config,
    SetConfig: Config,
    PacketIn: From1_3<v1_0::PacketInWire, v1_3::PacketInWire>,
    FlowRemoved: From1_3<v1_0::FlowRemovedWire, From1_5<v1_3::FlowRemovedWire, v1_5::FlowRemovedWire>>,
    PortStatus: PortStatusWire,
    PacketOut: From1_3<v1_0::PacketOutWire, From1_5<v1_3::PacketOutWire, v1_5::PacketOutWire>>,
    FlowMod: From1_3<v1_0::FlowModWire, v1_3::FlowModWire>,
    GroupMod: From1_5<v1_3::GroupModWire, v1_5::GroupModWire>,
    PortMod: WithProperties<From1_3<v1_0::PortModWire, From1_4<v1_3::PortModWire, v1_4::PortModBody>>>,
    TableMod: WithProperties<v1_3::TableModBody>,
    MultipartRequest: multipart::RequestWire,
    MultipartReply: multipart::ReplyWire,
    QueueGetConfigRequest: From1_3<Before<2, Port16>, Before<4, Port32>>,
    QueueGetConfigReply: From1_3<v1_0::QueueConfigWire, v1_3::QueueConfigWire>,
    RoleRequest: From1_3<OldRole<false>, v1_3::RoleWire>,
    RoleReply: From1_3<OldRole<true>, v1_3::RoleWire>,
    GetAsyncReply: v1_4::AsyncWire,
    SetAsync: v1_4::AsyncWire,
    MeterMod: v1_3::MeterModWire,
    RoleStatus: v1_4::RoleStatusWire,
    TableStatus: v1_4::TableStatusWire,
    RequestForward: v1_4::EnclosedWire,
    BundleControl: v1_4::BundleControlWire,
    BundleAddMessage: v1_4::BundleAddWire,
    ControllerStatus: v1_5::ControllerStatusWire,
    ;
    FeaturesRequest,
    GetConfigRequest,
    BarrierRequest,
    BarrierReply,
    GetAsyncRequest,
}

/// Writes a message, header and all.
pub(crate) fn write_message(message: &Message, w: &mut Writer) -> Result<(), EncodeError> {
    let start = w.position();
    let kind = message.body.kind();
    let message_type = kind.code(w.version).ok_or_else(|| w.inexpressible("message type"))?;
    w.bytes(&Header { version: w.version.wire(), message_type, length: 0, xid: message.xid }.to_bytes());
    write(&message.body, w)?;
    w.patch_length(start + 2, start);
    Ok(())
}
