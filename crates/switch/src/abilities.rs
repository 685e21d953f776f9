//! What the switch's tables can do, as table features tell it.

use flowgauge_openflow::{
    OxmId, TableConfig, TableFeatureFlags, TableFeatures, TableProperty, TypeId, Version,
};
use flowgauge_packet::Field;

/// 1.0's bitmap of the fields that entries may leave out: all.
pub const WILDCARDS_1_0: u32 = 0x3f_ffff;

/// Numbers of the instructions: goto, metadata, write, apply, clear, and to 1.4 meter.
const INSTRUCTIONS: [u16; 6] = [1, 2, 3, 4, 5, 6];
/// Numbers of the actions: output, TTL, VLAN, MPLS, queue, group, set-field, PBB, and in 1.5 copy-field and meter.
const ACTIONS: [u16; 18] = [0, 11, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];

/// The tables as they are told.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// How many there are.
    pub count: u8,
    /// How many entries each takes.
    pub max_entries: u32,
    /// The first egress table (1.5).
    pub first_egress: Option<u8>,
    /// In which version.
    pub version: Version,
}

impl Tables {
    /// Table `number`.
    pub fn features(self, number: u8) -> TableFeatures {
        let is_egress = self.first_egress.is_some_and(|first| number >= first);
        // Ingress tables lead to ingress tables, egress tables to egress tables.
        let end = self.first_egress.filter(|_| !is_egress).unwrap_or(self.count);
        let is_1_5 = self.version == Version::V1_5;
        let instructions =
            INSTRUCTIONS.into_iter().filter(|&i| (i != 1 || number + 1 < end) && (i != 6 || !is_1_5));
        let actions = ACTIONS.into_iter().filter(|&a| a < 28 || is_1_5);
        let miss = false;
        let mut properties = vec![
            TableProperty::Instructions { miss, types: types(instructions) },
            TableProperty::NextTables { miss, tables: (number + 1..end).collect() },
            TableProperty::WriteActions { miss, types: types(actions.clone()) },
            TableProperty::ApplyActions { miss, types: types(actions) },
            TableProperty::Match(self.fields(true)),
            TableProperty::Wildcards(self.fields(false)),
            TableProperty::WriteSetField { miss, fields: self.settable() },
            TableProperty::ApplySetField { miss, fields: self.settable() },
        ];
        if is_1_5 {
            properties.push(TableProperty::WriteCopyField { miss, fields: self.settable() });
            properties.push(TableProperty::ApplyCopyField { miss, fields: self.settable() });
        }
        TableFeatures {
            table_id: number,
            name: format!("table{number}"),
            metadata_match: u64::MAX,
            metadata_write: u64::MAX,
            config: self.config(),
            max_entries: self.max_entries,
            features: self.place(number, is_egress),
            properties,
            ..TableFeatures::default()
        }
    }

    fn config(self) -> TableConfig {
        match self.version {
            Version::V1_0 | Version::V1_3 => TableConfig::NONE,
            Version::V1_4 | Version::V1_5 => TableConfig::EVICTION | TableConfig::VACANCY_EVENTS,
        }
    }

    fn place(self, number: u8, is_egress: bool) -> TableFeatureFlags {
        match (self.version, is_egress) {
            (Version::V1_0 | Version::V1_3 | Version::V1_4, _) => TableFeatureFlags::NONE,
            (Version::V1_5, false) if number == 0 => TableFeatureFlags::INGRESS_TABLE,
            (Version::V1_5, false) => TableFeatureFlags::INGRESS_TABLE | TableFeatureFlags::EGRESS_TABLE,
            (Version::V1_5, true) if self.first_egress == Some(number) => {
                TableFeatureFlags::EGRESS_TABLE | TableFeatureFlags::FIRST_EGRESS
            }
            (Version::V1_5, true) => TableFeatureFlags::EGRESS_TABLE,
        }
    }

    /// The fields that the version knows.
    fn known(self) -> impl Iterator<Item = Field> {
        let since_1_5 = [Field::TcpFlags, Field::ActsetOutput, Field::PacketType];
        Field::ALL.iter().copied().filter(move |field| match field {
            Field::IpTtl | Field::Ipv4Id => false,
            Field::PbbUca => self.version >= Version::V1_4,
            other if since_1_5.contains(other) => self.version >= Version::V1_5,
            other => !other.is_nicira(),
        })
    }

    fn fields(self, masked: bool) -> Vec<OxmId> {
        self.known().map(|field| OxmId::Field { field, masked }).collect()
    }

    fn settable(self) -> Vec<OxmId> {
        let fixed = [
            Field::InPort,
            Field::InPhyPort,
            Field::Metadata,
            Field::Ipv6Exthdr,
            Field::MplsBos,
            Field::TcpFlags,
            Field::ActsetOutput,
            Field::PacketType,
        ];
        let fields = self.known().filter(move |f| !fixed.contains(f));
        fields.map(|field| OxmId::Field { field, masked: false }).collect()
    }
}

fn types(codes: impl IntoIterator<Item = u16>) -> Vec<TypeId> {
    codes.into_iter().map(|code| TypeId { code, data: vec![] }).collect()
}
