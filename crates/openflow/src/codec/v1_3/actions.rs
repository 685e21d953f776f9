//! Actions since 1.1.

use crate::codec::action::{self, write_fixed as fixed, write_open};
use crate::codec::error::{DecodeError, EncodeError, Part};
use crate::codec::nicira;
use crate::codec::oxm::{self, IdWire, Oxm};
use crate::codec::reader::Reader;
use crate::codec::wire::{All, Wire};
use crate::codec::writer::Writer;
use crate::model::{Action, MatchEntry, PortNo, Version};
use flowgauge_packet::Field;

const OUTPUT: u16 = 0;
const COPY_TTL_OUT: u16 = 11;
const COPY_TTL_IN: u16 = 12;
const SET_MPLS_TTL: u16 = 15;
const DEC_MPLS_TTL: u16 = 16;
const PUSH_VLAN: u16 = 17;
const POP_VLAN: u16 = 18;
const PUSH_MPLS: u16 = 19;
const POP_MPLS: u16 = 20;
const SET_QUEUE: u16 = 21;
const GROUP: u16 = 22;
const SET_NW_TTL: u16 = 23;
const DEC_NW_TTL: u16 = 24;
const SET_FIELD: u16 = 25;
const PUSH_PBB: u16 = 26;
const POP_PBB: u16 = 27;
const COPY_FIELD: u16 = 28;
const METER: u16 = 29;
const EXPERIMENTER: u16 = 0xffff;

/// An action: type, length, arguments, padding to a multiple of eight bytes.
pub(crate) struct ActionWire;

/// The actions up to the end of what is being read.
pub(crate) type Actions = All<ActionWire>;

impl Wire for ActionWire {
    type Value = Action;
    const TYPICAL_LEN: usize = 16;

    fn read(r: &mut Reader, _: &'static str) -> Result<Action, DecodeError> {
        action::read(r, read_arguments)
    }

    fn write(action: &Action, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        match *action {
            Action::Output { port, max_len } => write_output(port, max_len, w),
            Action::SetField { field, value, mask } => return write_set_field(field, value, mask, w),
            Action::SetVlanVid(vid) => return write_vlan(Field::VlanVid, u128::from(vid) | 0x1000, w),
            Action::SetVlanPcp(pcp) => return write_vlan(Field::VlanPcp, pcp.into(), w),
            Action::SetTpSrc(port) => return write_transport_port(true, port, w),
            Action::SetTpDst(port) => return write_transport_port(false, port, w),
            Action::Enqueue { port, queue_id } => {
                fixed(SET_QUEUE, queue_id, w);
                write_output(port, 0, w);
            }
            Action::CopyTtlOut => fixed(COPY_TTL_OUT, 0, w),
            Action::CopyTtlIn => fixed(COPY_TTL_IN, 0, w),
            Action::SetMplsTtl(ttl) => fixed(SET_MPLS_TTL, u32::from(ttl) << 24, w),
            Action::DecMplsTtl => fixed(DEC_MPLS_TTL, 0, w),
            Action::PushVlan(ethertype) => {
                fixed(PUSH_VLAN, u32::from(ethertype) << 16, w);
                w.flow.tagged = true;
            }
            Action::PopVlan => {
                fixed(POP_VLAN, 0, w);
                w.flow.tagged = false;
            }
            Action::PushMpls(ethertype) => fixed(PUSH_MPLS, u32::from(ethertype) << 16, w),
            Action::PopMpls(ethertype) => fixed(POP_MPLS, u32::from(ethertype) << 16, w),
            Action::SetQueue(queue_id) => fixed(SET_QUEUE, queue_id, w),
            Action::Group(group_id) => fixed(GROUP, group_id, w),
            Action::SetNwTtl(ttl) => fixed(SET_NW_TTL, u32::from(ttl) << 24, w),
            Action::DecNwTtl => fixed(DEC_NW_TTL, 0, w),
            Action::PushPbb(ethertype) => fixed(PUSH_PBB, u32::from(ethertype) << 16, w),
            Action::PopPbb => fixed(POP_PBB, 0, w),
            Action::Meter(_) if w.version < Version::V1_5 => return Err(w.inexpressible("meter")),
            Action::Meter(meter_id) => fixed(METER, meter_id, w),
            Action::CopyField { .. } => return write_copy_field(action, w),
            Action::Nicira(ref action) => return nicira::write_action(action, w),
            Action::Experimenter { experimenter, ref data } => {
                return write_open(EXPERIMENTER, &experimenter.to_be_bytes(), data, w);
            }
            Action::Unknown { action_type, ref data } => return write_open(action_type, &[], data, w),
        }
        Ok(())
    }
}

