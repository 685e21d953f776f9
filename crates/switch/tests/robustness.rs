//! What must not stop the switch: bulk, bad messages, controllers that leave or don't read.

mod common;

use common::{Bench, PATIENCE, SECOND, ports, to_port, udp_frame};
use flowgauge_channel::{Channel, Config};
use flowgauge_openflow::*;
use flowgauge_packet::Field;
use flowgauge_ports::Port;
use flowgauge_switch::{Switch, SwitchConfig, SwitchError};
use std::time::{Duration, Instant};

const BOTH: [Version; 2] = [Version::V1_0, Version::V1_3];

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
    let at = switch.controls()[0].at();
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
    let mut bench = bench;
    bench.connection.close();
    assert!(bench.connection.wait_ended(PATIENCE).is_some());
    bench.peer.connection = bench.channel.wait_connected(PATIENCE).unwrap();
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
    let at = deaf_switch.controls()[0].at();
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
