//! Packets that the switch keeps for its controllers.

mod common;

use common::{Bench, SECOND, to_port, udp_frame};
use flowgauge_openflow::*;
use std::time::Duration;

const BOTH: [Version; 2] = [Version::V1_0, Version::V1_3];
const NONE_COMES: Duration = Duration::from_millis(30);

fn to_controller(max_len: u16) -> FlowMod {
    FlowMod::add(1, Match::any(), vec![Action::Output { port: PortNo::CONTROLLER, max_len }])
}

/// Sends a frame in on port 1; gives what the controller gets.
fn punt(bench: &mut Bench, frame: &[u8]) -> PacketIn {
    bench.inject(1, frame);
    match bench.next_event() {
        Body::PacketIn(told) => told,
        other => panic!("{other:?}"),
    }
}

fn out(buffer_id: Option<u32>, port: u32) -> PacketOut {
    PacketOut { buffer_id, ..PacketOut::to_port(PortNo(port), vec![]) }
}

#[test]
fn a_kept_packet_goes_out_once() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        let frame = udp_frame([10, 0, 0, 2], 53);
        bench.flow(to_controller(16));
        let told = punt(&mut bench, &frame);
        assert_eq!((told.data.as_slice(), told.total_len), (&frame[..16], 60), "{version}");
        bench.apply(Body::PacketOut(out(told.buffer_id, 3))).unwrap();
        assert_eq!(bench.expect(3, SECOND), Some(frame), "{version}");
        assert_eq!(bench.refusal(Body::PacketOut(out(told.buffer_id, 3))), (1, 7), "used");
        assert_eq!(bench.refusal(Body::PacketOut(out(Some(0xffff_fff0), 3))), (1, 8), "never there");
    }
}

#[test]
fn an_entry_takes_the_packet_that_it_was_made_for() {
    for version in BOTH {
        let mut bench = Bench::new(version);
        let frame = udp_frame([10, 0, 0, 2], 53);
        bench.flow(to_controller(0));
        let told = punt(&mut bench, &frame);
        assert!(told.data.is_empty());
        bench.flow(FlowMod { buffer_id: told.buffer_id, ..to_port(2) });
        assert_eq!(bench.expect(2, SECOND), Some(frame.clone()), "{version}");
        let again = FlowMod { buffer_id: told.buffer_id, ..to_port(3) };
        assert_eq!(bench.refusal(Body::FlowMod(again)), (1, 7), "{version}");
        bench.inject(1, &frame);
        assert_eq!(bench.expect(3, SECOND), Some(frame), "the entry was made all the same");
        assert_eq!(bench.expect(2, NONE_COMES), None);
    }
}

#[test]
fn without_room_packets_go_to_the_controller_whole() {
    let mut bench = Bench::with(Version::V1_3, |config| config.buffers = 2);
    let Body::FeaturesReply(told) = bench.ask(Body::FeaturesRequest).unwrap().remove(0) else { panic!() };
    assert_eq!(told.n_buffers, 2);
    bench.flow(to_controller(10));
    let frame = udp_frame([10, 0, 0, 2], 53);
    let sizes: Vec<_> = (0..4).map(|_| punt(&mut bench, &frame)).collect();
    let told: Vec<_> = sizes.iter().map(|p| (p.buffer_id.is_some(), p.data.len())).collect();
    assert_eq!(told, [(true, 10), (true, 10), (false, 60), (false, 60)]);
    bench.flow(to_controller(Action::NO_BUFFER));
    let whole = punt(&mut bench, &frame);
    assert_eq!((whole.buffer_id, whole.data), (None, frame));
}

#[test]
fn a_packet_is_kept_once_for_all_controllers() {
    let mut bench = Bench::listening(Version::V1_3, |_| {});
    let other = bench.join(Version::V1_3);
    bench.flow(to_controller(20));
    let told = punt(&mut bench, &udp_frame([10, 0, 0, 2], 53));
    let Body::PacketIn(theirs) = other.next_event() else { panic!() };
    assert_eq!(told.buffer_id, theirs.buffer_id);
    other.apply(Body::PacketOut(out(theirs.buffer_id, 2))).unwrap();
    assert!(bench.expect(2, SECOND).is_some());
    assert_eq!(bench.refusal(Body::PacketOut(out(told.buffer_id, 2))), (1, 7));
}
