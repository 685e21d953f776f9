//! Writes Nicira's actions, and those of OpenFlow's that a version lacks.

use flowgauge_packet::Field;

use super::field::{self, check, ofs_nbits};
use super::subtype::*;
use super::{EncodeError, Writer, controller, learn, load_balance};
use crate::codec::wire::{Port16, Wire};
use crate::model::{Action, NICIRA, Nicira, NxField, PortNo, Subfield, Version};

/// Writes an action of OpenFlow's that the version lacks as one of the extensions; where there is none, `name` can't be
/// expressed.
pub(crate) fn write_native(action: &Action, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
    let short = |subtype, number: u16, w: &mut Writer| {
        write(subtype, w, |w| {
            w.u16(number);
            Ok(())
        })
    };
    let long = |subtype, number: u32, w: &mut Writer| {
        write(subtype, w, |w| {
            w.zeros(2);
            w.u32(number);
            Ok(())
        })
    };
    match *action {
        Action::DecNwTtl => short(DEC_TTL, 0, w),
        Action::DecMplsTtl => short(DEC_MPLS_TTL, 0, w),
        Action::PushMpls(eth_type) => short(PUSH_MPLS, eth_type, w),
        Action::PopMpls(eth_type) => short(POP_MPLS, eth_type, w),
        Action::SetMplsTtl(ttl) => short(SET_MPLS_TTL, u16::from(ttl) << 8, w),
        Action::SetQueue(queue) => long(SET_QUEUE, queue, w),
        Action::Group(group) => long(GROUP, group, w),
        Action::SetNwTtl(ttl) => {
            let to = Subfield::all(NxField::Field(Field::IpTtl));
            write_load(to, ttl.into(), w)
        }
        Action::SetField { field: Field::TunnelId, value, mask } if mask == u128::from(u64::MAX) => {
            match u32::try_from(value) {
                Ok(number) => long(SET_TUNNEL, number, w),
                Err(_) => write(SET_TUNNEL64, w, |w| {
                    w.zeros(6);
                    w.u64(u64::try_from(value).map_err(|_| w.out_of_range("tun_id", value))?);
                    Ok(())
                }),
            }
        }
        Action::SetField { field, value, mask } if field::header_of(NxField::Field(field)).is_some() => {
            write_set(NxField::Field(field), value, mask, w)
        }
        _ => Err(w.inexpressible(name)),
    }
}

/// Writes one of the extensions.
pub(crate) fn write_action(action: &Nicira, w: &mut Writer) -> Result<(), EncodeError> {
    match *action {
        Nicira::Resubmit { port, table: None } => write(RESUBMIT, w, |w| write_resubmit_port(port, w)),
        Nicira::Resubmit { port, table: Some(table) } => write(RESUBMIT_TABLE, w, |w| {
            if table == SAME_TABLE {
                return Err(w.out_of_range("table", table.into()));
            }
            write_resubmit_port(port, w)?;
            w.u8(table);
            Ok(())
        }),
        Nicira::Load { to, value } => write_load(to, value, w),
        Nicira::SetField { field, value, mask } => write_set(field, value, mask, w),
        Nicira::Move { from, to } => write_move(from, to, w),
        Nicira::Push(place) => write(STACK_PUSH, w, |w| write_stack(place, w)),
        Nicira::Pop(place) => write(STACK_POP, w, |w| write_stack(place, w)),
        Nicira::PopQueue => write(POP_QUEUE, w, |_| Ok(())),
        Nicira::OutputReg { from, max_len } => write(OUTPUT_REG, w, |w| {
            w.u16(ofs_nbits(from, w)?);
            field::write(from.field, w)?;
            w.u16(max_len);
            w.zeros(6);
            Ok(())
        }),
        Nicira::OutputTrunc { port, max_len } => write(OUTPUT_TRUNC, w, |w| {
            Port16::write(&port, "output", w)?;
            w.u32(max_len);
            Ok(())
        }),
        Nicira::Controller(ref to) => controller::write(to, w),
        Nicira::DecTtlCntIds(ref ids) => write(DEC_TTL_CNT_IDS, w, |w| {
            w.u16(ids.len() as u16);
            w.zeros(4);
            ids.iter().for_each(|&id| w.u16(id));
            Ok(())
        }),
        Nicira::Learn(ref learn) => learn::write(learn, w),
        Nicira::Multipath(ref multipath) => load_balance::write_multipath(multipath, w),
        Nicira::Bundle(ref bundle) => load_balance::write_bundle(bundle, w),
        Nicira::Conjunction { id, clause, clauses } => write(CONJUNCTION, w, |w| {
            w.u8(clause);
            w.u8(clauses);
            w.u32(id);
            Ok(())
        }),
        Nicira::Exit => write(EXIT, w, |_| Ok(())),
        Nicira::FinTimeout { idle_timeout, hard_timeout } => write(FIN_TIMEOUT, w, |w| {
            w.u16(idle_timeout);
            w.u16(hard_timeout);
            Ok(())
        }),
        Nicira::Note(ref bytes) => write(NOTE, w, |w| {
            w.bytes(bytes);
            Ok(())
        }),
    }
}

