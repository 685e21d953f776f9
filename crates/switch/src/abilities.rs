//! What the switch's tables can do, as 1.3's table features tell it.

use flowgauge_openflow::{OxmId, TableFeatures, TableProperty, TypeId};
use flowgauge_packet::Field;

/// 1.0's bitmap of the fields that entries may leave out: all.
pub const WILDCARDS_1_0: u32 = 0x3f_ffff;

/// Numbers of the instructions in 1.3: goto, metadata, write, apply, clear.
const INSTRUCTIONS: [u16; 5] = [1, 2, 3, 4, 5];
/// Numbers of the actions in 1.3: output, TTL, VLAN, MPLS, PBB, set-field.
const ACTIONS: [u16; 14] = [0, 11, 12, 15, 16, 17, 18, 19, 20, 23, 24, 25, 26, 27];

/// Table `number` of `count`.
pub fn table(number: u8, count: u8, max_entries: u32) -> TableFeatures {
    let can_go_on = number + 1 < count;
    let instructions = INSTRUCTIONS.into_iter().filter(|&i| i != 1 || can_go_on);
    let miss = false;
    let properties = vec![
        TableProperty::Instructions { miss, types: types(instructions) },
        TableProperty::NextTables { miss, tables: (number + 1..count).collect() },
        TableProperty::WriteActions { miss, types: types(ACTIONS) },
        TableProperty::ApplyActions { miss, types: types(ACTIONS) },
        TableProperty::Match(fields(true)),
        TableProperty::Wildcards(fields(false)),
        TableProperty::WriteSetField { miss, fields: settable() },
        TableProperty::ApplySetField { miss, fields: settable() },
    ];
    TableFeatures {
        table_id: number,
        name: format!("table{number}"),
        metadata_match: u64::MAX,
        metadata_write: u64::MAX,
        config: 0,
        max_entries,
        properties,
    }
}

fn types(codes: impl IntoIterator<Item = u16>) -> Vec<TypeId> {
    codes.into_iter().map(|code| TypeId { code, data: vec![] }).collect()
}

/// The fields that 1.3 knows.
fn known() -> impl Iterator<Item = Field> {
    let later =
        [Field::IpTtl, Field::Ipv4Id, Field::TcpFlags, Field::PbbUca, Field::ActsetOutput, Field::PacketType];
    Field::ALL.iter().copied().filter(move |f| !later.contains(f) && !f.is_nicira())
}

fn fields(masked: bool) -> Vec<OxmId> {
    known().map(|field| OxmId::Field { field, masked }).collect()
}

fn settable() -> Vec<OxmId> {
    let fixed = [Field::InPort, Field::InPhyPort, Field::Metadata, Field::Ipv6Exthdr, Field::MplsBos];
    let fields = known().filter(|f| !fixed.contains(f));
    fields.map(|field| OxmId::Field { field, masked: false }).collect()
}
