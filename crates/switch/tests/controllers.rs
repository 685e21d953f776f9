//! Several controllers: roles, who may change what, who hears what, and what happens without any.

mod common;

use common::{Bench, PATIENCE, Peer, SECOND, refusal, to_port, udp_frame};
use flowgauge_openflow::*;
use flowgauge_switch::{Event, FailMode};
use std::time::{Duration, Instant};

const SINCE_1_3: [Version; 3] = [Version::V1_3, Version::V1_4, Version::V1_5];

fn role(peer: &Peer, role: ControllerRole, generation_id: u64) -> Result<Role, (u16, u16)> {
    match peer.ask(Body::RoleRequest(Role { role, generation_id, short_id: 0 })) {
        Ok(replies) => match replies.as_slice() {
            [Body::RoleReply(told)] => Ok(*told),
            other => panic!("{other:?}"),
        },
        error => Err(refusal(error)),
    }
}

#[test]
fn there_is_one_primary_and_its_successor_replaces_it() {
    for version in SINCE_1_3 {
        let first = Bench::listening(version, |_| {});
        let second = first.join(version);
        let unknown = role(&first, ControllerRole::NoChange, 0).unwrap();
        assert_eq!((unknown.role, unknown.generation_id), (ControllerRole::Equal, u64::MAX), "{version}");
        assert_eq!(role(&first, ControllerRole::Primary, 7).unwrap().generation_id, 7);
        assert_eq!(role(&second, ControllerRole::Primary, 8).unwrap().role, ControllerRole::Primary);
        let told = role(&first, ControllerRole::NoChange, 0).unwrap();
        assert_eq!((told.role, told.generation_id), (ControllerRole::Secondary, 8), "{version}");
        let status: Vec<Body> = first.events();
        if version >= Version::V1_4 {
            let [Body::RoleStatus(status)] = status.as_slice() else { panic!("{status:?}") };
            assert_eq!(status.role, ControllerRole::Secondary);
            assert_eq!((status.reason, status.generation_id), (RoleReason::PrimaryRequest, 8));
        } else {
            assert_eq!(status, []);
        }
        assert_eq!(role(&first, ControllerRole::Secondary, 7), Err((11, 0)), "stale");
        assert_eq!(role(&first, ControllerRole::Unknown(9), 9), Err((11, 2)), "no such role");
        assert!(role(&first, ControllerRole::Equal, 0).is_ok(), "needs no election");
    }
}

#[test]
fn a_secondary_controller_reads_and_changes_nothing() {
    for version in SINCE_1_3 {
        let first = Bench::listening(version, |_| {});
        let second = first.join(version);
        role(&second, ControllerRole::Secondary, 1).unwrap();
        let is_secondary = (1, 10);
        assert_eq!(second.refusal(Body::FlowMod(to_port(2))), is_secondary, "{version}");
        let packet = PacketOut::to_port(PortNo(1), udp_frame([10, 0, 0, 2], 1));
        assert_eq!(second.refusal(Body::PacketOut(packet)), is_secondary);
        assert_eq!(second.refusal(Body::PortMod(PortMod::default())), is_secondary);
        assert_eq!(second.refusal(Body::TableMod(TableMod::default())), is_secondary);
        first.flow(to_port(2));
        let told = second.statistics(RequestBody::Aggregate(FlowStatsRequest::default()));
        assert!(matches!(&told[..], [ReplyBody::Aggregate(sum)] if sum.flow_count == 1));
    }
}

#[test]
fn a_secondary_controller_hears_of_ports_and_of_what_it_asks_for() {
    let mut first = Bench::listening(Version::V1_3, |_| {});
    let second = first.join(Version::V1_3);
    role(&second, ControllerRole::Secondary, 1).unwrap();
    let punt =
        FlowMod::add(1, Match::any(), vec![Action::Output { port: PortNo::CONTROLLER, max_len: 0xffff }]);
    first.flow(FlowMod { flags: FlowModFlags::SEND_FLOW_REM, ..punt });
    first.inject(1, &udp_frame([10, 0, 0, 2], 1));
    assert!(matches!(first.next_event(), Body::PacketIn(_)));
    assert_eq!(second.events(), [], "no PACKET_IN");
    let Body::GetAsyncReply(mut wanted) = second.ask(Body::GetAsyncRequest).unwrap().remove(0) else {
        panic!()
    };
    assert_eq!(wanted.secondary.packet_in, Some(0));
    wanted.secondary.packet_in = Some(0b010);
    second.apply(Body::SetAsync(wanted)).unwrap();
    first.inject(1, &udp_frame([10, 0, 0, 2], 1));
    assert!(matches!(second.next_event(), Body::PacketIn(_)));
    first.flow(FlowMod::delete_all());
    assert!(matches!(first.events()[..], [Body::PacketIn(_), Body::FlowRemoved(_)]));
    assert_eq!(second.events(), [], "no FLOW_REMOVED");
    first.testers.pop();
    assert!(matches!(second.next_event(), Body::PortStatus(_)));
}

