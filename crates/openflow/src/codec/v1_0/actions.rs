//! 1.0's actions.

use flowgauge_packet::{Field, MacAddr};

use crate::codec::action::{self, write_fixed as fixed, write_open};
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::nicira;
use crate::codec::reader::Reader;
use crate::codec::wire::{All, Mac, Port16, Wire};
use crate::codec::writer::Writer;
use crate::model::{Action, Instruction, PortNo};

const OUTPUT: u16 = 0;
const SET_VLAN_VID: u16 = 1;
const SET_VLAN_PCP: u16 = 2;
const STRIP_VLAN: u16 = 3;
const SET_DL_SRC: u16 = 4;
const SET_DL_DST: u16 = 5;
const SET_NW_SRC: u16 = 6;
const SET_NW_DST: u16 = 7;
const SET_NW_TOS: u16 = 8;
const SET_TP_SRC: u16 = 9;
const SET_TP_DST: u16 = 10;
const ENQUEUE: u16 = 11;
const VENDOR: u16 = 0xffff;

/// An action: type, length, arguments.
pub(crate) struct ActionWire;

/// The actions up to the end of what is being read.
pub(crate) type Actions = All<ActionWire>;

impl Wire for ActionWire {
    type Value = Action;
    const TYPICAL_LEN: usize = 8;

    fn read(r: &mut Reader, _: &'static str) -> Result<Action, DecodeError> {
        action::read(r, read_arguments)
    }

    fn write(action: &Action, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        match *action {
            Action::Output { port, max_len } => {
                let port = port.to_u16().ok_or_else(|| w.out_of_range("output", port.0.into()))?;
                fixed(OUTPUT, u32::from(port) << 16 | u32::from(max_len), w);
            }
            Action::SetField { field, value, mask } => return write_set_field(field, value, mask, w),
            Action::SetVlanVid(vid) => fixed(SET_VLAN_VID, u32::from(vid) << 16, w),
            Action::SetVlanPcp(pcp) => fixed(SET_VLAN_PCP, u32::from(pcp) << 24, w),
            Action::PopVlan => fixed(STRIP_VLAN, 0, w),
            Action::SetTpSrc(port) => fixed(SET_TP_SRC, u32::from(port) << 16, w),
            Action::SetTpDst(port) => fixed(SET_TP_DST, u32::from(port) << 16, w),
            Action::Enqueue { port, queue_id } => {
                w.u16(ENQUEUE);
                w.u16(16);
                Port16::write(&port, "enqueue", w)?;
                w.zeros(6);
                w.u32(queue_id);
            }
            Action::Nicira(ref action) => return nicira::write_action(action, w),
            Action::Experimenter { experimenter, ref data } => {
                return write_open(VENDOR, &experimenter.to_be_bytes(), data, w);
            }
            Action::Unknown { action_type, ref data } => return write_open(action_type, &[], data, w),
            Action::CopyTtlOut => return Err(w.inexpressible("copy_ttl_out")),
            Action::CopyTtlIn => return Err(w.inexpressible("copy_ttl_in")),
            Action::PushVlan(_) => return Err(w.inexpressible("push_vlan")),
            Action::SetMplsTtl(_)
            | Action::DecMplsTtl
            | Action::PushMpls(_)
            | Action::PopMpls(_)
            | Action::SetQueue(_)
            | Action::Group(_)
            | Action::SetNwTtl(_)
            | Action::DecNwTtl => return nicira::write_native(action, "action", w),
            Action::PushPbb(_) => return Err(w.inexpressible("push_pbb")),
            Action::PopPbb => return Err(w.inexpressible("pop_pbb")),
            Action::CopyField { .. } => return Err(w.inexpressible("copy_field")),
            Action::Meter(_) => return Err(w.inexpressible("meter")),
        }
        Ok(())
    }
}

