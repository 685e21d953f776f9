//! Nicira's actions in the pipeline.

mod common;

use common::{Memory, field, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Pipeline, PortRule};
use flowgauge_openflow::*;
use flowgauge_packet::Field;

const DST: u32 = 0x0a00_0002;

fn pipeline() -> Pipeline {
    Pipeline::new(Limits { tables: 4, entries: 100 }, (1..=4).map(PortRule::new).collect())
}

fn output(port: u32) -> Action {
    Action::output(PortNo(port))
}

fn some(field: Field, offset: u16, bits: u16) -> Subfield {
    Subfield { field: NxField::Field(field), offset, bits }
}

fn resubmit(table: u8) -> Action {
    Action::Nicira(Nicira::Resubmit { port: None, table: Some(table) })
}

fn add(p: &mut Pipeline, table_id: u8, match_: Match, actions: Vec<Action>) -> Result<(), ErrorCode> {
    let request = FlowMod { table_id, ..FlowMod::add(9, match_, actions) };
    p.flow_mod(&request, Version::V1_3, Nanos::ZERO, &mut ())
}

fn send(p: &mut Pipeline, dst: u32, in_port: u32) -> Memory {
    let mut memory = Memory::default();
    p.process(&[Frame { bytes: &udp_frame(dst, 53), in_port }], Nanos::ZERO, &mut memory);
    memory
}

#[test]
fn resubmit_looks_up_again_and_goes_on() {
    let mut p = pipeline();
    let as_3 = Action::Nicira(Nicira::Resubmit { port: Some(PortNo(3)), table: Some(1) });
    add(&mut p, 0, Match::any(), vec![resubmit(1), as_3, output(4)]).unwrap();
    add(&mut p, 1, Match::any().with(Field::InPort, 1), vec![output(2), resubmit(2)]).unwrap();
    add(&mut p, 1, Match::any().with(Field::InPort, 3), vec![output(3)]).unwrap();
    assert_eq!(send(&mut p, DST, 1).take_ports(), [2, 3, 4], "a miss in table 2 is nothing");
    assert_eq!(p.tables()[2].lookups, 1);
    assert_eq!(add(&mut p, 0, Match::any(), vec![resubmit(9)]), Err(ErrorCode::BadTableId));
}

#[test]
fn resubmits_come_to_an_end() {
    let mut p = pipeline();
    add(&mut p, 0, Match::any(), vec![resubmit(0), resubmit(0), output(2)]).unwrap();
    assert!(send(&mut p, DST, 1).outputs.is_empty());
    assert!(p.tables()[0].lookups <= 4097);
}

#[test]
fn registers_carry_bits_between_tables() {
    let mut p = pipeline();
    let load = Action::Nicira(Nicira::Load { to: some(Field::Reg0, 4, 8), value: 0xab });
    let dst = Nicira::Move { from: some(Field::Ipv4Dst, 0, 8), to: some(Field::Reg1, 8, 8) };
    let ip = Match::any().with(Field::EthType, 0x800);
    let first = vec![load, Action::Nicira(dst), Action::set(Field::Ipv4Src, 5), resubmit(1)];
    add(&mut p, 0, ip, first).unwrap();
    let wanted = Match::any().with(Field::Reg0, 0xab0).with(Field::Reg1, 0x200);
    let out = Nicira::OutputReg { from: some(Field::Reg1, 8, 8), max_len: 0 };
    add(&mut p, 1, wanted, vec![Action::Nicira(out)]).unwrap();
    assert_eq!(send(&mut p, DST, 1).take_ports(), [2]);
    let too_wide = Action::Nicira(Nicira::Load { to: some(Field::Reg0, 30, 8), value: 1 });
    assert_eq!(add(&mut p, 0, Match::any(), vec![too_wide]), Err(ErrorCode::ActionBadArgument));
}

#[test]
fn wide_registers_are_made_of_narrow_ones() {
    let mut p = pipeline();
    let to = Subfield::all(NxField::Xreg(1));
    let load = Action::Nicira(Nicira::Load { to, value: 0x1_0000_0002 });
    let push = Action::Nicira(Nicira::Push(some(Field::Reg2, 0, 32)));
    let pop = Action::Nicira(Nicira::Pop(some(Field::Reg5, 0, 32)));
    add(&mut p, 0, Match::any(), vec![load, push, pop, resubmit(1)]).unwrap();
    let wanted = Match::any().with(Field::Reg2, 1).with(Field::Reg3, 2).with(Field::Reg5, 1);
    add(&mut p, 1, wanted, vec![output(2)]).unwrap();
    assert_eq!(send(&mut p, DST, 1).take_ports(), [2]);
}

#[test]
fn a_tag_comes_with_its_bit() {
    let mut p = pipeline();
    let tci = |value| Action::Nicira(Nicira::Load { to: Subfield::all(NxField::VlanTci), value });
    add(&mut p, 0, Match::any(), vec![tci(0x7005), output(2), tci(0), output(3)]).unwrap();
    let outputs = send(&mut p, DST, 1).outputs;
    assert_eq!(field(&outputs[0].1, Field::VlanVid), Some(0x1005));
    assert_eq!(field(&outputs[0].1, Field::VlanPcp), Some(3));
    assert_eq!(outputs[1].1, udp_frame(DST, 53));
}

