//! What came with 1.4 and 1.5.

use super::*;

pub fn since_1_4(v: Version) -> BoxedStrategy<Body> {
    let common = prop_oneof![
        1 => role_status(v).prop_map(Body::RoleStatus),
        1 => (code!(TableStatusReason, v), table_desc(v))
            .prop_map(|(reason, table)| Body::TableStatus(TableStatus { reason, table })),
        1 => enclosed(v).prop_map(Body::RequestForward),
        2 => bundle_control(v).prop_map(Body::BundleControl),
        2 => bundle_add(v).prop_map(Body::BundleAddMessage),
    ];
    match v {
        Version::V1_5 => {
            prop_oneof![7 => common, 1 => controller_status().prop_map(Body::ControllerStatus)].boxed()
        }
        _ => common.boxed(),
    }
}

/// Properties that are an experimenter's or unknown; none before `since`.
pub fn properties(v: Version, since: Version) -> impl Strategy<Value = Vec<Property>> {
    let one = prop_oneof![
        (any::<u32>(), any::<u32>(), bytes(9)).prop_map(|(experimenter, experimenter_type, data)| {
            Property::Experimenter { experimenter, experimenter_type, data }
        }),
        (100u16..0xffff, bytes(9))
            .prop_map(|(property_type, data)| Property::Unknown { property_type, data }),
    ];
    vec(one, 0..if v < since { 1 } else { 3 })
}

/// A value that is there or not, and not before `since`.
pub fn since<T: Strategy>(v: Version, since: Version, value: T) -> impl Strategy<Value = Option<T::Value>>
where
    T::Value: Clone,
{
    prop::option::of(value).prop_map(move |value| value.filter(|_| v >= since))
}

fn role_status(v: Version) -> impl Strategy<Value = RoleStatus> {
    let fields = (code!(ControllerRole, v), code!(RoleReason, v), any::<u64>());
    (fields, properties(v, Version::V1_4)).prop_map(|((role, reason, generation_id), properties)| {
        RoleStatus { role, reason, generation_id, properties }
    })
}

pub fn masks(v: Version) -> impl Strategy<Value = AsyncMasks> {
    (any::<[Option<u32>; 8]>()).prop_map(move |masks| {
        let [packet_in, port_status, flow_removed, role_status, table_status, request_forward, ..] = masks;
        let old = AsyncMasks {
            packet_in: packet_in.or(Some(0)),
            port_status: port_status.or(Some(0)),
            flow_removed: flow_removed.or(Some(0)),
            ..AsyncMasks::default()
        };
        let new = AsyncMasks {
            packet_in,
            port_status,
            flow_removed,
            role_status,
            table_status,
            request_forward,
            ..AsyncMasks::default()
        };
        match v {
            Version::V1_0 | Version::V1_3 => old,
            Version::V1_4 => new,
            Version::V1_5 => AsyncMasks { flow_stats: masks[6], controller_status: masks[7], ..new },
        }
    })
}

fn table_config(v: Version) -> impl Strategy<Value = (TableConfig, Option<EvictionFlags>, Option<Vacancy>)> {
    let vacancy = any::<(u8, u8, u8)>().prop_map(|(down, up, current)| Vacancy { down, up, current });
    let eviction = since(v, Version::V1_4, flags!(EvictionFlags, v));
    (flags!(TableConfig, v), eviction, since(v, Version::V1_4, vacancy))
}

pub fn table_mod(v: Version) -> impl Strategy<Value = TableMod> {
    (any::<u8>(), table_config(v), properties(v, Version::V1_4)).prop_map(
        |(table_id, (config, eviction, vacancy), properties)| TableMod {
            table_id,
            config,
            eviction,
            vacancy,
            properties,
        },
    )
}

pub fn table_desc(v: Version) -> impl Strategy<Value = TableDesc> {
    table_mod(v).prop_map(|TableMod { table_id, config, eviction, vacancy, properties }| TableDesc {
        table_id,
        config,
        eviction,
        vacancy,
        properties,
    })
}

