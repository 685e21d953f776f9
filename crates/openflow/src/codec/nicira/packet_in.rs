//! Nicira's two forms of PACKET_IN: a fixed one, and one of properties.

use super::nxm::{self, read_padded, write_padded};
use super::property::{read_property, write_property};
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::codec::wire::{Buffer, Wire};
use crate::model::{Match, PacketIn, PacketIn2, PacketInReason};

pub(super) fn read_packet_in(r: &mut Reader) -> Result<PacketIn, DecodeError> {
    let buffer_id = Buffer::read(r, "buffer_id")?;
    let (total_len, reason) = (r.u16("total_len")?, PacketInReason::from_code(r.u8("reason")?));
    let (table_id, cookie, length) = (r.u8("table_id")?, r.u64("cookie")?, r.u16("match_len")?);
    r.skip(6)?;
    let (match_, _) = read_padded(length, r)?;
    r.skip(2)?;
    let data = r.rest().to_vec();
    Ok(PacketIn { buffer_id, total_len, reason, table_id, cookie, match_, data })
}

pub(super) fn write_packet_in(packet: &PacketIn, w: &mut Writer) -> Result<(), EncodeError> {
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
pub(super) fn read_packet_in2(r: &mut Reader) -> Result<Option<PacketIn2>, DecodeError> {
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

pub(super) fn write_packet_in2(message: &PacketIn2, w: &mut Writer) -> Result<(), EncodeError> {
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
