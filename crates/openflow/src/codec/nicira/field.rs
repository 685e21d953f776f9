//! The headers by which the extensions name fields: NXM's own where a field has one, OXM's otherwise.
//!
//! ```text
//! class 16 | field 7 | has mask 1 | length of value and mask 8
//! ```

use flowgauge_packet::Field;

use super::{DecodeError, EncodeError, Reader, Writer};
use crate::codec::oxm;
use crate::model::{NxField, Subfield};

const OF: u32 = 0;
const NX: u32 = 1;
/// OXM_OF_PKT_REG: pairs of registers.
const PAIRS: u32 = 0x8001;
const HAS_MASK: u32 = 1 << 8;

const fn header(class: u32, number: u32, length: u32) -> u32 {
    class << 16 | number << 9 | length
}

/// NXM_OF_IN_PORT, NXM_OF_VLAN_TCI, NXM_OF_IP_TOS: of another width than OXM's.
const IN_PORT: u32 = header(OF, 0, 2);
const VLAN_TCI: u32 = header(OF, 4, 2);
const IP_TOS: u32 = header(OF, 5, 1);
const XXREG0: u32 = 111;

/// Class and number of a field in NXM; `None` for those that only OXM has, or that OXM has in another width.
const fn nxm(field: Field) -> Option<(u32, u32)> {
    Some(match field {
        Field::EthDst => (OF, 1),
        Field::EthSrc => (OF, 2),
        Field::EthType => (OF, 3),
        Field::IpProto => (OF, 6),
        Field::Ipv4Src => (OF, 7),
        Field::Ipv4Dst => (OF, 8),
        Field::TcpSrc => (OF, 9),
        Field::TcpDst => (OF, 10),
        Field::UdpSrc => (OF, 11),
        Field::UdpDst => (OF, 12),
        Field::Icmpv4Type => (OF, 13),
        Field::Icmpv4Code => (OF, 14),
        Field::ArpOp => (OF, 15),
        Field::ArpSpa => (OF, 16),
        Field::ArpTpa => (OF, 17),
        Field::TunnelId => (NX, 16),
        Field::ArpSha => (NX, 17),
        Field::ArpTha => (NX, 18),
        Field::Ipv6Src => (NX, 19),
        Field::Ipv6Dst => (NX, 20),
        Field::Icmpv6Type => (NX, 21),
        Field::Icmpv6Code => (NX, 22),
        Field::Ipv6NdTarget => (NX, 23),
        Field::Ipv6NdSll => (NX, 24),
        Field::Ipv6NdTll => (NX, 25),
        Field::Ipv6Flabel => (NX, 27),
        Field::IpEcn => (NX, 28),
        Field::IpTtl => (NX, 29),
        Field::TunSrc => (NX, 31),
        Field::TunDst => (NX, 32),
        Field::PktMark => (NX, 33),
        Field::TcpFlags => (NX, 34),
        field if field as u8 >= Field::Reg0 as u8 && field as u8 <= Field::Reg15 as u8 => {
            (NX, field as u32 - Field::Reg0 as u32)
        }
        _ => return None,
    })
}

/// The header of a field without a mask; `None` if it has none.
pub(crate) fn header_of(field: NxField) -> Option<u32> {
    Some(match field {
        NxField::Field(field) => {
            let length = oxm::value_len(field) as u32;
            match nxm(field) {
                Some((class, number)) => header(class, number, length),
                None => oxm::basic(field)? | length,
            }
        }
        NxField::InPort16 => IN_PORT,
        NxField::VlanTci => VLAN_TCI,
        NxField::IpTos => IP_TOS,
        NxField::Xreg(number) => header(PAIRS, u32::from(number).min(7), 8),
        NxField::Xxreg(number) => header(NX, XXREG0 + u32::from(number).min(3), 16),
        NxField::Unknown(header) => header,
    })
}

/// The field with that header, which has no mask.
pub(crate) fn field_of(wanted: u32) -> NxField {
    let number = wanted >> 9 & 0x7f;
    match wanted {
        IN_PORT => NxField::InPort16,
        VLAN_TCI => NxField::VlanTci,
        IP_TOS => NxField::IpTos,
        _ if number < 8 && wanted == header(PAIRS, number, 8) => NxField::Xreg(number as u8),
        _ if (XXREG0..XXREG0 + 4).contains(&number) && wanted == header(NX, number, 16) => {
            NxField::Xxreg((number - XXREG0) as u8)
        }
        _ => known(wanted).map_or(NxField::Unknown(wanted), NxField::Field),
    }
}

