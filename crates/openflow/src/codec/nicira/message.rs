//! Nicira's messages.

use super::nxm::{read_padded, write_padded};
use super::packet_in::{read_packet_in, read_packet_in2, write_packet_in, write_packet_in2};
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::codec::v1_0;
use crate::codec::wire::{Bits, Buffer, Coded, Port16, Wire};
use crate::model::{
    Body, ControllerRole, Experimenter, FlowFormat, FlowMod, FlowModCommand, FlowModFlags, FlowRemoved,
    FlowRemovedReason, NICIRA, NiciraMessage, PacketInFormat, Role, TABLE_ALL, Version,
};

const ROLE_REQUEST: u32 = 10;
const ROLE_REPLY: u32 = 11;
const SET_FLOW_FORMAT: u32 = 12;
const FLOW_MOD: u32 = 13;
const FLOW_REMOVED: u32 = 14;
const FLOW_MOD_TABLE_ID: u32 = 15;
const SET_PACKET_IN_FORMAT: u32 = 16;
const PACKET_IN: u32 = 17;
const FLOW_AGE: u32 = 18;
const SET_CONTROLLER_ID: u32 = 20;
const PACKET_IN2: u32 = 30;

/// An experimenter's message, as what it says if it is one of Nicira's.
pub(crate) fn read_message(message: Experimenter, version: Version) -> Body {
    let known = (message.experimenter == NICIRA).then(|| {
        let mut r = Reader::new(&message.data, 0, version);
        let subtype = match message.experimenter_type {
            Some(subtype) => subtype,
            None => r.u32("subtype").ok()?,
        };
        let body = read_known(subtype, &mut r).ok().flatten()?;
        r.is_empty().then_some(body)
    });
    known.flatten().unwrap_or(Body::Experimenter(message))
}

fn read_known(subtype: u32, r: &mut Reader) -> Result<Option<Body>, DecodeError> {
    let is_old = r.version == Version::V1_0;
    Ok(Some(Body::Nicira(match subtype {
        ROLE_REQUEST if is_old => return Ok(read_role(r)?.map(Body::RoleRequest)),
        ROLE_REPLY if is_old => return Ok(read_role(r)?.map(Body::RoleReply)),
        SET_FLOW_FORMAT if is_old => NiciraMessage::SetFlowFormat(FlowFormat::from_code(r.u32("format")?)),
        FLOW_MOD if is_old => NiciraMessage::FlowMod(read_flow_mod(r)?),
        FLOW_REMOVED if is_old => match read_flow_removed(r)? {
            Some(removed) => NiciraMessage::FlowRemoved(removed),
            None => return Ok(None),
        },
        FLOW_MOD_TABLE_ID if is_old => {
            let set = r.u8("set")?;
            r.skip(7)?;
            if set > 1 {
                return Ok(None);
            }
            NiciraMessage::FlowModTableId(set == 1)
        }
        FLOW_AGE if is_old => NiciraMessage::FlowAge,
        SET_PACKET_IN_FORMAT => NiciraMessage::SetPacketInFormat(PacketInFormat::from_code(r.u32("format")?)),
        PACKET_IN => NiciraMessage::PacketIn(read_packet_in(r)?),
        PACKET_IN2 => match read_packet_in2(r)? {
            Some(packet) => NiciraMessage::PacketIn2(Box::new(packet)),
            None => return Ok(None),
        },
        SET_CONTROLLER_ID => {
            r.skip(6)?;
            NiciraMessage::SetControllerId(r.u16("controller_id")?)
        }
        _ => return Ok(None),
    })))
}

fn write_head(subtype: u32, w: &mut Writer) {
    w.u32(NICIRA);
    w.u32(subtype);
}

/// Writes what follows the header.
pub(crate) fn write_message(message: &NiciraMessage, w: &mut Writer) -> Result<(), EncodeError> {
    let only_old = |w: &Writer| match w.version {
        Version::V1_0 => Ok(()),
        Version::V1_3 | Version::V1_4 | Version::V1_5 => Err(w.inexpressible("Nicira message type")),
    };
    match message {
        NiciraMessage::SetFlowFormat(format) => {
            only_old(w)?;
            write_head(SET_FLOW_FORMAT, w);
            w.u32(format.code());
        }
        NiciraMessage::FlowMod(flow) => {
            only_old(w)?;
            write_head(FLOW_MOD, w);
            write_flow_mod(flow, w)?;
        }
        NiciraMessage::FlowRemoved(removed) => {
            only_old(w)?;
            write_head(FLOW_REMOVED, w);
            write_flow_removed(removed, w)?;
        }
        NiciraMessage::FlowModTableId(set) => {
            only_old(w)?;
            write_head(FLOW_MOD_TABLE_ID, w);
            w.u8((*set).into());
            w.zeros(7);
        }
        NiciraMessage::FlowAge => {
            only_old(w)?;
            write_head(FLOW_AGE, w);
        }
        NiciraMessage::SetPacketInFormat(format) => {
            write_head(SET_PACKET_IN_FORMAT, w);
            w.u32(format.code());
        }
        NiciraMessage::PacketIn(packet) => {
            write_head(PACKET_IN, w);
            write_packet_in(packet, w)?;
        }
        NiciraMessage::PacketIn2(packet) => {
            write_head(PACKET_IN2, w);
            write_packet_in2(packet, w)?;
        }
        NiciraMessage::SetControllerId(id) => {
            write_head(SET_CONTROLLER_ID, w);
            w.zeros(6);
            w.u16(*id);
        }
    }
    Ok(())
}

