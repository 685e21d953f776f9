//! Reads Nicira's actions.

use flowgauge_packet::Field;

use super::field::{self, from_ofs_nbits};
use super::subtype::*;
use super::{DecodeError, Reader, controller, learn, load_balance};
use crate::codec::wire::{Port16, Wire};
use crate::model::{Action, NICIRA, Nicira, NxField, PortNo, Subfield, Version};

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
