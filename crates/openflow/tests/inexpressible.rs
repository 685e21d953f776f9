//! What a version can't express is an error that names the field, and leaves the buffer as it was.

use flowgauge_openflow::*;
use flowgauge_packet::Field;

fn refused(body: Body, version: Version) -> String {
    let mut out = vec![1, 2, 3];
    let error = encode(&Message::new(1, body), version, &mut out).expect_err("not to be expressed");
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
        (flow(|f| f.table_id = 1), "inexpressible: table_id"),
        (flow(|f| f.cookie_mask = 1), "inexpressible: cookie_mask"),
        (flow(|f| f.out_group = 1), "inexpressible: out_group"),
        (flow(|f| f.importance = 1), "inexpressible: importance"),
        (flow(|f| f.flags = FlowModFlags::RESET_COUNTS), "inexpressible: flags"),
        (flow(|f| f.flags = FlowModFlags(1 << 20)), "out_of_range: flags"),
        (flow(|f| f.out_port = PortNo(0x10000)), "out_of_range: out_port"),
        (flow(|f| f.instructions = vec![Instruction::GotoTable(1)]), "inexpressible: instructions"),
        (acting(Action::Group(1)), "inexpressible: group"),
        (acting(Action::PushVlan(0x8100)), "inexpressible: push_vlan"),
        (acting(Action::set(Field::Ipv6Dst, 1)), "inexpressible: ipv6_dst"),
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
            Body::MultipartRequest(MultipartRequest::new(RequestBody::PortDesc)),
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
            acting(Action::SetField { field: Field::EthDst, value: 1, mask: 1 }),
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
    assert_eq!(refused(Body::BarrierRequest, Version::V1_4), "unsupported_version: -");
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
