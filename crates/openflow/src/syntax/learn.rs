//! The learn action: `learn(table=1,NXM_OF_VLAN_TCI[0..11],NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])`.

use std::fmt;

use super::nxm::{self, print_value};
use super::scan::Span;
use super::{SyntaxError, value};
use crate::{Learn, LearnFlags, LearnSource, LearnSpec, NxField, Subfield};

/// Parses what stands in the parentheses.
pub(super) fn parse(argument: Span<'_>) -> Result<Learn, SyntaxError> {
    let mut learn = Learn::default();
    for item in argument.items()? {
        if !option(&mut learn, item)? {
            learn.specs.push(spec(item)?);
        }
    }
    Ok(learn)
}

/// Takes the item if it is an option rather than something to match or do.
fn option(learn: &mut Learn, item: Span<'_>) -> Result<bool, SyntaxError> {
    match item.text {
        "send_flow_rem" => learn.flags |= LearnFlags::SEND_FLOW_REM,
        "delete_learned" => learn.flags |= LearnFlags::DELETE_LEARNED,
        _ => {
            let Some((name, text)) = item.split_once("=") else { return Ok(false) };
            let short = || value::number(text, 0xffff).map(|n| n as u16);
            match name.text {
                "table" => learn.table_id = value::number(text, 0xfe)? as u8,
                "priority" => learn.priority = short()?,
                "idle_timeout" => learn.idle_timeout = short()?,
                "hard_timeout" => learn.hard_timeout = short()?,
                "fin_idle_timeout" => learn.fin_idle_timeout = short()?,
                "fin_hard_timeout" => learn.fin_hard_timeout = short()?,
                "cookie" => learn.cookie = value::number(text, u64::MAX.into())? as u64,
                "limit" => learn.limit = value::number(text, u32::MAX.into())? as u32,
                "result_dst" => {
                    let place = nxm::subfield(text)?;
                    if place.bits != 1 {
                        return Err(text.expected("one bit of a field"));
                    }
                    learn.result = Some(place);
                    learn.flags |= LearnFlags::WRITE_RESULT;
                }
                _ => return Ok(false),
            }
        }
    }
    Ok(true)
}

/// Something that the learned entry matches or does.
fn spec(item: Span<'_>) -> Result<LearnSpec, SyntaxError> {
    let (name, argument) = item.name_and_argument();
    match name.text {
        "load" => {
            let (source, place) =
                argument.split_once("->").ok_or_else(|| argument.expected("SOURCE->FIELD[]"))?;
            let to = nxm::subfield(place)?;
            Ok(LearnSpec::Load { to, from: source_of(source, to)? })
        }
        "output" => Ok(LearnSpec::Output(nxm::subfield(argument)?)),
        _ => {
            let (place, source) = item.split_once("=").unwrap_or((item, item.end()));
            let field = nxm::subfield(place)?;
            if source.is_empty() {
                let Subfield { field: same, offset, .. } = field;
                return Ok(LearnSpec::Match { field, from: LearnSource::Field { field: same, offset } });
            }
            Ok(LearnSpec::Match { field, from: source_of(source, field)? })
        }
    }
}

/// A value or a field of as many bits as `place` has.
fn source_of(text: Span<'_>, place: Subfield) -> Result<LearnSource, SyntaxError> {
    let is_field = text.text.contains('[')
        || nxm::field(text.text).is_some() && nxm::value_of(place.field, text).is_err();
    if is_field {
        let from = nxm::subfield(text)?;
        if from.bits != place.bits {
            return Err(text.expected(format!("{} bits", place.bits)));
        }
        return Ok(LearnSource::Field { field: from.field, offset: from.offset });
    }
    if place.is_all() {
        return nxm::value_of(place.field, text).map(LearnSource::Value);
    }
    let most = u128::MAX.checked_shr(128 - u32::from(place.bits).min(128)).unwrap_or(0);
    value::number(text, most).map(LearnSource::Value)
}

impl fmt::Display for Learn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "learn(table={}", self.table_id)?;
        let numbers = [
            ("idle_timeout", self.idle_timeout, 0),
            ("hard_timeout", self.hard_timeout, 0),
            ("fin_idle_timeout", self.fin_idle_timeout, 0),
            ("fin_hard_timeout", self.fin_hard_timeout, 0),
            ("priority", self.priority, 0x8000),
        ];
        for (name, number, _) in numbers.iter().filter(|(_, number, default)| number != default) {
            write!(f, ",{name}={number}")?;
        }
        if self.flags.contains(LearnFlags::SEND_FLOW_REM) {
            f.write_str(",send_flow_rem")?;
        }
        if self.flags.contains(LearnFlags::DELETE_LEARNED) {
            f.write_str(",delete_learned")?;
        }
        if self.cookie != 0 {
            write!(f, ",cookie={:#x}", self.cookie)?;
        }
        if self.limit != 0 {
            write!(f, ",limit={}", self.limit)?;
        }
        if let Some(place) = self.result {
            write!(f, ",result_dst={place}")?;
        }
        for spec in &self.specs {
            write!(f, ",{spec}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for LearnSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LearnSpec::Match { field, from: LearnSource::Value(value) } if field.is_all() => {
                write!(f, "{}={}", nxm::plain_name(field.field), print_value(field.field, value))
            }
            LearnSpec::Match { field, from: LearnSource::Value(value) } => {
                write!(f, "{field}={}", hex(value))
            }
            LearnSpec::Match { field, from: LearnSource::Field { field: source, offset } } => {
                let from = part(source, offset, field.bits);
                if from == field { write!(f, "{field}") } else { write!(f, "{field}={from}") }
            }
            LearnSpec::Load { to, from: LearnSource::Value(value) } => write!(f, "load:{}->{to}", hex(value)),
            LearnSpec::Load { to, from: LearnSource::Field { field, offset } } => {
                write!(f, "load:{}->{to}", part(field, offset, to.bits))
            }
            LearnSpec::Output(from) => write!(f, "output:{from}"),
        }
    }
}

fn hex(value: u128) -> String {
    if value == 0 { "0".into() } else { format!("{value:#x}") }
}

fn part(field: NxField, offset: u16, bits: u16) -> Subfield {
    Subfield { field, offset, bits }
}