#[test]
fn what_is_learned_holds_from_the_next_frame_on() {
    let mut p = pipeline();
    // The switch that learns: where a source is heard, frames to it go.
    let learn = Learn {
        specs: vec![
            LearnSpec::Match {
                field: some(Field::EthDst, 0, 48),
                from: LearnSource::Field { field: NxField::Field(Field::EthSrc), offset: 0 },
            },
            LearnSpec::Load {
                to: some(Field::Reg0, 0, 16),
                from: LearnSource::Field { field: NxField::InPort16, offset: 0 },
            },
            LearnSpec::Output(Subfield::all(NxField::InPort16)),
        ],
        idle_timeout: 10,
        ..Learn::default()
    };
    let flood = Action::output(PortNo::FLOOD);
    add(&mut p, 0, Match::any(), vec![Action::Nicira(Nicira::Learn(Box::new(learn))), resubmit(1)]).unwrap();
    let request = FlowMod { priority: 0, table_id: 1, ..FlowMod::add(0, Match::any(), vec![flood]) };
    p.flow_mod(&request, Version::V1_3, Nanos::ZERO, &mut ()).unwrap();
    // The frame's source and destination are 02:..:01 and 02:..:02.
    assert_eq!(send(&mut p, DST, 3).take_ports(), [1, 2, 4]);
    let mut back = udp_frame(DST, 53);
    back[5] = 1;
    back[11] = 2;
    let mut memory = Memory::default();
    p.process(&[Frame { bytes: &back, in_port: 4 }], Nanos::ZERO, &mut memory);
    assert_eq!(memory.take_ports(), [3]);
    assert_eq!(send(&mut p, DST, 3).take_ports(), [4]);
    assert_eq!(p.tables()[1].len(), 3);
    assert_eq!(p.next_deadline(), Some(Nanos::from_secs(10)));
}

#[test]
fn links_and_bundles_are_chosen_by_hash() {
    let mut p = pipeline();
    let multipath = Nicira::Multipath(Multipath {
        fields: HashFields::NwDst,
        basis: 0,
        choice: LinkChoice::HashThreshold,
        links: 4,
        argument: 0,
        to: some(Field::Reg0, 0, 8),
    });
    let move_up = Nicira::Load { to: some(Field::Reg0, 8, 8), value: 0 };
    add(&mut p, 0, Match::any(), vec![Action::Nicira(multipath), Action::Nicira(move_up), resubmit(1)])
        .unwrap();
    for link in 0..4 {
        add(&mut p, 1, Match::any().with(Field::Reg0, link), vec![Action::output(PortNo(link as u32 + 1))])
            .unwrap();
    }
    let mut counts = [0; 5];
    for host in 0..1000 {
        let port = send(&mut p, host, 9).take_ports();
        assert_eq!(send(&mut p, host, 9).take_ports(), port);
        counts[port[0] as usize] += 1;
    }
    assert!(counts[1..].iter().all(|n| (180..320).contains(n)), "{counts:?}");
    let bundle = Nicira::Bundle(Bundle {
        fields: HashFields::EthSrc,
        basis: 0,
        choice: BundleChoice::ActiveBackup,
        members: vec![PortNo(2), PortNo(3)],
        to: None,
    });
    add(&mut p, 0, Match::any(), vec![Action::Nicira(bundle)]).unwrap();
    assert_eq!(send(&mut p, DST, 1).take_ports(), [2]);
    p.set_port(PortRule { live: false, ..PortRule::new(2) });
    assert_eq!(send(&mut p, DST, 1).take_ports(), [3]);
}

#[test]
fn frames_are_cut_stopped_and_sent_to_one_controller() {
    let mut p = pipeline();
    let cut = Nicira::OutputTrunc { port: PortNo(2), max_len: 20 };
    let how = SendToController { max_len: 64, controller_id: 5, reason: 2, ..SendToController::default() };
    let list = [cut, Nicira::Controller(how), Nicira::Note(vec![1]), Nicira::Exit];
    let actions = list.into_iter().map(Action::Nicira).chain([output(3)]).collect();
    add(&mut p, 0, Match::any(), actions).unwrap();
    let memory = send(&mut p, DST, 1);
    assert_eq!(memory.outputs, [(2, udp_frame(DST, 53)[..20].to_vec())]);
    assert_eq!(memory.punts.len(), 1);
    assert_eq!((memory.punts[0].max_len, memory.punts[0].reason), (Some(64), PacketInReason::InvalidTtl));
    let conjunction = Action::Nicira(Nicira::Conjunction { id: 1, clause: 0, clauses: 2 });
    let refused = add(&mut p, 0, Match::any(), vec![conjunction]);
    assert_eq!(refused, Err(ErrorCode::ActionBadExperimenterType));
}
