//! Frames through groups, and GROUP_MODs with the codes that refuse them.

mod common;

use common::{Memory, field, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, MAX_BUCKETS, MAX_CHAIN, Pipeline, PortRule};
use flowgauge_openflow::*;
use flowgauge_packet::Field;

const NOW: Nanos = Nanos::from_secs(1);
const DST: u32 = 0x0a00_0002;

fn pipeline() -> Pipeline {
    Pipeline::new(Limits { tables: 2, entries: 100 }, (1..=4).map(PortRule::new).collect())
}

fn output(port: u32) -> Action {
    Action::output(PortNo(port))
}

fn group(id: u32, group_type: GroupType, buckets: Vec<Bucket>) -> GroupMod {
    GroupMod::new(GroupModCommand::Add, group_type, id, buckets)
}

fn to_port(port: u32) -> Bucket {
    Bucket::new(0, vec![output(port)])
}

fn chained(id: u32) -> Bucket {
    Bucket::new(0, vec![Action::Group(id)])
}

fn watching(port: u32) -> Bucket {
    Bucket { watch_port: PortNo(port), ..to_port(port) }
}

/// Adds the groups and an entry that sends every frame to the first.
fn with(groups: Vec<GroupMod>) -> Pipeline {
    let mut p = pipeline();
    let first = groups[0].group_id;
    for request in groups.into_iter().rev() {
        p.group_mod(&request, NOW, &mut ()).unwrap();
    }
    send_all_to(&mut p, vec![Action::Group(first)]);
    p
}

fn send_all_to(p: &mut Pipeline, actions: Vec<Action>) {
    let request = FlowMod {
        flags: FlowModFlags::SEND_FLOW_REM,
        ..FlowMod::add(9, Match::any().with(Field::EthType, 0x800), actions)
    };
    p.flow_mod(&request, Version::V1_3, NOW, &mut ()).unwrap();
}

fn send(p: &mut Pipeline, port: u16) -> Memory {
    let mut memory = Memory::default();
    p.process(&[Frame { bytes: &udp_frame(DST, port), in_port: 1 }], NOW, &mut memory);
    memory
}

#[test]
fn buckets_are_action_sets_on_copies() {
    // The output comes last whatever the order given.
    let change = |value, port| Bucket::new(0, vec![output(port), Action::set(Field::Ipv4Dst, value)]);
    let request = group(7, GroupType::All, vec![change(11, 2), to_port(3), change(12, 4)]);
    let mut p = pipeline();
    p.group_mod(&request, NOW, &mut ()).unwrap();
    send_all_to(&mut p, vec![Action::set(Field::Ipv4Src, 99), Action::Group(7), output(2)]);
    let outputs = send(&mut p, 53).outputs;
    let told: Vec<_> = outputs
        .iter()
        .map(|(port, bytes)| (*port, field(bytes, Field::Ipv4Dst), field(bytes, Field::Ipv4Src)))
        .collect();
    let dst = Some(u128::from(DST));
    let src = Some(99);
    assert_eq!(told, [(2, Some(11), src), (3, dst, src), (4, Some(12), src), (2, dst, src)]);
    let stats = p.group_stats(7, NOW).remove(0);
    assert_eq!((stats.packet_count, stats.byte_count, stats.ref_count), (1, 60, 1));
    assert!(stats.buckets.iter().all(|b| (b.packet_count, b.byte_count) == (1, 60)));
}

