//! Messages that came with 1.1 to 1.3.

use super::*;

pub fn since_1_3(v: Version) -> BoxedStrategy<Body> {
    let properties = || since_1_4::properties(v, Version::V1_4);
    let asynchronous = || {
        (since_1_4::masks(v), since_1_4::masks(v), properties())
            .prop_map(|(primary, secondary, properties)| AsyncConfig { primary, secondary, properties })
    };
    prop_oneof![
        3 => group_mod(v).prop_map(Body::GroupMod),
        3 => meter_mod(v).prop_map(Body::MeterMod),
        1 => since_1_4::table_mod(v).prop_map(Body::TableMod),
        1 => role(v).prop_map(Body::RoleRequest),
        1 => role(v).prop_map(Body::RoleReply),
        1 => Just(Body::GetAsyncRequest),
        1 => asynchronous().prop_map(Body::GetAsyncReply),
        1 => asynchronous().prop_map(Body::SetAsync),
    ]
    .boxed()
}

fn role(v: Version) -> impl Strategy<Value = Role> {
    (code!(ControllerRole, v), any::<u64>(), any::<u16>()).prop_map(move |(role, generation_id, short_id)| {
        Role { role, generation_id, short_id: if v < Version::V1_5 { 0 } else { short_id } }
    })
}

pub fn buckets(v: Version) -> impl Strategy<Value = Vec<Bucket>> {
    let new = (any::<u32>(), since_1_4::properties(v, Version::V1_5));
    let bucket = (any::<u16>(), port_no(v), any::<u32>(), vec(flow::action(v), 0..4), new).prop_map(
        move |(weight, watch_port, watch_group, actions, (bucket_id, properties))| {
            let bucket_id = Some(bucket_id).filter(|_| v >= Version::V1_5);
            Bucket { weight, watch_port, watch_group, actions, bucket_id, properties }
        },
    );
    vec(bucket, 0..4)
}

fn group_mod(v: Version) -> impl Strategy<Value = GroupMod> {
    let new = (any::<u32>(), since_1_4::properties(v, Version::V1_5));
    (code!(GroupModCommand, v), code!(GroupType, v), any::<u32>(), buckets(v), new).prop_map(
        move |(command, group_type, group_id, buckets, (command_bucket_id, properties))| {
            let group = GroupMod { properties, ..GroupMod::new(command, group_type, group_id, buckets) };
            if v < Version::V1_5 { group } else { GroupMod { command_bucket_id, ..group } }
        },
    )
}

pub fn bands() -> impl Strategy<Value = Vec<Band>> {
    let rates = any::<(u32, u32)>();
    let band = prop_oneof![
        rates.prop_map(|(rate, burst_size)| Band::Drop { rate, burst_size }),
        (rates, any::<u8>()).prop_map(|((rate, burst_size), prec_level)| Band::DscpRemark {
            rate,
            burst_size,
            prec_level
        }),
        (rates, any::<u32>(), bytes(9)).prop_map(|((rate, burst_size), experimenter, data)| {
            Band::Experimenter { rate, burst_size, experimenter, data }
        }),
        (3u16..0xffff, bytes(9)).prop_map(|(band_type, data)| Band::Unknown { band_type, data }),
    ];
    vec(band, 0..4)
}

fn meter_mod(v: Version) -> impl Strategy<Value = MeterMod> {
    (code!(MeterModCommand, v), flags!(MeterFlags, v), any::<u32>(), bands())
        .prop_map(|(command, flags, meter_id, bands)| MeterMod { command, flags, meter_id, bands })
}