#[test]
fn controllers_of_different_versions_live_together() {
    let old = Bench::listening(Version::V1_0, |_| {});
    let new = old.join(Version::V1_3);
    let only_new = FlowMod {
        instructions: vec![Instruction::GotoTable(3)],
        flags: FlowModFlags::SEND_FLOW_REM,
        ..to_port(2)
    };
    new.flow(only_new);
    old.flow(FlowMod { priority: 7, ..to_port(3) });
    let flows = |peer: &Peer| match peer.statistics(RequestBody::Flow(FlowStatsRequest::default())).remove(0)
    {
        ReplyBody::Flow(entries) => entries.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!((flows(&old), flows(&new)), (1, 2), "1.0 has no words for the other");
    new.flow(FlowMod::delete_all());
    assert!(matches!(new.events()[..], [Body::FlowRemoved(_)]));
    assert!(matches!(old.events()[..], [Body::FlowRemoved(_)]));
}

#[test]
fn what_a_controller_asked_for_is_done_though_it_is_gone() {
    let bench = Bench::listening(Version::V1_3, |_| {});
    for host in 0..1000 {
        let hasty = bench.join(Version::V1_3);
        if host % 100 != 0 {
            continue;
        }
        let mut stream = Vec::new();
        for number in 0..100 {
            let request = FlowMod { priority: number, cookie: host, ..to_port(2) };
            stream.extend(hasty.encode(
                u32::from(number),
                Body::FlowMod(FlowMod {
                    match_: Match::any().with(flowgauge_packet::Field::InPort, u128::from(host) + 1),
                    ..request
                }),
            ));
        }
        hasty.connection.send_chunk(stream).unwrap();
        hasty.connection.close();
        assert!(hasty.connection.wait_ended(PATIENCE).is_some());
    }
    let deadline = Instant::now() + PATIENCE;
    let count = || match bench.statistics(RequestBody::Aggregate(FlowStatsRequest::default())).remove(0) {
        ReplyBody::Aggregate(sum) => sum.flow_count,
        other => panic!("{other:?}"),
    };
    while count() < 1000 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(count(), 1000);
}

#[test]
fn nicira_gives_1_0_roles() {
    let first = Bench::listening(Version::V1_0, |_| {});
    let second = first.join(Version::V1_0);
    assert_eq!(role(&first, ControllerRole::Primary, 0).unwrap().role, ControllerRole::Primary);
    assert_eq!(role(&second, ControllerRole::Primary, 0).unwrap().role, ControllerRole::Primary);
    assert_eq!(first.refusal(Body::FlowMod(to_port(2))), (1, 5), "1.0 has no IS_SLAVE but EPERM");
    second.flow(to_port(2));
}

#[test]
fn standalone_it_learns_and_forwards_until_a_controller_comes() {
    let (switch, testers) = common::listening(|config| config.fail_mode = FailMode::Standalone);
    let waiting = Instant::now();
    while !switch.events().contains(&Event::Standalone(true)) {
        assert!(waiting.elapsed() < PATIENCE);
    }
    let mut alone = Alone { switch, testers };
    let mut frame = udp_frame([10, 0, 0, 2], 1);
    assert_eq!(alone.send(1, &frame), [false, true, true], "flooded");
    let (a, b) = (frame[..6].to_vec(), frame[6..12].to_vec());
    frame[..6].copy_from_slice(&b);
    frame[6..12].copy_from_slice(&a);
    assert_eq!(alone.send(2, &frame), [true, false, false], "learned");
    let peer = Peer::of(&alone.switch, Version::V1_3);
    peer.connection.barrier(PATIENCE).unwrap();
    assert_eq!(alone.send(2, &frame), [false; 3], "the controller's empty tables decide");
    peer.connection.close();
    let waiting = Instant::now();
    while alone.switch.controllers() > 0 {
        assert!(waiting.elapsed() < PATIENCE);
    }
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(alone.send(2, &frame), [true, false, false], "standalone again");
}

/// A switch without a controller.
struct Alone {
    switch: flowgauge_switch::Switch,
    testers: Vec<flowgauge_ports::ring::RingPort>,
}

impl Alone {
    /// Sends a frame in; which ports it came out of.
    fn send(&mut self, port: usize, frame: &[u8]) -> [bool; 3] {
        use flowgauge_ports::{Burst, Port};
        let mut burst = Burst::new();
        self.testers[port - 1].alloc(&mut burst, 1);
        burst[0].set_len(frame.len());
        burst[0].bytes_mut().copy_from_slice(frame);
        self.testers[port - 1].tx(&mut burst).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        std::array::from_fn(|at| {
            let mut burst = Burst::new();
            let came = self.testers[at].rx(&mut burst, 1).unwrap() > 0;
            self.testers[at].free(&mut burst);
            came
        })
    }
}

#[test]
fn secure_it_goes_on_as_the_entries_say() {
    let mut bench = Bench::listening(Version::V1_3, |_| {});
    bench.flow(to_port(2));
    bench.connection.close();
    assert!(bench.connection.wait_ended(PATIENCE).is_some());
    bench.inject(1, &udp_frame([10, 0, 0, 2], 1));
    assert!(bench.expect(2, SECOND).is_some());
    bench.inject(2, &udp_frame([10, 0, 0, 2], 1));
    assert_eq!(bench.expect(1, Duration::from_millis(50)), None);
}

#[test]
fn several_addresses_at_once() {
    use flowgauge_channel::{Channel, Config};
    let server = Channel::listen("127.0.0.1:0".parse().unwrap(), Config::controller()).unwrap();
    let (switch, _testers) = common::listening(|config| {
        config.controls.push(format!("tcp:{}", server.local_addr()).parse().unwrap());
        config.controls.push("ptcp:0:127.0.0.1".parse().unwrap());
    });
    let connection = server.wait_connected(PATIENCE).unwrap();
    let joined = Peer::of(&switch, Version::V1_0);
    assert_eq!(switch.controls().len(), 3);
    assert!(connection.barrier(PATIENCE).is_ok() && joined.connection.barrier(PATIENCE).is_ok());
    assert_eq!(switch.controllers(), 2);
    let told = switch.events();
    assert_eq!(told.iter().filter(|e| matches!(e, Event::Connected { .. })).count(), 2, "{told:?}");
}
