//! The layouts of single messages.

use flowgauge_packet::Field;

use super::actions::Actions;
use super::instructions::Instructions;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::oxm::OxmMatch;
use crate::codec::reader::Reader;
use crate::codec::shared::{PacketReason, RemovedReason};
use crate::codec::wire::{
    After, Before, Bits, Buffer, Coded, Mac, Port32, Rest, Since, Text, Times, U8, U16, U32, U64, V1_4, V1_5,
    Wire,
};
use crate::codec::writer::Writer;
use crate::model::{
    AsyncConfig, AsyncMasks, Features, FlowMod, FlowRemoved, Match, PacketIn, PacketOut, Port, PortMod,
    PortNo, Role, TableMod,
};

layout!(FeaturesReply: Features {
    datapath_id: U64,
    n_buffers: U32,
    n_tables: U8,
    auxiliary_id: U8,
    capabilities: After<2, Before<4, Bits<_, u32>>>,
} lost { actions: 0, ports: Vec::new() });

layout!(PortWire: Port {
    port_no: Before<4, Port32>,
    hw_addr: Before<2, Mac>,
    name: Text<16>,
    config: Bits<_, u32>,
    state: Bits<_, u32>,
    current: Bits<_, u32>,
    advertised: Bits<_, u32>,
    supported: Bits<_, u32>,
    peer: Bits<_, u32>,
    current_speed: U32,
    max_speed: U32,
} lost default);

layout!(PortModWire: PortMod {
    port_no: Before<4, Port32>,
    hw_addr: Before<2, Mac>,
    config: Bits<_, u32>,
    mask: Bits<_, u32>,
    advertise: Before<4, Bits<_, u32>>,
} lost default);

layout!(PacketInWire: PacketIn {
    buffer_id: Buffer,
    total_len: U16,
    reason: PacketReason,
    table_id: U8,
    cookie: U64,
    match_: OxmMatch,
    data: After<2, Rest>,
});

layout!(FlowRemovedWire: FlowRemoved {
    cookie: U64,
    priority: U16,
    reason: RemovedReason,
    table_id: U8,
    duration_sec: U32,
    duration_nsec: U32,
    idle_timeout: U16,
    hard_timeout: U16,
    packet_count: U64,
    byte_count: U64,
    match_: OxmMatch,
} lost { idle_time: None, unknown_stats: Vec::new() });

layout!(FlowModWire: FlowMod {
    cookie: U64,
    cookie_mask: U64,
    table_id: U8,
    command: Coded<_, u8>,
    idle_timeout: U16,
    hard_timeout: U16,
    priority: U16,
    buffer_id: Buffer,
    out_port: Port32,
    out_group: U32,
    flags: Bits<_, u16>,
    importance: Since<V1_4, 2, U16>,
    match_: OxmMatch,
    instructions: Instructions,
});

layout!(TableModBody: TableMod { table_id: Before<3, U8>, config: Bits<_, u32> } lost default);

layout!(RoleWire: Role {
    role: Coded<_, u32>,
    short_id: Since<V1_5, 2, U16>,
    generation_id: After<2, U64>,
});

/// For each message first the mask of equal and primary controllers, then that of secondary ones.
pub(crate) struct AsyncWire;

impl Wire for AsyncWire {
    type Value = AsyncConfig;
    fn read(r: &mut Reader, _: &'static str) -> Result<AsyncConfig, DecodeError> {
        let [p0, p1] = Times::<2, U32>::read(r, "packet_in_mask")?;
        let [s0, s1] = Times::<2, U32>::read(r, "port_status_mask")?;
        let [f0, f1] = Times::<2, U32>::read(r, "flow_removed_mask")?;
        let masks = |packet_in, port_status, flow_removed| AsyncMasks {
            packet_in: Some(packet_in),
            port_status: Some(port_status),
            flow_removed: Some(flow_removed),
            ..AsyncMasks::default()
        };
        let (primary, secondary) = (masks(p0, s0, f0), masks(p1, s1, f1));
        Ok(AsyncConfig { primary, secondary, properties: Vec::new() })
    }
    fn write(value: &AsyncConfig, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let AsyncConfig { primary, secondary, .. } = value;
        for (name, masks) in [
            ("packet_in", [primary.packet_in, secondary.packet_in]),
            ("port_status", [primary.port_status, secondary.port_status]),
            ("flow_removed", [primary.flow_removed, secondary.flow_removed]),
        ] {
            for mask in masks {
                // A mask that is left as it is can't be said.
                if mask.is_none() {
                    w.leave_out(name)?;
                }
                w.u32(mask.unwrap_or(0));
            }
        }
        Ok(())
    }
}

/// Buffer, ingress port, the length of the actions, the actions, the packet.
pub(crate) struct PacketOutWire;

impl Wire for PacketOutWire {
    type Value = PacketOut;
    fn read(r: &mut Reader, name: &'static str) -> Result<PacketOut, DecodeError> {
        let buffer_id = Buffer::read(r, "buffer_id")?;
        let in_port = PortNo(r.u32(Field::InPort.name())?);
        let length = usize::from(r.u16("actions_len")?);
        if length + 6 > r.left() {
            return Err(r.bad_length(2, "actions_len", length));
        }
        r.skip(6)?;
        let actions = Actions::read(&mut r.sub(length, "actions")?, name)?;
        Ok(PacketOut { buffer_id, in_port, match_: Match::any(), actions, data: r.rest().to_vec() })
    }
    fn write(value: &PacketOut, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if !value.match_.is_any() {
            return Err(w.inexpressible("match_"));
        }
        Buffer::write(&value.buffer_id, "buffer_id", w)?;
        w.u32(value.in_port.0);
        let length_at = w.position();
        w.zeros(8);
        Actions::write(&value.actions, name, w)?;
        w.patch_length(length_at, length_at + 8);
        w.bytes(&value.data);
        Ok(())
    }
}