fn read_arguments(action_type: u16, r: &mut Reader) -> Result<Action, DecodeError> {
    Ok(match action_type {
        OUTPUT => {
            let (port, max_len) = (PortNo(r.u32("output port")?), r.u16("max_len")?);
            r.skip(6)?;
            Action::Output { port, max_len }
        }
        SET_FIELD => return read_set_field(r),
        COPY_TTL_OUT => nothing(r, Action::CopyTtlOut)?,
        COPY_TTL_IN => nothing(r, Action::CopyTtlIn)?,
        SET_MPLS_TTL => Action::SetMplsTtl((r.u32("mpls_ttl")? >> 24) as u8),
        DEC_MPLS_TTL => nothing(r, Action::DecMplsTtl)?,
        PUSH_VLAN => Action::PushVlan(ethertype(r)?),
        POP_VLAN => nothing(r, Action::PopVlan)?,
        PUSH_MPLS => Action::PushMpls(ethertype(r)?),
        POP_MPLS => Action::PopMpls(ethertype(r)?),
        SET_QUEUE => Action::SetQueue(r.u32("queue_id")?),
        GROUP => Action::Group(r.u32("group_id")?),
        SET_NW_TTL => Action::SetNwTtl((r.u32("nw_ttl")? >> 24) as u8),
        DEC_NW_TTL => nothing(r, Action::DecNwTtl)?,
        PUSH_PBB => Action::PushPbb(ethertype(r)?),
        POP_PBB => nothing(r, Action::PopPbb)?,
        METER if r.version >= Version::V1_5 => Action::Meter(r.u32("meter_id")?),
        COPY_FIELD if r.version >= Version::V1_5 => return read_copy_field(r),
        EXPERIMENTER => {
            let experimenter = r.u32("experimenter")?;
            nicira::read_action(experimenter, r.rest(), r.version)
        }
        _ => Action::Unknown { action_type, data: r.rest().to_vec() },
    })
}

/// An action without arguments: four bytes of padding.
fn nothing(r: &mut Reader, action: Action) -> Result<Action, DecodeError> {
    r.skip(4).map(|()| action)
}

fn ethertype(r: &mut Reader) -> Result<u16, DecodeError> {
    let ethertype = r.u16("ethertype")?;
    r.skip(2)?;
    Ok(ethertype)
}

/// The action of one field, exactly set; anything else survives as unknown.
fn read_set_field(r: &mut Reader) -> Result<Action, DecodeError> {
    let whole = r.clone().rest();
    let mut field = r.clone().within(Part::SetField);
    match oxm::read(&mut field)? {
        Oxm::Known(entry) => {
            r.rest();
            Ok(Action::SetField { field: entry.field, value: entry.value, mask: entry.mask })
        }
        Oxm::Raw(raw) => {
            r.rest();
            if let Some(action) = nicira::read_set_field(&raw) {
                return Ok(action);
            }
            Ok(Action::Unknown { action_type: SET_FIELD, data: whole.to_vec() })
        }
    }
}

/// Number of bits, offsets, the two fields.
fn read_copy_field(r: &mut Reader) -> Result<Action, DecodeError> {
    let (n_bits, src_offset) = (r.u16("n_bits")?, r.u16("src_offset")?);
    let dst_offset = r.u16("dst_offset")?;
    r.skip(2)?;
    let (src, dst) = (IdWire::read(r, "src")?, IdWire::read(r, "dst")?);
    r.skip(r.left() % 8)?;
    Ok(Action::CopyField { n_bits, src_offset, dst_offset, src, dst })
}

fn write_copy_field(action: &Action, w: &mut Writer) -> Result<(), EncodeError> {
    let Action::CopyField { n_bits, src_offset, dst_offset, src, dst } = action else { return Ok(()) };
    if w.version < Version::V1_5 {
        return Err(w.inexpressible("copy_field"));
    }
    let start = w.position();
    w.u16(COPY_FIELD);
    w.u16(0);
    [n_bits, src_offset, dst_offset].into_iter().for_each(|number| w.u16(*number));
    w.zeros(2);
    IdWire::write(src, "src", w)?;
    IdWire::write(dst, "dst", w)?;
    w.pad_since(start);
    w.patch_length(start + 2, start);
    Ok(())
}

fn write_output(port: PortNo, max_len: u16, w: &mut Writer) {
    w.u16(OUTPUT);
    w.u16(16);
    w.u32(port.0);
    w.u16(max_len);
    w.zeros(6);
}

fn write_set_field(field: Field, value: u128, mask: u128, w: &mut Writer) -> Result<(), EncodeError> {
    if mask != field.full_mask() && w.version < Version::V1_5 {
        return nicira::write_native(&Action::SetField { field, value, mask }, "set_field mask", w);
    }
    if field == Field::IpTtl && mask == field.full_mask() {
        let ttl = u8::try_from(value).map_err(|_| w.out_of_range(field.name(), value))?;
        fixed(SET_NW_TTL, u32::from(ttl) << 24, w);
        return Ok(());
    }
    let start = w.position();
    w.u16(SET_FIELD);
    w.u16(0);
    oxm::write(&MatchEntry { field, value, mask }, w)?;
    w.pad_since(start);
    w.patch_length(start + 2, start);
    Ok(())
}

/// 1.0's way of setting a part of the VLAN tag, which is there after it.
fn write_vlan(field: Field, value: u128, w: &mut Writer) -> Result<(), EncodeError> {
    if !w.flow.tagged {
        fixed(PUSH_VLAN, 0x8100 << 16, w);
        w.flow.tagged = true;
    }
    write_set_field(field, value, field.full_mask(), w)
}

/// 1.0's way of setting the port of whichever transport protocol the packet has.
fn write_transport_port(source: bool, port: u16, w: &mut Writer) -> Result<(), EncodeError> {
    let field = match (w.flow.ip_proto, source) {
        (Some(6), true) => Field::TcpSrc,
        (Some(6), false) => Field::TcpDst,
        (Some(17), true) => Field::UdpSrc,
        (Some(17), false) => Field::UdpDst,
        (Some(132), true) => Field::SctpSrc,
        (Some(132), false) => Field::SctpDst,
        (_, true) => return Err(w.inexpressible("set_tp_src without ip_proto")),
        (_, false) => return Err(w.inexpressible("set_tp_dst without ip_proto")),
    };
    write_set_field(field, port.into(), field.full_mask(), w)
}
