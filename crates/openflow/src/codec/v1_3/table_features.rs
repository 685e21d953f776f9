//! What tables can do.

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::oxm::{self, IdWire};
use crate::codec::property;
use crate::codec::reader::Reader;
use crate::codec::wire::{All, Bits, Coded, Since, Sized16, Text, U8, U32, U64, V1_5, Wire};
use crate::codec::writer::Writer;
use crate::model::{TableFeatures, TableProperty, TypeId, Version};

const INSTRUCTIONS: u16 = 0;
const NEXT_TABLES: u16 = 2;
const WRITE_ACTIONS: u16 = 4;
const APPLY_ACTIONS: u16 = 6;
const MATCH: u16 = 8;
const WILDCARDS: u16 = 10;
const WRITE_SETFIELD: u16 = 12;
const APPLY_SETFIELD: u16 = 14;
const TABLE_SYNC_FROM: u16 = 16;
const WRITE_COPYFIELD: u16 = 18;
const APPLY_COPYFIELD: u16 = 20;
const PACKET_TYPES: u16 = 22;
const EXPERIMENTER: u16 = 0xfffe;

layout!(TableFeaturesBody: TableFeatures {
    table_id: U8,
    command: Since<V1_5, 1, Coded<_, u8>>,
    features: Since<V1_5, 4, Bits<_, u32>>,
    name: Text<32>,
    metadata_match: U64,
    metadata_write: U64,
    config: Bits<_, u32>,
    max_entries: U32,
    properties: All<PropertyWire>,
});

/// A table's features, length first.
pub(crate) type TableFeaturesWire = Sized16<TableFeaturesBody>;

/// A property. `miss` is the lowest bit of its type.
pub(crate) struct PropertyWire;

impl Wire for PropertyWire {
    type Value = TableProperty;

    fn read(r: &mut Reader, _: &'static str) -> Result<TableProperty, DecodeError> {
        let (property_type, mut content) = property::read_head(r)?;
        read_content(property_type, &mut content)
    }

    fn write(value: &TableProperty, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let (code, since, name) = kind(value);
        if w.version < since {
            return w.leave_out(name);
        }
        property::write(code, w, |w| match value {
            TableProperty::Instructions { types, .. }
            | TableProperty::WriteActions { types, .. }
            | TableProperty::ApplyActions { types, .. } => All::<TypeIdWire>::write(types, "types", w),
            TableProperty::Match(fields)
            | TableProperty::Wildcards(fields)
            | TableProperty::WriteSetField { fields, .. }
            | TableProperty::ApplySetField { fields, .. }
            | TableProperty::WriteCopyField { fields, .. }
            | TableProperty::ApplyCopyField { fields, .. } => All::<IdWire>::write(fields, "fields", w),
            TableProperty::PacketTypes(types) => oxm::write_fields(types, w),
            TableProperty::NextTables { tables: bytes, .. }
            | TableProperty::TableSyncFrom(bytes)
            | TableProperty::Unknown { data: bytes, .. } => {
                w.bytes(bytes);
                Ok(())
            }
            TableProperty::Experimenter { experimenter, experimenter_type, data, .. } => {
                w.u32(*experimenter);
                w.u32(*experimenter_type);
                w.bytes(data);
                Ok(())
            }
        })
    }
}