/// The extension has three roles: other, master, slave.
fn read_role(r: &mut Reader) -> Result<Option<Role>, DecodeError> {
    let role = match r.u32("role")? {
        0 => ControllerRole::Equal,
        1 => ControllerRole::Primary,
        2 => ControllerRole::Secondary,
        _ => return Ok(None),
    };
    Ok(Some(Role { role, generation_id: 0, short_id: 0 }))
}

/// Writes 1.0's ROLE_REQUEST or, if it is one, ROLE_REPLY; elections are unknown to it.
pub(crate) fn write_role(role: &Role, is_reply: bool, w: &mut Writer) -> Result<(), EncodeError> {
    if role.generation_id != 0 && !is_reply {
        return Err(w.inexpressible("generation_id"));
    }
    let number = match role.role {
        ControllerRole::Equal => 0,
        ControllerRole::Primary => 1,
        ControllerRole::Secondary => 2,
        ControllerRole::NoChange | ControllerRole::Unknown(_) => return Err(w.inexpressible("role")),
    };
    write_head(if is_reply { ROLE_REPLY } else { ROLE_REQUEST }, w);
    w.u32(number);
    Ok(())
}

fn read_flow_mod(r: &mut Reader) -> Result<FlowMod, DecodeError> {
    let cookie = r.u64("cookie")?;
    let (table_id, command) = (r.u8("table_id")?, FlowModCommand::from_code(r.u8("command")?));
    let (idle_timeout, hard_timeout) = (r.u16("idle_timeout")?, r.u16("hard_timeout")?);
    let (priority, buffer_id) = (r.u16("priority")?, Buffer::read(r, "buffer_id")?);
    let out_port = Port16::read(r, "out_port")?;
    let flags = Bits::<FlowModFlags, u16>::read(r, "flags")?;
    let length = r.u16("match_len")?;
    r.skip(6)?;
    let (match_, wanted) = read_padded(length, r)?;
    let (cookie, cookie_mask) = wanted.unwrap_or((cookie, 0));
    let instructions = v1_0::read_instructions(r)?;
    Ok(FlowMod {
        command,
        table_id,
        cookie,
        cookie_mask,
        idle_timeout,
        hard_timeout,
        priority,
        buffer_id,
        out_port,
        flags,
        match_,
        instructions,
        ..FlowMod::default()
    })
}

fn write_flow_mod(flow: &FlowMod, w: &mut Writer) -> Result<(), EncodeError> {
    if flow.out_group != crate::model::GROUP_ANY {
        return Err(w.inexpressible("out_group"));
    }
    if flow.importance != 0 {
        return Err(w.inexpressible("importance"));
    }
    w.u64(if flow.cookie_mask == 0 { flow.cookie } else { 0 });
    w.u8(flow.table_id);
    Coded::<FlowModCommand, u8>::write(&flow.command, "command", w)?;
    w.u16(flow.idle_timeout);
    w.u16(flow.hard_timeout);
    w.u16(flow.priority);
    Buffer::write(&flow.buffer_id, "buffer_id", w)?;
    Port16::write(&flow.out_port, "out_port", w)?;
    Bits::<FlowModFlags, u16>::write(&flow.flags, "flags", w)?;
    let length_at = w.position();
    w.zeros(8);
    let cookie = (flow.cookie_mask != 0).then_some((flow.cookie, flow.cookie_mask));
    write_padded(&flow.match_, cookie, length_at, w)?;
    v1_0::write_instructions(&flow.instructions, w)
}

/// `None` if its match has fields that only requests have.
fn read_flow_removed(r: &mut Reader) -> Result<Option<FlowRemoved>, DecodeError> {
    let (cookie, priority) = (r.u64("cookie")?, r.u16("priority")?);
    let reason = FlowRemovedReason::from_code(r.u8("reason")?);
    // One more than the table's number; 0 if the switch does not tell.
    let table_id = r.u8("table_id")?.saturating_sub(1);
    let (duration_sec, duration_nsec) = (r.u32("duration_sec")?, r.u32("duration_nsec")?);
    let (idle_timeout, length) = (r.u16("idle_timeout")?, r.u16("match_len")?);
    let (packet_count, byte_count) = (r.u64("packet_count")?, r.u64("byte_count")?);
    let (match_, wanted) = read_padded(length, r)?;
    Ok(wanted.is_none().then_some(FlowRemoved {
        cookie,
        priority,
        reason,
        table_id,
        duration_sec,
        duration_nsec,
        idle_timeout,
        hard_timeout: 0,
        packet_count,
        byte_count,
        idle_time: None,
        match_,
        unknown_stats: Vec::new(),
    }))
}

fn write_flow_removed(removed: &FlowRemoved, w: &mut Writer) -> Result<(), EncodeError> {
    w.u64(removed.cookie);
    w.u16(removed.priority);
    Coded::<FlowRemovedReason, u8>::write(&removed.reason, "reason", w)?;
    w.u8(removed.table_id.saturating_add(1));
    w.u32(removed.duration_sec);
    w.u32(removed.duration_nsec);
    w.u16(removed.idle_timeout);
    let length_at = w.position();
    w.u16(0);
    w.u64(removed.packet_count);
    w.u64(removed.byte_count);
    write_padded(&removed.match_, None, length_at, w)
}

/// The table of a FLOW_MOD of 1.0, which stands in the upper byte of its command where the extension is in use.
pub(crate) fn table_byte(table_id: u8) -> u8 {
    if table_id == TABLE_ALL { 0 } else { table_id }
}
