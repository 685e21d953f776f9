//! Multipart requests and replies, and what they are made of.

use super::*;

pub fn request(v: Version) -> impl Strategy<Value = MultipartRequest> {
    (any::<bool>(), request_body(v)).prop_map(|(more, body)| MultipartRequest { more, body })
}

pub fn reply(v: Version) -> impl Strategy<Value = MultipartReply> {
    (any::<bool>(), reply_body(v)).prop_map(|(more, body)| MultipartReply { more, body })
}

fn request_body(v: Version) -> BoxedStrategy<RequestBody> {
    let common = prop_oneof![
        Just(RequestBody::Desc),
        Just(RequestBody::Table),
        flow::flow_request(v).prop_map(RequestBody::Flow),
        flow::flow_request(v).prop_map(RequestBody::Aggregate),
        port_no(v).prop_map(RequestBody::PortStats),
        (port_no(v), any::<u32>()).prop_map(|(port, queue_id)| RequestBody::Queue { port, queue_id }),
        session::experimenter(v).prop_map(RequestBody::Experimenter),
        (30u16..0xffff, bytes(20)).prop_map(|(kind, data)| RequestBody::Unknown { kind, data }),
    ];
    if v == Version::V1_0 {
        return prop_oneof![6 => common, 1 => nicira::request()].boxed();
    }
    let newer = prop_oneof![
        one(v, GROUP_ALL).prop_map(RequestBody::GroupDesc),
        Just(RequestBody::GroupFeatures),
        Just(RequestBody::MeterFeatures),
        one(v, PortNo::ANY.0).prop_map(|port| RequestBody::PortDesc(PortNo(port))),
        any::<u32>().prop_map(RequestBody::Group),
        any::<u32>().prop_map(RequestBody::Meter),
        any::<u32>().prop_map(RequestBody::MeterConfig),
        vec(table_features(v), 0..2).prop_map(RequestBody::TableFeatures),
    ];
    match v {
        Version::V1_0 | Version::V1_3 => prop_oneof![common, newer].boxed(),
        Version::V1_4 => prop_oneof![common, newer, request_since_1_4(v)].boxed(),
        Version::V1_5 => prop_oneof![common, newer, request_since_1_4(v), request_since_1_5(v)].boxed(),
    }
}

/// Something to ask for by its number; before 1.5 always all.
fn one(v: Version, all: u32) -> impl Strategy<Value = u32> {
    any::<u32>().prop_map(move |id| if v < Version::V1_5 { all } else { id })
}

fn request_since_1_4(v: Version) -> impl Strategy<Value = RequestBody> {
    prop_oneof![
        Just(RequestBody::TableDesc),
        (port_no(v), any::<u32>()).prop_map(|(port, queue_id)| RequestBody::QueueDesc { port, queue_id }),
        vec(since_1_4::monitor_request(v), 0..3).prop_map(RequestBody::FlowMonitor),
    ]
}

fn request_since_1_5(v: Version) -> impl Strategy<Value = RequestBody> {
    prop_oneof![
        Just(RequestBody::ControllerStatus),
        flow::flow_request(v).prop_map(RequestBody::FlowStats),
        since_1_4::bundle_features_request(v).prop_map(RequestBody::BundleFeatures),
    ]
}

fn reply_since_1_4(v: Version) -> impl Strategy<Value = ReplyBody> {
    prop_oneof![
        vec(since_1_4::table_desc(v), 0..3).prop_map(ReplyBody::TableDesc),
        queue_config(v).prop_map(|config| ReplyBody::QueueDesc(config.queues)),
        vec(since_1_4::flow_update(v), 0..3).prop_map(ReplyBody::FlowMonitor),
    ]
}

fn reply_since_1_5(v: Version) -> impl Strategy<Value = ReplyBody> {
    prop_oneof![
        vec(since_1_4::counters_report(), 0..3).prop_map(ReplyBody::FlowStats),
        vec(since_1_4::controller_status(), 0..3).prop_map(ReplyBody::ControllerStatus),
        since_1_4::bundle_features(v).prop_map(ReplyBody::BundleFeatures),
    ]
}

