//! Nicira's messages.

use super::nxm::{self, read_padded, write_padded};
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::codec::v1_0;
use crate::codec::wire::{Bits, Buffer, Coded, Port16, Wire};
use crate::model::{
    Body, ControllerRole, Experimenter, FlowFormat, FlowMod, FlowModCommand, FlowModFlags, FlowRemoved,
    FlowRemovedReason, Match, NICIRA, NiciraMessage, PacketIn, PacketIn2, PacketInFormat, PacketInReason,
    Role, TABLE_ALL, Version,
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
            Some(packet) => NiciraMessage::PacketIn2(packet),
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

fn read_packet_in(r: &mut Reader) -> Result<PacketIn, DecodeError> {
    let buffer_id = Buffer::read(r, "buffer_id")?;
    let (total_len, reason) = (r.u16("total_len")?, PacketInReason::from_code(r.u8("reason")?));
    let (table_id, cookie, length) = (r.u8("table_id")?, r.u64("cookie")?, r.u16("match_len")?);
    r.skip(6)?;
    let (match_, _) = read_padded(length, r)?;
    r.skip(2)?;
    let data = r.rest().to_vec();
    Ok(PacketIn { buffer_id, total_len, reason, table_id, cookie, match_, data })
}

fn write_packet_in(packet: &PacketIn, w: &mut Writer) -> Result<(), EncodeError> {
    Buffer::write(&packet.buffer_id, "buffer_id", w)?;
    w.u16(packet.total_len);
    w.u8(packet.reason.code());
    w.u8(packet.table_id);
    w.u64(packet.cookie);
    let length_at = w.position();
    w.zeros(8);
    write_padded(&packet.match_, None, length_at, w)?;
    w.zeros(2);
    w.bytes(&packet.data);
    Ok(())
}

const PACKET: u16 = 0;
const FULL_LEN: u16 = 1;
const BUFFER_ID: u16 = 2;
const TABLE_ID: u16 = 3;
const COOKIE: u16 = 4;
const REASON: u16 = 5;
const METADATA: u16 = 6;
const USERDATA: u16 = 7;
const CONTINUATION: u16 = 8;

/// `None` if it has a property that is not known here.
fn read_packet_in2(r: &mut Reader) -> Result<Option<PacketIn2>, DecodeError> {
    let mut packet = PacketIn {
        buffer_id: None,
        total_len: 0,
        reason: PacketInReason::Action,
        table_id: 0,
        cookie: u64::MAX,
        match_: Match::any(),
        data: Vec::new(),
    };
    let (mut userdata, mut continuation, mut full_len) = (Vec::new(), Vec::new(), None);
    while !r.is_empty() {
        let (property, mut content) = read_property(r)?;
        match property {
            PACKET => packet.data = content.rest().to_vec(),
            FULL_LEN => full_len = Some(content.u32("full_len")?),
            BUFFER_ID => packet.buffer_id = Buffer::read(&mut content, "buffer_id")?,
            TABLE_ID => packet.table_id = content.u8("table_id")?,
            COOKIE => {
                content.skip(4)?;
                packet.cookie = content.u64("cookie")?;
            }
            REASON => packet.reason = PacketInReason::from_code(content.u8("reason")?),
            METADATA => packet.match_ = nxm::read(&mut content)?.0,
            USERDATA => userdata = content.rest().to_vec(),
            CONTINUATION => continuation = content.rest().to_vec(),
            _ => return Ok(None),
        }
    }
    let length = full_len.unwrap_or(packet.data.len() as u32);
    packet.total_len = u16::try_from(length).unwrap_or(u16::MAX);
    Ok(Some(PacketIn2 { packet, userdata, continuation }))
}

fn write_packet_in2(message: &PacketIn2, w: &mut Writer) -> Result<(), EncodeError> {
    let PacketIn2 { packet, userdata, continuation } = message;
    write_property(PACKET, w, |w| w.bytes(&packet.data));
    if usize::from(packet.total_len) != packet.data.len() {
        write_property(FULL_LEN, w, |w| w.u32(packet.total_len.into()));
    }
    packet.buffer_id.into_iter().for_each(|id| write_property(BUFFER_ID, w, |w| w.u32(id)));
    write_property(TABLE_ID, w, |w| w.u8(packet.table_id));
    if packet.cookie != u64::MAX {
        write_property(COOKIE, w, |w| {
            w.zeros(4);
            w.u64(packet.cookie);
        });
    }
    write_property(REASON, w, |w| w.u8(packet.reason.code()));
    let mut result = Ok(());
    write_property(METADATA, w, |w| result = nxm::write(&packet.match_, None, w));
    result?;
    if !userdata.is_empty() {
        write_property(USERDATA, w, |w| w.bytes(userdata));
    }
    if !continuation.is_empty() {
        write_property(CONTINUATION, w, |w| w.bytes(continuation));
    }
    Ok(())
}

/// Reads a property's type and content, and passes over the padding behind it.
pub(super) fn read_property<'a>(r: &mut Reader<'a>) -> Result<(u16, Reader<'a>), DecodeError> {
    let property = r.u16("property type")?;
    let length = usize::from(r.u16("property length")?);
    if length < 4 || length - 4 > r.left() {
        return Err(r.bad_length(2, "property length", length));
    }
    let content = r.sub(length - 4, "property")?;
    r.skip((length.next_multiple_of(8) - length).min(r.left()))?;
    Ok((property, content))
}

/// Writes a property and the padding behind it.
pub(super) fn write_property(property: u16, w: &mut Writer, content: impl FnOnce(&mut Writer)) {
    let start = w.position();
    w.u16(property);
    w.u16(0);
    content(w);
    w.patch_length(start + 2, start);
    w.pad_since(start);
}

/// The table of a FLOW_MOD of 1.0, which stands in the upper byte of its command where the extension is in use.
pub(crate) fn table_byte(table_id: u8) -> u8 {
    if table_id == TABLE_ALL { 0 } else { table_id }
}
