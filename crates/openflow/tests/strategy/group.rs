//! Messages that came with 1.1 to 1.3.

use super::*;

pub fn since_1_3(v: Version) -> BoxedStrategy<Body> {
    let asynchronous =
        || (masks(), masks()).prop_map(|(primary, secondary)| AsyncConfig { primary, secondary });
    prop_oneof![
        3 => group_mod(v).prop_map(Body::GroupMod),
        3 => meter_mod(v).prop_map(Body::MeterMod),
        1 => any::<(u8, u32)>().prop_map(|(table_id, config)| Body::TableMod(TableMod { table_id, config })),
        1 => role(v).prop_map(Body::RoleRequest),
        1 => role(v).prop_map(Body::RoleReply),
        1 => Just(Body::GetAsyncRequest),
        1 => asynchronous().prop_map(Body::GetAsyncReply),
        1 => asynchronous().prop_map(Body::SetAsync),
    ]
    .boxed()
}

fn role(v: Version) -> impl Strategy<Value = Role> {
    (code!(ControllerRole, v), any::<u64>()).prop_map(|(role, generation_id)| Role { role, generation_id })
}

fn masks() -> impl Strategy<Value = AsyncMasks> {
    any::<(u32, u32, u32)>().prop_map(|(packet_in, port_status, flow_removed)| AsyncMasks {
        packet_in,
        port_status,
        flow_removed,
    })
}

pub fn buckets(v: Version) -> impl Strategy<Value = Vec<Bucket>> {
    let bucket = (any::<u16>(), port_no(v), any::<u32>(), vec(flow::action(v), 0..4)).prop_map(
        |(weight, watch_port, watch_group, actions)| Bucket { weight, watch_port, watch_group, actions },
    );
    vec(bucket, 0..4)
}

fn group_mod(v: Version) -> impl Strategy<Value = GroupMod> {
    (code!(GroupModCommand, v), code!(GroupType, v), any::<u32>(), buckets(v)).prop_map(
        |(command, group_type, group_id, buckets)| GroupMod { command, group_type, group_id, buckets },
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