fn reply_body(v: Version) -> BoxedStrategy<ReplyBody> {
    let common = prop_oneof![
        desc().prop_map(ReplyBody::Desc),
        vec(flow::flow_stats(v), 0..3).prop_map(ReplyBody::Flow),
        (any::<(u64, u64, u32)>(), since_1_4::unknown_stats(v)).prop_map(
            |((packet_count, byte_count, flow_count), unknown_stats)| {
                ReplyBody::Aggregate(AggregateStats { packet_count, byte_count, flow_count, unknown_stats })
            }
        ),
        vec(table_stats(v), 0..3).prop_map(ReplyBody::Table),
        vec(port_stats(v), 0..3).prop_map(ReplyBody::PortStats),
        vec(queue_stats(v), 0..3).prop_map(ReplyBody::Queue),
        session::experimenter(v).prop_map(ReplyBody::Experimenter),
        (30u16..0xffff, bytes(20)).prop_map(|(kind, data)| ReplyBody::Unknown { kind, data }),
    ];
    if v == Version::V1_0 {
        return prop_oneof![6 => common, 1 => nicira::reply()].boxed();
    }
    let newer = prop_oneof![
        vec(group_stats(), 0..3).prop_map(ReplyBody::Group),
        vec(group_desc(v), 0..3).prop_map(ReplyBody::GroupDesc),
        group_features(v).prop_map(ReplyBody::GroupFeatures),
        vec(meter_stats(), 0..3).prop_map(ReplyBody::Meter),
        vec(meter_config(v), 0..3).prop_map(ReplyBody::MeterConfig),
        meter_features(v).prop_map(ReplyBody::MeterFeatures),
        vec(table_features(v), 0..3).prop_map(ReplyBody::TableFeatures),
        vec(port(v), 0..3).prop_map(ReplyBody::PortDesc),
    ];
    match v {
        Version::V1_0 | Version::V1_3 => prop_oneof![common, newer].boxed(),
        Version::V1_4 => prop_oneof![common, newer, reply_since_1_4(v)].boxed(),
        Version::V1_5 => prop_oneof![common, newer, reply_since_1_4(v), reply_since_1_5(v)].boxed(),
    }
}

fn desc() -> impl Strategy<Value = Desc> {
    (text(255), text(255), text(255), text(31), text(255)).prop_map(
        |(mfr_desc, hw_desc, sw_desc, serial_num, dp_desc)| Desc {
            mfr_desc,
            hw_desc,
            sw_desc,
            serial_num,
            dp_desc,
        },
    )
}

/// Link speeds and media that the version has bits for.
pub fn link(v: Version) -> impl Strategy<Value = PortFeatures> {
    flags!(PortFeatures, v)
}

pub fn port(v: Version) -> impl Strategy<Value = Port> {
    let wishes = (flags!(PortConfig, v), flags!(PortState, v));
    let links = (link(v), link(v), link(v), link(v));
    let ids = || vec(oxm_id(v), 0..if v < Version::V1_5 { 1 } else { 3 });
    let others = vec(port_no(v), 0..if v < Version::V1_5 { 1 } else { 3 });
    let optical = since_1_4::since(v, Version::V1_4, since_1_4::optical_port(v));
    let new = (optical, ids(), ids(), others, since_1_4::properties(v, Version::V1_4));
    (port_no(v), mac(), text(15), wishes, links, any::<(u32, u32)>(), new).prop_map(
        move |(port_no, hw_addr, name, (config, state), links, speeds, new)| {
            let (optical, pipeline_input, pipeline_output, recirculate, properties) = new;
            let (current, advertised, supported, peer) = links;
            let (current_speed, max_speed) = if v == Version::V1_0 { (0, 0) } else { speeds };
            Port {
                port_no,
                hw_addr,
                name,
                config,
                state,
                current,
                advertised,
                supported,
                peer,
                current_speed,
                max_speed,
                optical,
                pipeline_input,
                pipeline_output,
                recirculate,
                properties,
            }
        },
    )
}

fn table_stats(v: Version) -> impl Strategy<Value = TableStats> {
    (any::<u8>(), text(31), any::<(u32, u32, u32)>(), any::<(u64, u64)>()).prop_map(
        move |(table_id, name, (wildcards, max_entries, active_count), (lookup_count, matched_count))| {
            let whole = TableStats {
                table_id,
                name,
                wildcards,
                max_entries,
                active_count,
                lookup_count,
                matched_count,
            };
            match v {
                Version::V1_0 => whole,
                _ => TableStats { name: String::new(), wildcards: 0, max_entries: 0, ..whole },
            }
        },
    )
}