#[test]
fn groups_send_to_groups_but_not_in_circles() {
    let mut p = with(vec![
        group(1, GroupType::All, vec![chained(2), to_port(4)]),
        group(2, GroupType::Indirect, vec![chained(3)]),
        group(3, GroupType::All, vec![to_port(2), to_port(3)]),
    ]);
    assert_eq!(send(&mut p, 1).take_ports(), [2, 3, 4]);
    assert_eq!(p.group_stats(GROUP_ALL, NOW).iter().map(|s| s.ref_count).collect::<Vec<_>>(), [1, 1, 1]);
    let modify = |id, buckets| GroupMod::new(GroupModCommand::Modify, GroupType::All, id, buckets);
    let refused = |p: &mut Pipeline, request| p.group_mod(&request, NOW, &mut ()).unwrap_err();
    assert_eq!(refused(&mut p, modify(3, vec![chained(1)])), ErrorCode::GroupLoop);
    assert_eq!(refused(&mut p, modify(2, vec![chained(2)])), ErrorCode::GroupLoop);
    let watches = Bucket { watch_group: 1, ..chained(3) };
    let circle = GroupMod::new(GroupModCommand::Modify, GroupType::FastFailover, 2, vec![watches]);
    assert_eq!(refused(&mut p, circle), ErrorCode::GroupLoop);
    let delete = |id| GroupMod::new(GroupModCommand::Delete, GroupType::All, id, vec![]);
    assert_eq!(refused(&mut p, delete(3)), ErrorCode::GroupChained);
    assert_eq!(p.group_mod(&modify(2, vec![to_port(2)]), NOW, &mut ()), Ok(()));
    assert_eq!(p.group_mod(&delete(3), NOW, &mut ()), Ok(()));
    assert_eq!(send(&mut p, 1).take_ports(), [2, 4]);
}

#[test]
fn chains_have_an_end() {
    let mut p = pipeline();
    p.group_mod(&group(0, GroupType::Indirect, vec![to_port(2)]), NOW, &mut ()).unwrap();
    for id in 1..MAX_CHAIN as u32 {
        p.group_mod(&group(id, GroupType::Indirect, vec![chained(id - 1)]), NOW, &mut ()).unwrap();
    }
    let longer = group(500, GroupType::Indirect, vec![chained(MAX_CHAIN as u32 - 1)]);
    assert_eq!(p.group_mod(&longer, NOW, &mut ()), Err(ErrorCode::GroupChainingUnsupported));
    send_all_to(&mut p, vec![Action::Group(MAX_CHAIN as u32 - 1)]);
    assert_eq!(send(&mut p, 1).take_ports(), [2]);
}

#[test]
fn select_spreads_flows_by_weight_and_keeps_each_together() {
    let weighted = |weight, port| Bucket { weight, watch_port: PortNo(port), ..to_port(port) };
    let request = group(1, GroupType::Select, vec![weighted(1, 2), weighted(3, 3), weighted(0, 4)]);
    let mut p = with(vec![request]);
    let ways = |p: &mut Pipeline| -> Vec<u32> {
        (0..4000).map(|port| send(p, port).take_ports().first().copied().unwrap_or(0)).collect()
    };
    let first = ways(&mut p);
    let share = |ways: &[u32], port| ways.iter().filter(|&&p| p == port).count();
    assert!((900..1100).contains(&share(&first, 2)), "{}", share(&first, 2));
    assert_eq!(share(&first, 2) + share(&first, 3), 4000);
    assert_eq!(ways(&mut p), first, "a flow keeps its bucket");
    let stats = p.group_stats(1, NOW).remove(0);
    assert_eq!(stats.buckets[0].packet_count, 2 * share(&first, 2) as u64);
    // With one port down all take the other, and come back.
    p.set_port(PortRule { live: false, ..PortRule::new(2) });
    assert!(ways(&mut p).iter().all(|&port| port == 3));
    p.set_port(PortRule { live: false, ..PortRule::new(3) });
    assert!(ways(&mut p).iter().all(|&port| port == 0));
    p.set_port(PortRule::new(2));
    p.set_port(PortRule::new(3));
    assert_eq!(ways(&mut p), first);
}

#[test]
fn only_the_flows_of_a_dead_bucket_move() {
    let weighted = |port| Bucket { weight: 1, ..watching(port) };
    let mut p = with(vec![group(1, GroupType::Select, vec![weighted(2), weighted(3), weighted(4)])]);
    let before: Vec<_> = (0..500).map(|port| send(&mut p, port).take_ports()).collect();
    p.set_port(PortRule { live: false, ..PortRule::new(3) });
    for (port, before) in before.iter().enumerate() {
        let after = send(&mut p, port as u16).take_ports();
        assert!(after != [3] && (before == &[3] || &after == before));
    }
}

