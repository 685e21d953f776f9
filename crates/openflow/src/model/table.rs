//! Flow tables: configuration, counters, features.

use flowgauge_packet::Field;
use serde::{Deserialize, Serialize};

/// Configures a table (since 1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableMod {
    /// The table; [`TABLE_ALL`](super::TABLE_ALL) for all.
    pub table_id: u8,
    /// Its configuration: no bit is defined in 1.3.
    pub config: u32,
}

/// A table's counters. Since 1.3, name, wildcards and capacity are in [`TableFeatures`] instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableStats {
    /// The table.
    pub table_id: u8,
    /// Its name (1.0), at most 31 bytes.
    pub name: String,
    /// Bitmap of the fields that may be wildcards (1.0).
    pub wildcards: u32,
    /// Most entries (1.0).
    pub max_entries: u32,
    /// Entries now.
    pub active_count: u32,
    /// Packets looked up.
    pub lookup_count: u64,
    /// Packets that hit an entry.
    pub matched_count: u64,
}

/// A kind of action or instruction, without its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeId {
    /// The type's number in the message's version.
    pub code: u16,
    /// What follows it: an experimenter's number and more; otherwise empty.
    pub data: Vec<u8>,
}

/// A kind of field, without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OxmId {
    /// A field that is known.
    Field {
        /// The field.
        field: Field,
        /// Whether it may be masked.
        masked: bool,
    },
    /// One that is not: its OXM header, and the experimenter's number if the header calls for one.
    Unknown {
        /// The header.
        header: u32,
        /// Whose.
        experimenter: Option<u32>,
    },
}

/// One of a table's abilities. `miss` says that it is that of the table-miss entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TableProperty {
    /// Its entries may have these instructions.
    Instructions {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        types: Vec<TypeId>,
    },
    /// Its entries may go to these tables.
    NextTables {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        tables: Vec<u8>,
    },
    /// Its entries may write these actions.
    WriteActions {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        types: Vec<TypeId>,
    },
    /// Its entries may apply these actions.
    ApplyActions {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        types: Vec<TypeId>,
    },
    /// Its entries may match these fields.
    Match(Vec<OxmId>),
    /// Its entries may leave these fields out.
    Wildcards(Vec<OxmId>),
    /// Its entries may set these fields in the action set.
    WriteSetField {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        fields: Vec<OxmId>,
    },
    /// Its entries may set these fields in action lists.
    ApplySetField {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        fields: Vec<OxmId>,
    },
    /// A property that is an experimenter's or not known here.
    Unknown {
        /// Its type.
        property_type: u16,
        /// What follows type and length.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

/// What a table can do (since 1.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableFeatures {
    /// The table.
    pub table_id: u8,
    /// Its name, at most 31 bytes.
    pub name: String,
    /// Bits of the metadata that it can match.
    #[serde(with = "crate::json::hex_number")]
    pub metadata_match: u64,
    /// Bits of the metadata that it can write.
    #[serde(with = "crate::json::hex_number")]
    pub metadata_write: u64,
    /// Its configuration.
    pub config: u32,
    /// Most entries.
    pub max_entries: u32,
    /// Its abilities.
    pub properties: Vec<TableProperty>,
}