fn read_arguments(action_type: u16, r: &mut Reader) -> Result<Action, DecodeError> {
    let high_half = |n: u32| (n >> 16) as u16;
    Ok(match action_type {
        OUTPUT => Action::Output { port: Port16::read(r, "output port")?, max_len: r.u16("max_len")? },
        SET_VLAN_VID => Action::SetVlanVid(high_half(r.u32("vlan_vid")?)),
        SET_VLAN_PCP => Action::SetVlanPcp((r.u32("vlan_pcp")? >> 24) as u8),
        STRIP_VLAN => {
            r.skip(4)?;
            Action::PopVlan
        }
        SET_DL_SRC => Action::set(Field::EthSrc, read_address(r)?),
        SET_DL_DST => Action::set(Field::EthDst, read_address(r)?),
        SET_NW_SRC => Action::set(Field::Ipv4Src, r.u32("nw_src")?.into()),
        SET_NW_DST => Action::set(Field::Ipv4Dst, r.u32("nw_dst")?.into()),
        SET_NW_TOS => Action::set(Field::IpDscp, (r.u32("nw_tos")? >> 26).into()),
        SET_TP_SRC => Action::SetTpSrc(high_half(r.u32("tp_src")?)),
        SET_TP_DST => Action::SetTpDst(high_half(r.u32("tp_dst")?)),
        ENQUEUE => {
            let port: PortNo = Port16::read(r, "enqueue port")?;
            r.skip(6)?;
            Action::Enqueue { port, queue_id: r.u32("queue_id")? }
        }
        VENDOR => {
            let experimenter = r.u32("vendor")?;
            nicira::read_action(experimenter, r.rest(), r.version)
        }
        _ => Action::Unknown { action_type, data: r.rest().to_vec() },
    })
}

fn read_address(r: &mut Reader) -> Result<u128, DecodeError> {
    let address = Mac::read(r, "address")?;
    r.skip(6)?;
    Ok(address.to_u64().into())
}

fn write_set_field(field: Field, value: u128, mask: u128, w: &mut Writer) -> Result<(), EncodeError> {
    if mask != field.full_mask() {
        return nicira::write_native(&Action::SetField { field, value, mask }, "set_field mask", w);
    }
    if value > field.full_mask() {
        return Err(w.out_of_range(field.name(), value));
    }
    // Every value below has at most 48 bits, those in a u32 at most 32.
    let argument = value as u32;
    match field {
        Field::EthSrc => write_address(SET_DL_SRC, value, w),
        Field::EthDst => write_address(SET_DL_DST, value, w),
        Field::VlanVid if value & 0x1000 != 0 => fixed(SET_VLAN_VID, (argument & 0xfff) << 16, w),
        Field::VlanPcp => fixed(SET_VLAN_PCP, argument << 24, w),
        Field::Ipv4Src => fixed(SET_NW_SRC, argument, w),
        Field::Ipv4Dst => fixed(SET_NW_DST, argument, w),
        Field::IpDscp => fixed(SET_NW_TOS, argument << 26, w),
        Field::TcpSrc | Field::UdpSrc | Field::SctpSrc => fixed(SET_TP_SRC, argument << 16, w),
        Field::TcpDst | Field::UdpDst | Field::SctpDst => fixed(SET_TP_DST, argument << 16, w),
        Field::VlanVid => return Err(w.inexpressible(field.name())),
        other => return nicira::write_native(&Action::SetField { field, value, mask }, other.name(), w),
    }
    Ok(())
}

fn write_address(action_type: u16, value: u128, w: &mut Writer) {
    w.u16(action_type);
    w.u16(16);
    w.bytes(&MacAddr::from_u64(value as u64).0);
    w.zeros(6);
}

/// Reads actions up to the end, as a flow entry's instructions.
pub(crate) fn read_instructions(r: &mut Reader) -> Result<Vec<Instruction>, DecodeError> {
    InstructionsWire::read(r, "actions")
}

/// Writes a flow entry's instructions as actions.
pub(crate) fn write_instructions(value: &Vec<Instruction>, w: &mut Writer) -> Result<(), EncodeError> {
    InstructionsWire::write(value, "actions", w)
}

/// A flow entry's actions: 1.0 has no instructions, and actions are applied.
pub(crate) struct InstructionsWire;

impl Wire for InstructionsWire {
    type Value = Vec<Instruction>;
    fn read(r: &mut Reader, name: &'static str) -> Result<Vec<Instruction>, DecodeError> {
        let actions = Actions::read(r, name)?;
        Ok(if actions.is_empty() { Vec::new() } else { vec![Instruction::ApplyActions(actions)] })
    }
    fn write(value: &Vec<Instruction>, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        match value.as_slice() {
            [] => Ok(()),
            [Instruction::ApplyActions(actions)] => Actions::write(actions, name, w),
            _ => Err(w.inexpressible("instructions")),
        }
    }
}