#[test]
fn fast_failover_takes_the_first_that_is_live() {
    let behind = Bucket { watch_group: 2, ..chained(2) };
    let mut p = with(vec![
        group(1, GroupType::FastFailover, vec![watching(2), behind, watching(4)]),
        group(2, GroupType::FastFailover, vec![watching(3)]),
    ]);
    let down = |p: &mut Pipeline, port: u32, live| p.set_port(PortRule { live, ..PortRule::new(port) });
    assert_eq!(send(&mut p, 1).take_ports(), [2]);
    down(&mut p, 2, false);
    assert_eq!(send(&mut p, 1).take_ports(), [3]);
    down(&mut p, 3, false);
    assert_eq!(send(&mut p, 1).take_ports(), [4]);
    p.remove_port(4);
    assert!(send(&mut p, 1).take_ports().is_empty());
    down(&mut p, 2, true);
    assert_eq!(send(&mut p, 1).take_ports(), [2]);
}

#[test]
fn deleting_a_group_removes_the_entries_that_use_it() {
    let mut p = with(vec![group(1, GroupType::Indirect, vec![to_port(2)])]);
    let by_set = FlowMod {
        instructions: vec![Instruction::WriteActions(vec![Action::Group(1)])],
        table_id: 1,
        ..FlowMod::default()
    };
    p.flow_mod(&by_set, Version::V1_3, NOW, &mut ()).unwrap();
    p.flow_mod(&FlowMod::add(1, Match::any(), vec![output(3)]), Version::V1_3, NOW, &mut ()).unwrap();
    assert_eq!(p.group_stats(1, NOW)[0].ref_count, 2);
    let mut memory = Memory::default();
    let delete = GroupMod::new(GroupModCommand::Delete, GroupType::All, GROUP_ALL, vec![]);
    assert_eq!(p.group_mod(&delete, NOW, &mut memory), Ok(()));
    assert_eq!(memory.removed.len(), 1, "the other did not ask");
    assert_eq!(memory.removed[0].reason, FlowRemovedReason::GroupDelete);
    assert_eq!((p.tables()[0].len(), p.tables()[1].len()), (1, 0));
    assert!(p.group_stats(GROUP_ALL, NOW).is_empty());
    assert_eq!(p.group_mod(&GroupMod { group_id: 77, ..delete }, NOW, &mut memory), Ok(()), "no error");
}

