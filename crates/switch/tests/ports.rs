//! Ports: what PORT_MOD changes, what it refuses, and what controllers hear of it.

mod common;

use common::{Bench, PATIENCE, SECOND, to_port, udp_frame};
use flowgauge_datapath::QueueSetup;
use flowgauge_openflow::*;
use std::time::Duration;

const ALL: [Version; 4] = Version::ALL;
const NONE_COMES: Duration = Duration::from_millis(30);

fn ports(bench: &Bench) -> Vec<Port> {
    if bench.version == Version::V1_0 {
        match bench.ask(Body::FeaturesRequest).unwrap().remove(0) {
            Body::FeaturesReply(features) => features.ports,
            other => panic!("{other:?}"),
        }
    } else {
        match bench.statistics(RequestBody::PortDesc(PortNo::ANY)).remove(0) {
            ReplyBody::PortDesc(ports) => ports,
            other => panic!("{other:?}"),
        }
    }
}

/// A request that sets these bits of a port and clears the others.
fn set(bench: &Bench, port: u32, config: PortConfig) -> PortMod {
    let found = ports(bench).into_iter().find(|p| p.port_no == PortNo(port)).unwrap();
    let mask = PortConfig::PORT_DOWN | PortConfig::NO_RECV | PortConfig::NO_FWD | PortConfig::NO_PACKET_IN;
    PortMod { port_no: PortNo(port), hw_addr: found.hw_addr, config, mask, ..PortMod::default() }
}

