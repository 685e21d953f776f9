//! Entries that frames make: the `learn` action.

use crate::journey::Journey;
use flowgauge_openflow::{
    Action, FlowMod, FlowModFlags, Instruction, Learn, LearnFlags, LearnSource, LearnSpec, Match, MatchEntry,
    Nicira, NxField, PortNo, Subfield,
};
use flowgauge_packet::Field;

/// The FLOW_MOD that a frame brings about; `None` when the frame hasn't what the action reads of it.
pub fn entry(learn: &Learn, journey: &mut Journey<'_>) -> Option<FlowMod> {
    let (mut match_, mut actions) = (Match::any(), Vec::new());
    for spec in &learn.specs {
        match *spec {
            LearnSpec::Match { field, from } => {
                let value = value(from, field.bits, journey)?;
                matches(&mut match_, field, value)?;
            }
            LearnSpec::Load { to, from } => {
                let value = value(from, to.bits, journey)?;
                actions.push(load(to, value));
            }
            LearnSpec::Output(from) => {
                let port = journey.read(from)?;
                let is_short = from.bits <= 16;
                let port = if is_short { PortNo::from_u16(port as u16) } else { PortNo(port as u32) };
                actions.push(Action::output(port));
            }
        }
    }
    let removed = learn.flags.contains(LearnFlags::SEND_FLOW_REM);
    Some(FlowMod {
        table_id: learn.table_id,
        cookie: learn.cookie,
        idle_timeout: learn.idle_timeout,
        hard_timeout: learn.hard_timeout,
        priority: learn.priority,
        flags: if removed { FlowModFlags::SEND_FLOW_REM } else { FlowModFlags::NONE },
        match_,
        instructions: if actions.is_empty() { vec![] } else { vec![Instruction::ApplyActions(actions)] },
        ..FlowMod::default()
    })
}

fn value(from: LearnSource, bits: u16, journey: &mut Journey<'_>) -> Option<u128> {
    match from {
        LearnSource::Field { field, offset } => journey.read(Subfield { field, offset, bits }),
        LearnSource::Value(value) => Some(value),
    }
}

/// Adds bits to a match; bits of one field come together.
fn matches(match_: &mut Match, bits: Subfield, value: u128) -> Option<()> {
    let (field, offset) = match bits.field {
        NxField::Field(field) => (field, bits.offset),
        NxField::InPort16 => (Field::InPort, bits.offset),
        // Bits 0 to 12 are those of vlan_vid; the priority is a field of its own.
        NxField::VlanTci if bits.offset + bits.bits <= 13 => (Field::VlanVid, bits.offset),
        NxField::VlanTci if bits.offset >= 13 => (Field::VlanPcp, bits.offset - 13),
        NxField::IpTos if bits.offset >= 2 => (Field::IpDscp, bits.offset - 2),
        NxField::VlanTci | NxField::IpTos | NxField::Xreg(_) | NxField::Xxreg(_) | NxField::Unknown(_) => {
            return None;
        }
    };
    let mask = (u128::MAX >> (128 - u32::from(bits.bits))) << offset;
    let mask = if bits.field == NxField::InPort16 && bits.bits == 16 { field.full_mask() } else { mask };
    match match_.entries.iter_mut().find(|e| e.field == field) {
        Some(known) => {
            known.value = known.value & !mask | value << offset & mask;
            known.mask |= mask;
        }
        None => match_.entries.push(MatchEntry::masked(field, value << offset & mask, mask)),
    }
    Some(())
}

fn load(to: Subfield, value: u128) -> Action {
    match (to.field, u64::try_from(value)) {
        (NxField::Field(field), _) if to.is_all() => Action::set(field, value),
        (_, Ok(value)) => Action::Nicira(Nicira::Load { to, value }),
        (field, Err(_)) => {
            let mask = (u128::MAX >> (128 - u32::from(to.bits))) << to.offset;
            Action::Nicira(Nicira::SetField { field, value: value << to.offset & mask, mask })
        }
    }
}
