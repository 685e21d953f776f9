//! PACKET_OUT with pipeline fields.

use flowgauge_packet::Field;

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::oxm::OxmMatch;
use crate::codec::reader::Reader;
use crate::codec::v1_3::Actions;
use crate::codec::wire::{Buffer, Wire};
use crate::codec::writer::{FlowContext, Writer};
use crate::model::{Match, MatchEntry, PacketOut, PortNo};

/// Buffer, the length of the actions, a match with the ingress port, the actions, the packet.
pub(crate) struct PacketOutWire;

impl Wire for PacketOutWire {
    type Value = PacketOut;
    fn read(r: &mut Reader, name: &'static str) -> Result<PacketOut, DecodeError> {
        let buffer_id = Buffer::read(r, "buffer_id")?;
        let length_at = r.clone();
        let length = usize::from(r.u16("actions_len")?);
        r.skip(2)?;
        let mut match_ = OxmMatch::read(r, name)?;
        if length > r.left() {
            return Err(length_at.bad_length(0, "actions_len", length));
        }
        let in_port = match_.get(Field::InPort).map(|port| PortNo(port as u32));
        match_.entries.retain(|e| e.field != Field::InPort || !e.is_exact());
        let actions = Actions::read(&mut r.sub(length, "actions")?, name)?;
        let in_port = in_port.unwrap_or(PortNo::CONTROLLER);
        Ok(PacketOut { buffer_id, in_port, match_, actions, data: r.rest().to_vec() })
    }
    fn write(value: &PacketOut, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if value.match_.entry(Field::InPort).is_some() {
            return Err(w.inexpressible("match_"));
        }
        Buffer::write(&value.buffer_id, "buffer_id", w)?;
        let length_at = w.position();
        w.zeros(4);
        let in_port = MatchEntry::exact(Field::InPort, value.in_port.0.into());
        let entries = std::iter::once(in_port).chain(value.match_.entries.iter().copied()).collect();
        OxmMatch::write(&Match { entries, unknown: value.match_.unknown.clone() }, name, w)?;
        // Pipeline fields say nothing of the packet's headers.
        w.flow = FlowContext::default();
        let start = w.position();
        Actions::write(&value.actions, name, w)?;
        w.patch_length(length_at, start);
        w.bytes(&value.data);
        Ok(())
    }
}
