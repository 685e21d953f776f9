//! Nicira's extensible match: fields one behind the other, as in OXM, of which a few have 1.0's widths.

use flowgauge_packet::Field;

use super::field::{field_of, header_of, write_value};
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::codec::oxm::{self, Oxm};
use crate::model::{Action, Match, MatchEntry, Nicira, NxField, PortNo, RawOxm, Version};

/// NXM_NX_COOKIE: the cookie that entries to be changed must have.
const COOKIE: u32 = 0x0001_3c08;
const HAS_MASK: u32 = 1 << 8;
/// The bits of a VLAN tag that `vlan_vid` has; the priority's are above them.
const VID_BITS: u128 = 0x1fff;
const PCP_SHIFT: u32 = 13;

/// A match, and the cookie with its mask if it has one.
pub(super) type MatchAndCookie = (Match, Option<(u64, u64)>);

/// A field's header without its mask bit, its value and its mask.
type Parts = (u32, u128, Option<u128>);

/// Takes a field apart; `None` if it is longer than any that is known.
fn parts(header: u32, payload: &[u8]) -> Option<Parts> {
    let masked = header & HAS_MASK != 0;
    if payload.is_empty() || masked && payload.len() % 2 != 0 {
        return None;
    }
    let (value, mask) = payload.split_at(payload.len() >> masked as usize);
    let number = |bytes: &[u8]| bytes.iter().fold(0u128, |n, &b| n << 8 | u128::from(b));
    let known = value.len() <= 16;
    known.then(|| (header & !0x1ff | value.len() as u32, number(value), masked.then(|| number(mask))))
}

/// Reads fields up to the end.
pub(super) fn read(r: &mut Reader) -> Result<MatchAndCookie, DecodeError> {
    let (mut result, mut cookie) = (Match::any(), None);
    while !r.is_empty() {
        let header = r.u32("NXM header")?;
        let payload = r.take((header & 0xff) as usize, "NXM field")?;
        match parts(header, payload) {
            Some((COOKIE, value, mask)) => {
                cookie = Some((value as u64, mask.map_or(u64::MAX, |mask| mask as u64)));
            }
            Some((plain, value, mask)) if add(&mut result, field_of(plain), value, mask) => {}
            Some(_) | None => result.unknown.push(RawOxm { header, payload: payload.to_vec() }),
        }
    }
    join_tag(&mut result);
    Ok((result, cookie))
}

/// Puts what the match says of the VLAN tag, in one field or several, into one place; a priority without a tag says nothing.
fn join_tag(m: &mut Match) {
    let is_tag = |e: &MatchEntry| matches!(e.field, Field::VlanVid | Field::VlanPcp);
    let Some(first) = m.entries.iter().position(is_tag) else { return };
    let parts = [Field::VlanVid, Field::VlanPcp].map(|field| m.entry(field).copied());
    m.entries.retain(|e| !is_tag(e));
    let untagged = parts[0].is_some_and(|e| e.is_exact() && e.value == 0);
    let kept = parts.into_iter().flatten().filter(|e| e.field == Field::VlanVid || !untagged);
    m.entries.splice(first..first, kept.filter(|e| e.mask != 0));
}

/// Adds a field of an OXM match that OXM itself does not know, if the extensions do.
pub(crate) fn add_raw(into: &mut Match, raw: &RawOxm) -> bool {
    // Classes 0 and 1 are NXM's own; 0x8001 are pairs of registers.
    let is_extension = matches!(raw.header >> 16, 0 | 1 | 0x8001);
    let known = parts(raw.header, &raw.payload).filter(|_| is_extension);
    known.is_some_and(|(plain, value, mask)| add(into, field_of(plain), value, mask))
}

/// The set-field action of a field that OXM itself does not know, if the extensions do.
pub(crate) fn read_set_field(raw: &RawOxm) -> Option<Action> {
    let (plain, value, mask) = parts(raw.header, &raw.payload)?;
    match field_of(plain) {
        NxField::Unknown(_) => None,
        NxField::Field(field) => {
            Some(Action::SetField { field, value, mask: mask.unwrap_or(field.full_mask()) })
        }
        field => {
            let mask = mask.unwrap_or(field.full_mask());
            Some(Action::Nicira(Nicira::SetField { field, value, mask }))
        }
    }
}

