//! OXM fields and the OXM match (1.2 and later).
//!
//! ```text
//! class 16 | field 7 | has mask 1 | length 8 | [experimenter 32] | value | [mask]
//! ```

use flowgauge_packet::Field;

use super::error::{DecodeError, DecodeErrorKind, EncodeError, Part};
use super::nicira;
use super::reader::Reader;
use super::wire::Wire;
use super::writer::{FlowContext, Writer};
use crate::model::{Match, MatchEntry, OxmId, RawOxm, Version};

const BASIC: u32 = 0x8000 << 16;
const NICIRA: u32 = 0x0001 << 16;
const EXPERIMENTER: u32 = 0xffff << 16;
const HAS_MASK: u32 = 1 << 8;
/// The experimenter's number of the Open Networking Foundation.
const ONF: u32 = 0x4f4e_4600;

/// Where a field stands in the numbering.
enum Place {
    /// In the basic class, in all versions.
    Basic(u32),
    /// In the basic class since that version, and nowhere before.
    Since(Version, u32),
    /// In the basic class since 1.5, and an extension of the foundation's before, as in Open vSwitch.
    BasicSince15(u32),
    /// A Nicira extension.
    Nicira(u32),
    /// Nothing matches or sets it.
    Nowhere,
}

const fn place(field: Field) -> Place {
    use Place::*;
    match field {
        Field::InPort => Basic(0),
        Field::InPhyPort => Basic(1),
        Field::Metadata => Basic(2),
        Field::EthDst => Basic(3),
        Field::EthSrc => Basic(4),
        Field::EthType => Basic(5),
        Field::VlanVid => Basic(6),
        Field::VlanPcp => Basic(7),
        Field::IpDscp => Basic(8),
        Field::IpEcn => Basic(9),
        Field::IpProto => Basic(10),
        Field::IpTtl => Nicira(29),
        Field::Ipv4Id => Nowhere,
        Field::Ipv4Src => Basic(11),
        Field::Ipv4Dst => Basic(12),
        Field::TcpSrc => Basic(13),
        Field::TcpDst => Basic(14),
        Field::TcpFlags => BasicSince15(42),
        Field::UdpSrc => Basic(15),
        Field::UdpDst => Basic(16),
        Field::SctpSrc => Basic(17),
        Field::SctpDst => Basic(18),
        Field::Icmpv4Type => Basic(19),
        Field::Icmpv4Code => Basic(20),
        Field::ArpOp => Basic(21),
        Field::ArpSpa => Basic(22),
        Field::ArpTpa => Basic(23),
        Field::ArpSha => Basic(24),
        Field::ArpTha => Basic(25),
        Field::Ipv6Src => Basic(26),
        Field::Ipv6Dst => Basic(27),
        Field::Ipv6Flabel => Basic(28),
        Field::Icmpv6Type => Basic(29),
        Field::Icmpv6Code => Basic(30),
        Field::Ipv6NdTarget => Basic(31),
        Field::Ipv6NdSll => Basic(32),
        Field::Ipv6NdTll => Basic(33),
        Field::MplsLabel => Basic(34),
        Field::MplsTc => Basic(35),
        Field::MplsBos => Basic(36),
        Field::PbbIsid => Basic(37),
        Field::TunnelId => Basic(38),
        Field::Ipv6Exthdr => Basic(39),
        Field::PbbUca => Since(Version::V1_4, 41),
        Field::ActsetOutput => BasicSince15(43),
        Field::PacketType => Since(Version::V1_5, 44),
        Field::Reg0 => Nicira(0),
        Field::Reg1 => Nicira(1),
        Field::Reg2 => Nicira(2),
        Field::Reg3 => Nicira(3),
        Field::Reg4 => Nicira(4),
        Field::Reg5 => Nicira(5),
        Field::Reg6 => Nicira(6),
        Field::Reg7 => Nicira(7),
        Field::Reg8 => Nicira(8),
        Field::Reg9 => Nicira(9),
        Field::Reg10 => Nicira(10),
        Field::Reg11 => Nicira(11),
        Field::Reg12 => Nicira(12),
        Field::Reg13 => Nicira(13),
        Field::Reg14 => Nicira(14),
        Field::Reg15 => Nicira(15),
        Field::TunSrc => Nicira(31),
        Field::TunDst => Nicira(32),
        Field::PktMark => Nicira(33),
    }
}