fn told(bench: &Bench) -> (PortConfig, PortState) {
    match bench.next_event() {
        Body::PortStatus(PortStatus { reason: PortStatusReason::Modify, port }) => (port.config, port.state),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_port_must_not_do_it_does_not() {
    for version in ALL {
        let mut bench = Bench::listening(version, |_| {});
        let frame = udp_frame([10, 0, 0, 2], 1);
        bench.flow(to_port(2));
        for (port, config) in [
            (1, PortConfig::NO_RECV),
            (1, PortConfig::PORT_DOWN),
            (2, PortConfig::NO_FWD),
            (2, PortConfig::PORT_DOWN),
        ] {
            bench.apply(Body::PortMod(set(&bench, port, config))).unwrap();
            assert_eq!(told(&bench).0, config, "{version}");
            bench.inject(1, &frame);
            assert_eq!(bench.expect(2, NONE_COMES), None, "{version} {config:?}");
            bench.apply(Body::PortMod(set(&bench, port, PortConfig::NONE))).unwrap();
            assert_eq!(told(&bench).0, PortConfig::NONE);
            bench.inject(1, &frame);
            assert!(bench.expect(2, SECOND).is_some(), "{version} {config:?}");
        }
        bench.apply(Body::PortMod(set(&bench, 1, PortConfig::NONE))).unwrap();
        assert_eq!(bench.events(), [], "nothing has changed");
    }
}

#[test]
fn no_packet_in_is_for_what_comes_in_there() {
    let mut bench = Bench::listening(Version::V1_3, |_| {});
    let punt = Action::Output { port: PortNo::CONTROLLER, max_len: 0xffff };
    bench.flow(FlowMod::add(0, Match::any(), vec![punt]));
    bench.apply(Body::PortMod(set(&bench, 1, PortConfig::NO_PACKET_IN))).unwrap();
    assert_eq!(told(&bench).0, PortConfig::NO_PACKET_IN);
    bench.inject(1, &udp_frame([10, 0, 0, 2], 1));
    bench.inject(2, &udp_frame([10, 0, 0, 2], 1));
    let Body::PacketIn(came) = bench.next_event() else { panic!() };
    assert_eq!(came.in_port(), PortNo(2));
}

#[test]
fn spanning_tree_frames_pass_no_recv_in_1_0_only() {
    for (version, passes) in [(Version::V1_0, true), (Version::V1_3, false)] {
        let mut bench = Bench::listening(version, |_| {});
        bench.flow(to_port(2));
        bench.apply(Body::PortMod(set(&bench, 1, PortConfig::NO_RECV))).unwrap();
        let mut bpdu = udp_frame([10, 0, 0, 2], 1);
        bpdu[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, 0]);
        bench.inject(1, &bpdu);
        assert_eq!(bench.expect(2, NONE_COMES).is_some(), passes, "{version}");
    }
}

#[test]
fn refuses_with_the_codes_of_the_version() {
    for version in ALL {
        let bench = Bench::listening(version, |_| {});
        let family = if version == Version::V1_0 { 4 } else { 7 };
        let good = set(&bench, 1, PortConfig::NO_FWD);
        let refusal = |request| bench.refusal(Body::PortMod(request));
        assert_eq!(refusal(PortMod { port_no: PortNo(9), ..good.clone() }), (family, 0), "{version}");
        let other = flowgauge_packet::MacAddr::from_u64(7);
        assert_eq!(refusal(PortMod { hw_addr: other, ..good.clone() }), (family, 1), "{version}");
        if version != Version::V1_0 {
            assert_eq!(refusal(PortMod { mask: PortConfig(1 << 9), ..good.clone() }), (7, 2), "{version}");
            let odd = PortMod { advertise: PortFeatures::MB10_HALF, ..good.clone() };
            assert_eq!(refusal(odd), (7, 3), "{version}");
        }
        assert_eq!(bench.events(), []);
    }
}

#[test]
fn liveness_is_told() {
    let mut bench = Bench::listening(Version::V1_3, |_| {});
    assert!(ports(&bench).iter().all(|p| p.state == PortState::LIVE));
    bench.apply(Body::PortMod(set(&bench, 2, PortConfig::PORT_DOWN))).unwrap();
    assert_eq!(told(&bench).1, PortState::NONE);
    bench.testers.pop();
    assert_eq!(told(&bench).1, PortState::LINK_DOWN);
}

#[test]
fn fast_failover_follows_the_link() {
    let mut bench = Bench::listening(Version::V1_3, |_| {});
    let bucket =
        |port| Bucket { watch_port: PortNo(port), ..Bucket::new(0, vec![Action::output(PortNo(port))]) };
    let group = GroupMod::new(GroupModCommand::Add, GroupType::FastFailover, 1, vec![bucket(3), bucket(2)]);
    bench.apply(Body::GroupMod(group)).unwrap();
    bench.flow(FlowMod::add(1, Match::any(), vec![Action::Group(1)]));
    let frame = udp_frame([10, 0, 0, 2], 1);
    bench.inject(1, &frame);
    assert!(bench.expect(3, SECOND).is_some());
    bench.apply(Body::PortMod(set(&bench, 3, PortConfig::PORT_DOWN))).unwrap();
    bench.inject(1, &frame);
    assert!(bench.expect(2, SECOND).is_some(), "configured down");
    bench.apply(Body::PortMod(set(&bench, 3, PortConfig::NONE))).unwrap();
    bench.inject(1, &frame);
    assert!(bench.expect(3, SECOND).is_some(), "up again");
    bench.connection.take_log();
    bench.testers.pop();
    told(&bench);
    bench.inject(1, &frame);
    assert!(bench.expect(2, SECOND).is_some(), "link down");
}

#[test]
fn queues_count_and_shape() {
    for version in ALL {
        let limited = QueueSetup { max_rate: Some(1_000_000), ..QueueSetup::new(1) };
        let mut bench = Bench::listening(version, |config| {
            config.ports.iter_mut().for_each(|p| p.queues = vec![limited, QueueSetup::new(2)]);
        });
        let through = |queue_id| match version {
            Version::V1_0 => vec![Action::Enqueue { port: PortNo(2), queue_id }],
            _ => vec![Action::SetQueue(queue_id), Action::output(PortNo(2))],
        };
        bench.flow(FlowMod::add(1, Match::any(), through(2)));
        for _ in 0..10 {
            bench.inject(1, &udp_frame([10, 0, 0, 2], 1));
            assert!(bench.expect(2, PATIENCE).is_some());
        }
        let all = RequestBody::Queue { port: PortNo::ALL, queue_id: QUEUE_ALL };
        let all = if version == Version::V1_0 {
            all
        } else {
            RequestBody::Queue { port: PortNo::ANY, queue_id: QUEUE_ALL }
        };
        let ReplyBody::Queue(told) = bench.statistics(all).remove(0) else { panic!() };
        assert_eq!(told.len(), 6);
        let sent = told.iter().find(|q| (q.port_no, q.queue_id) == (PortNo(2), 2)).unwrap();
        assert_eq!((sent.tx_packets, sent.tx_bytes, sent.tx_errors), (10, 600, 0), "{version}");
        let wrong = RequestBody::Queue { port: PortNo(2), queue_id: 9 };
        let wrong = bench.ask(Body::MultipartRequest(MultipartRequest::new(wrong)));
        let family = if version == Version::V1_0 { 5 } else { 9 };
        assert_eq!(common::refusal(wrong), (family, 1), "{version}");
        // 1 Mb/s for 100 frames of 60 bytes and a burst of two large ones: most of 24 ms.
        bench.flow(FlowMod::add(2, Match::any(), through(1)));
        let start = std::time::Instant::now();
        for _ in 0..100 {
            bench.inject(1, &udp_frame([10, 0, 0, 2], 1));
        }
        for _ in 0..100 {
            assert!(bench.expect(2, PATIENCE).is_some());
        }
        let took = start.elapsed();
        assert!((10..200).contains(&took.as_millis()), "{version}: {took:?}");
    }
}

#[test]
fn queues_are_described() {
    let setup = QueueSetup { min_rate: 1_000_000_000, max_rate: Some(5_000_000_000), ..QueueSetup::new(7) };
    for version in ALL {
        let bench = Bench::listening(version, |config| {
            config.ports.iter_mut().for_each(|p| p.queues = vec![setup]);
        });
        let queues = if version < Version::V1_4 {
            match bench.ask(Body::QueueGetConfigRequest(PortNo(2))).unwrap().remove(0) {
                Body::QueueGetConfigReply(config) => config.queues,
                other => panic!("{other:?}"),
            }
        } else {
            let wanted = RequestBody::QueueDesc { port: PortNo(2), queue_id: QUEUE_ALL };
            match bench.statistics(wanted).remove(0) {
                ReplyBody::QueueDesc(queues) => queues,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(queues.iter().map(|q| q.queue_id).collect::<Vec<_>>(), [7], "{version}");
        assert!(queues[0].properties.contains(&QueueProperty::MinRate(100)), "{version}: {queues:?}");
    }
}
