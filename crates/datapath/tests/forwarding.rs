//! Ports, queues, NORMAL, egress tables, flags of entries: what the pipeline does besides tables and actions.

mod common;

use common::{Memory, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Learning, Limits, Miss, Pipeline, PortRule, QueueSetup};
use flowgauge_openflow::*;
use flowgauge_packet::Field;

const NOW: Nanos = Nanos::from_secs(1);
const DST: u32 = 0x0a00_0002;

fn pipeline() -> Pipeline {
    Pipeline::new(Limits { tables: 4, entries: 4 }, (1..=4).map(PortRule::new).collect())
}

fn output(port: u32) -> Action {
    Action::output(PortNo(port))
}

fn apply(actions: Vec<Action>) -> Vec<Instruction> {
    vec![Instruction::ApplyActions(actions)]
}

fn add(p: &mut Pipeline, request: FlowMod) -> Result<(), ErrorCode> {
    p.flow_mod(&request, Version::V1_5, NOW, &mut ())
}

fn send(p: &mut Pipeline, in_port: u32) -> Memory {
    let mut memory = Memory::default();
    p.process(&[Frame { bytes: &udp_frame(DST, 53), in_port }], NOW, &mut memory);
    memory
}

#[test]
fn ports_drop_what_they_are_told_to() {
    let mut p = pipeline();
    add(&mut p, FlowMod::add(1, Match::any(), vec![Action::output(PortNo::ALL)])).unwrap();
    p.set_port(PortRule { no_fwd: true, ..PortRule::new(3) });
    p.set_port(PortRule { no_recv: true, ..PortRule::new(4) });
    assert_eq!(send(&mut p, 1).take_ports(), [2, 4]);
    assert!(send(&mut p, 4).outputs.is_empty());
    assert_eq!(p.tables()[0].lookups, 1, "what isn't received is looked up nowhere");
}

#[test]
fn only_misses_are_kept_from_the_controller() {
    let mut p = pipeline();
    p.set_miss(Miss::Punt);
    p.set_port(PortRule { no_packet_in: true, ..PortRule::new(1) });
    assert_eq!((send(&mut p, 1).punts.len(), send(&mut p, 2).punts.len()), (0, 1));
    add(&mut p, FlowMod::add(1, Match::any(), vec![Action::output(PortNo::CONTROLLER)])).unwrap();
    assert_eq!(send(&mut p, 1).punts[0].reason, PacketInReason::Action);
}

#[test]
fn queues_are_chosen_and_checked() {
    let mut p = pipeline();
    p.set_queues(2, vec![QueueSetup::new(5)]);
    let chosen = vec![output(3), Action::SetQueue(5), output(2), output(3)];
    add(&mut p, FlowMod::add(1, Match::any(), chosen)).unwrap();
    assert_eq!(send(&mut p, 1).queues, [None, Some(5), Some(5)]);
    let enqueue = |port| Action::Enqueue { port: PortNo(port), queue_id: 5 };
    let both = vec![enqueue(2), output(3)];
    let request = FlowMod::add(1, Match::any(), both);
    p.flow_mod(&request, Version::V1_0, NOW, &mut ()).unwrap();
    assert_eq!(send(&mut p, 1).queues, [Some(5), None], "enqueue is for one output");
    let mut refuse = |action| add(&mut p, FlowMod::add(1, Match::any(), vec![action])).unwrap_err();
    assert_eq!(refuse(enqueue(3)), ErrorCode::ActionBadQueue);
    assert_eq!(refuse(Action::SetQueue(6)), ErrorCode::ActionBadQueue);
    assert_eq!(refuse(enqueue(0)), ErrorCode::ActionBadOutPort);
}

#[test]
fn normal_learns_and_standalone_is_normal() {
    let mut p = pipeline();
    p.set_standalone(true);
    let mut bytes = udp_frame(DST, 53);
    let mut send = |p: &mut Pipeline, swap: bool, in_port| {
        let mut memory = Memory::default();
        let (a, b) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let (dst, src) = if swap { (a, b) } else { (b, a) };
        bytes[..6].copy_from_slice(&dst);
        bytes[6..12].copy_from_slice(&src);
        p.process(&[Frame { bytes: &bytes, in_port }], NOW, &mut memory);
        memory.take_ports()
    };
    p.set_port(PortRule { flood: false, ..PortRule::new(4) });
    assert_eq!(send(&mut p, false, 1), [2, 3]);
    assert_eq!(send(&mut p, true, 4), [1]);
    assert_eq!(send(&mut p, false, 1), [4]);
    assert_eq!(send(&mut p, true, 1), [], "where it came from is no way out");
    p.set_standalone(false);
    assert_eq!(send(&mut p, false, 1), []);
    add(&mut p, FlowMod::add(1, Match::any(), vec![Action::output(PortNo::NORMAL)])).unwrap();
    p.set_port(PortRule { live: false, ..PortRule::new(1) });
    assert_eq!(p.learning().len(), 0, "both are behind a port that is down");
    p.set_learning(Learning::new(Nanos::from_secs(1), 1));
    assert_eq!(send(&mut p, false, 2), [1, 3]);
    assert_eq!(p.learning().stations().map(|s| s.port).collect::<Vec<_>>(), [2]);
    assert_eq!(p.next_deadline(), Some(NOW + Nanos::from_secs(1)));
    assert!(!p.expire(NOW + Nanos::from_secs(1), 9, &mut ()));
    assert!(p.learning().is_empty());
}