#[test]
fn modifying_keeps_the_groups_counts_only() {
    let mut p = with(vec![group(1, GroupType::All, vec![to_port(2)])]);
    send(&mut p, 1);
    let modify = GroupMod::new(GroupModCommand::Modify, GroupType::All, 1, vec![to_port(3), to_port(4)]);
    assert_eq!(p.group_mod(&modify, Nanos::from_secs(5), &mut ()), Ok(()));
    assert_eq!(send(&mut p, 1).take_ports(), [3, 4]);
    let stats = p.group_stats(1, Nanos::from_secs(6)).remove(0);
    assert_eq!((stats.packet_count, stats.duration_sec, stats.ref_count), (2, 5, 1));
    assert_eq!(stats.buckets.iter().map(|b| b.packet_count).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(p.group_desc(1)[0].buckets, modify.buckets);
}

#[test]
fn buckets_come_and_go_one_by_one() {
    let mut p = with(vec![group(1, GroupType::All, vec![to_port(2), to_port(3)])]);
    send(&mut p, 1);
    let with_id = |id, port| Bucket { bucket_id: Some(id), ..to_port(port) };
    let insert = |at, buckets| GroupMod {
        command_bucket_id: at,
        ..GroupMod::new(GroupModCommand::InsertBucket, GroupType::All, 1, buckets)
    };
    let remove =
        |at| GroupMod { command: GroupModCommand::RemoveBucket, buckets: vec![], ..insert(at, vec![]) };
    let mut act = |request: GroupMod| p.group_mod(&request, NOW, &mut ());
    assert_eq!(act(insert(0, vec![with_id(9, 4)])), Ok(()));
    assert_eq!(act(insert(BUCKET_FIRST, vec![with_id(9, 4)])), Err(ErrorCode::GroupBucketExists));
    assert_eq!(act(insert(8, vec![with_id(10, 4)])), Err(ErrorCode::GroupUnknownBucket));
    assert_eq!(act(remove(8)), Err(ErrorCode::GroupUnknownBucket));
    assert_eq!(act(remove(BUCKET_FIRST)), Ok(()));
    assert_eq!(send(&mut p, 1).take_ports(), [4, 3]);
    let counts: Vec<_> = p.group_stats(1, NOW)[0].buckets.iter().map(|b| b.packet_count).collect();
    assert_eq!(counts, [1, 2], "buckets that stay keep their counts");
}

#[test]
fn refusals_have_the_codes_of_the_specification() {
    let mut p = with(vec![group(1, GroupType::All, vec![to_port(2)])]);
    let mut code = |request: GroupMod| p.group_mod(&request, NOW, &mut ()).unwrap_err();
    let modify = |id| GroupMod::new(GroupModCommand::Modify, GroupType::All, id, vec![]);
    assert_eq!(code(group(1, GroupType::All, vec![])), ErrorCode::GroupExists);
    assert_eq!(code(modify(2)), ErrorCode::GroupUnknown);
    assert_eq!(code(group(GROUP_ALL, GroupType::All, vec![])), ErrorCode::GroupInvalid);
    assert_eq!(code(group(2, GroupType::Unknown(9), vec![])), ErrorCode::GroupBadType);
    let unknown = GroupMod { command: GroupModCommand::Unknown(9), ..modify(1) };
    assert_eq!(code(unknown), ErrorCode::GroupBadCommand);
    assert_eq!(code(group(2, GroupType::Indirect, vec![])), ErrorCode::GroupInvalid);
    let weighted = Bucket { weight: 2, ..to_port(2) };
    assert_eq!(code(group(2, GroupType::All, vec![weighted])), ErrorCode::GroupInvalid);
    assert_eq!(code(group(2, GroupType::FastFailover, vec![to_port(2)])), ErrorCode::GroupInvalid);
    assert_eq!(code(group(2, GroupType::All, vec![watching(2)])), ErrorCode::GroupWatchUnsupported);
    let odd = |watch_port, watch_group| Bucket { watch_port, watch_group, ..to_port(2) };
    let failover = |bucket| group(2, GroupType::FastFailover, vec![bucket]);
    assert_eq!(code(failover(odd(PortNo::FLOOD, GROUP_ANY))), ErrorCode::GroupBadWatch);
    assert_eq!(code(failover(odd(PortNo::ANY, 99))), ErrorCode::GroupBadWatch);
    let many = vec![to_port(2); MAX_BUCKETS + 1];
    assert_eq!(code(group(2, GroupType::All, many)), ErrorCode::GroupOutOfBuckets);
    assert_eq!(code(group(2, GroupType::All, vec![to_port(0)])), ErrorCode::ActionBadOutPort);
    assert_eq!(code(group(2, GroupType::All, vec![chained(3)])), ErrorCode::ActionBadOutGroup);
    let request = FlowMod::add(1, Match::any(), vec![Action::Group(3)]);
    let result = p.flow_mod(&request, Version::V1_3, NOW, &mut ());
    assert_eq!(result, Err(ErrorCode::ActionBadOutGroup));
}

#[test]
fn a_group_in_the_action_set_stands_for_the_output() {
    let mut p = pipeline();
    p.group_mod(&group(1, GroupType::All, vec![to_port(3)]), NOW, &mut ()).unwrap();
    let instructions = vec![Instruction::WriteActions(vec![output(2), Action::Group(1)])];
    p.flow_mod(&FlowMod { instructions, ..FlowMod::default() }, Version::V1_3, NOW, &mut ()).unwrap();
    assert_eq!(send(&mut p, 1).take_ports(), [3]);
}

#[test]
fn a_copy_whose_time_is_up_dies_alone() {
    let dies = Bucket::new(0, vec![Action::SetNwTtl(1), Action::DecNwTtl, output(2)]);
    let to_controller = Bucket::new(0, vec![Action::output(PortNo::CONTROLLER)]);
    let mut p = pipeline();
    p.group_mod(&group(1, GroupType::All, vec![dies, to_port(3), to_controller]), NOW, &mut ()).unwrap();
    send_all_to(&mut p, vec![Action::SetNwTtl(1), Action::Group(1), output(4)]);
    let mut memory = send(&mut p, 1);
    assert_eq!(memory.take_ports(), [3, 4]);
    let reasons: Vec<_> = memory.punts.iter().map(|p| p.reason).collect();
    assert_eq!(reasons, [PacketInReason::InvalidTtl, PacketInReason::Group]);
}
