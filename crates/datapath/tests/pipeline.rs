//! Frames through the pipeline: outputs, punts, tables, action sets, edits.

mod common;

use common::{Memory, field, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Miss, Pipeline, PortRule};
use flowgauge_openflow::*;
use flowgauge_packet::Field;

const NOW: Nanos = Nanos::from_secs(1);
const DST: u32 = 0x0a00_0002;

/// A pipeline with ports 1 to 4, of which 4 doesn't flood.
fn pipeline() -> Pipeline {
    let ports = (1..=4).map(|number| PortRule { flood: number != 4, ..PortRule::new(number) }).collect();
    Pipeline::new(Limits { tables: 4, entries: 100 }, ports)
}

fn add(pipeline: &mut Pipeline, table_id: u8, match_: Match, instructions: Vec<Instruction>) {
    let request = FlowMod { table_id, match_, instructions, cookie: 7, ..FlowMod::default() };
    pipeline.flow_mod(&request, Version::V1_3, NOW, &mut Memory::default()).unwrap();
}

/// Such frames as are sent here.
fn udp() -> Match {
    Match::any().with(Field::EthType, 0x800).with(Field::IpProto, 17)
}

/// What comes out for a frame that comes in on port 1, when all frames get these actions.
fn apply(actions: Vec<Action>) -> Memory {
    let mut p = pipeline();
    add(&mut p, 0, udp(), vec![Instruction::ApplyActions(actions)]);
    send(&mut p)
}

fn send(pipeline: &mut Pipeline) -> Memory {
    let mut memory = Memory::default();
    pipeline.process(&[Frame { bytes: &udp_frame(DST, 53), in_port: 1 }], NOW, &mut memory);
    memory
}

fn output(port: u32) -> Action {
    Action::output(PortNo(port))
}

#[test]
fn outputs_go_where_the_specification_says() {
    for (port, wanted) in [
        (PortNo(2), vec![2]),
        (PortNo(1), vec![]),
        (PortNo::IN_PORT, vec![1]),
        (PortNo::ALL, vec![2, 3, 4]),
        (PortNo::FLOOD, vec![2, 3]),
        (PortNo::LOCAL, vec![]),
    ] {
        assert_eq!(apply(vec![Action::output(port)]).take_ports(), wanted, "{port}");
    }
}

#[test]
fn a_miss_is_dropped_or_punted() {
    let mut p = pipeline();
    assert!(send(&mut p).punts.is_empty());
    p.set_miss(Miss::Punt);
    let punt = send(&mut p).punts.remove(0);
    assert_eq!((punt.reason, punt.max_len, punt.cookie), (PacketInReason::NoMatch, None, u64::MAX));
    assert_eq!(punt.key.get(Field::InPort), Some(1));
}

#[test]
fn the_table_miss_entry_punts_as_a_miss() {
    let to_controller = || vec![Instruction::ApplyActions(vec![Action::output(PortNo::CONTROLLER)])];
    let mut p = pipeline();
    let request = FlowMod { priority: 0, instructions: to_controller(), ..FlowMod::default() };
    p.flow_mod(&request, Version::V1_3, NOW, &mut Memory::default()).unwrap();
    assert_eq!(send(&mut p).punts[0].reason, PacketInReason::NoMatch);
    add(&mut p, 0, Match::any(), to_controller());
    let punt = send(&mut p).punts.remove(0);
    assert_eq!((punt.reason, punt.cookie, punt.table_id), (PacketInReason::Action, 7, 0));
}

#[test]
fn tables_pass_metadata_and_actions_on() {
    let mut p = pipeline();
    let first = vec![
        Instruction::GotoTable(2),
        Instruction::WriteMetadata { metadata: 0xab, mask: 0xff },
        Instruction::WriteActions(vec![output(3)]),
        Instruction::ApplyActions(vec![output(2)]),
    ];
    add(&mut p, 0, Match::any(), first);
    let tagged = Match::any().with_masked(Field::Metadata, 0xa0, 0xf0);
    add(&mut p, 2, tagged, vec![Instruction::WriteActions(vec![output(4)])]);
    assert_eq!(send(&mut p).take_ports(), [2, 4], "the set's output is overwritten and comes last");
    let counts: Vec<_> = p.tables().iter().map(|t| (t.lookups, t.matched)).collect();
    assert_eq!(counts, [(1, 1), (0, 0), (1, 1), (0, 0)]);
}

