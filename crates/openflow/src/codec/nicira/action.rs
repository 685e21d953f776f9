//! Nicira's actions.

use flowgauge_packet::Field;

use super::field::{self, check, from_ofs_nbits, ofs_nbits};
use super::{DecodeError, EncodeError, Reader, Writer, controller, learn, load_balance};
use crate::codec::wire::{Port16, Wire};
use crate::model::{Action, NICIRA, Nicira, NxField, PortNo, Subfield, Version};

const EXPERIMENTER: u16 = 0xffff;

const RESUBMIT: u16 = 1;
const SET_TUNNEL: u16 = 2;
const SET_QUEUE: u16 = 4;
const POP_QUEUE: u16 = 5;
const REG_MOVE: u16 = 6;
const REG_LOAD: u16 = 7;
const NOTE: u16 = 8;
const SET_TUNNEL64: u16 = 9;
pub(super) const MULTIPATH: u16 = 10;
pub(super) const BUNDLE: u16 = 12;
pub(super) const BUNDLE_LOAD: u16 = 13;
const RESUBMIT_TABLE: u16 = 14;
const OUTPUT_REG: u16 = 15;
pub(super) const LEARN: u16 = 16;
const EXIT: u16 = 17;
const DEC_TTL: u16 = 18;
const FIN_TIMEOUT: u16 = 19;
pub(super) const CONTROLLER: u16 = 20;
const DEC_TTL_CNT_IDS: u16 = 21;
const PUSH_MPLS: u16 = 23;
const POP_MPLS: u16 = 24;
const SET_MPLS_TTL: u16 = 25;
const DEC_MPLS_TTL: u16 = 26;
const STACK_PUSH: u16 = 27;
const STACK_POP: u16 = 28;
const SET_MPLS_LABEL: u16 = 30;
const SET_MPLS_TC: u16 = 31;
const REG_LOAD2: u16 = 33;
const CONJUNCTION: u16 = 34;
pub(super) const CONTROLLER2: u16 = 37;
const OUTPUT_TRUNC: u16 = 39;
const GROUP: u16 = 40;
pub(super) const LEARN2: u16 = 45;

/// The port that stands for none where the extensions have 16 bits for it.
const NO_PORT: PortNo = PortNo::IN_PORT;
const SAME_TABLE: u8 = 0xff;

/// The action whose data follow an experimenter's number.
pub(crate) fn read_action(experimenter: u32, data: &[u8], version: Version) -> Action {
    let known = (experimenter == NICIRA).then(|| {
        let mut r = Reader::new(data, 0, version);
        let action = read_known(&mut r).ok().flatten()?;
        r.rest().iter().all(|&byte| byte == 0).then_some(action)
    });
    known.flatten().unwrap_or_else(|| Action::Experimenter { experimenter, data: data.to_vec() })
}

/// `None` for what is not known here.
fn read_known(r: &mut Reader) -> Result<Option<Action>, DecodeError> {
    let subtype = r.u16("subtype")?;
    let action = match subtype {
        DEC_TTL => Action::DecNwTtl,
        DEC_MPLS_TTL => Action::DecMplsTtl,
        PUSH_MPLS => Action::PushMpls(r.u16("ethertype")?),
        POP_MPLS => Action::PopMpls(r.u16("ethertype")?),
        SET_MPLS_TTL => Action::SetMplsTtl(r.u8("mpls_ttl")?),
        SET_MPLS_TC => Action::set(Field::MplsTc, (r.u8("mpls_tc")? & 7).into()),
        SET_MPLS_LABEL => Action::set(Field::MplsLabel, (aligned32(r, "mpls_label")? & 0xf_ffff).into()),
        SET_QUEUE => Action::SetQueue(aligned32(r, "queue_id")?),
        GROUP => Action::Group(aligned32(r, "group_id")?),
        SET_TUNNEL => Action::set(Field::TunnelId, aligned32(r, "tun_id")?.into()),
        SET_TUNNEL64 => {
            r.skip(6)?;
            Action::set(Field::TunnelId, r.u64("tun_id")?.into())
        }
        // Since 1.5, OpenFlow's own actions say it.
        REG_LOAD | REG_LOAD2 | REG_MOVE if r.version >= Version::V1_5 => return Ok(None),
        REG_LOAD => read_load(r)?,
        REG_LOAD2 => match field::read_value(r)? {
            (NxField::Field(Field::IpTtl), value, None) => Action::SetNwTtl(value as u8),
            // 1.0's own actions for these mean something else, for packets without a tag or another protocol.
            (NxField::Field(field), _, None) if r.version == Version::V1_0 && is_set_otherwise(field) => {
                return Ok(None);
            }
            (NxField::Field(field), value, mask) => {
                Action::SetField { field, value, mask: mask.unwrap_or(field.full_mask()) }
            }
            (NxField::Unknown(_), ..) => return Ok(None),
            (field, value, mask) => {
                let mask = mask.unwrap_or(field.full_mask());
                Action::Nicira(Nicira::SetField { field, value, mask })
            }
        },
        _ => return Ok(read_own(subtype, r)?.map(Action::Nicira)),
    };
    Ok(Some(action))
}

