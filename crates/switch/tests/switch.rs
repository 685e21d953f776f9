//! The switch as controllers and stations see it, in both versions.

mod common;

use common::{Bench, PATIENCE, SECOND, ports, udp_frame};
use flowgauge_channel::{Address, Channel, Config};
use flowgauge_openflow::*;
use flowgauge_packet::Field;
use flowgauge_ports::Port;
use flowgauge_switch::{Switch, SwitchConfig, SwitchError};
use std::time::{Duration, Instant};

const BOTH: [Version; 2] = [Version::V1_0, Version::V1_3];
const NONE_COMES: Duration = Duration::from_millis(30);

fn to_port(port: u32) -> FlowMod {
    let m = Match::any().with(Field::InPort, 1);
    FlowMod::add(100, m, vec![Action::output(PortNo(port))])
}

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
        let Ok([Body::FeaturesReply(features)]) = bench.ask(Body::FeaturesRequest).as_deref().cloned_array()
        else {
            panic!("no features")
        };
        let ports = match version {
            Version::V1_0 => features.ports,
            _ => match bench.statistics(RequestBody::PortDesc).remove(0) {
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

/// `Ok(&[x])` as `Ok([x])`, to match on.
trait ClonedArray<E> {
    fn cloned_array(self) -> Result<[Body; 1], E>;
}

impl<E> ClonedArray<E> for Result<&[Body], E> {
    fn cloned_array(self) -> Result<[Body; 1], E> {
        self.map(|bodies| [bodies[0].clone()])
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
        assert_eq!((told.total_len, told.data.len(), told.buffer_id), (60, 20, None), "{version}");
    }
}

#[test]
fn a_miss_goes_to_the_controller_in_1_0_only() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        let config = SwitchConfigMessage { fragments: FragmentHandling::Normal, miss_send_len: 40 };
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

use flowgauge_openflow::SwitchConfig as SwitchConfigMessage;

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
        let sum = AggregateStats { packet_count: 10, byte_count: 600, flow_count: 1 };
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
        assert!((950..1500).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
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
fn malformed_messages_are_answered_and_survived() {
    for version in BOTH {
        let bench = Bench::new(version);
        let good = bench.encode(0, Body::FlowMod(to_port(2)));
        let mut cut = good[..good.len() - 4].to_vec();
        let length = cut.len() as u16;
        cut[2..4].copy_from_slice(&length.to_be_bytes());
        let result = bench.connection.apply_raw(&mut [cut], PATIENCE);
        let (kind, _) = common::refusal(result);
        assert!([1, 2, 3, 4].contains(&kind), "{version}: type {kind}");
        bench.flow(to_port(2));
    }
}

#[test]
fn grants_roles() {
    let bench = Bench::new(Version::V1_3);
    let wanted = Role { role: ControllerRole::Primary, generation_id: 1 };
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
    let Ok(mut replies) = bench.ask(Body::FeaturesRequest) else { panic!() };
    let Body::FeaturesReply(features) = replies.remove(0) else { panic!() };
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

#[test]
fn a_hundred_thousand_flow_mods_do_not_hold_frames_up() {
    const ENTRIES: u32 = 100_000;
    let mut bench = Bench::new(Version::V1_3);
    bench.flow(FlowMod { priority: 1, ..to_port(2) });
    let mut stream = Vec::new();
    for host in 0..ENTRIES {
        let m = Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, (0x0b00_0000 + host).into());
        let request = Message::new(host, Body::FlowMod(FlowMod::add(50, m, vec![Action::output(PortNo(3))])));
        encode(&request, bench.version, &mut stream).unwrap();
    }
    let barrier = bench.connection.reserve_xids(1);
    encode(&Message::new(barrier, Body::BarrierRequest), bench.version, &mut stream).unwrap();
    bench.connection.send_chunk(stream).unwrap();
    let (start, mut forwarded, mut worst) = (Instant::now(), 0, Duration::ZERO);
    let is_done = |c: &flowgauge_channel::Connection| c.received(21) > 1;
    while !is_done(&bench.connection) && start.elapsed() < 4 * PATIENCE {
        let sent = Instant::now();
        bench.inject(1, &udp_frame([10, 0, 0, 2], 53));
        assert!(bench.expect(2, PATIENCE).is_some());
        worst = worst.max(sent.elapsed());
        forwarded += 1;
    }
    println!("{forwarded} frames forwarded in {:?}, the slowest in {worst:?}", start.elapsed());
    let all = RequestBody::Aggregate(FlowStatsRequest::default());
    let ReplyBody::Aggregate(sum) = bench.statistics(all).remove(0) else { panic!() };
    assert_eq!(sum.flow_count, ENTRIES + 1, "the barrier was answered after all of them");
    assert!(forwarded > 10, "only {forwarded}");
    let told = bench.statistics(RequestBody::Flow(FlowStatsRequest::default()));
    let lengths = told.iter().map(|part| match part {
        ReplyBody::Flow(entries) => entries.len() as u32,
        other => panic!("{other:?}"),
    });
    assert_eq!(lengths.sum::<u32>(), ENTRIES + 1);
    bench.flow(FlowMod::delete_all());
    let told = bench.statistics(RequestBody::Aggregate(FlowStatsRequest::default()));
    assert_eq!(told, [ReplyBody::Aggregate(AggregateStats::default())]);
}

#[test]
fn packet_ins_that_nobody_reads_are_dropped_and_counted() {
    use std::io::{Read, Write};
    let (ports, mut far) = ports(1);
    let listening = "ptcp:0:127.0.0.1".parse().unwrap();
    let switch = Switch::start(SwitchConfig::new(2, ports, listening)).unwrap();
    let Address::Listen(at) = switch.control() else { panic!("it listens") };
    let mut deaf = std::net::TcpStream::connect(at).unwrap();
    deaf.write_all(&[1, 0, 0, 8, 0, 0, 0, 1]).unwrap();
    deaf.read_exact(&mut [0; 8]).unwrap();
    // In 1.0 every miss is a PACKET_IN.
    let (frame, start) = (udp_frame([10, 0, 0, 2], 53), Instant::now());
    let mut burst = flowgauge_ports::Burst::new();
    while switch.packet_ins_dropped() == 0 && start.elapsed() < 4 * PATIENCE {
        far[0].alloc(&mut burst, 64);
        for slot in burst.iter_mut() {
            slot.set_len(frame.len());
            slot.bytes_mut().copy_from_slice(&frame);
        }
        far[0].tx(&mut burst).unwrap();
        std::thread::yield_now();
    }
    assert!(switch.packet_ins_dropped() > 0);
}

#[test]
fn forwards_without_a_controller_and_takes_the_next() {
    let bench = Bench::new(Version::V1_3);
    bench.flow(to_port(2));
    let Bench { switch, testers, connection, version, channel } = bench;
    connection.close();
    assert!(connection.wait_ended(PATIENCE).is_some());
    let connection = channel.wait_connected(PATIENCE).unwrap();
    let mut bench = Bench { switch, testers, connection, version, channel };
    bench.inject(1, &udp_frame([10, 0, 0, 2], 53));
    assert!(bench.expect(2, SECOND).is_some(), "entries outlive the connection");
    assert!(bench.ask(Body::FeaturesRequest).is_ok());
}

#[test]
fn a_controller_that_does_not_read_stalls_nothing() {
    use std::io::{Read, Write};
    let mut bench = Bench::new(Version::V1_3);
    bench.flow(to_port(2));
    // A second, deaf controller asks for a lot and reads nothing of it.
    let (ports, _far) = ports(1);
    let control = "ptcp:0:127.0.0.1".parse().unwrap();
    let deaf_switch = Switch::start(SwitchConfig::new(2, ports, control)).unwrap();
    let Address::Listen(at) = deaf_switch.control() else { panic!() };
    let mut deaf = std::net::TcpStream::connect(at).unwrap();
    deaf.write_all(&[4, 0, 0, 8, 0, 0, 0, 1]).unwrap();
    deaf.read_exact(&mut [0; 8]).unwrap();
    deaf.set_nonblocking(true).unwrap();
    let table_features = [4, 18, 0, 16, 0, 0, 0, 2, 0, 12, 0, 0, 0, 0, 0, 0];
    for _ in 0..2000 {
        if deaf.write(&table_features).is_err() {
            break;
        }
    }
    let version = flowgauge_channel::Versions::new(&[4]).unwrap();
    let other = Channel::connect(at, Config { versions: version, ..Config::controller() }).unwrap();
    let connection = other.wait_connected(PATIENCE).unwrap();
    assert!(connection.barrier(PATIENCE).is_ok(), "the other controller is served");
    bench.inject(1, &udp_frame([10, 0, 0, 2], 53));
    assert!(bench.expect(2, SECOND).is_some());
}

#[test]
fn stopping_gives_ports_back_that_work() {
    let bench = Bench::new(Version::V1_3);
    let mut ports = bench.switch.stop();
    assert_eq!(ports.iter().map(|p| p.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(ports[0].port.stats().link_up);
    let again = SwitchConfig::new(1, ports, "ptcp:0:127.0.0.1".parse().unwrap());
    drop(Switch::start(again).unwrap());
    let (ports, _far) = common::ports(2);
    let mut twice = SwitchConfig::new(1, ports, "ptcp:0:127.0.0.1".parse().unwrap());
    twice.ports[1].number = 1;
    assert!(matches!(Switch::start(twice), Err(SwitchError::PortNumber { number: 1, .. })));
}