#[test]
fn a_miss_in_a_later_table_drops_the_frame() {
    let mut p = pipeline();
    p.set_miss(Miss::Punt);
    add(&mut p, 0, Match::any(), vec![Instruction::WriteActions(vec![output(3)]), Instruction::GotoTable(1)]);
    let nothing = send(&mut p);
    assert!(nothing.outputs.is_empty() && nothing.punts.is_empty());
    add(&mut p, 1, Match::any(), vec![]);
    assert_eq!(send(&mut p).take_ports(), [3]);
    add(&mut p, 1, Match::any(), vec![Instruction::ClearActions]);
    assert!(send(&mut p).take_ports().is_empty());
}

#[test]
fn edits_show_in_later_outputs_only() {
    let memory = apply(vec![output(2), Action::set(Field::Ipv4Dst, 5), Action::DecNwTtl, output(3)]);
    let dst = |n: usize| field(&memory.outputs[n].1, Field::Ipv4Dst);
    assert_eq!((dst(0), dst(1)), (Some(DST.into()), Some(5)));
    assert_eq!(field(&memory.outputs[1].1, Field::IpTtl), Some(63));
}

#[test]
fn tags_are_pushed_set_and_popped() {
    let push = vec![Action::PushVlan(0x8100), Action::set(Field::VlanVid, 0x1005), output(2)];
    let tagged = &apply(push.clone()).outputs[0].1;
    assert_eq!((field(tagged, Field::VlanVid), tagged.len()), (Some(0x1005), 64));
    let both = [&push[..2], &[Action::PopVlan, output(2)]].concat();
    assert_eq!(apply(both).outputs[0].1, udp_frame(DST, 53));
}

#[test]
fn version_1_0_sets_tags_and_ports_of_any_kind() {
    let frame = &apply(vec![Action::SetVlanVid(9), Action::SetTpDst(99), output(2)]).outputs[0].1;
    assert_eq!(field(frame, Field::VlanVid), Some(0x1009));
    assert_eq!(field(frame, Field::UdpDst), Some(99));
}

#[test]
fn later_tables_see_what_was_changed() {
    let mut p = pipeline();
    let change = vec![Action::set(Field::UdpDst, 80)];
    add(&mut p, 0, udp(), vec![Instruction::ApplyActions(change), Instruction::GotoTable(1)]);
    add(&mut p, 1, udp().with(Field::UdpDst, 80), vec![Instruction::ApplyActions(vec![output(2)])]);
    assert_eq!(send(&mut p).take_ports(), [2]);
}

#[test]
fn a_ttl_that_runs_out_ends_the_journey() {
    let memory = apply(vec![Action::SetNwTtl(1), Action::DecNwTtl, output(2)]);
    assert!(memory.outputs.is_empty());
}

#[test]
fn packet_out_sends_as_told_or_through_the_tables() {
    let mut p = pipeline();
    add(&mut p, 0, Match::any().with(Field::InPort, 3), vec![Instruction::ApplyActions(vec![output(4)])]);
    let mut memory = Memory::default();
    let bytes = udp_frame(DST, 53);
    let frame = Frame { bytes: &bytes, in_port: 3 };
    p.packet_out(frame, &[output(1), Action::output(PortNo::TABLE), output(2)], NOW, &mut memory);
    assert_eq!(memory.take_ports(), [1, 4, 2]);
    let from_controller = Frame { bytes: &bytes, in_port: PortNo::CONTROLLER.0 };
    p.packet_out(from_controller, &[Action::output(PortNo::ALL)], NOW, &mut memory);
    assert_eq!(memory.take_ports(), [1, 2, 3, 4]);
}

#[test]
fn any_bytes_are_a_frame() {
    let mut p = pipeline();
    add(&mut p, 0, Match::any(), vec![Instruction::ApplyActions(vec![Action::PopVlan, output(2)])]);
    let mut memory = Memory::default();
    for len in 0..60 {
        p.process(&[Frame { bytes: &udp_frame(DST, 53)[..len], in_port: 1 }], NOW, &mut memory);
    }
    assert_eq!(memory.outputs.len(), 60);
}