/// A message that holds no other.
fn enclosed(v: Version) -> impl Strategy<Value = Box<Message>> {
    let body = prop_oneof![
        flow::flow_mod(v).prop_map(Body::FlowMod),
        group::since_1_3(v),
        session::session(v),
        port_mod(v).prop_map(Body::PortMod),
    ];
    (any::<u32>(), body).prop_map(|(xid, body)| Box::new(Message { xid, body }))
}

fn time() -> impl Strategy<Value = BundleTime> {
    any::<(u64, u32)>().prop_map(|(seconds, nanoseconds)| BundleTime { seconds, nanoseconds })
}

fn bundle_control(v: Version) -> impl Strategy<Value = BundleControl> {
    let fields = (any::<u32>(), code!(BundleControlType, v), flags!(BundleFlags, v));
    (fields, since(v, Version::V1_5, time()), properties(v, Version::V1_4)).prop_map(
        |((bundle_id, control_type, flags), scheduled_time, properties)| BundleControl {
            bundle_id,
            control_type,
            flags,
            scheduled_time,
            properties,
        },
    )
}

fn bundle_add(v: Version) -> impl Strategy<Value = BundleAdd> {
    (any::<u32>(), flags!(BundleFlags, v), enclosed(v), properties(v, Version::V1_4)).prop_map(
        |(bundle_id, flags, message, properties)| BundleAdd { bundle_id, flags, message, properties },
    )
}

fn scheduling() -> impl Strategy<Value = Option<BundleScheduling>> {
    let some = (time(), time(), time(), time()).prop_map(|(accuracy, max_future, max_past, timestamp)| {
        BundleScheduling { accuracy, max_future, max_past, timestamp }
    });
    prop::option::of(some)
}

pub fn bundle_features_request(v: Version) -> impl Strategy<Value = BundleFeaturesRequest> {
    (flags!(BundleFeatureFlags, v), scheduling(), properties(v, Version::V1_5))
        .prop_map(|(flags, scheduling, properties)| BundleFeaturesRequest { flags, scheduling, properties })
}

pub fn bundle_features(v: Version) -> impl Strategy<Value = BundleFeatures> {
    (flags!(BundleFlags, v), scheduling(), properties(v, Version::V1_5)).prop_map(
        |(capabilities, scheduling, properties)| BundleFeatures { capabilities, scheduling, properties },
    )
}

pub fn controller_status() -> impl Strategy<Value = ControllerStatus> {
    let v = Version::V1_5;
    let codes = (code!(ControllerRole, v), code!(ControllerStatusReason, v), code!(ChannelStatus, v));
    (any::<u16>(), codes, prop::option::of(text(30)), properties(v, v)).prop_map(
        |(short_id, (role, reason, channel_status), uri, properties)| ControllerStatus {
            short_id,
            role,
            reason,
            channel_status,
            uri,
            properties,
        },
    )
}

pub fn monitor_request(v: Version) -> impl Strategy<Value = FlowMonitorRequest> {
    let fields = (any::<u32>(), port_no(v), any::<u32>(), any::<u8>());
    (fields, flags!(FlowMonitorFlags, v), code!(FlowMonitorCommand, v), flow::match_(v)).prop_map(
        |((monitor_id, out_port, out_group, table_id), flags, command, match_)| FlowMonitorRequest {
            monitor_id,
            out_port,
            out_group,
            flags,
            table_id,
            command,
            match_,
        },
    )
}