fn port_stats(v: Version) -> impl Strategy<Value = PortStats> {
    let optical = since_1_4::since(v, Version::V1_4, since_1_4::optical_stats(v));
    let new = (optical, since_1_4::properties(v, Version::V1_4));
    (port_no(v), any::<[u64; 12]>(), any::<(u32, u32)>(), new).prop_map(move |(port_no, c, duration, new)| {
        let (optical, properties) = new;
        let (duration_sec, duration_nsec) = if v == Version::V1_0 { (0, 0) } else { duration };
        PortStats {
            port_no,
            rx_packets: c[0],
            tx_packets: c[1],
            rx_bytes: c[2],
            tx_bytes: c[3],
            rx_dropped: c[4],
            tx_dropped: c[5],
            rx_errors: c[6],
            tx_errors: c[7],
            rx_frame_errors: c[8],
            rx_over_errors: c[9],
            rx_crc_errors: c[10],
            collisions: c[11],
            duration_sec,
            duration_nsec,
            optical,
            properties,
        }
    })
}

fn queue_stats(v: Version) -> impl Strategy<Value = QueueStats> {
    let properties = since_1_4::properties(v, Version::V1_4);
    (port_no(v), any::<u32>(), any::<[u64; 3]>(), any::<(u32, u32)>(), properties).prop_map(
        move |(port_no, queue_id, [tx_bytes, tx_packets, tx_errors], duration, properties)| {
            let (duration_sec, duration_nsec) = if v == Version::V1_0 { (0, 0) } else { duration };
            QueueStats {
                port_no,
                queue_id,
                tx_bytes,
                tx_packets,
                tx_errors,
                duration_sec,
                duration_nsec,
                properties,
            }
        },
    )
}

fn group_stats() -> impl Strategy<Value = GroupStats> {
    let counter =
        any::<(u64, u64)>().prop_map(|(packet_count, byte_count)| BucketCounter { packet_count, byte_count });
    (any::<[u32; 4]>(), any::<(u64, u64)>(), vec(counter, 0..3)).prop_map(
        |([group_id, ref_count, duration_sec, duration_nsec], (packet_count, byte_count), buckets)| {
            GroupStats { group_id, ref_count, packet_count, byte_count, duration_sec, duration_nsec, buckets }
        },
    )
}

fn group_desc(v: Version) -> impl Strategy<Value = GroupDesc> {
    (code!(GroupType, v), any::<u32>(), group::buckets(v), since_1_4::properties(v, Version::V1_5)).prop_map(
        |(group_type, group_id, buckets, properties)| GroupDesc { group_type, group_id, buckets, properties },
    )
}

fn group_features(v: Version) -> impl Strategy<Value = GroupFeatures> {
    (any::<u32>(), flags!(GroupCapabilities, v), any::<[u32; 4]>(), any::<[u32; 4]>()).prop_map(
        |(types, capabilities, max_groups, actions)| GroupFeatures {
            types,
            capabilities,
            max_groups,
            actions,
        },
    )
}

fn meter_stats() -> impl Strategy<Value = MeterStats> {
    let counter =
        any::<(u64, u64)>().prop_map(|(packet_count, byte_count)| BandCounter { packet_count, byte_count });
    (any::<[u32; 4]>(), any::<(u64, u64)>(), vec(counter, 0..3)).prop_map(
        |([meter_id, flow_count, duration_sec, duration_nsec], (packets, bytes), bands)| MeterStats {
            meter_id,
            flow_count,
            packet_in_count: packets,
            byte_in_count: bytes,
            duration_sec,
            duration_nsec,
            bands,
        },
    )
}

fn meter_config(v: Version) -> impl Strategy<Value = MeterConfig> {
    (flags!(MeterFlags, v), any::<u32>(), group::bands()).prop_map(|(flags, meter_id, bands)| MeterConfig {
        flags,
        meter_id,
        bands,
    })
}

fn meter_features(v: Version) -> impl Strategy<Value = MeterFeatures> {
    let features = flags!(MeterFeatureFlags, v);
    (any::<(u32, u32)>(), flags!(MeterFlags, v), any::<(u8, u8)>(), features).prop_map(
        move |((max_meters, band_types), capabilities, (max_bands, max_color), features)| MeterFeatures {
            max_meters,
            band_types,
            capabilities,
            max_bands,
            max_color,
            features: if v < Version::V1_5 { MeterFeatureFlags::NONE } else { features },
        },
    )
}

pub fn oxm_id(v: Version) -> impl Strategy<Value = OxmId> {
    let known = (flow::field(v), any::<bool>()).prop_map(|(field, masked)| OxmId::Field { field, masked });
    let unknown = any::<u16>()
        .prop_map(|low| OxmId::Unknown { header: 0x7fff << 16 | u32::from(low), experimenter: None });
    let foreign = any::<u16>()
        .prop_map(|low| OxmId::Unknown { header: 0xffff << 16 | u32::from(low), experimenter: Some(0x1234) });
    prop_oneof![8 => known, 1 => unknown, 1 => foreign]
}