/// One of this crate's fields, under its NXM or its OXM header.
fn known(wanted: u32) -> Option<Field> {
    let (class, number) = (wanted >> 16, wanted >> 9 & 0x7f);
    let nxm_field = || Field::ALL.iter().copied().find(|&f| nxm(f) == Some((class, number)));
    let oxm_field = || Field::ALL.iter().copied().find(|&f| oxm::basic(f) == Some(wanted & !0x1ff));
    let field = if class <= NX { nxm_field() } else { oxm_field() };
    field.filter(|&f| oxm::value_len(f) as u32 == wanted & 0x1ff)
}

/// Reads a field's header and where in it some bits begin; `bits` of them.
pub(super) fn read_at(r: &mut Reader, bits: u16) -> Result<Subfield, DecodeError> {
    let field = field_of(r.u32("field")?);
    let offset = r.u16("offset")?;
    Ok(Subfield { field, offset, bits })
}

/// Writes a field's header.
pub(super) fn write(field: NxField, w: &mut Writer) -> Result<(), EncodeError> {
    let header = header_of(field).ok_or_else(|| w.inexpressible("field of a Nicira action"))?;
    w.u32(header);
    Ok(())
}

/// Offset and number of bits in 16 bits; the number is at most 64.
pub(crate) fn ofs_nbits(place: Subfield, w: &Writer) -> Result<u16, EncodeError> {
    let Subfield { offset, bits, .. } = check(place, w)?;
    if bits > 64 || offset >= 1 << 10 {
        return Err(w.out_of_range("bits of a field", bits.into()));
    }
    Ok(offset << 6 | (bits - 1))
}

/// The reverse of [`ofs_nbits`].
pub(super) fn from_ofs_nbits(field: NxField, ofs_nbits: u16) -> Subfield {
    Subfield { field, offset: ofs_nbits >> 6, bits: (ofs_nbits & 0x3f) + 1 }
}

/// Refuses bits that the field does not have.
pub(super) fn check(place: Subfield, w: &Writer) -> Result<Subfield, EncodeError> {
    let end = u32::from(place.offset) + u32::from(place.bits);
    if place.bits == 0 || end > place.field.bits() {
        return Err(w.out_of_range("bits of a field", end.into()));
    }
    Ok(place)
}

/// Reads a value with its header, and its mask if the header says so.
pub(super) fn read_value(r: &mut Reader) -> Result<(NxField, u128, Option<u128>), DecodeError> {
    let header = r.u32("field")?;
    let masked = header & HAS_MASK != 0;
    let length = (header & 0xff) as usize >> masked as usize;
    if length > 16 || length == 0 {
        return Err(r.bad_length(1, "length of a field", length));
    }
    let mut number = || Ok(r.take(length, "value")?.iter().fold(0, |n, &b| n << 8 | u128::from(b)));
    let value = number()?;
    let mask = if masked { Some(number()?) } else { None };
    Ok((field_of(header & !0x1ff | length as u32), value, mask))
}

/// Writes a value with its header, and its mask unless all of the field's bits count.
pub(super) fn write_value(
    field: NxField,
    value: u128,
    mask: u128,
    w: &mut Writer,
) -> Result<(), EncodeError> {
    let header = header_of(field).ok_or_else(|| w.inexpressible("field of a Nicira action"))?;
    let length = (header & 0xff) as usize;
    let room = u128::MAX.checked_shr(128u32.saturating_sub(8 * length as u32)).unwrap_or(0);
    if length > 16 || (value | mask) & !room != 0 {
        return Err(w.out_of_range("value of a field", value));
    }
    if mask == field.full_mask() {
        w.u32(header);
        w.low_bytes(value, length);
    } else {
        w.u32(header & !0xff | HAS_MASK | (2 * length as u32));
        w.low_bytes(value, length);
        w.low_bytes(mask, length);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_fields_agree() {
        let mut fields: Vec<NxField> = Field::ALL.iter().map(|&f| NxField::Field(f)).collect();
        fields.extend([NxField::InPort16, NxField::VlanTci, NxField::IpTos, NxField::Unknown(0xffe)]);
        fields.extend((0..8).map(NxField::Xreg).chain((0..4).map(NxField::Xxreg)));
        for field in fields {
            if let Some(header) = header_of(field) {
                assert_eq!(field_of(header), field, "{field:?}");
            }
        }
    }

    #[test]
    fn headers_are_those_that_open_vswitch_writes() {
        let header = |field| header_of(NxField::Field(field));
        assert_eq!(header(Field::Reg0), Some(0x0001_0004));
        assert_eq!(header(Field::Reg15), Some(0x0001_1e04));
        assert_eq!(header(Field::EthSrc), Some(0x0000_0406));
        assert_eq!(header(Field::TunnelId), Some(0x0001_2008));
        assert_eq!(header(Field::Metadata), Some(0x8000_0408));
        assert_eq!(header_of(NxField::VlanTci), Some(0x0000_0802));
        assert_eq!(header_of(NxField::Xreg(1)), Some(0x8001_0208));
        assert_eq!(header(Field::Ipv4Id), None);
    }
}