/// Whether 1.0 sets the field with an action that is not of that field alone.
fn is_set_otherwise(field: Field) -> bool {
    use Field::*;
    matches!(field, VlanVid | VlanPcp | TcpSrc | TcpDst | UdpSrc | UdpDst | SctpSrc | SctpDst)
}

/// A number of 32 bits behind the padding that aligns it.
fn aligned32(r: &mut Reader, name: &'static str) -> Result<u32, DecodeError> {
    r.skip(2)?;
    r.u32(name)
}

fn read_load(r: &mut Reader) -> Result<Action, DecodeError> {
    let bits = r.u16("bits")?;
    let to = from_ofs_nbits(field::field_of(r.u32("field")?), bits);
    let value = r.u64("value")?;
    // How 1.0 sets the TTL.
    if to == Subfield::all(NxField::Field(Field::IpTtl)) && value <= 0xff {
        return Ok(Action::SetNwTtl(value as u8));
    }
    Ok(Action::Nicira(Nicira::Load { to, value }))
}

/// What only the extensions have.
fn read_own(subtype: u16, r: &mut Reader) -> Result<Option<Nicira>, DecodeError> {
    Ok(Some(match subtype {
        RESUBMIT => Nicira::Resubmit { port: read_resubmit_port(r)?, table: None },
        RESUBMIT_TABLE => {
            let port = read_resubmit_port(r)?;
            let table = Some(r.u8("table")?).filter(|&table| table != SAME_TABLE);
            // Two ways of saying the same: that without a table says it.
            if table.is_none() {
                return Ok(None);
            }
            Nicira::Resubmit { port, table }
        }
        REG_MOVE => {
            let (bits, from, to) = (r.u16("bits")?, r.u16("offset")?, r.u16("offset")?);
            let (src, dst) = (field::field_of(r.u32("source")?), field::field_of(r.u32("target")?));
            Nicira::Move {
                from: Subfield { field: src, offset: from, bits },
                to: Subfield { field: dst, offset: to, bits },
            }
        }
        STACK_PUSH => Nicira::Push(read_stack(r)?),
        STACK_POP => Nicira::Pop(read_stack(r)?),
        POP_QUEUE => Nicira::PopQueue,
        OUTPUT_REG => {
            let bits = r.u16("bits")?;
            let from = from_ofs_nbits(field::field_of(r.u32("field")?), bits);
            Nicira::OutputReg { from, max_len: r.u16("max_len")? }
        }
        OUTPUT_TRUNC => Nicira::OutputTrunc { port: Port16::read(r, "port")?, max_len: r.u32("max_len")? },
        CONTROLLER => Nicira::Controller(controller::read(r)?),
        CONTROLLER2 => return Ok(controller::read_properties(r)?.map(Nicira::Controller)),
        DEC_TTL_CNT_IDS => {
            let count = r.u16("n_controllers")?;
            r.skip(4)?;
            Nicira::DecTtlCntIds((0..count).map(|_| r.u16("controller_id")).collect::<Result<_, _>>()?)
        }
        LEARN | LEARN2 => return Ok(learn::read(subtype, r)?.map(|learn| Nicira::Learn(Box::new(learn)))),
        MULTIPATH => Nicira::Multipath(load_balance::read_multipath(r)?),
        BUNDLE | BUNDLE_LOAD => return Ok(load_balance::read_bundle(subtype, r)?.map(Nicira::Bundle)),
        CONJUNCTION => Nicira::Conjunction {
            clause: r.u8("clause")?,
            clauses: r.u8("n_clauses")?,
            id: r.u32("conjunction id")?,
        },
        EXIT => Nicira::Exit,
        FIN_TIMEOUT => Nicira::FinTimeout {
            idle_timeout: r.u16("fin_idle_timeout")?,
            hard_timeout: r.u16("fin_hard_timeout")?,
        },
        NOTE => Nicira::Note(r.rest().to_vec()),
        _ => return Ok(None),
    }))
}

fn read_resubmit_port(r: &mut Reader) -> Result<Option<PortNo>, DecodeError> {
    Ok(Some(Port16::read(r, "in_port")?).filter(|&port| port != NO_PORT))
}

fn read_stack(r: &mut Reader) -> Result<Subfield, DecodeError> {
    let offset = r.u16("offset")?;
    let field = field::field_of(r.u32("field")?);
    Ok(Subfield { field, offset, bits: r.u16("bits")? })
}

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
