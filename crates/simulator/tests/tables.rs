//! What the tables say is what happens, from the instant on at which they say it, although it is remembered per flow.

mod common;

use common::*;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    Action, Band, Bucket, FlowMod, FlowModCommand, GroupMod, GroupModCommand, GroupType, Instruction, Match,
    MeterFlags, MeterMod, MeterModCommand, PortNo, Version,
};
use flowgauge_packet::{Field, FlowKey};
use flowgauge_simulator::model::{ForwardingModel, TableModel};
use flowgauge_simulator::{Cause, Model, Picos, Simulation};
use flowgauge_traffic::{Sink, Stop, Stream, Until};

fn anywhere(id: u16, flows: u32, pps: u64, stop: Stop) -> Stream {
    Stream { sink: Sink::Any, frames: frames(flows, 64), ..stream(id, cbr(pps), stop) }
}

/// Packets and bytes that the entries of table 0 count, by rising priority.
fn counted(simulation: &mut Simulation) -> Vec<(u64, u64)> {
    simulation.with_control(|control, _| {
        let table = &control.pipeline().tables()[0];
        let entries = table.ids(|_| true).into_iter().filter_map(|id| table.entry(id));
        let mut counted: Vec<_> = entries.map(|e| (e.cookie, e.packets, e.bytes)).collect();
        counted.sort_unstable();
        counted.into_iter().map(|(_, packets, bytes)| (packets, bytes)).collect()
    })
}

#[test]
fn a_change_holds_from_its_instant_on() {
    let mut simulation = empty(instant(), 3);
    add(&mut simulation, &FlowMod::add(1, Match::any(), vec![output(2)]));
    let id = simulation.start(vec![anywhere(1, 1, 1000, Stop::Count(100))], options()).unwrap();
    simulation.run_until(Picos::from_micros(39_500));
    add(&mut simulation, &FlowMod::add(2, Match::any(), vec![output(3)]));
    simulation.run_until(Picos::from_micros(59_500));
    add(
        &mut simulation,
        &FlowMod { command: FlowModCommand::Delete, ..FlowMod::add(2, Match::any(), vec![]) },
    );
    simulation.run_until(Picos::from_micros(200_000));
    let outcome = simulation.finish(id).unwrap();
    assert_eq!(outcome.streams[0].by_port, [0, 40, 20]);
    assert_eq!(simulation.ledger().dropped_by(Cause::Pipeline), 40);
}

#[test]
fn counters_are_right_whenever_they_are_read() {
    let mut simulation = empty(instant(), 3);
    let to = |dst: u128| Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, dst);
    add(&mut simulation, &FlowMod { cookie: 1, ..FlowMod::add(1, to(0x0a00_0001), vec![output(2)]) });
    add(&mut simulation, &FlowMod { cookie: 2, ..FlowMod::add(1, to(0x0a00_0002), vec![output(3)]) });
    let id = simulation.start(vec![anywhere(1, 2, 1_000_000, Stop::Count(1000))], options()).unwrap();
    for us in [0, 1, 99, 500, 3000] {
        simulation.run_until(Picos::from_micros(us));
        let sent = (us + 1).min(1000);
        let (first, second) = (sent.div_ceil(2), sent / 2);
        assert_eq!(counted(&mut simulation), [(first, first * 60), (second, second * 60)], "after {us} us");
    }
    assert_eq!(simulation.finish(id).unwrap().streams[0].by_port, [0, 500, 500]);
}

#[test]
fn idle_entries_time_out_and_busy_ones_do_not() {
    let mut simulation = empty(instant(), 2);
    add(&mut simulation, &FlowMod { idle_timeout: 1, ..FlowMod::add(1, Match::any(), vec![output(2)]) });
    // Frames until 2.8 s; then one at 3.5 s, which keeps it alive, and one at 5 s, which comes too late.
    let steady = Stream { schedule: cbr(5), ..anywhere(1, 1, 5, Stop::Count(15)) };
    let single = |id, ms| Stream { start_after: MS(ms), ..anywhere(id, 1, 5, Stop::Count(1)) };
    let outcome = run(&mut simulation, vec![steady, single(2, 3500), single(3, 5000)]);
    let received: Vec<_> = outcome.streams.iter().map(|s| s.account.counters().received).collect();
    assert_eq!(received, [15, 1, 0]);
}