#[test]
fn egress_tables_see_each_output() {
    let mut p = pipeline();
    p.set_first_egress(Some(2));
    add(&mut p, FlowMod::add(1, Match::any(), vec![output(2), output(3), Action::output(PortNo::IN_PORT)]))
        .unwrap();
    assert!(send(&mut p, 1).outputs.is_empty(), "a miss among the egress tables is a miss");
    let egress = |priority, match_, instructions| FlowMod {
        table_id: 2,
        priority,
        match_,
        instructions,
        ..FlowMod::default()
    };
    add(&mut p, egress(1, Match::any(), vec![])).unwrap();
    assert_eq!(send(&mut p, 1).take_ports(), [2, 3, 1]);
    let to_3 = Match::any().with(Field::ActsetOutput, 3);
    add(&mut p, egress(2, to_3, vec![Instruction::ClearActions])).unwrap();
    assert_eq!(send(&mut p, 1).take_ports(), [2, 1]);
    let to_2 = Match::any().with(Field::ActsetOutput, 2).with(Field::EthType, 0x800);
    add(&mut p, egress(3, to_2, apply(vec![Action::set(Field::Ipv4Src, 7)]))).unwrap();
    let outputs = send(&mut p, 1).outputs;
    let sources: Vec<_> = outputs.iter().map(|(_, b)| common::field(b, Field::Ipv4Src)).collect();
    assert_eq!(sources, [Some(7), Some(0x0a00_0001)], "one output's changes don't show in another");
    let across = FlowMod { instructions: vec![Instruction::GotoTable(2)], ..FlowMod::default() };
    assert_eq!(add(&mut p, across), Err(ErrorCode::InstructionBadTableId));
}

#[test]
fn the_output_of_the_action_set_can_be_matched() {
    let mut p = pipeline();
    let first = vec![Instruction::WriteActions(vec![output(3)]), Instruction::GotoTable(1)];
    add(&mut p, FlowMod { instructions: first, ..FlowMod::default() }).unwrap();
    let is_3 = Match::any().with(Field::ActsetOutput, 3);
    let second =
        FlowMod { table_id: 1, match_: is_3, instructions: apply(vec![output(4)]), ..FlowMod::default() };
    add(&mut p, second).unwrap();
    assert_eq!(send(&mut p, 1).take_ports(), [4, 3]);
}

#[test]
fn entries_may_count_nothing() {
    let mut p = pipeline();
    let flags = FlowModFlags::NO_BYTE_COUNTS;
    add(&mut p, FlowMod { flags, ..FlowMod::default() }).unwrap();
    send(&mut p, 1);
    send(&mut p, 1);
    let id = p.tables()[0].ids(|_| true)[0];
    let entry = p.tables()[0].entry(id).unwrap();
    assert_eq!((entry.told_packets(), entry.told_bytes(), entry.bytes), (2, u64::MAX, 0));
}

#[test]
fn an_exact_match_of_1_0_has_the_highest_priority() {
    let mut p = pipeline();
    let bytes = udp_frame(DST, 53);
    let key = flowgauge_packet::FlowKey::parse(&bytes, 1);
    let fields = [
        Field::InPort,
        Field::EthSrc,
        Field::EthDst,
        Field::VlanVid,
        Field::EthType,
        Field::IpDscp,
        Field::IpProto,
        Field::Ipv4Src,
        Field::Ipv4Dst,
        Field::UdpSrc,
        Field::UdpDst,
    ];
    let exact = Match::exact(&key, &fields).unwrap();
    let mut add = |request: FlowMod| p.flow_mod(&request, Version::V1_0, NOW, &mut ()).unwrap();
    add(FlowMod::add(1, exact.clone(), vec![output(3)]));
    add(FlowMod::add(65534, Match::any(), vec![output(2)]));
    assert_eq!(send(&mut p, 1).take_ports(), [3]);
    let delete = FlowMod { command: FlowModCommand::DeleteStrict, ..FlowMod::add(9, exact, vec![]) };
    p.flow_mod(&delete, Version::V1_0, NOW, &mut ()).unwrap();
    assert_eq!(send(&mut p, 1).take_ports(), [2]);
}