/// Class and number of a field in a version, as the upper bits of its OXM header; `None` if it has none.
#[inline]
fn class_and_field(field: Field, version: Version) -> Option<u32> {
    match place(field) {
        Place::Basic(number) => Some(BASIC | number << 9),
        Place::Since(first, number) => (version >= first).then_some(BASIC | number << 9),
        Place::BasicSince15(number) if version >= Version::V1_5 => Some(BASIC | number << 9),
        Place::BasicSince15(number) => Some(EXPERIMENTER | number << 9),
        Place::Nicira(number) => Some(NICIRA | number << 9),
        Place::Nowhere => None,
    }
}

/// Class and number of a field of the basic class in the newest version that has it; `None` for other classes.
pub(crate) const fn basic(field: Field) -> Option<u32> {
    match place(field) {
        Place::Basic(number) | Place::Since(_, number) | Place::BasicSince15(number) => {
            Some(BASIC | number << 9)
        }
        Place::Nicira(_) | Place::Nowhere => None,
    }
}

/// The bytes that a field's value takes.
pub(crate) const fn value_len(field: Field) -> usize {
    match field.bits().div_ceil(8) as usize {
        3 if field.bits() < 24 => 4,
        exact => exact,
    }
}

/// What quick decoding needs to know of a field.
#[derive(Clone, Copy)]
struct Known {
    field: Field,
    /// The length of its value; [`NO_FIELD`] if nobody knows the field.
    rest: u16,
    /// All of its bits.
    mask: u128,
}

/// More than the low nine bits of any header.
const NO_FIELD: u16 = 0xffff;

/// The fields of the basic class that are there in all versions, by number, for quick decoding.
static BY_NUMBER: [Known; 40] = {
    let mut table = [Known { field: Field::InPort, rest: NO_FIELD, mask: 0 }; 40];
    let mut i = 0;
    while i < Field::ALL.len() {
        let field = Field::ALL[i];
        if let Place::Basic(number) = place(field) {
            table[number as usize] = Known { field, rest: value_len(field) as u16, mask: field.full_mask() };
        }
        i += 1;
    }
    table
};

/// Reads the value of the most usual kind of field: of the basic class, without a mask, whole. `None`, and nothing
/// read, if it is another.
#[inline]
fn read_quickly(header: u32, r: &mut Reader) -> Option<MatchEntry> {
    let number = header.wrapping_sub(BASIC) >> 9;
    let known = BY_NUMBER.get(number as usize)?;
    // The rest of the header is has-mask bit and length. That of an unknown field fits no header.
    if header & 0x1ff != u32::from(known.rest) {
        return None;
    }
    let value = number_in(r.take_some(known.rest.into())?);
    Some(MatchEntry { field: known.field, value, mask: known.mask })
}

/// The field that a header means in `version`.
fn field_of(header: u32, version: Version) -> Option<Field> {
    let number = (header >> 9 & 0x7f) as usize;
    if header & 0xffff_0000 == BASIC && number < BY_NUMBER.len() {
        return Some(&BY_NUMBER[number]).filter(|known| known.rest != NO_FIELD).map(|known| known.field);
    }
    const OTHERS: [Field; 8] = [
        Field::IpTtl,
        Field::TcpFlags,
        Field::PbbUca,
        Field::ActsetOutput,
        Field::PacketType,
        Field::TunSrc,
        Field::TunDst,
        Field::PktMark,
    ];
    if header & 0xffff_0000 == NICIRA && number < 16 {
        return Field::register(number as u8);
    }
    OTHERS.into_iter().find(|&f| class_and_field(f, version) == Some(header & !0x1ff))
}

/// One OXM field: known or as it stands.
pub(crate) enum Oxm {
    Known(MatchEntry),
    Raw(RawOxm),
}

/// Reads one OXM field.
#[inline]
pub(crate) fn read(r: &mut Reader) -> Result<Oxm, DecodeError> {
    let header = r.u32("OXM header")?;
    match read_quickly(header, r) {
        Some(entry) => Ok(Oxm::Known(entry)),
        None => read_slowly(header, r),
    }
}

