//! The same model, seed and streams give the same results, on every machine.

mod common;

use common::*;
use flowgauge_openflow::{FlowMod, Match};
use flowgauge_simulator::model::{Distribution, ForwardingModel, Kind, LinkModel, QueuesModel, Spread};
use flowgauge_simulator::{Model, Simulation};
use flowgauge_traffic::{Outcome, Sink, Stop, Stream};

/// Everything that draws random numbers.
fn noisy() -> Model {
    let times = |mean_ns, kind| Distribution { mean_ns, std_ns: mean_ns / 3.0, kind };
    Model {
        link: LinkModel { loss: 0.01, ..LinkModel::default() },
        forwarding: ForwardingModel {
            service: times(900.0, Kind::Lognormal),
            latency: times(3000.0, Kind::Normal),
            loss: 0.02,
            ..ForwardingModel::default()
        },
        queues: QueuesModel {
            service_frames: Some(9),
            parallel: 3,
            spread: Spread::Frame,
            ..QueuesModel::default()
        },
        ..Model::default()
    }
}

fn outcome(model: Model, seed: u64) -> Outcome {
    let mut simulation = Simulation::new(model, 2, seed).unwrap();
    add(&mut simulation, &FlowMod::add(1, Match::any(), vec![output(2)]));
    let stream = |id, pps| Stream {
        sink: Sink::Any,
        record: 20_000,
        ..stream(id, poisson(pps, u64::from(id)), Stop::Count(10_000))
    };
    run(&mut simulation, vec![stream(1, 1_000_000), stream(2, 2_000_000)])
}

/// FNV-1a over every arrival.
fn hash(outcome: &Outcome) -> u64 {
    let arrivals = outcome.streams.iter().flat_map(|s| s.account.arrivals()).flatten();
    arrivals.fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        number.to_le_bytes().iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
    })
}

#[test]
fn the_same_seed_gives_the_same_arrivals_and_another_does_not() {
    let first = hash(&outcome(noisy(), 7));
    assert_eq!(first, hash(&outcome(noisy(), 7)));
    assert_ne!(first, hash(&outcome(noisy(), 8)));
}

/// Made on x86-64; a change of what is drawn or computed shows here, on any processor.
#[test]
fn golden_hashes() {
    assert_eq!(format!("{:016x}", hash(&outcome(noisy(), 7))), "3c8d4ca51c8bfc3f");
    let exponential =
        ForwardingModel { service: Distribution::exponential(700.0), ..ForwardingModel::default() };
    let model = Model { forwarding: exponential, ..Model::default() };
    assert_eq!(format!("{:016x}", hash(&outcome(model, 1))), "f77ea29bc5939109");
}

#[test]
fn an_element_more_does_not_shift_the_numbers_of_others() {
    let with_loss = |loss| {
        let mut model = noisy();
        model.queues = QueuesModel::default();
        model.forwarding.loss = 0.0;
        model.link.loss = loss;
        outcome(model, 3)
    };
    // The departures come from the streams' own seeds, whatever the switch does.
    let departures = |o: &Outcome| o.streams[0].account.departures().to_vec();
    assert_eq!(departures(&with_loss(0.0)), departures(&with_loss(0.5)));
}

#[test]
fn a_simulation_can_be_handed_to_another_thread() {
    fn sendable<T: Send>() {}
    sendable::<Simulation>();
}
