//! What tables can do.

use crate::codec::error::{DecodeError, EncodeError, Part};
use crate::codec::oxm;
use crate::codec::reader::Reader;
use crate::codec::wire::{After, All, Sized16, Text, U8, U32, U64, Wire};
use crate::codec::writer::Writer;
use crate::model::{OxmId, TableFeatures, TableProperty, TypeId};

const INSTRUCTIONS: u16 = 0;
const NEXT_TABLES: u16 = 2;
const WRITE_ACTIONS: u16 = 4;
const APPLY_ACTIONS: u16 = 6;
const MATCH: u16 = 8;
const WILDCARDS: u16 = 10;
const WRITE_SETFIELD: u16 = 12;
const APPLY_SETFIELD: u16 = 14;

layout!(TableFeaturesBody: TableFeatures {
    table_id: U8,
    name: After<5, Text<32>>,
    metadata_match: U64,
    metadata_write: U64,
    config: U32,
    max_entries: U32,
    properties: All<PropertyWire>,
});

/// A table's features, length first.
pub(crate) type TableFeaturesWire = Sized16<TableFeaturesBody>;

/// A property: type, length, content, padding that the length leaves out.
pub(crate) struct PropertyWire;

impl Wire for PropertyWire {
    type Value = TableProperty;

    fn read(r: &mut Reader, _: &'static str) -> Result<TableProperty, DecodeError> {
        let property_type = r.u16("table property type")?;
        let length = usize::from(r.u16("table property length")?);
        if length < 4 || length - 4 > r.left() {
            let error = r.bad_length(2, "table property length, 4 or more", length);
            return Err(DecodeError { part: Part::TableProperty, ..error });
        }
        let mut content = r.sub(length - 4, "table property")?.within(Part::TableProperty);
        let property = read_content(property_type, &mut content)?;
        r.skip_padding(length)?;
        Ok(property)
    }

    fn write(property: &TableProperty, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        w.u16(code(property));
        w.u16(0);
        match property {
            TableProperty::Instructions { types, .. }
            | TableProperty::WriteActions { types, .. }
            | TableProperty::ApplyActions { types, .. } => All::<TypeIdWire>::write(types, "types", w)?,
            TableProperty::NextTables { tables, .. } => w.bytes(tables),
            TableProperty::Match(fields)
            | TableProperty::Wildcards(fields)
            | TableProperty::WriteSetField { fields, .. }
            | TableProperty::ApplySetField { fields, .. } => All::<OxmIdWire>::write(fields, "fields", w)?,
            TableProperty::Unknown { data, .. } => w.bytes(data),
        }
        w.patch_length(start + 2, start);
        w.pad_since(start);
        Ok(())
    }
}

fn code(property: &TableProperty) -> u16 {
    match property {
        TableProperty::Instructions { miss, .. } => INSTRUCTIONS | u16::from(*miss),
        TableProperty::NextTables { miss, .. } => NEXT_TABLES | u16::from(*miss),
        TableProperty::WriteActions { miss, .. } => WRITE_ACTIONS | u16::from(*miss),
        TableProperty::ApplyActions { miss, .. } => APPLY_ACTIONS | u16::from(*miss),
        TableProperty::Match(_) => MATCH,
        TableProperty::Wildcards(_) => WILDCARDS,
        TableProperty::WriteSetField { miss, .. } => WRITE_SETFIELD | u16::from(*miss),
        TableProperty::ApplySetField { miss, .. } => APPLY_SETFIELD | u16::from(*miss),
        TableProperty::Unknown { property_type, .. } => *property_type,
    }
}

fn read_content(property_type: u16, r: &mut Reader) -> Result<TableProperty, DecodeError> {
    let miss = property_type & 1 == 1;
    Ok(match property_type & !1 {
        INSTRUCTIONS => TableProperty::Instructions { miss, types: All::<TypeIdWire>::read(r, "types")? },
        NEXT_TABLES => TableProperty::NextTables { miss, tables: r.rest().to_vec() },
        WRITE_ACTIONS => TableProperty::WriteActions { miss, types: All::<TypeIdWire>::read(r, "types")? },
        APPLY_ACTIONS => TableProperty::ApplyActions { miss, types: All::<TypeIdWire>::read(r, "types")? },
        MATCH if !miss => TableProperty::Match(All::<OxmIdWire>::read(r, "fields")?),
        WILDCARDS if !miss => TableProperty::Wildcards(All::<OxmIdWire>::read(r, "fields")?),
        WRITE_SETFIELD => TableProperty::WriteSetField { miss, fields: All::<OxmIdWire>::read(r, "fields")? },
        APPLY_SETFIELD => TableProperty::ApplySetField { miss, fields: All::<OxmIdWire>::read(r, "fields")? },
        _ => TableProperty::Unknown { property_type, data: r.rest().to_vec() },
    })
}

/// A kind of instruction or action: type, length, and an experimenter's number.
struct TypeIdWire;

impl Wire for TypeIdWire {
    type Value = TypeId;
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

struct OxmIdWire;

impl Wire for OxmIdWire {
    type Value = OxmId;
    fn read(r: &mut Reader, _: &'static str) -> Result<OxmId, DecodeError> {
        oxm::read_id(r)
    }
    fn write(value: &OxmId, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        oxm::write_id(value, w)
    }
}
