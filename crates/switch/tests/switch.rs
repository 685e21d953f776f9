//! The switch as controllers and stations see it, in both versions.

mod common;

use common::{Bench, SECOND, to_port, udp_frame};
use flowgauge_openflow::*;
use flowgauge_packet::Field;
use std::time::{Duration, Instant};

const BOTH: [Version; 2] = [Version::V1_0, Version::V1_3];
const NONE_COMES: Duration = Duration::from_millis(30);

fn to_controller(max_len: u16) -> FlowMod {
    FlowMod::add(100, Match::any(), vec![Action::Output { port: PortNo::CONTROLLER, max_len }])
}

#[test]
fn forwards_as_entries_say() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        let frame = udp_frame([10, 0, 0, 2], 53);
        bench.flow(to_port(2));
        bench.inject(1, &frame);
        assert_eq!(bench.expect(2, SECOND), Some(frame.clone()), "{version}");
        bench.flow(FlowMod { command: FlowModCommand::Modify, ..to_port(3) });
        bench.inject(1, &frame);
        assert_eq!(bench.expect(3, SECOND), Some(frame.clone()), "{version}");
        bench.flow(FlowMod::delete_all());
        bench.inject(1, &frame);
        assert_eq!(bench.expect(3, NONE_COMES), None, "{version}");
    }
}

#[test]
fn tells_its_features_description_and_ports() {
    for version in BOTH {
        let bench = Bench::new(version);
        assert_eq!(bench.connection.datapath_id(), Some(0x1234));
        let Body::FeaturesReply(features) = bench.ask(Body::FeaturesRequest).unwrap().remove(0) else {
            panic!("no features")
        };
        let ports = match version {
            Version::V1_0 => features.ports,
            _ => match bench.statistics(RequestBody::PortDesc(PortNo::ANY)).remove(0) {
                ReplyBody::PortDesc(ports) => ports,
                other => panic!("{other:?}"),
            },
        };
        let told: Vec<_> = ports.iter().map(|p| (p.port_no.0, p.name.as_str())).collect();
        assert_eq!(told, [(1, "p1"), (2, "p2"), (3, "p3")], "{version}");
        let ReplyBody::Desc(desc) = bench.statistics(RequestBody::Desc).remove(0) else { panic!() };
        assert_eq!(desc.mfr_desc, "Flowgauge");
    }
}

#[test]
fn packet_in_tells_port_reason_and_length() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        bench.flow(to_controller(20));
        bench.inject(2, &udp_frame([10, 0, 0, 2], 53));
        let Body::PacketIn(told) = bench.next_event() else { panic!("no PACKET_IN") };
        assert_eq!((told.in_port(), told.reason), (PortNo(2), PacketInReason::Action), "{version}");
        assert_eq!((told.total_len, told.data.len()), (60, 20), "{version}");
        assert!(told.buffer_id.is_some(), "what is cut is kept");
    }
}

#[test]
fn a_miss_goes_to_the_controller_in_1_0_only() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        let config =
            flowgauge_openflow::SwitchConfig { fragments: FragmentHandling::Normal, miss_send_len: 40 };
        bench.apply(Body::SetConfig(config)).unwrap();
        assert_eq!(bench.ask(Body::GetConfigRequest).unwrap(), [Body::GetConfigReply(config)]);
        bench.inject(1, &udp_frame([10, 0, 0, 2], 53));
        if version == Version::V1_0 {
            let Body::PacketIn(told) = bench.next_event() else { panic!("no PACKET_IN") };
            assert_eq!((told.reason, told.data.len()), (PacketInReason::NoMatch, 40));
        } else {
            assert!(!bench.connection.wait_log(NONE_COMES));
            bench.flow(FlowMod { priority: 0, ..to_controller(Action::NO_BUFFER) });
            bench.inject(1, &udp_frame([10, 0, 0, 2], 53));
            let Body::PacketIn(told) = bench.next_event() else { panic!("no PACKET_IN") };
            assert_eq!((told.reason, told.data.len()), (PacketInReason::NoMatch, 60));
        }
    }
}

#[test]
fn packet_out_leaves_before_the_barrier_is_answered() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        let frame = udp_frame([10, 0, 0, 2], 53);
        bench.apply(Body::PacketOut(PacketOut::to_port(PortNo(3), frame.clone()))).unwrap();
        assert_eq!(bench.expect(3, Duration::from_millis(1)), Some(frame.clone()), "{version}");
        bench.flow(to_port(2));
        let through_tables = PacketOut {
            in_port: PortNo(1),
            actions: vec![Action::output(PortNo::TABLE)],
            ..PacketOut::to_port(PortNo(1), frame.clone())
        };
        bench.apply(Body::PacketOut(through_tables)).unwrap();
        assert_eq!(bench.expect(2, SECOND), Some(frame), "{version}");
    }
}

#[test]
fn statistics_count_every_frame() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        bench.flow(FlowMod { cookie: 9, ..to_port(2) });
        for _ in 0..10 {
            bench.inject(1, &udp_frame([10, 0, 0, 2], 53));
            assert!(bench.expect(2, SECOND).is_some());
        }
        let all = FlowStatsRequest::default();
        let ReplyBody::Flow(flows) = bench.statistics(RequestBody::Flow(all.clone())).remove(0) else {
            panic!()
        };
        assert_eq!(flows.len(), 1);
        assert_eq!((flows[0].packet_count, flows[0].byte_count, flows[0].cookie), (10, 600, 9), "{version}");
        assert_eq!(flows[0].instructions, to_port(2).instructions);
        let sum =
            AggregateStats { packet_count: 10, byte_count: 600, flow_count: 1, ..AggregateStats::default() };
        assert_eq!(bench.statistics(RequestBody::Aggregate(all)), [ReplyBody::Aggregate(sum)]);
        let ReplyBody::Table(tables) = bench.statistics(RequestBody::Table).remove(0) else { panic!() };
        let first = &tables[0];
        assert_eq!((first.active_count, first.lookup_count, first.matched_count), (1, 10, 10));
        let counts = |port| match bench.statistics(RequestBody::PortStats(PortNo(port))).remove(0) {
            ReplyBody::PortStats(stats) => {
                (stats[0].rx_packets, stats[0].rx_bytes, stats[0].tx_packets, stats[0].tx_bytes)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!((counts(1), counts(2)), ((10, 600, 0, 0), (0, 0, 10, 600)), "{version}");
    }
}