/// A property's type, the first version that has it, and its name in errors.
fn kind(property: &TableProperty) -> (u16, Version, &'static str) {
    let since_1_3 = |code: u16, miss: &bool| (code | u16::from(*miss), Version::V1_3, "property");
    match property {
        TableProperty::Instructions { miss, .. } => since_1_3(INSTRUCTIONS, miss),
        TableProperty::NextTables { miss, .. } => since_1_3(NEXT_TABLES, miss),
        TableProperty::WriteActions { miss, .. } => since_1_3(WRITE_ACTIONS, miss),
        TableProperty::ApplyActions { miss, .. } => since_1_3(APPLY_ACTIONS, miss),
        TableProperty::Match(_) => since_1_3(MATCH, &false),
        TableProperty::Wildcards(_) => since_1_3(WILDCARDS, &false),
        TableProperty::WriteSetField { miss, .. } => since_1_3(WRITE_SETFIELD, miss),
        TableProperty::ApplySetField { miss, .. } => since_1_3(APPLY_SETFIELD, miss),
        TableProperty::TableSyncFrom(_) => (TABLE_SYNC_FROM, Version::V1_4, "table_sync_from"),
        TableProperty::WriteCopyField { miss, .. } => {
            (WRITE_COPYFIELD | u16::from(*miss), Version::V1_5, "write_copy_field")
        }
        TableProperty::ApplyCopyField { miss, .. } => {
            (APPLY_COPYFIELD | u16::from(*miss), Version::V1_5, "apply_copy_field")
        }
        TableProperty::PacketTypes(_) => (PACKET_TYPES, Version::V1_5, "packet_types"),
        TableProperty::Experimenter { miss, .. } => since_1_3(EXPERIMENTER, miss),
        TableProperty::Unknown { property_type, .. } => since_1_3(*property_type, &false),
    }
}

fn read_content(property_type: u16, r: &mut Reader) -> Result<TableProperty, DecodeError> {
    let miss = property_type & 1 == 1;
    let [is_1_4, is_1_5] = [Version::V1_4, Version::V1_5].map(|since| r.version >= since);
    Ok(match property_type & !1 {
        INSTRUCTIONS => TableProperty::Instructions { miss, types: All::<TypeIdWire>::read(r, "types")? },
        NEXT_TABLES => TableProperty::NextTables { miss, tables: r.rest().to_vec() },
        WRITE_ACTIONS => TableProperty::WriteActions { miss, types: All::<TypeIdWire>::read(r, "types")? },
        APPLY_ACTIONS => TableProperty::ApplyActions { miss, types: All::<TypeIdWire>::read(r, "types")? },
        MATCH if !miss => TableProperty::Match(All::<IdWire>::read(r, "fields")?),
        WILDCARDS if !miss => TableProperty::Wildcards(All::<IdWire>::read(r, "fields")?),
        WRITE_SETFIELD => TableProperty::WriteSetField { miss, fields: All::<IdWire>::read(r, "fields")? },
        APPLY_SETFIELD => TableProperty::ApplySetField { miss, fields: All::<IdWire>::read(r, "fields")? },
        TABLE_SYNC_FROM if is_1_4 && !miss => TableProperty::TableSyncFrom(r.rest().to_vec()),
        WRITE_COPYFIELD if is_1_5 => {
            TableProperty::WriteCopyField { miss, fields: All::<IdWire>::read(r, "fields")? }
        }
        APPLY_COPYFIELD if is_1_5 => {
            TableProperty::ApplyCopyField { miss, fields: All::<IdWire>::read(r, "fields")? }
        }
        PACKET_TYPES if is_1_5 && !miss => TableProperty::PacketTypes(oxm::read_fields(r)?),
        EXPERIMENTER => {
            let (experimenter, experimenter_type) = (r.u32("experimenter")?, r.u32("experimenter_type")?);
            TableProperty::Experimenter { miss, experimenter, experimenter_type, data: r.rest().to_vec() }
        }
        _ => TableProperty::Unknown { property_type, data: r.rest().to_vec() },
    })
}

/// A kind of instruction or action: type, length, and an experimenter's number.
struct TypeIdWire;

impl Wire for TypeIdWire {
    type Value = TypeId;
    const TYPICAL_LEN: usize = 4;
    fn read(r: &mut Reader, _: &'static str) -> Result<TypeId, DecodeError> {
        let code = r.u16("type")?;
        let length = usize::from(r.u16("length of a type")?);
        if length < 4 || length - 4 > r.left() {
            return Err(r.bad_length(2, "length of a type, 4 or more", length));
        }
        Ok(TypeId { code, data: r.take(length - 4, "type")?.to_vec() })
    }
    fn write(value: &TypeId, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        w.u16(value.code);
        w.u16(0);
        w.bytes(&value.data);
        w.patch_length(start + 2, start);
        Ok(())
    }
}