/// Adds a field; `false` if the model's match has no room for it.
fn add(into: &mut Match, field: NxField, value: u128, mask: Option<u128>) -> bool {
    let mut push = |field: Field, value, mask: Option<u128>| {
        let mask = mask.unwrap_or(field.full_mask()) & field.full_mask();
        into.entries.push(MatchEntry { field, value, mask });
    };
    match (field, mask) {
        (NxField::Field(field), mask) => push(field, value, mask),
        (NxField::InPort16, None) => {
            push(Field::InPort, PortNo::from_u16(value as u16).0.into(), None);
        }
        (NxField::IpTos, None) => push(Field::IpDscp, value >> 2, None),
        (NxField::VlanTci, mask) => {
            let mask = match mask {
                None if value == 0 => VID_BITS,
                None => 0xffff,
                Some(mask) => mask,
            };
            if mask & VID_BITS != 0 {
                push(Field::VlanVid, value & VID_BITS, Some(mask & VID_BITS));
            }
            if mask >> PCP_SHIFT != 0 {
                push(Field::VlanPcp, value >> PCP_SHIFT, Some(mask >> PCP_SHIFT));
            }
        }
        (NxField::Xreg(pair), mask) => {
            let mask = mask.unwrap_or(u64::MAX.into());
            for (half, shift) in [(0, 32), (1, 0)] {
                let part = mask >> shift & 0xffff_ffff;
                if let Some(register) = Field::register(2 * pair + half).filter(|_| part != 0) {
                    push(register, value >> shift & 0xffff_ffff, Some(part));
                }
            }
        }
        (NxField::InPort16 | NxField::IpTos, Some(_)) | (NxField::Xxreg(_) | NxField::Unknown(_), _) => {
            return false;
        }
    }
    true
}

/// Writes a match and, if there is one, a cookie with its mask.
pub(super) fn write(m: &Match, cookie: Option<(u64, u64)>, w: &mut Writer) -> Result<(), EncodeError> {
    let mut tag_is_written = false;
    for entry in &m.entries {
        let MatchEntry { field, value, mask } = *entry;
        match field {
            Field::InPort if entry.is_exact() => {
                let port = PortNo(value as u32).to_u16();
                let port = port.ok_or_else(|| w.out_of_range("in_port", value))?;
                write_value(NxField::InPort16, port.into(), 0xffff, w)?;
            }
            Field::IpDscp if entry.is_exact() && value <= field.full_mask() => {
                write_value(NxField::IpTos, value << 2, 0xff, w)?;
            }
            Field::VlanVid | Field::VlanPcp => {
                if !std::mem::replace(&mut tag_is_written, true) {
                    write_tag(m, w)?;
                }
            }
            field if header_of(NxField::Field(field)).is_some() => {
                write_value(NxField::Field(field), value, mask, w)?;
            }
            field => return Err(w.inexpressible(field.name())),
        }
    }
    for raw in &m.unknown {
        if raw.payload.len() != (raw.header & 0xff) as usize {
            return Err(w.out_of_range("length of an unknown NXM field", raw.payload.len() as u128));
        }
        w.u32(raw.header);
        w.bytes(&raw.payload);
    }
    if let Some((cookie, mask)) = cookie {
        w.u32(COOKIE & !0xff | HAS_MASK | 16);
        w.u64(cookie);
        w.u64(mask);
    }
    Ok(())
}

/// What the match says of the VLAN tag, as one field.
fn write_tag(m: &Match, w: &mut Writer) -> Result<(), EncodeError> {
    let part = |field| m.entry(field).map_or((0, 0), |e| (e.value, e.mask));
    let ((vid, vid_mask), (pcp, pcp_mask)) = (part(Field::VlanVid), part(Field::VlanPcp));
    if vid > VID_BITS || pcp > 7 {
        return Err(w.out_of_range("vlan_tci", vid | pcp << PCP_SHIFT));
    }
    write_value(NxField::VlanTci, vid | pcp << PCP_SHIFT, vid_mask | pcp_mask << PCP_SHIFT, w)
}

/// Exact fields under their OXM headers of 1.5, one behind the other; `None` if there is another among them.
pub(crate) fn read_fields(bytes: &[u8]) -> Option<Vec<MatchEntry>> {
    let mut r = Reader::new(bytes, 0, Version::V1_5);
    let mut fields = Vec::new();
    while !r.is_empty() {
        match oxm::read(&mut r).ok()? {
            Oxm::Known(entry) if entry.is_exact() => fields.push(entry),
            Oxm::Known(_) | Oxm::Raw(_) => return None,
        }
    }
    Some(fields)
}

/// Appends fields as [`read_fields`] reads them; those that 1.5 has no header for are left out.
pub(crate) fn write_fields(fields: &[MatchEntry], out: &mut Vec<u8>) {
    let mut w = Writer::new(out, Version::V1_5, false);
    for entry in fields {
        let _ = oxm::write(entry, &mut w);
    }
}

/// Reads a match of `length` bytes and the padding behind it.
pub(super) fn read_padded(length: u16, r: &mut Reader) -> Result<MatchAndCookie, DecodeError> {
    let length = usize::from(length);
    let result = read(&mut r.sub(length, "match")?)?;
    r.skip_padding(length)?;
    Ok(result)
}

/// Writes a match, padding behind it, and at `length_at` its length.
pub(super) fn write_padded(
    m: &Match,
    cookie: Option<(u64, u64)>,
    length_at: usize,
    w: &mut Writer,
) -> Result<(), EncodeError> {
    let start = w.position();
    write(m, cookie, w)?;
    w.patch_length(length_at, start);
    w.pad_since(start);
    Ok(())
}
