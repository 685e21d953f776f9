//! Bundles: several requests that take effect together, or not at all.

mod common;

use common::{Bench, PATIENCE, to_port, udp_frame};
use flowgauge_channel::ChannelError;
use flowgauge_openflow::*;
use flowgauge_packet::Field;

const VERSIONS: [Version; 2] = [Version::V1_4, Version::V1_5];
const FLAGS: BundleFlags = BundleFlags(3);

fn control(bench: &Bench, control_type: BundleControlType) -> Result<Vec<Body>, ChannelError> {
    bench.ask(Body::BundleControl(BundleControl::new(1, control_type, FLAGS)))
}

/// Opens a bundle and adds requests, whose xids are 100 and up.
fn fill(bench: &Bench, requests: impl IntoIterator<Item = Body>) {
    let reply = control(bench, BundleControlType::OpenRequest).unwrap().remove(0);
    assert!(matches!(reply, Body::BundleControl(c) if c.control_type == BundleControlType::OpenReply));
    for (xid, body) in (100..).zip(requests) {
        let add = BundleAdd::new(1, FLAGS, Message::new(xid, body));
        bench.connection.send_raw(&bench.encode(xid, Body::BundleAddMessage(add))).unwrap();
    }
    assert_eq!(bench.events(), []);
}

fn flows(bench: &Bench) -> Vec<FlowStats> {
    let told = bench.statistics(RequestBody::Flow(FlowStatsRequest::default()));
    let entries = told.into_iter().flat_map(|part| match part {
        ReplyBody::Flow(entries) => entries,
        other => panic!("{other:?}"),
    });
    let plain = |e| FlowStats { duration_sec: 0, duration_nsec: 0, idle_time: None, ..e };
    let mut all: Vec<_> = entries.map(plain).collect();
    all.sort_by_key(|e| e.priority);
    all
}

fn refused(result: Result<Vec<Body>, ChannelError>) -> (u16, u16) {
    common::refusal(result)
}

#[test]
fn a_committed_bundle_is_done_as_a_whole() {
    for version in VERSIONS {
        let mut bench = Bench::listening(version, |_| {});
        fill(&bench, (1..=50).map(|priority| Body::FlowMod(FlowMod { priority, ..to_port(2) })));
        assert_eq!(flows(&bench), [], "{version}: nothing before the commit");
        control(&bench, BundleControlType::CloseRequest).unwrap();
        let done = control(&bench, BundleControlType::CommitRequest).unwrap().remove(0);
        assert!(matches!(done, Body::BundleControl(c) if c.control_type == BundleControlType::CommitReply));
        assert_eq!(flows(&bench).len(), 50);
        bench.inject(1, &udp_frame([10, 0, 0, 2], 1));
        assert!(bench.expect(2, PATIENCE).is_some());
        assert_eq!(refused(control(&bench, BundleControlType::CommitRequest)), (17, 2), "it is gone");
    }
}

/// A PORT_MOD that stops port 1 from sending.
fn stop_port_1(bench: &Bench) -> Body {
    let ReplyBody::PortDesc(ports) = bench.statistics(RequestBody::PortDesc(PortNo::ANY)).remove(0) else {
        panic!("no ports")
    };
    Body::PortMod(PortMod {
        port_no: PortNo(1),
        hw_addr: ports[0].hw_addr,
        config: PortConfig::NO_FWD,
        mask: PortConfig::NO_FWD,
        ..PortMod::default()
    })
}

fn group(command: GroupModCommand, group_id: u32, port: u32) -> Body {
    let buckets = vec![Bucket::new(0, vec![Action::output(PortNo(port))])];
    let buckets = if command == GroupModCommand::Delete { vec![] } else { buckets };
    Body::GroupMod(GroupMod::new(command, GroupType::Indirect, group_id, buckets))
}

fn meter(command: MeterModCommand, meter_id: u32, rate: u32) -> Body {
    let bands = vec![Band::Drop { rate, burst_size: 0 }];
    let bands = if command == MeterModCommand::Delete { vec![] } else { bands };
    Body::MeterMod(MeterMod { command, flags: MeterFlags::PKTPS, meter_id, bands })
}