#[test]
fn groups_copy_and_select() {
    let mut simulation = empty(instant(), 4);
    let all = (2..=4).map(|port| Bucket::new(0, vec![output(port)])).collect();
    let some = (2..=3).map(|port| Bucket::new(1, vec![output(port)])).collect();
    for (id, kind, buckets) in [(1, GroupType::All, all), (2, GroupType::Select, some)] {
        let request = GroupMod::new(GroupModCommand::Add, kind, id, buckets);
        simulation
            .with_control(|control, _| control.change(|p| p.group_mod(&request, Nanos::ZERO, &mut ())))
            .unwrap();
    }
    for (in_port, group) in [(1, 1), (2, 2)] {
        let to = Match::any().with(Field::InPort, in_port);
        add(&mut simulation, &FlowMod::add(1, to, vec![Action::Group(group)]));
    }
    let copied = run(&mut simulation, vec![anywhere(1, 1, 1000, Stop::Count(50))]);
    assert_eq!(copied.streams[0].by_port, [0, 50, 50, 50]);
    assert_eq!(copied.streams[0].account.counters().duplicated, 100);
    assert_eq!(simulation.ledger().copied, 100);
    // (A frame does not go back to the port on which it came in.)
    let selected =
        run(&mut simulation, vec![Stream { tx_port: Some(1), ..anywhere(1, 100, 1000, Stop::Count(1000)) }]);
    let by_port = &selected.streams[0].by_port;
    assert!(by_port[2] > 300 && by_port[2] < 700 && by_port[2] % 10 == 0, "{by_port:?}");
    let (packets, buckets) = simulation.with_control(|control, around| {
        let stats = &control.pipeline().group_stats(2, around.now.nanos())[0];
        (stats.packet_count, stats.buckets.iter().map(|b| b.packet_count).sum::<u64>())
    });
    assert_eq!((packets, buckets), (1000, 1000));
}

#[test]
fn meters_let_their_rate_pass() {
    let mut simulation = empty(instant(), 2);
    let band = Band::Drop { rate: 1000, burst_size: 10 };
    let meter = MeterMod {
        command: MeterModCommand::Add,
        flags: MeterFlags::PKTPS | MeterFlags::BURST,
        meter_id: 1,
        bands: vec![band],
    };
    simulation
        .with_control(|control, _| control.change(|p| p.meter_mod(&meter, Nanos::ZERO, &mut ())))
        .unwrap();
    let plain = FlowMod::add(1, Match::any(), vec![output(2)]);
    let instructions = [vec![Instruction::Meter(1)], plain.instructions.clone()].concat();
    add(&mut simulation, &FlowMod { instructions, ..plain });
    let outcome = run(&mut simulation, vec![anywhere(1, 1, 10_000, Stop::After(Nanos::from_secs(1)))]);
    assert_eq!(outcome.streams[0].account.counters().received, 1009);
}

#[test]
fn normal_learns() {
    let mut simulation = empty(instant(), 3);
    add(&mut simulation, &FlowMod::add(1, Match::any(), vec![output(PortNo::NORMAL.0)]));
    let swapped = |bytes: &[u8]| [&bytes[6..12], &bytes[..6], &bytes[12..]].concat();
    let mut frame = vec![0; 60];
    frames(1, 64).write(0, &mut frame);
    let until = Until { enough: usize::MAX, quiet: MS(1), limit: MS(1) };
    let ports = |simulation: &mut Simulation, port, bytes: &[u8]| {
        let came = simulation.exchange(&[(port, bytes.to_vec())], until, |_| true).unwrap();
        came.iter().map(|a| a.port).collect::<Vec<_>>()
    };
    assert_eq!(ports(&mut simulation, 0, &frame), [1, 2], "nobody knows where that is");
    assert_eq!(ports(&mut simulation, 1, &swapped(&frame)), [0]);
    assert_eq!(ports(&mut simulation, 0, &frame), [1]);
}