fn type_id() -> impl Strategy<Value = TypeId> {
    (any::<u16>(), bytes(8)).prop_map(|(code, data)| TypeId { code, data })
}

fn table_property(v: Version) -> impl Strategy<Value = TableProperty> {
    let ids = || vec(oxm_id(v), 0..4);
    let types = || vec(type_id(), 0..4);
    let miss = any::<bool>;
    prop_oneof![
        (miss(), types()).prop_map(|(miss, types)| TableProperty::Instructions { miss, types }),
        (miss(), bytes(9)).prop_map(|(miss, tables)| TableProperty::NextTables { miss, tables }),
        (miss(), types()).prop_map(|(miss, types)| TableProperty::WriteActions { miss, types }),
        (miss(), types()).prop_map(|(miss, types)| TableProperty::ApplyActions { miss, types }),
        ids().prop_map(TableProperty::Match),
        ids().prop_map(TableProperty::Wildcards),
        (miss(), ids()).prop_map(|(miss, fields)| TableProperty::WriteSetField { miss, fields }),
        (miss(), ids()).prop_map(|(miss, fields)| TableProperty::ApplySetField { miss, fields }),
        (100u16..0xfffe, bytes(12))
            .prop_map(|(property_type, data)| TableProperty::Unknown { property_type, data }),
        (miss(), any::<(u32, u32)>(), bytes(9)).prop_map(
            |(miss, (experimenter, experimenter_type), data)| {
                TableProperty::Experimenter { miss, experimenter, experimenter_type, data }
            }
        ),
    ]
}

fn new_table_property(v: Version) -> BoxedStrategy<TableProperty> {
    let ids = || (any::<bool>(), vec(oxm_id(v), 0..4));
    let tables = bytes(9).prop_map(TableProperty::TableSyncFrom);
    match v {
        Version::V1_0 | Version::V1_3 => table_property(v).boxed(),
        Version::V1_4 => tables.boxed(),
        Version::V1_5 => prop_oneof![
            tables,
            ids().prop_map(|(miss, fields)| TableProperty::WriteCopyField { miss, fields }),
            ids().prop_map(|(miss, fields)| TableProperty::ApplyCopyField { miss, fields }),
            flow::match_(v).prop_map(TableProperty::PacketTypes),
        ]
        .boxed(),
    }
}

fn table_features(v: Version) -> impl Strategy<Value = TableFeatures> {
    let properties = vec(prop_oneof![table_property(v), new_table_property(v)], 0..5);
    let new = (code!(TableFeaturesCommand, v), flags!(TableFeatureFlags, v), flags!(TableConfig, v));
    (any::<u8>(), text(31), any::<(u64, u64, u32)>(), properties, new).prop_map(
        move |(table_id, name, (metadata_match, metadata_write, max_entries), properties, new)| {
            let (command, features, config) = new;
            let whole = TableFeatures {
                table_id,
                name,
                metadata_match,
                metadata_write,
                config,
                max_entries,
                command,
                features,
                properties,
            };
            match v {
                Version::V1_5 => whole,
                _ => TableFeatures {
                    command: TableFeaturesCommand::Replace,
                    features: Default::default(),
                    ..whole
                },
            }
        },
    )
}

pub fn queue_config(v: Version) -> impl Strategy<Value = QueueConfig> {
    let property = prop_oneof![
        any::<u16>().prop_map(QueueProperty::MinRate),
        any::<u16>().prop_map(move |rate| match v {
            Version::V1_0 => QueueProperty::MinRate(rate),
            _ => QueueProperty::MaxRate(rate),
        }),
        (any::<(u32, u32)>(), bytes(9)).prop_map(move |((experimenter, experimenter_type), data)| {
            let experimenter_type = if v < Version::V1_4 { 0 } else { experimenter_type };
            QueueProperty::Experimenter { experimenter, experimenter_type, data }
        }),
        (3u16..0xffff, bytes(9))
            .prop_map(|(property_type, data)| QueueProperty::Unknown { property_type, data }),
    ];
    let queue = (any::<u32>(), port_no(v), vec(property, 0..3));
    (port_no(v), vec(queue, 0..3)).prop_map(move |(port, queues)| {
        let own_port = |queue_port| if v == Version::V1_0 { port } else { queue_port };
        let queue =
            |(queue_id, queue_port, properties)| Queue { queue_id, port: own_port(queue_port), properties };
        QueueConfig { port, queues: queues.into_iter().map(queue).collect() }
    })
}