pub fn flow_update(v: Version) -> impl Strategy<Value = FlowUpdate> {
    use FlowEvent::{Added, Initial, Modified, Removed};
    let event = prop::sample::select(vec![Initial, Added, Removed, Modified]);
    let fields = (event, any::<u8>(), code!(FlowRemovedReason, v), any::<(u16, u16, u16, u64)>());
    let full = (fields, flow::match_(v), flow::instructions(v)).prop_map(|(fields, match_, instructions)| {
        let (event, table_id, reason, (idle_timeout, hard_timeout, priority, cookie)) = fields;
        FlowUpdate::Full(FlowUpdateFull {
            event,
            table_id,
            reason,
            idle_timeout,
            hard_timeout,
            priority,
            cookie,
            match_,
            instructions,
        })
    });
    prop_oneof![
        3 => full,
        1 => any::<u32>().prop_map(|xid| FlowUpdate::Abbreviated { xid }),
        1 => Just(FlowUpdate::Paused),
        1 => Just(FlowUpdate::Resumed),
        1 => (7u16.., bytes(9)).prop_map(|(event, data)| FlowUpdate::Unknown { event, data }),
    ]
}

pub fn age() -> impl Strategy<Value = Age> {
    any::<(u32, u32)>().prop_map(|(sec, nsec)| Age { sec, nsec })
}

pub fn unknown_stats(v: Version) -> impl Strategy<Value = Vec<RawOxm>> {
    let raw = (any::<u16>(), bytes(9)).prop_map(|(low, payload)| RawOxm {
        header: 0x7fff << 16 | u32::from(low & 0xff00) | payload.len() as u32,
        payload,
    });
    vec(raw, 0..if v < Version::V1_5 { 1 } else { 2 })
}

pub fn counters() -> impl Strategy<Value = FlowCounters> {
    let numbers = any::<(Option<u32>, Option<u64>, Option<u64>)>();
    let ages = (prop::option::of(age()), prop::option::of(age()));
    (ages, numbers, unknown_stats(Version::V1_5)).prop_map(
        |((duration, idle_time), (flow_count, packet_count, byte_count), unknown)| FlowCounters {
            duration,
            idle_time,
            flow_count,
            packet_count,
            byte_count,
            unknown,
        },
    )
}

pub fn counters_report() -> impl Strategy<Value = FlowCountersReport> {
    let v = Version::V1_5;
    (any::<u8>(), code!(FlowCountersReason, v), any::<u16>(), flow::match_(v), counters()).prop_map(
        |(table_id, reason, priority, match_, counters)| FlowCountersReport {
            table_id,
            reason,
            priority,
            match_,
            counters,
        },
    )
}

fn numbers<const N: usize>() -> impl Strategy<Value = [u32; N]> {
    any::<[u32; N]>()
}

pub fn optical_port(v: Version) -> impl Strategy<Value = OpticalPort> {
    (flags!(OpticalFeatures, v), numbers::<6>(), any::<(u16, u16)>()).prop_map(
        |(supported, n, (tx_pwr_min, tx_pwr_max))| OpticalPort {
            supported,
            tx_min_freq_lmda: n[0],
            tx_max_freq_lmda: n[1],
            tx_grid_freq_lmda: n[2],
            rx_min_freq_lmda: n[3],
            rx_max_freq_lmda: n[4],
            rx_grid_freq_lmda: n[5],
            tx_pwr_min,
            tx_pwr_max,
        },
    )
}

pub fn optical_settings(v: Version) -> impl Strategy<Value = OpticalSettings> {
    (flags!(OpticalFeatures, v), numbers::<3>(), any::<i32>()).prop_map(
        |(configure, [freq_lmda, grid_span, tx_pwr], fl_offset)| OpticalSettings {
            configure,
            freq_lmda,
            fl_offset,
            grid_span,
            tx_pwr,
        },
    )
}

pub fn optical_stats(v: Version) -> impl Strategy<Value = OpticalStats> {
    (flags!(OpticalStatsFlags, v), numbers::<6>(), any::<[u16; 4]>()).prop_map(|(flags, n, m)| OpticalStats {
        flags,
        tx_freq_lmda: n[0],
        tx_offset: n[1],
        tx_grid_span: n[2],
        rx_freq_lmda: n[3],
        rx_offset: n[4],
        rx_grid_span: n[5],
        tx_pwr: m[0],
        rx_pwr: m[1],
        bias_current: m[2],
        temperature: m[3],
    })
}