#[test]
fn headers_are_rewritten_byte_for_byte() {
    let mut simulation = empty(Model::default(), 2);
    let actions = vec![Action::set(Field::Ipv4Dst, 0x0102_0304), Action::PushVlan(0x8100), output(2)];
    add(&mut simulation, &FlowMod::add(1, Match::any().with(Field::EthType, 0x800), actions));
    let mut frame = vec![0; 60];
    frames(1, 64).write(0, &mut frame);
    let until = Until { enough: 1, quiet: MS(1), limit: MS(100) };
    let came = simulation.exchange(&[(0, frame.clone())], until, |_| true).unwrap();
    let key = FlowKey::parse(&came[0].frame, 0);
    assert_eq!((came.len(), came[0].port, came[0].frame.len()), (1, 1, 64));
    assert_eq!(key.get(Field::Ipv4Dst), Some(0x0102_0304));
    assert_eq!(key.get(Field::EthSrc), FlowKey::parse(&frame, 0).get(Field::EthSrc));
    assert_eq!(came[0].at, Nanos(51), "first bit out when the last of 64 bytes is in");
    // Streams' probes are found behind the tag.
    let outcome = run(&mut simulation, vec![stream(1, cbr(1000), Stop::Count(10))]);
    assert_eq!(outcome.streams[0].account.counters().received, 10);
}

#[test]
fn a_full_table_that_evicts_forgets_its_oldest_entry() {
    let table = TableModel { entries: 10, evicts: true, ..TableModel::default() };
    let mut simulation = empty(Model { table, ..instant() }, 2);
    let to = |dst: u128| Match::any().with(Field::EthType, 0x800).with(Field::Ipv4Dst, dst);
    for dst in 0..15 {
        add(&mut simulation, &FlowMod::add(1, to(0x0a00_0001 + dst), vec![output(2)]));
    }
    let outcome = run(&mut simulation, vec![anywhere(1, 15, 1000, Stop::Count(15))]);
    let first: Vec<_> = outcome.streams[0].account.first_arrivals().map(|at| at.is_some()).collect();
    assert_eq!(first, [[false; 5], [true; 5], [true; 5]].concat());
}

#[test]
fn priorities_and_expiry_are_the_pipelines() {
    let mut simulation = empty(instant(), 3);
    add(&mut simulation, &FlowMod::add(1, Match::any(), vec![output(2)]));
    let short = FlowMod { hard_timeout: 1, ..FlowMod::add(9, Match::any(), vec![output(3)]) };
    simulation
        .with_control(|control, _| {
            control.change(|p| p.flow_mod(&short, Version::V1_3, Nanos::ZERO, &mut ()))
        })
        .unwrap();
    let outcome = run(&mut simulation, vec![anywhere(1, 1, 1000, Stop::After(Nanos::from_secs(2)))]);
    // (The frame that comes at the very instant of the timeout is first.)
    assert_eq!(outcome.streams[0].by_port, [0, 999, 1001]);
}

#[test]
fn the_server_decides_when_it_is_done_with_a_frame() {
    let service = constant(1_000_000.0);
    let mut simulation = empty(
        Model { forwarding: ForwardingModel { service, ..ForwardingModel::default() }, ..instant() },
        2,
    );
    let id = simulation.start(vec![anywhere(1, 1, 1000, Stop::Count(1))], options()).unwrap();
    simulation.run_until(Picos::from_micros(900));
    add(&mut simulation, &FlowMod::add(1, Match::any(), vec![output(2)]));
    simulation.run_until(Picos::from_micros(1000));
    assert_eq!(simulation.finish(id).unwrap().streams[0].account.counters().received, 1);
}