fn importance(importance: u16, host: u32) -> FlowMod {
    let match_ = Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, host.into());
    FlowMod { importance, match_, flags: FlowModFlags::SEND_FLOW_REM, ..FlowMod::default() }
}

#[test]
fn a_full_table_evicts_what_matters_least() {
    let mut p = pipeline();
    for (host, weight) in [5, 3, 4, 3].into_iter().enumerate() {
        add(&mut p, importance(weight, host as u32)).unwrap();
    }
    assert_eq!(add(&mut p, importance(9, 10)), Err(ErrorCode::FlowModTableFull));
    let config = TableConfig::EVICTION;
    p.table_mod(&TableMod { config, ..TableMod::default() }, Version::V1_4).unwrap();
    let mut memory = Memory::default();
    let mut evict = |request| p.flow_mod(&request, Version::V1_4, NOW, &mut memory);
    assert_eq!(evict(importance(2, 10)), Err(ErrorCode::FlowModTableFull), "all matter more");
    assert_eq!(evict(FlowMod { hard_timeout: 5, ..importance(3, 11) }), Ok(()));
    // Hosts 1 and 3 matter as little as 11, which has less time left than 3.
    assert_eq!(evict(importance(3, 12)), Ok(()));
    assert_eq!(evict(importance(3, 12)), Ok(()), "replacing evicts nothing");
    let gone: Vec<_> = memory.removed.iter().map(|r| (r.match_.get(Field::Ipv4Dst), r.reason)).collect();
    let reason = FlowRemovedReason::Eviction;
    assert_eq!(gone, [(Some(1), reason), (Some(11), reason)]);
}

#[test]
fn a_table_tells_when_it_is_full_and_when_it_is_not() {
    let mut p = pipeline();
    let vacancy = Some(Vacancy { down: 40, up: 60, current: 0 });
    let config = TableConfig::VACANCY_EVENTS;
    let request = TableMod { config, vacancy, ..TableMod::default() };
    assert_eq!(p.table_mod(&request, Version::V1_3), Err(ErrorCode::TableModBadConfig));
    p.table_mod(&request, Version::V1_4).unwrap();
    let mut memory = Memory::default();
    let delete = |host| FlowMod { command: FlowModCommand::Delete, ..importance(0, host) };
    let mut change = |request| {
        p.flow_mod(&request, Version::V1_4, NOW, &mut memory).unwrap();
        memory
            .table_events
            .drain(..)
            .map(|e| (e.reason, e.table.vacancy.unwrap().current))
            .collect::<Vec<_>>()
    };
    assert_eq!(change(importance(0, 1)), []);
    assert_eq!(change(importance(0, 2)), []);
    assert_eq!(change(importance(0, 3)), [(TableStatusReason::VacancyDown, 25)]);
    assert_eq!(change(importance(0, 4)), []);
    assert_eq!(change(delete(1)), []);
    assert_eq!(change(delete(2)), []);
    assert_eq!(change(delete(3)), [(TableStatusReason::VacancyUp, 75)]);
    let wrong = TableMod { vacancy: Some(Vacancy { down: 70, up: 60, current: 0 }), ..request.clone() };
    assert_eq!(p.table_mod(&wrong, Version::V1_4), Err(ErrorCode::PropertyBadValue));
    assert_eq!(
        p.table_mod(&TableMod { table_id: 9, ..request }, Version::V1_4),
        Err(ErrorCode::TableModBadTable)
    );
}

#[test]
fn bits_are_copied_and_set_under_masks() {
    let mut p = pipeline();
    let id = |field| OxmId::Field { field, masked: false };
    let copy = Action::CopyField {
        n_bits: 8,
        src_offset: 0,
        dst_offset: 16,
        src: id(Field::Ipv4Dst),
        dst: id(Field::EthSrc),
    };
    let masked = Action::SetField { field: Field::Ipv4Src, value: 0x0900_0000, mask: 0xff00_0000 };
    let match_ = Match::any().with(Field::EthType, 0x800);
    add(&mut p, FlowMod::add(1, match_.clone(), vec![copy, masked.clone(), output(2)])).unwrap();
    let outputs = send(&mut p, 1).outputs;
    assert_eq!(common::field(&outputs[0].1, Field::EthSrc), Some(0x0200_0002_0001));
    assert_eq!(common::field(&outputs[0].1, Field::Ipv4Src), Some(0x0900_0001));
    let request = FlowMod::add(1, match_, vec![masked]);
    let result = p.flow_mod(&request, Version::V1_3, NOW, &mut ());
    assert_eq!(result, Err(ErrorCode::ActionBadSetArgument), "masks came with 1.5");
}
