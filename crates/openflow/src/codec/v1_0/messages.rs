//! The layouts of single messages.

use flowgauge_packet::Field;

use super::actions::{Actions, InstructionsWire};
use super::flags::{CapabilityBits, FlowFlagBits, LinkBits};
use super::flow_match::MatchWire;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::nicira;
use crate::codec::reader::Reader;
use crate::codec::shared::{PacketReason, RemovedReason};
use crate::codec::wire::{
    After, All, Before, Bits, Buffer, Coded, Mac, Port16, Rest, Text, U8, U16, U32, U64, Wire,
};
use crate::codec::writer::Writer;
use crate::model::{
    Features, FlowMod, FlowModCommand, FlowRemoved, GROUP_ANY, Match, PacketIn, PacketOut, Port, PortMod,
    PortNo, TABLE_ALL,
};

layout!(FeaturesReply: Features {
    datapath_id: U64,
    n_buffers: U32,
    n_tables: Before<3, U8>,
    capabilities: CapabilityBits,
    actions: U32,
    ports: All<PortWire>,
} lost { auxiliary_id: 0 });

layout!(PortWire: Port {
    port_no: Port16,
    hw_addr: Mac,
    name: Text<16>,
    config: Bits<_, u32>,
    state: Bits<_, u32>,
    current: LinkBits,
    advertised: LinkBits,
    supported: LinkBits,
    peer: LinkBits,
} lost default);

layout!(PortModWire: PortMod {
    port_no: Port16,
    hw_addr: Mac,
    config: Bits<_, u32>,
    mask: Bits<_, u32>,
    advertise: Before<4, LinkBits>,
} lost default);

layout!(FlowRemovedWire: FlowRemoved {
    match_: MatchWire,
    cookie: U64,
    priority: U16,
    reason: Before<1, RemovedReason>,
    duration_sec: U32,
    duration_nsec: U32,
    idle_timeout: Before<2, U16>,
    packet_count: U64,
    byte_count: U64,
} lost { table_id: 0, hard_timeout: 0, idle_time: None, unknown_stats: Vec::new() });

layout!(FlowModBody: FlowMod {
    match_: MatchWire,
    cookie: U64,
    command: After<1, Coded<_, u8>>,
    idle_timeout: U16,
    hard_timeout: U16,
    priority: U16,
    buffer_id: Buffer,
    out_port: Port16,
    flags: FlowFlagBits,
    instructions: InstructionsWire,
} none { cookie_mask: 0, out_group: GROUP_ANY, importance: 0 } lost { table_id: 0 });

/// A FLOW_MOD. 1.0 says nothing of tables; Nicira's extension puts the table's number into the upper byte of the
/// command once [`NiciraMessage::FlowModTableId`](crate::model::NiciraMessage) has said so. A switch without it
/// refuses any table but the first. All ones there would look like
/// [`TABLE_ALL`], which means nothing special in 1.0: they make the command unknown.
pub(crate) struct FlowModWire;

impl Wire for FlowModWire {
    type Value = FlowMod;
    fn read(r: &mut Reader, name: &'static str) -> Result<FlowMod, DecodeError> {
        let table_id = r.clone().take(COMMAND_OFFSET + 1, "command")?[COMMAND_OFFSET];
        let flow = FlowModBody::read(r, name)?;
        Ok(match table_id {
            TABLE_ALL => FlowMod { command: FlowModCommand::Unknown(u8::MAX), ..flow },
            table_id => FlowMod { table_id, ..flow },
        })
    }
    fn write(value: &FlowMod, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        FlowModBody::write(value, name, w)?;
        w.out[start + COMMAND_OFFSET] = nicira::table_byte(value.table_id);
        Ok(())
    }
}

/// Where the command stands in a FLOW_MOD's body, behind match and cookie.
const COMMAND_OFFSET: usize = 48;

/// Buffer, length, ingress port, reason, packet.
pub(crate) struct PacketInWire;

impl Wire for PacketInWire {
    type Value = PacketIn;
    fn read(r: &mut Reader, _: &'static str) -> Result<PacketIn, DecodeError> {
        let buffer_id = Buffer::read(r, "buffer_id")?;
        let total_len = r.u16("total_len")?;
        let in_port: PortNo = Port16::read(r, "in_port")?;
        let reason = PacketReason::read(r, "reason")?;
        r.skip(1)?;
        let match_ = Match::any().with(Field::InPort, in_port.0.into());
        Ok(PacketIn {
            buffer_id,
            total_len,
            reason,
            table_id: 0,
            cookie: u64::MAX,
            match_,
            data: r.rest().to_vec(),
        })
    }
    fn write(value: &PacketIn, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        Buffer::write(&value.buffer_id, "buffer_id", w)?;
        w.u16(value.total_len);
        Port16::write(&value.in_port(), "in_port", w)?;
        PacketReason::write(&value.reason, "reason", w)?;
        w.zeros(1);
        Rest::write(&value.data, "data", w)
    }
}

/// Where a packet that arrived on no port comes from; later versions say [`PortNo::CONTROLLER`].
const NOWHERE: PortNo = PortNo::ANY;

/// Buffer, ingress port, the length of the actions, the actions, the packet.
pub(crate) struct PacketOutWire;

impl Wire for PacketOutWire {
    type Value = PacketOut;
    fn read(r: &mut Reader, name: &'static str) -> Result<PacketOut, DecodeError> {
        let buffer_id = Buffer::read(r, "buffer_id")?;
        let in_port = match Port16::read(r, "in_port")? {
            NOWHERE => PortNo::CONTROLLER,
            port => port,
        };
        let length = usize::from(r.u16("actions_len")?);
        if length > r.left() {
            return Err(r.bad_length(2, "actions_len", length));
        }
        let actions = Actions::read(&mut r.sub(length, "actions")?, name)?;
        Ok(PacketOut { buffer_id, in_port, match_: Match::any(), actions, data: r.rest().to_vec() })
    }
    fn write(value: &PacketOut, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if !value.match_.is_any() {
            return Err(w.inexpressible("match_"));
        }
        let in_port = if value.in_port == PortNo::CONTROLLER { NOWHERE } else { value.in_port };
        Buffer::write(&value.buffer_id, "buffer_id", w)?;
        Port16::write(&in_port, "in_port", w)?;
        let length_at = w.position();
        w.u16(0);
        Actions::write(&value.actions, name, w)?;
        w.patch_length(length_at, length_at + 2);
        w.bytes(&value.data);
        Ok(())
    }
}
