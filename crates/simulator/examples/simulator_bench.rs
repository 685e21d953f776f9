//! How fast the simulator is: `simulator_bench CASE`, one JSON line.
//!
//! - `md1`: Poisson arrivals at a server of constant time, at 80 % load, for a virtual second;
//! - `10g-64b`: 64-byte frames at 10 Gbit/s through one switch for a virtual second;
//! - `events`: the same on every element that takes time: cables, server, pipeline, output queue; `PORTS` ports, each with
//!   `STREAMS` streams (arguments 2 and 3; 2 and 1).

use std::sync::Arc;
use std::time::Instant;

use flowgauge_clock::Nanos;
use flowgauge_measure::{Rate, Schedule};
use flowgauge_openflow::{Action, FlowMod, Match, PortNo, Version};
use flowgauge_packet::{Field, FlowSet, FrameTemplate, Payload};
use flowgauge_simulator::model::{Distribution, ForwardingModel, LinkModel};
use flowgauge_simulator::{Model, Simulation};
use flowgauge_traffic::{Options, Stop, Stream};

const SECOND: Nanos = Nanos::from_secs(1);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (simulation, streams) = match arguments.first().map(String::as_str) {
        Some("md1") => md1(),
        Some("10g-64b") => line_rate(),
        Some("events") => events(number(1, 2), number(2, 1)),
        other => panic!("no case {other:?}: md1, 10g-64b or events"),
    };
    run(simulation, streams);
}

/// Time of service 1 us, 800 000 frames a second.
fn md1() -> (Simulation, Vec<Stream>) {
    let model = Model {
        link: LinkModel { rate_mbps: 0.0, ..LinkModel::default() },
        forwarding: ForwardingModel { service: Distribution::constant(1000.0), ..ForwardingModel::default() },
        ..Model::default()
    };
    let rate = Rate::new(800_000, 1).expect("above zero");
    (testbed(model, 2), vec![stream(0, 0, Schedule::Poisson { rate, seed: 1 })])
}

fn line_rate() -> (Simulation, Vec<Stream>) {
    let forwarding = ForwardingModel { service: Distribution::constant(60.0), ..ForwardingModel::default() };
    (testbed(Model { forwarding, ..Model::default() }, 2), vec![stream(0, 0, Schedule::Max)])
}

/// Every port sends a tenth of what its cable takes to the next one.
fn events(ports: usize, streams: usize) -> (Simulation, Vec<Stream>) {
    let model = Model {
        link: LinkModel { propagation_ns: 500.0, ..LinkModel::default() },
        forwarding: ForwardingModel {
            service: Distribution::constant(5.0),
            latency: Distribution::constant(2000.0),
            ..ForwardingModel::default()
        },
        ..Model::default()
    };
    let rate = Rate::new(1_488_095, streams as u128).expect("above zero");
    let all = (0..ports * streams).map(|i| stream(i, i / streams, Schedule::Cbr { rate }));
    (testbed(model, ports), all.collect())
}

fn testbed(model: Model, ports: usize) -> Simulation {
    let mut simulation = Simulation::new(model, ports, 1).expect("a sound model");
    simulation.with_control(|control, around| {
        let now = around.now.nanos();
        for port in 1..=ports as u32 {
            let to = vec![Action::output(PortNo(port % ports as u32 + 1))];
            let request = FlowMod::add(1, Match::any().with(Field::InPort, port.into()), to);
            control.change(|p| p.flow_mod(&request, Version::V1_3, now, &mut ())).expect("a sound entry");
        }
    });
    simulation
}

fn stream(id: usize, port: usize, schedule: Schedule) -> Stream {
    let flows = FlowSet::new(1, vec![]).expect("one flow");
    let template = FrameTemplate::new(&flows, 64, Payload::Zero).expect("64 bytes are enough");
    Stream::new(id as u16, Some(port), Arc::new(template), schedule, Stop::After(SECOND))
}

fn run(mut simulation: Simulation, streams: Vec<Stream>) {
    let begun = Instant::now();
    let options = Options { drain: Some(Nanos::from_millis(10)), ..Options::default() };
    let id = simulation.start(streams, options).expect("sound streams");
    while !simulation.is_finished(id) {
        let until = simulation.now() + Nanos::from_millis(10).into();
        simulation.run_until(until);
    }
    let outcome = simulation.finish(id).expect("it has ended");
    let seconds = begun.elapsed().as_secs_f64();
    let frames: u64 = outcome.streams.iter().map(|s| s.account.counters().received).sum();
    let events = simulation.handled();
    println!(
        "{{\"seconds\": {seconds:.3}, \"frames\": {frames}, \"events\": {events}, \"events_per_s\": {:.0}, \"virtual_s\": 1}}",
        events as f64 / seconds
    );
}
