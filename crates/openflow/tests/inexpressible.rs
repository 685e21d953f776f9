//! What a version can't express is an error that names the field, and leaves the buffer as it was.

use flowgauge_openflow::*;
use flowgauge_packet::Field;

fn refused(body: Body, version: Version) -> String {
    let mut out = vec![1, 2, 3];
    let Err(error) = encode(&Message::new(1, body.clone()), version, &mut out) else {
        panic!("{version} should not be able to express {body:?}")
    };
    assert_eq!(out, [1, 2, 3]);
    format!("{}: {}", error.name(), error.field().unwrap_or("-"))
}

fn flow(change: impl FnOnce(&mut FlowMod)) -> Body {
    let mut flow = FlowMod::default();
    change(&mut flow);
    Body::FlowMod(flow)
}

fn acting(action: Action) -> Body {
    flow(|f| f.instructions = vec![Instruction::ApplyActions(vec![action])])
}

fn matching(match_: Match) -> Body {
    flow(|f| f.match_ = match_)
}

#[test]
fn by_1_0() {
    let ip = || Match::any().with(Field::EthType, 0x0800);
    let cases = [
        (flow(|f| f.cookie_mask = 1), "inexpressible: cookie_mask"),
        (flow(|f| f.out_group = 1), "inexpressible: out_group"),
        (flow(|f| f.importance = 1), "inexpressible: importance"),
        (flow(|f| f.flags = FlowModFlags::RESET_COUNTS), "inexpressible: flags"),
        (flow(|f| f.flags = FlowModFlags(1 << 20)), "out_of_range: flags"),
        (flow(|f| f.out_port = PortNo(0x10000)), "out_of_range: out_port"),
        (flow(|f| f.instructions = vec![Instruction::GotoTable(1)]), "inexpressible: instructions"),
        (acting(Action::CopyTtlIn), "inexpressible: copy_ttl_in"),
        (acting(Action::PushVlan(0x8100)), "inexpressible: push_vlan"),
        (acting(Action::set(Field::Ipv4Id, 1)), "inexpressible: ipv4_id"),
        (acting(Action::output(PortNo(0xff01))), "out_of_range: output"),
        (matching(Match::any().with(Field::Metadata, 1)), "inexpressible: metadata"),
        (matching(Match::any().with_masked(Field::EthDst, 1, 1)), "inexpressible: eth_dst"),
        (matching(Match::any().with_masked(Field::VlanVid, 0x1000, 0x1000)), "inexpressible: vlan_vid"),
        (matching(Match::any().with(Field::UdpDst, 1)), "inexpressible: udp_dst"),
        (matching(Match::any().with(Field::IpProto, 6)), "inexpressible: ip_proto"),
        (matching(ip().with_masked(Field::Ipv4Dst, 1, 0xff)), "inexpressible: ipv4_dst"),
        (matching(ip().with(Field::InPort, 0xff00)), "out_of_range: in_port"),
        (Body::GetAsyncRequest, "inexpressible: message type"),
        (
            Body::MultipartRequest(MultipartRequest::new(RequestBody::PortDesc(PortNo::ANY))),
            "inexpressible: multipart type",
        ),
        (Body::Error(ErrorMessage::new(ErrorCode::BadTableId, [])), "inexpressible: OFPBRC_BAD_TABLE_ID"),
        (
            Body::Experimenter(Experimenter { experimenter: 1, experimenter_type: Some(1), data: vec![] }),
            "inexpressible: experimenter_type",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(refused(body.clone(), Version::V1_0), expected, "{body:?}");
    }
}

#[test]
fn by_1_3() {
    let cases = [
        (flow(|f| f.importance = 1), "inexpressible: importance"),
        (flow(|f| f.flags = FlowModFlags::EMERGENCY), "inexpressible: flags"),
        (
            acting(Action::SetField { field: Field::Ipv4Id, value: 1, mask: 1 }),
            "inexpressible: set_field mask",
        ),
        (acting(Action::SetTpDst(1)), "inexpressible: set_tp_dst without ip_proto"),
        (matching(Match::any().with(Field::PacketType, 1)), "inexpressible: packet_type"),
        (matching(Match::any().with(Field::EthDst, 1 << 48)), "out_of_range: eth_dst"),
        (Body::EchoRequest(vec![0; 65_528]), "too_long: message"),
    ];
    for (body, expected) in cases {
        assert_eq!(refused(body.clone(), Version::V1_3), expected);
    }
}

fn port_mod(change: impl FnOnce(&mut PortMod)) -> Body {
    let mut request = PortMod::default();
    change(&mut request);
    Body::PortMod(request)
}

fn group(change: impl FnOnce(&mut GroupMod)) -> Body {
    let mut request = GroupMod::new(GroupModCommand::Add, GroupType::All, 1, vec![Bucket::new(0, vec![])]);
    change(&mut request);
    Body::GroupMod(request)
}

fn asking(body: RequestBody) -> Body {
    Body::MultipartRequest(MultipartRequest::new(body))
}

fn property() -> Vec<Property> {
    vec![Property::Unknown { property_type: 99, data: vec![] }]
}

/// What only 1.4 and later can say.
#[test]
fn by_1_3_of_1_4() {
    let masks =
        AsyncMasks { packet_in: Some(1), port_status: Some(1), flow_removed: Some(1), ..Default::default() };
    let config = |primary| Body::SetAsync(AsyncConfig { primary, secondary: masks, properties: vec![] });
    let table = |change: fn(&mut TableMod)| {
        let mut request = TableMod::default();
        change(&mut request);
        Body::TableMod(request)
    };
    let cases = [
        (port_mod(|p| p.optical = Some(OpticalSettings::default())), "inexpressible: optical"),
        (port_mod(|p| p.properties = property()), "inexpressible: properties"),
        (table(|t| t.config = TableConfig::EVICTION), "inexpressible: config"),
        (table(|t| t.eviction = Some(EvictionFlags::OTHER)), "inexpressible: eviction"),
        (table(|t| t.vacancy = Some(Vacancy::default())), "inexpressible: vacancy"),
        (config(AsyncMasks { role_status: Some(1), ..masks }), "inexpressible: role_status"),
        (config(AsyncMasks { packet_in: None, ..masks }), "inexpressible: packet_in"),
        (asking(RequestBody::TableDesc), "inexpressible: multipart type"),
        (
            Body::BundleControl(BundleControl::new(1, BundleControlType::OpenRequest, BundleFlags::NONE)),
            "inexpressible: message type",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(refused(body.clone(), Version::V1_3), expected, "{body:?}");
    }
}

/// What only 1.5 can say.
#[test]
fn by_1_4() {
    let trigger = Instruction::StatTrigger { flags: StatTriggerFlags::PERIODIC, thresholds: Box::default() };
    let id = OxmId::Field { field: Field::EthDst, masked: false };
    let copy = Action::CopyField { n_bits: 8, src_offset: 0, dst_offset: 8, src: id, dst: id };
    let role = Role { role: ControllerRole::Equal, generation_id: 0, short_id: 5 };
    let commit = BundleControl {
        scheduled_time: Some(BundleTime::default()),
        ..BundleControl::new(1, BundleControlType::CommitRequest, BundleFlags::NONE)
    };
    let table = |change: fn(&mut TableFeatures)| {
        let mut features = TableFeatures::default();
        change(&mut features);
        asking(RequestBody::TableFeatures(vec![features]))
    };
    let packet =
        PacketOut { match_: Match::any().with(Field::Metadata, 1), ..PacketOut::to_port(PortNo(1), vec![]) };
    let cases = [
        (flow(|f| f.instructions = vec![trigger]), "inexpressible: stat_trigger"),
        (acting(copy), "inexpressible: copy_field"),
        (acting(Action::Meter(1)), "inexpressible: meter"),
        (matching(Match::any().with(Field::PacketType, 1)), "inexpressible: packet_type"),
        (group(|g| g.buckets[0].bucket_id = Some(1)), "inexpressible: bucket_id"),
        (group(|g| g.buckets[0].properties = property()), "inexpressible: properties"),
        (group(|g| g.properties = property()), "inexpressible: properties"),
        (group(|g| g.command_bucket_id = BUCKET_LAST), "inexpressible: command_bucket_id"),
        (group(|g| g.command = GroupModCommand::RemoveBucket), "inexpressible: command"),
        (Body::RoleRequest(role), "inexpressible: short_id"),
        (Body::BundleControl(commit), "inexpressible: scheduled_time"),
        (table(|t| t.command = TableFeaturesCommand::Enable), "inexpressible: command"),
        (table(|t| t.features = TableFeatureFlags::EGRESS_TABLE), "inexpressible: features"),
        (
            table(|t| t.properties = vec![TableProperty::PacketTypes(Match::any())]),
            "inexpressible: packet_types",
        ),
        (asking(RequestBody::PortDesc(PortNo(1))), "inexpressible: PortDesc"),
        (asking(RequestBody::GroupDesc(1)), "inexpressible: GroupDesc"),
        (asking(RequestBody::ControllerStatus), "inexpressible: multipart type"),
        (Body::PacketOut(packet), "inexpressible: match_"),
        (Body::QueueGetConfigRequest(PortNo(1)), "inexpressible: message type"),
    ];
    for (body, expected) in cases {
        assert_eq!(refused(body.clone(), Version::V1_4), expected, "{body:?}");
    }
}

#[test]
fn by_1_5() {
    let within = Message::new(1, Body::BundleAddMessage(BundleAdd::new(1, BundleFlags::NONE, barrier())));
    let cases = [
        (flow(|f| f.flags = FlowModFlags::EMERGENCY), "inexpressible: flags"),
        (
            Body::BundleAddMessage(BundleAdd::new(1, BundleFlags::NONE, within)),
            "inexpressible: message within a message",
        ),
        (Body::QueueGetConfigRequest(PortNo(1)), "inexpressible: message type"),
    ];
    for (body, expected) in cases {
        assert_eq!(refused(body.clone(), Version::V1_5), expected, "{body:?}");
    }
}

fn barrier() -> Message {
    Message::new(1, Body::BarrierRequest)
}

fn there_and_back(body: Body, version: Version) -> Body {
    let mut out = Vec::new();
    encode(&Message::new(1, body), version, &mut out).expect("can be expressed");
    decode(&out).expect("can be decoded").1.body
}

/// A report is sent without what the version has no room for.
#[test]
fn reports_lose_what_a_version_lacks() {
    let port =
        Port { optical: Some(OpticalPort::default()), recirculate: vec![PortNo(1)], ..Port::default() };
    let told = |port| Body::PortStatus(PortStatus { reason: PortStatusReason::Add, port });
    assert_eq!(there_and_back(told(port.clone()), Version::V1_3), told(Port::default()));
    let without = Port { recirculate: vec![], ..port.clone() };
    assert_eq!(there_and_back(told(port.clone()), Version::V1_4), told(without));
    assert_eq!(there_and_back(told(port.clone()), Version::V1_5), told(port));
    let went = |reason| {
        Body::FlowRemoved(FlowRemoved {
            cookie: 1,
            priority: 2,
            reason,
            table_id: 0,
            duration_sec: 4,
            duration_nsec: 5,
            idle_timeout: 6,
            hard_timeout: 0,
            packet_count: 8,
            byte_count: 9,
            idle_time: None,
            match_: Match::any(),
            unknown_stats: vec![],
        })
    };
    for version in [Version::V1_0, Version::V1_3] {
        assert_eq!(
            there_and_back(went(FlowRemovedReason::Eviction), version),
            went(FlowRemovedReason::Delete)
        );
    }
    assert_eq!(
        there_and_back(went(FlowRemovedReason::Eviction), Version::V1_4),
        went(FlowRemovedReason::Eviction)
    );
}

/// 1.5 says with an action what 1.3 says with an instruction.
#[test]
fn a_meter_becomes_the_first_action_to_apply() {
    let output = Action::output(PortNo(2));
    let entry =
        |instructions: Vec<Instruction>| Body::FlowMod(FlowMod { instructions, ..FlowMod::default() });
    let old = entry(vec![
        Instruction::GotoTable(3),
        Instruction::ApplyActions(vec![output.clone()]),
        Instruction::Meter(7),
    ]);
    let new =
        entry(vec![Instruction::ApplyActions(vec![Action::Meter(7), output]), Instruction::GotoTable(3)]);
    assert_eq!(there_and_back(old.clone(), Version::V1_4), old);
    assert_eq!(there_and_back(old, Version::V1_5), new);
}

/// Buckets without numbers get those of their places, and a weight of 0 is not lost.
#[test]
fn buckets_are_numbered_by_their_places() {
    let buckets = vec![Bucket::new(0, vec![]), Bucket::new(3, vec![])];
    let request = GroupMod::new(GroupModCommand::Add, GroupType::Select, 1, buckets);
    let Body::GroupMod(group) = there_and_back(Body::GroupMod(request), Version::V1_5) else {
        panic!("a GROUP_MOD")
    };
    let told: Vec<_> = group.buckets.iter().map(|b| (b.bucket_id, b.weight)).collect();
    assert_eq!(told, [(Some(0), 0), (Some(1), 3)]);
}

#[test]
fn what_1_0_does_in_its_own_way_becomes_what_means_the_same() {
    let actions = |match_: Match, actions: Vec<Action>| {
        let mut out = Vec::new();
        let body = Body::FlowMod(FlowMod::add(1, match_, actions));
        encode(&Message::new(1, body), Version::V1_3, &mut out).expect("can be expressed");
        let Ok((_, Message { body: Body::FlowMod(flow), .. })) = decode(&out) else { panic!("a FLOW_MOD") };
        flow.instructions
    };
    let applied = |actions: Vec<Action>| vec![Instruction::ApplyActions(actions)];
    let vid = Action::set(Field::VlanVid, 0x1005);
    let tagged = Match::any().with(Field::VlanVid, 0x1001);
    assert_eq!(actions(tagged.clone(), vec![Action::SetVlanVid(5)]), applied(vec![vid.clone()]));
    assert_eq!(
        actions(tagged, vec![Action::PopVlan, Action::SetVlanVid(5)]),
        applied(vec![Action::PopVlan, Action::PushVlan(0x8100), vid.clone()])
    );
    assert_eq!(
        actions(Match::any(), vec![Action::SetVlanVid(5), Action::SetVlanPcp(2)]),
        applied(vec![Action::PushVlan(0x8100), vid, Action::set(Field::VlanPcp, 2)])
    );
    let udp = Match::any().with(Field::UdpDst, 1).with_prerequisites(|_| None);
    assert_eq!(actions(udp, vec![Action::SetTpSrc(7)]), applied(vec![Action::set(Field::UdpSrc, 7)]));
    let queued = vec![Action::Enqueue { port: PortNo(3), queue_id: 4 }];
    let output = Action::Output { port: PortNo(3), max_len: 0 };
    assert_eq!(actions(Match::any(), queued), applied(vec![Action::SetQueue(4), output]));
}