/// Writes an action's head, its arguments, and zeros up to a multiple of eight bytes.
pub(super) fn write(
    subtype: u16,
    w: &mut Writer,
    arguments: impl FnOnce(&mut Writer) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = w.position();
    w.u16(EXPERIMENTER);
    w.u16(0);
    w.u32(NICIRA);
    w.u16(subtype);
    arguments(w)?;
    w.pad_since(start);
    w.patch_length(start + 2, start);
    Ok(())
}

fn write_resubmit_port(port: Option<PortNo>, w: &mut Writer) -> Result<(), EncodeError> {
    Port16::write(&port.unwrap_or(NO_PORT), "resubmit", w)
}

fn write_stack(place: Subfield, w: &mut Writer) -> Result<(), EncodeError> {
    check(place, w)?;
    w.u16(place.offset);
    field::write(place.field, w)?;
    w.u16(place.bits);
    w.zeros(6);
    Ok(())
}

/// The bits of a value that a load sets; since 1.5 a set-field action with a mask.
fn write_load(to: Subfield, value: u64, w: &mut Writer) -> Result<(), EncodeError> {
    let bits = ofs_nbits(to, w)?;
    let room = u64::MAX >> (64 - to.bits);
    if value & !room != 0 {
        return Err(w.out_of_range("load", value.into()));
    }
    if w.version >= Version::V1_5 {
        return write_set_field(to.field, u128::from(value) << to.offset, u128::from(room) << to.offset, w);
    }
    write(REG_LOAD, w, |w| {
        w.u16(bits);
        field::write(to.field, w)?;
        w.u64(value);
        Ok(())
    })
}

/// A field with value and mask: as OpenFlow's own action where the version has it.
fn write_set(field: NxField, value: u128, mask: u128, w: &mut Writer) -> Result<(), EncodeError> {
    let is_whole = mask == field.full_mask();
    if w.version >= Version::V1_5 || (w.version >= Version::V1_3 && is_whole) {
        return write_set_field(field, value, mask, w);
    }
    write(REG_LOAD2, w, |w| field::write_value(field, value, mask, w))
}

const SET_FIELD: u16 = 25;

fn write_set_field(field: NxField, value: u128, mask: u128, w: &mut Writer) -> Result<(), EncodeError> {
    let start = w.position();
    w.u16(SET_FIELD);
    w.u16(0);
    match field {
        NxField::Field(field) => {
            crate::codec::oxm::write(&crate::model::MatchEntry { field, value, mask }, w)?;
        }
        field => field::write_value(field, value, mask, w)?,
    }
    w.pad_since(start);
    w.patch_length(start + 2, start);
    Ok(())
}

const COPY_FIELD: u16 = 28;

/// A copy of bits; since 1.5 OpenFlow has its own action for it.
fn write_move(from: Subfield, to: Subfield, w: &mut Writer) -> Result<(), EncodeError> {
    if from.bits != to.bits {
        return Err(w.out_of_range("bits of a move", to.bits.into()));
    }
    check(from, w)?;
    check(to, w)?;
    let arguments = |w: &mut Writer| {
        w.u16(from.bits);
        w.u16(from.offset);
        w.u16(to.offset);
    };
    if w.version < Version::V1_5 {
        return write(REG_MOVE, w, |w| {
            arguments(w);
            field::write(from.field, w)?;
            field::write(to.field, w)
        });
    }
    let start = w.position();
    w.u16(COPY_FIELD);
    w.u16(0);
    arguments(w);
    w.zeros(2);
    field::write(from.field, w)?;
    field::write(to.field, w)?;
    w.pad_since(start);
    w.patch_length(start + 2, start);
    Ok(())
}