/// Everything that a bundle may change.
fn state(bench: &Bench) -> (Vec<FlowStats>, Vec<Vec<ReplyBody>>) {
    let told = [
        RequestBody::GroupDesc(GROUP_ALL),
        RequestBody::MeterConfig(METER_ALL),
        RequestBody::PortDesc(PortNo::ANY),
        RequestBody::TableDesc,
    ];
    (flows(bench), told.map(|body| bench.statistics(body)).into())
}

#[test]
fn a_bundle_that_fails_leaves_no_trace() {
    for version in VERSIONS {
        let bench = Bench::listening(version, |_| {});
        let timed = FlowMod { idle_timeout: 60, flags: FlowModFlags::SEND_FLOW_REM, cookie: 1, ..to_port(2) };
        bench.flow(FlowMod { priority: 1, ..timed.clone() });
        bench.flow(FlowMod { priority: 2, ..timed.clone() });
        bench.flow(FlowMod { priority: 3, table_id: 4, ..timed.clone() });
        bench.apply(group(GroupModCommand::Add, 5, 2)).unwrap();
        bench.apply(meter(MeterModCommand::Add, 9, 10)).unwrap();
        let to_group = vec![Instruction::ApplyActions(vec![Action::Group(5)])];
        bench.flow(FlowMod { priority: 4, instructions: to_group, ..timed });
        let before = state(&bench);
        let flow = |priority| FlowMod { priority, ..to_port(3) };
        let unsound = FlowMod { match_: Match::any().with(Field::UdpDst, 53), ..flow(12) };
        let requests = [
            Body::FlowMod(flow(10)),
            Body::FlowMod(FlowMod { cookie: 2, ..flow(1) }),
            Body::FlowMod(FlowMod { command: FlowModCommand::Modify, ..to_port(1) }),
            Body::FlowMod(FlowMod { command: FlowModCommand::DeleteStrict, ..flow(2) }),
            group(GroupModCommand::Modify, 5, 3),
            meter(MeterModCommand::Modify, 9, 99),
            group(GroupModCommand::Add, 6, 1),
            group(GroupModCommand::Delete, GROUP_ALL, 0),
            meter(MeterModCommand::Delete, METER_ALL, 0),
            stop_port_1(&bench),
            Body::TableMod(TableMod { table_id: 1, config: TableConfig::EVICTION, ..TableMod::default() }),
            Body::FlowMod(FlowMod::delete_all()),
            Body::FlowMod(flow(11)),
            Body::FlowMod(unsound),
        ];
        fill(&bench, requests);
        assert_eq!(refused(control(&bench, BundleControlType::CommitRequest)), (17, 13), "{version}");
        let errors = bench.events();
        let [Body::Error(error)] = errors.as_slice() else { panic!("{version}: {errors:?}") };
        assert_eq!(
            (error.code, error.data[1]),
            (ErrorCode::MatchBadPrerequisite, 14),
            "the FLOW_MOD is quoted"
        );
        assert_eq!(state(&bench), before, "{version}");
        bench.apply(stop_port_1(&bench)).unwrap();
        assert!(matches!(bench.next_event(), Body::PortStatus(_)));
        bench.flow(FlowMod::delete_all());
        assert_eq!(bench.events().len(), 4, "each entry that was restored tells its end");
    }
}

#[test]
fn the_errors_of_the_specification() {
    let bench = Bench::listening(Version::V1_4, |_| {});
    assert_eq!(refused(control(&bench, BundleControlType::CloseRequest)), (17, 2));
    assert_eq!(refused(control(&bench, BundleControlType::DiscardRequest)), (17, 2));
    assert_eq!(refused(control(&bench, BundleControlType::OpenReply)), (17, 6));
    control(&bench, BundleControlType::OpenRequest).unwrap();
    let other = BundleControl::new(1, BundleControlType::CommitRequest, BundleFlags::ATOMIC);
    assert_eq!(refused(bench.ask(Body::BundleControl(other))), (17, 7));
    let odd = BundleControl::new(1, BundleControlType::OpenRequest, BundleFlags(0x80));
    assert_eq!(refused(bench.ask(Body::BundleControl(odd))), (17, 7));
    fill(&bench, []);
    control(&bench, BundleControlType::CloseRequest).unwrap();
    assert_eq!(refused(control(&bench, BundleControlType::CloseRequest)), (17, 4));
    control(&bench, BundleControlType::DiscardRequest).unwrap();
}