fn read_slowly(header: u32, r: &mut Reader) -> Result<Oxm, DecodeError> {
    let length = (header & 0xff) as usize;
    if length > r.left() {
        return Err(r.bad_length(1, "length of an OXM field", length));
    }
    let is_experimenter = header & 0xffff_0000 == EXPERIMENTER;
    let payload = r.sub(length, "OXM field")?;
    let mut content = payload.clone();
    let owner_known = !is_experimenter || content.u32("experimenter of an OXM field")? == ONF;
    let field = field_of(header, r.version).filter(|_| owner_known);
    let Some(field) = field else {
        return Ok(Oxm::Raw(RawOxm { header, payload: payload.clone().rest().to_vec() }));
    };
    let len = value_len(field);
    let masked = header & HAS_MASK != 0;
    if content.left() != if masked { 2 * len } else { len } {
        return Err(payload.bad_length(1, field.name(), length));
    }
    let value = number_in(content.take(len, field.name())?);
    let mask = if masked { number_in(content.take(len, field.name())?) } else { field.full_mask() };
    Ok(Oxm::Known(MatchEntry { field, value, mask }))
}

#[inline]
fn number_in(bytes: &[u8]) -> u128 {
    // The common widths first: one load each instead of a loop.
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_be_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_be_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f] => u64::from_be_bytes([0, 0, a, b, c, d, e, f]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_be_bytes([a, b, c, d, e, f, g, h]).into(),
        _ => bytes.iter().fold(0, |n, &b| n << 8 | u128::from(b)),
    }
}

/// Writes one field; without a mask if all of the field's bits count.
#[inline]
pub(crate) fn write(entry: &MatchEntry, w: &mut Writer) -> Result<(), EncodeError> {
    let field = entry.field;
    let class = class_and_field(field, w.version).ok_or_else(|| w.inexpressible(field.name()))?;
    let len = value_len(field);
    let room = u128::MAX >> (128 - 8 * len);
    if (entry.value | entry.mask) & !room != 0 {
        return Err(w.out_of_range(field.name(), entry.value));
    }
    let experimenter = class & 0xffff_0000 == EXPERIMENTER;
    let masked = !entry.is_exact();
    let length = len << masked as u32;
    w.u32(class | (masked as u32) << 8 | (length + 4 * experimenter as usize) as u32);
    if experimenter {
        w.u32(ONF);
    }
    w.low_bytes(entry.value, len);
    if masked {
        w.low_bytes(entry.mask, len);
    }
    Ok(())
}

/// Reads a field's header without a value.
fn read_id(r: &mut Reader) -> Result<OxmId, DecodeError> {
    let header = r.u32("OXM header")?;
    let is_experimenter = header & 0xffff_0000 == EXPERIMENTER;
    let experimenter = if is_experimenter { Some(r.u32("experimenter of an OXM field")?) } else { None };
    let owner_known = experimenter.is_none_or(|owner| owner == ONF);
    // Some implementations leave the length out of ids (os-ken).
    let fits = |f: &Field| id_header(*f, header) == Some(header) || header & 0xff == 0;
    let field = field_of(header, r.version).filter(|f| owner_known && fits(f));
    Ok(match field {
        Some(field) => OxmId::Field { field, masked: header & HAS_MASK != 0 },
        None => OxmId::Unknown { header, experimenter },
    })
}

/// The header that `write_id` writes for `field`, if class and mask bit are those of `header`.
fn id_header(field: Field, header: u32) -> Option<u32> {
    let experimenter = header & 0xffff_0000 == EXPERIMENTER;
    let masked = header & HAS_MASK != 0;
    let length = (value_len(field) << masked as u32) + 4 * experimenter as usize;
    Some(header & !0xff | length as u32)
}

/// Writes a field's header without a value.
fn write_id(id: &OxmId, w: &mut Writer) -> Result<(), EncodeError> {
    match *id {
        OxmId::Field { field, masked } => {
            let class = class_and_field(field, w.version).ok_or_else(|| w.inexpressible(field.name()))?;
            let header = class | (masked as u32) << 8;
            w.u32(id_header(field, header).unwrap_or(header));
            if class & 0xffff_0000 == EXPERIMENTER {
                w.u32(ONF);
            }
        }
        OxmId::Unknown { header, experimenter } => {
            w.u32(header);
            experimenter.into_iter().for_each(|owner| w.u32(owner));
        }
    }
    Ok(())
}

