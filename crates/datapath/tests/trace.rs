//! Remembering a frame's way: counters are as if every frame had gone it.

mod common;

use common::{Memory, udp_frame};
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Cursor, Datapath, Frame, Limits, Pipeline, PortRule, Trace};
use flowgauge_openflow::*;
use flowgauge_packet::Field;
use proptest::prelude::*;

const START: Nanos = Nanos::from_secs(1);

fn add(p: &mut Pipeline, request: &FlowMod) {
    p.flow_mod(request, Version::V1_3, START, &mut ()).unwrap();
}

/// Two tables, an entry for each of three destinations, one of them through nested groups, one not counted.
fn pipeline() -> Pipeline {
    let mut p = Pipeline::new(Limits { tables: 2, entries: 100 }, (1..=4).map(PortRule::new).collect());
    let out = |port| Action::output(PortNo(port));
    let group = |id, kind, actions: Vec<Vec<Action>>| {
        let weight = u16::from(kind == GroupType::Select);
        let buckets = actions.into_iter().map(|actions| Bucket::new(weight, actions)).collect();
        GroupMod::new(GroupModCommand::Add, kind, id, buckets)
    };
    let inner = group(2, GroupType::Select, vec![vec![out(2)], vec![out(3)]]);
    let outer =
        group(1, GroupType::All, vec![vec![Action::PushVlan(0x8100), Action::Group(2)], vec![out(4)]]);
    p.group_mod(&inner, START, &mut ()).unwrap();
    p.group_mod(&outer, START, &mut ()).unwrap();
    let to = |dst: u32| Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, dst.into());
    add(&mut p, &FlowMod::add(9, to(1), vec![out(2)]));
    add(
        &mut p,
        &FlowMod { flags: FlowModFlags::NO_BYTE_COUNTS, ..FlowMod::add(9, to(2), vec![Action::Group(1)]) },
    );
    let onwards = FlowMod { instructions: vec![Instruction::GotoTable(1)], ..FlowMod::add(9, to(3), vec![]) };
    add(&mut p, &onwards);
    add(
        &mut p,
        &FlowMod { table_id: 1, idle_timeout: 5, ..FlowMod::add(9, to(3), vec![out(PortNo::CONTROLLER.0)]) },
    );
    p
}

/// Everything that is counted.
fn counters(p: &Pipeline, now: Nanos) -> (Vec<FlowStats>, Vec<GroupStats>, Vec<(u64, u64)>) {
    let all = FlowStatsRequest {
        table_id: TABLE_ALL,
        out_port: PortNo::ANY,
        out_group: GROUP_ANY,
        ..FlowStatsRequest::default()
    };
    let query = p.flow_query(&all, Version::V1_3).unwrap();
    let mut flows = Vec::new();
    p.walk(&query, Cursor::default(), u32::MAX, |visited| {
        flows.push(visited.stats(now));
        true
    });
    (flows, p.group_stats(GROUP_ALL, now), p.tables().iter().map(|t| (t.lookups, t.matched)).collect())
}

proptest! {
    #[test]
    fn crediting_counts_as_processing_does(flows in prop::collection::vec((1u32..5, 0u16..50, 1u64..9), 1..12)) {
        let (mut one_by_one, mut credited) = (pipeline(), pipeline());
        let mut now = START;
        for (dst, port, frames) in flows {
            let bytes = udp_frame(dst, port);
            let frame = Frame { bytes: &bytes, in_port: 1 };
            let (mut all, mut first, mut trace) = (Memory::default(), Memory::default(), Trace::default());
            credited.process_traced(frame, now, &mut first, &mut trace);
            for _ in 0..frames {
                one_by_one.process(&[frame], now, &mut all);
            }
            credited.credit(&trace, frames - 1, now);
            prop_assert!(!trace.varies);
            let expected: Vec<_> = (0..frames).flat_map(|_| first.outputs.clone()).collect();
            prop_assert_eq!(all.outputs, expected);
            prop_assert_eq!(counters(&one_by_one, now), counters(&credited, now));
            now += Nanos::from_millis(300);
        }
        prop_assert_eq!(one_by_one.next_deadline(), credited.next_deadline());
    }
}

#[test]
fn meters_learning_and_entries_that_entries_make_vary() {
    let mut p = pipeline();
    let band = Band::Drop { rate: 1, burst_size: 1 };
    let meter = MeterMod {
        command: MeterModCommand::Add,
        flags: MeterFlags::PKTPS | MeterFlags::BURST,
        meter_id: 1,
        bands: vec![band],
    };
    p.meter_mod(&meter, START, &mut ()).unwrap();
    let to = |dst: u32| Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, dst.into());
    let metered = FlowMod::add(9, to(7), vec![Action::output(PortNo(2))]);
    let instructions = [vec![Instruction::Meter(1)], metered.instructions.clone()].concat();
    add(&mut p, &FlowMod { instructions, ..metered });
    add(&mut p, &FlowMod::add(9, to(8), vec![Action::output(PortNo::NORMAL)]));
    let mut trace = Trace::default();
    for (dst, varies) in [(7, true), (8, true), (1, false), (99, false)] {
        let bytes = udp_frame(dst, 1);
        p.process_traced(Frame { bytes: &bytes, in_port: 1 }, START, &mut (), &mut trace);
        assert_eq!(trace.varies, varies, "{dst}");
    }
}