#[test]
fn entries_time_out_and_say_so() {
    for version in BOTH {
        let bench = Bench::new(version);
        let flags = FlowModFlags::SEND_FLOW_REM;
        let start = Instant::now();
        bench.flow(FlowMod { hard_timeout: 1, flags, cookie: 5, ..to_port(2) });
        let Body::FlowRemoved(told) = bench.next_event() else { panic!("no FLOW_REMOVED") };
        assert_eq!((told.reason, told.cookie), (FlowRemovedReason::HardTimeout, 5), "{version}");
        assert!((1000..3000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        bench.flow(FlowMod { flags, ..to_port(2) });
        bench.flow(FlowMod::delete_all());
        let Body::FlowRemoved(told) = bench.next_event() else { panic!("no FLOW_REMOVED") };
        assert_eq!(told.reason, FlowRemovedReason::Delete, "{version}");
    }
}

#[test]
fn refuses_with_the_codes_of_the_version() {
    let bench = |version| Bench::with(version, |config| config.limits.entries = 2);
    let (old, new) = (bench(Version::V1_0), bench(Version::V1_3));
    let check = |body: &dyn Fn() -> Body, in_1_0, in_1_3| {
        assert_eq!((old.refusal(body()), new.refusal(body())), (in_1_0, in_1_3), "{:?}", body());
    };
    old.flow(to_port(2));
    new.flow(to_port(2));
    let overlapping = FlowMod { flags: FlowModFlags::CHECK_OVERLAP, ..to_controller(0) };
    check(&|| Body::FlowMod(overlapping.clone()), (3, 1), (5, 3));
    check(&|| Body::FlowMod(to_port(0)), (2, 4), (2, 4));
    let unknown_command = FlowMod { command: FlowModCommand::Unknown(9), ..to_port(2) };
    check(&|| Body::FlowMod(unknown_command.clone()), (3, 4), (5, 6));
    check(&|| Body::Unknown { message_type: 33, data: vec![] }, (1, 1), (1, 1));
    let buffered = PacketOut { buffer_id: Some(7), ..PacketOut::to_port(PortNo(1), vec![]) };
    check(&|| Body::PacketOut(buffered.clone()), (1, 8), (1, 8));
    old.flow(FlowMod { priority: 101, ..to_port(2) });
    new.flow(FlowMod { priority: 101, ..to_port(2) });
    check(&|| Body::FlowMod(FlowMod { priority: 102, ..to_port(2) }), (3, 0), (5, 1));
    // What only 1.3 can ask for.
    assert_eq!(new.refusal(Body::FlowMod(FlowMod { table_id: 0xff, ..to_port(2) })), (5, 2));
    let without_prerequisite = Match::any().with(Field::UdpDst, 53);
    assert_eq!(new.refusal(Body::FlowMod(FlowMod::add(1, without_prerequisite, vec![]))), (4, 9));
    assert_eq!(new.refusal(Body::FlowMod(FlowMod::add(1, Match::any(), vec![Action::Group(1)]))), (2, 9));
    let backwards = FlowMod { instructions: vec![Instruction::GotoTable(0)], ..to_port(2) };
    assert_eq!(new.refusal(Body::FlowMod(backwards)), (3, 2));
}

#[test]
fn grants_roles() {
    let bench = Bench::new(Version::V1_3);
    let wanted = Role { role: ControllerRole::Primary, generation_id: 1, short_id: 0 };
    assert_eq!(bench.ask(Body::RoleRequest(wanted)).unwrap(), [Body::RoleReply(wanted)]);
}

#[test]
fn a_port_that_goes_down_is_announced() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        drop(bench.testers.pop());
        let Body::PortStatus(told) = bench.next_event() else { panic!("no PORT_STATUS") };
        assert_eq!((told.reason, told.port.port_no), (PortStatusReason::Modify, PortNo(3)));
        assert!(told.port.state.contains(PortState::LINK_DOWN), "{version}");
    }
}

#[test]
fn port_mod_takes_ports_out_of_floods() {
    let mut bench = Bench::new(Version::V1_0);
    let Body::FeaturesReply(features) = bench.ask(Body::FeaturesRequest).unwrap().remove(0) else {
        panic!("no features")
    };
    let no_flood = PortMod {
        port_no: PortNo(2),
        hw_addr: features.ports[1].hw_addr,
        config: PortConfig::NO_FLOOD,
        mask: PortConfig::NO_FLOOD,
        ..PortMod::default()
    };
    bench.apply(Body::PortMod(no_flood.clone())).unwrap();
    bench.flow(FlowMod::add(1, Match::any(), vec![Action::output(PortNo::FLOOD)]));
    bench.inject(1, &udp_frame([10, 0, 0, 2], 53));
    assert!(bench.expect(3, SECOND).is_some());
    assert_eq!(bench.drain(2), 0);
    let wrong = PortMod { port_no: PortNo(9), ..no_flood };
    assert_eq!(bench.refusal(Body::PortMod(wrong)), (4, 0));
}
