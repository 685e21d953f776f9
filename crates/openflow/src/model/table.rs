//! Flow tables: configuration, counters, features.

use flowgauge_packet::Field;
use serde::{Deserialize, Serialize};

use super::{Match, Property};

flags! {
    /// How a table is configured; 1.3 defines no bit.
    pub struct TableConfig {
        /// It may evict entries when it is full.
        EVICTION = 1 << 2, in SINCE_1_4;
        /// It tells when it fills up or empties.
        VACANCY_EVENTS = 1 << 3, in SINCE_1_4;
    }
}

flags! {
    /// Which entries a full table evicts first.
    pub struct EvictionFlags {
        /// By rules of its own.
        OTHER = 1, in SINCE_1_4;
        /// Those of least importance.
        IMPORTANCE = 1 << 1, in SINCE_1_4;
        /// Those that have least time left.
        LIFETIME = 1 << 2, in SINCE_1_4;
    }
}

/// When a table tells that it fills up or empties; in percent of its room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vacancy {
    /// It tells when less room than that is left ...
    pub down: u8,
    /// ... and then when more than that is.
    pub up: u8,
    /// The room that is left now; 0 in requests.
    pub current: u8,
}

/// Configures a table (since 1.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableMod {
    /// The table; [`TABLE_ALL`](super::TABLE_ALL) for all.
    pub table_id: u8,
    /// Its configuration.
    pub config: TableConfig,
    /// What it evicts (since 1.4).
    pub eviction: Option<EvictionFlags>,
    /// When it tells how full it is (since 1.4).
    pub vacancy: Option<Vacancy>,
    /// Other properties (since 1.4).
    pub properties: Vec<Property>,
}

/// How a table is configured (since 1.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableDesc {
    /// The table.
    pub table_id: u8,
    /// Its configuration.
    pub config: TableConfig,
    /// What it evicts.
    pub eviction: Option<EvictionFlags>,
    /// When it tells how full it is, and how much room is left.
    pub vacancy: Option<Vacancy>,
    /// Other properties.
    pub properties: Vec<Property>,
}

codes! {
    /// What happened to a table.
    pub enum TableStatusReason: u8 {
        /// It has become too full.
        VacancyDown = 3 in SINCE_1_4,
        /// It has enough room again.
        VacancyUp = 4 in SINCE_1_4,
    }
}

/// A table has become full, or has room again (since 1.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableStatus {
    /// Which of these.
    pub reason: TableStatusReason,
    /// The table as it is now.
    pub table: TableDesc,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Its entries follow those of these tables (since 1.4).
    TableSyncFrom(Vec<u8>),
    /// Its entries may copy to these fields in the action set (since 1.5).
    WriteCopyField {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        fields: Vec<OxmId>,
    },
    /// Its entries may copy to these fields in action lists (since 1.5).
    ApplyCopyField {
        /// For table-miss entries.
        miss: bool,
        /// Which.
        fields: Vec<OxmId>,
    },
    /// It processes packets of these types (since 1.5): the values of `packet_type`.
    PacketTypes(Match),
    /// An experimenter's property.
    Experimenter {
        /// For table-miss entries.
        miss: bool,
        /// Whose.
        #[serde(with = "crate::json::hex_number")]
        experimenter: u32,
        /// Which of the experimenter's types.
        experimenter_type: u32,
        /// The content.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
    /// A property that is not known here.
    Unknown {
        /// Its type.
        property_type: u16,
        /// What follows type and length.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

codes! {
    /// What a request does with the features that it lists.
    pub enum TableFeaturesCommand: u8 {
        /// Replace the whole pipeline.
        Replace = 0 in SINCE_1_3,
        /// Change the tables that are listed.
        Modify = 1 in SINCE_1_5,
        /// Enable the tables that are listed.
        Enable = 2 in SINCE_1_5,
        /// Disable the tables that are listed.
        Disable = 3 in SINCE_1_5,
    }
}

flags! {
    /// Where in the pipeline a table may stand.
    pub struct TableFeatureFlags {
        /// Among the ingress tables.
        INGRESS_TABLE = 1, in SINCE_1_5;
        /// Among the egress tables.
        EGRESS_TABLE = 1 << 1, in SINCE_1_5;
        /// It is the first egress table.
        FIRST_EGRESS = 1 << 4, in SINCE_1_5;
    }
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
    /// How it may be configured (1.3: how it is).
    pub config: TableConfig,
    /// Most entries.
    pub max_entries: u32,
    /// In a request, what to do with the list (since 1.5); the same in all of its parts.
    pub command: TableFeaturesCommand,
    /// Where it may stand (since 1.5).
    pub features: TableFeatureFlags,
    /// Its abilities.
    pub properties: Vec<TableProperty>,
}
