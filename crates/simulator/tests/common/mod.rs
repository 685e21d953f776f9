//! Testbeds and streams for tests.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use flowgauge_clock::Nanos;
use flowgauge_measure::{Rate, Schedule};
use flowgauge_openflow::{Action, FlowMod, Instruction, Match, PortNo, Version};
use flowgauge_packet::{Field, FlowSet, FrameSource, FrameTemplate, Pattern, Payload};
use flowgauge_simulator::model::{Distribution, LinkModel};
use flowgauge_simulator::{Model, Picos, Simulation};
use flowgauge_traffic::{Options, Outcome, Sink, Stop, Stream, StreamOutcome};

pub const MS: fn(u64) -> Nanos = Nanos::from_millis;

/// Takes no time at all, cables included.
pub fn instant() -> Model {
    Model { link: LinkModel { rate_mbps: 0.0, ..LinkModel::default() }, ..Model::default() }
}

pub fn constant(ns: f64) -> Distribution {
    Distribution::constant(ns)
}

/// Frames of `size` bytes, FCS counted, to `flows` destinations.
pub fn frames(flows: u32, size: usize) -> FrameSource {
    let destinations = Pattern::Increment { start: 0x0a00_0001, step: 1, mask: 0xffff_ffff };
    let flows = FlowSet::new(flows, vec![(Field::Ipv4Dst, destinations)]).unwrap();
    Arc::new(FrameTemplate::new(&flows, size, Payload::Zero).unwrap()).into()
}

pub fn cbr(pps: u64) -> Schedule {
    Schedule::Cbr { rate: Rate::new(pps.into(), 1).unwrap() }
}

pub fn poisson(pps: u64, seed: u64) -> Schedule {
    Schedule::Poisson { rate: Rate::new(pps.into(), 1).unwrap(), seed }
}

pub fn burst(frames: u32, gap: Nanos) -> Schedule {
    Schedule::Burst { frames, gap, rate: None }
}

/// From port 0 to port 1, one flow of 64 bytes.
pub fn stream(id: u16, schedule: Schedule, stop: Stop) -> Stream {
    Stream { sink: Sink::Port(1), ..Stream::new(id, Some(0), frames(1, 64), schedule, stop) }
}

pub fn sized(size: usize, schedule: Schedule, stop: Stop) -> Stream {
    Stream { frames: frames(1, size), ..stream(1, schedule, stop) }
}

/// A testbed of that model without entries.
pub fn empty(model: Model, ports: usize) -> Simulation {
    Simulation::new(model, ports, 1).unwrap()
}

/// Adds an entry now.
pub fn add(simulation: &mut Simulation, request: &FlowMod) {
    simulation.with_control(|control, around| {
        let now = around.now.nanos();
        control.change(|pipeline| pipeline.flow_mod(request, Version::V1_3, now, &mut ())).unwrap();
    });
}

pub fn output(port: u32) -> Action {
    Action::output(PortNo(port))
}

/// A testbed whose switch sends everything that comes in on port 1 to port 2.
pub fn testbed(model: Model) -> Simulation {
    let mut simulation = empty(model, 2);
    add(&mut simulation, &FlowMod::add(1, Match::any().with(Field::InPort, 1), vec![output(2)]));
    simulation
}

/// The same by way of `tables` tables.
pub fn deep(model: Model, tables: u8) -> Simulation {
    let mut simulation = empty(model, 2);
    for table_id in 0..tables - 1 {
        let instructions = vec![Instruction::GotoTable(table_id + 1)];
        add(&mut simulation, &FlowMod { table_id, instructions, ..FlowMod::add(1, Match::any(), vec![]) });
    }
    let last = FlowMod { table_id: tables - 1, ..FlowMod::add(1, Match::any(), vec![output(2)]) };
    add(&mut simulation, &last);
    simulation
}

pub fn options() -> Options {
    Options { nonce: 0x1234, ..Options::default() }
}

/// Lets a transmission run to its end; every frame is accounted for at every instant that is looked at.
pub fn run_with(simulation: &mut Simulation, streams: Vec<Stream>, options: Options) -> Outcome {
    let id = simulation.start(streams, options).unwrap();
    while !simulation.is_finished(id) {
        assert!(simulation.step(), "nothing happens any more");
        debug_assert!(simulation.ledger().balances(), "{:?}", simulation.ledger());
    }
    simulation.finish(id).unwrap()
}

pub fn run(simulation: &mut Simulation, streams: Vec<Stream>) -> Outcome {
    run_with(simulation, streams, options())
}

/// What came of one stream over a testbed of that model.
pub fn one(model: Model, stream: Stream) -> StreamOutcome {
    run(&mut testbed(model), vec![stream]).streams.remove(0)
}

/// Delays of the first frames in nanoseconds, in order of arrival.
pub fn delays(outcome: &StreamOutcome) -> Vec<u64> {
    outcome.account.arrivals().iter().map(|&[_, left, arrived]| arrived - left).collect()
}

/// The delays of `n` frames sent at once over a testbed of that model.
pub fn delays_of_burst(model: Model, n: u32) -> Vec<u64> {
    let stream = stream(1, burst(n, MS(1)), Stop::Count(n.into()));
    delays(&one(model, Stream { record: n as usize, ..stream }))
}

/// The delay of single frames far apart: it must be the same for all.
pub fn delay_of(model: Model, size: usize) -> u64 {
    delay_through(&mut testbed(model), size)
}

pub fn delay_through(simulation: &mut Simulation, size: usize) -> u64 {
    let stream = Stream { record: 3, ..sized(size, cbr(1000), Stop::Count(3)) };
    let found = delays(&run(simulation, vec![stream]).streams[0]);
    assert_eq!(found.len(), 3, "{found:?}");
    // The first frame of a flow tells how many tables there are.
    assert!(found[1] == found[2], "{found:?}");
    found[2]
}

pub fn picos(ns: u64) -> Picos {
    Picos::from_nanos(ns)
}