/// A field without a value.
pub(crate) struct IdWire;

impl Wire for IdWire {
    type Value = OxmId;
    const TYPICAL_LEN: usize = 4;
    fn read(r: &mut Reader, _: &'static str) -> Result<OxmId, DecodeError> {
        read_id(r)
    }
    fn write(value: &OxmId, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        write_id(value, w)
    }
}

/// A match made of OXM fields, padded to a multiple of eight bytes.
pub(crate) struct OxmMatch;

const OXM_MATCH: u16 = 1;

impl Wire for OxmMatch {
    type Value = Match;
    fn read(r: &mut Reader, _: &'static str) -> Result<Match, DecodeError> {
        let match_type = r.u16("match type")?;
        if match_type != OXM_MATCH {
            let error = r.error(DecodeErrorKind::BadValue, "match type 1 (OXM)", match_type.into());
            return Err(DecodeError { offset: error.offset - 2, part: Part::Match, ..error });
        }
        let length = usize::from(r.u16("match length")?);
        if length < 4 || length - 4 > r.left() {
            return Err(DecodeError { part: Part::Match, ..r.bad_length(2, "match length", length) });
        }
        let result = read_fields(&mut r.sub(length - 4, "match")?.within(Part::Match))?;
        r.skip_padding(length)?;
        Ok(result)
    }

    fn write(value: &Match, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.flow = FlowContext::of(value);
        let start = w.position();
        w.u16(OXM_MATCH);
        w.u16(0);
        write_fields(value, w)?;
        w.patch_length(start + 2, start);
        w.pad_since(start);
        Ok(())
    }
}

/// Reads the fields up to the end.
pub(crate) fn read_fields(r: &mut Reader) -> Result<Match, DecodeError> {
    // A field takes at least five bytes, most take six or eight.
    let mut result = Match { entries: Vec::with_capacity(r.left() / 6), unknown: Vec::new() };
    while !r.is_empty() {
        let header = r.u32("OXM header")?;
        if let Some(entry) = read_quickly(header, r) {
            result.entries.push(entry);
            continue;
        }
        match read_slowly(header, r)? {
            Oxm::Known(entry) => result.entries.push(entry),
            Oxm::Raw(raw) if nicira::add_raw(&mut result, &raw) => {}
            Oxm::Raw(raw) => result.unknown.push(raw),
        }
    }
    Ok(result)
}

/// Writes the fields of a match, known ones first.
pub(crate) fn write_fields(value: &Match, w: &mut Writer) -> Result<(), EncodeError> {
    value.entries.iter().try_for_each(|entry| write(entry, w))?;
    value.unknown.iter().try_for_each(|raw| write_raw(raw, w))
}

/// Writes a field as it stands.
pub(crate) fn write_raw(raw: &RawOxm, w: &mut Writer) -> Result<(), EncodeError> {
    if raw.payload.len() != (raw.header & 0xff) as usize {
        return Err(w.out_of_range("length of an unknown OXM field", raw.payload.len() as u128));
    }
    w.u32(raw.header);
    w.bytes(&raw.payload);
    Ok(())
}

impl FlowContext {
    /// What `m` tells of the packets that it matches.
    fn of(m: &Match) -> FlowContext {
        let mut flow = FlowContext::default();
        for entry in &m.entries {
            match entry.field {
                Field::VlanVid => flow.tagged = entry.value & entry.mask & 0x1000 != 0,
                Field::IpProto if entry.is_exact() => flow.ip_proto = Some(entry.value as u8),
                _ => {}
            }
        }
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_table_and_headers_agree() {
        for version in Version::ALL {
            for &field in Field::ALL {
                if let Some(class) = class_and_field(field, version) {
                    assert_eq!(field_of(class, version), Some(field), "{field} in {version}");
                }
            }
        }
    }

    #[test]
    fn value_lengths_are_those_of_the_specification() {
        let lens = [
            (Field::VlanPcp, 1),
            (Field::VlanVid, 2),
            (Field::PbbIsid, 3),
            (Field::MplsLabel, 4),
            (Field::Ipv6Flabel, 4),
            (Field::EthDst, 6),
            (Field::Metadata, 8),
            (Field::Ipv6Dst, 16),
        ];
        for (field, len) in lens {
            assert_eq!(value_len(field), len, "{field}");
        }
    }
}
