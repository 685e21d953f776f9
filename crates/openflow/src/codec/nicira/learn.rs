//! The learn action.
//!
//! Each of its parts begins with 16 bits: `0 0 source 1 target 2 bits 11`; a part of zeros ends them.

use super::field::{self, check};
use super::subtype::{LEARN, LEARN2};
use super::write_action::write as write_head;
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::model::{Learn, LearnFlags, LearnSource, LearnSpec, NxField, Subfield};

const BITS: u16 = 0x7ff;
const IS_VALUE: u16 = 1 << 13;
const TARGET: u16 = 3 << 11;
const MATCH: u16 = 0;
const LOAD: u16 = 1 << 11;
const OUTPUT: u16 = 2 << 11;

/// `None` if it says what the model has no room for.
pub(super) fn read(subtype: u16, r: &mut Reader) -> Result<Option<Learn>, DecodeError> {
    let mut learn = Learn {
        idle_timeout: r.u16("idle_timeout")?,
        hard_timeout: r.u16("hard_timeout")?,
        priority: r.u16("priority")?,
        cookie: r.u64("cookie")?,
        flags: LearnFlags(r.u16("flags")?.into()),
        table_id: r.u8("table_id")?,
        ..Learn::default()
    };
    r.skip(1)?;
    learn.fin_idle_timeout = r.u16("fin_idle_timeout")?;
    learn.fin_hard_timeout = r.u16("fin_hard_timeout")?;
    if subtype == LEARN2 {
        learn.limit = r.u32("limit")?;
        let offset = r.u16("result_dst_ofs")?;
        r.skip(2)?;
        if learn.flags.contains(LearnFlags::WRITE_RESULT) {
            learn.result = Some(Subfield { field: field::field_of(r.u32("result_dst")?), offset, bits: 1 });
        }
    }
    while r.left() >= 2 {
        let head = r.u16("learn spec")?;
        if head == 0 {
            break;
        }
        match read_spec(head, r)? {
            Some(spec) => learn.specs.push(spec),
            None => return Ok(None),
        }
    }
    // What LEARN can say, LEARN says.
    let is_canonical = (subtype == LEARN2) == needs_second_form(&learn);
    Ok(Some(learn).filter(|_| is_canonical))
}

fn read_spec(head: u16, r: &mut Reader) -> Result<Option<LearnSpec>, DecodeError> {
    let bits = head & BITS;
    if head & !(BITS | IS_VALUE | TARGET) != 0 || bits == 0 {
        return Ok(None);
    }
    let from = if head & IS_VALUE != 0 {
        if bits > 128 {
            return Ok(None);
        }
        let bytes = r.take(2 * usize::from(bits.div_ceil(16)), "value")?;
        LearnSource::Value(bytes.iter().fold(0, |n, &b| n << 8 | u128::from(b)))
    } else {
        let Subfield { field, offset, .. } = field::read_at(r, bits)?;
        LearnSource::Field { field, offset }
    };
    Ok(match (head & TARGET, from) {
        (MATCH, from) => Some(LearnSpec::Match { field: field::read_at(r, bits)?, from }),
        (LOAD, from) => Some(LearnSpec::Load { to: field::read_at(r, bits)?, from }),
        (OUTPUT, LearnSource::Field { field, offset }) => {
            Some(LearnSpec::Output(Subfield { field, offset, bits }))
        }
        _ => None,
    })
}

fn needs_second_form(learn: &Learn) -> bool {
    learn.limit != 0 || learn.result.is_some() || learn.flags.contains(LearnFlags::WRITE_RESULT)
}

pub(super) fn write(learn: &Learn, w: &mut Writer) -> Result<(), EncodeError> {
    let second = needs_second_form(learn);
    if learn.result.is_some() != learn.flags.contains(LearnFlags::WRITE_RESULT) {
        return Err(w.inexpressible("result of learn"));
    }
    write_head(if second { LEARN2 } else { LEARN }, w, |w| {
        w.u16(learn.idle_timeout);
        w.u16(learn.hard_timeout);
        w.u16(learn.priority);
        w.u64(learn.cookie);
        w.u16(learn.flags.0 as u16);
        w.u8(learn.table_id);
        w.zeros(1);
        w.u16(learn.fin_idle_timeout);
        w.u16(learn.fin_hard_timeout);
        if second {
            w.u32(learn.limit);
            w.u16(learn.result.map_or(0, |place| place.offset));
            w.zeros(2);
        }
        if let Some(place) = learn.result {
            if place.bits != 1 {
                return Err(w.out_of_range("result of learn", place.bits.into()));
            }
            field::write(check(place, w)?.field, w)?;
        }
        learn.specs.iter().try_for_each(|spec| write_spec(spec, w))
    })
}

fn write_spec(spec: &LearnSpec, w: &mut Writer) -> Result<(), EncodeError> {
    let (target, place, from) = match *spec {
        LearnSpec::Match { field, from } => (MATCH, field, from),
        LearnSpec::Load { to, from } => (LOAD, to, from),
        LearnSpec::Output(place) => {
            w.u16(OUTPUT | check(place, w)?.bits & BITS);
            return write_place(place.field, place.offset, w);
        }
    };
    let bits = check(place, w)?.bits;
    match from {
        LearnSource::Field { field, offset } => {
            check(Subfield { field, offset, bits }, w)?;
            w.u16(target | bits);
            write_place(field, offset, w)?;
        }
        LearnSource::Value(value) => {
            if value > u128::MAX >> (128 - u32::from(bits.min(128))) || bits > 128 {
                return Err(w.out_of_range("value of learn", value));
            }
            w.u16(IS_VALUE | target | bits);
            w.low_bytes(value, 2 * usize::from(bits.div_ceil(16)));
        }
    }
    write_place(place.field, place.offset, w)
}

fn write_place(field: NxField, offset: u16, w: &mut Writer) -> Result<(), EncodeError> {
    field::write(field, w)?;
    w.u16(offset);
    Ok(())
}
