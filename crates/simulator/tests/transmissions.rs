//! Transmissions: their start and end, what is late, what belongs to an earlier one.

mod common;

use std::sync::Arc;

use common::*;
use flowgauge_clock::Nanos;
use flowgauge_measure::{FlowOrder, Schedule};
use flowgauge_packet::RawFrames;
use flowgauge_simulator::model::{ForwardingModel, LinkModel};
use flowgauge_simulator::{Model, Picos, SimulationError};
use flowgauge_traffic::{LatePolicy, Options, Stop, Stream, TrafficError};

fn slow(latency_ns: f64) -> Model {
    let latency = constant(latency_ns);
    Model { forwarding: ForwardingModel { latency, ..ForwardingModel::default() }, ..instant() }
}

#[test]
fn ends_with_its_last_interval_and_drains() {
    let mut testbed = testbed(slow(1e6));
    let outcome = run(&mut testbed, vec![stream(1, cbr(1000), Stop::Count(10))]);
    assert_eq!((outcome.start, outcome.stop), (Nanos::ZERO, MS(10)));
    assert_eq!(outcome.streams[0].requested, 10);
    assert_eq!(outcome.streams[0].account.counters().late, 0, "the last one came as the stream stopped");
    // Everything came: some quiet, and it is over.
    assert_eq!(outcome.end, MS(15));
}

#[test]
fn what_comes_after_the_stop_is_late_and_after_the_drain_lost() {
    let stream = || stream(1, cbr(1000), Stop::After(MS(10)));
    let drain = |ms| Options { drain: Some(MS(ms)), ..options() };
    let late = run_with(&mut testbed(slow(5.5e6)), vec![stream()], drain(100));
    let counters = late.streams[0].account.counters();
    assert_eq!((counters.received, counters.late, late.end), (10, 5, MS(110)));
    let mut simulation = testbed(slow(5.5e6));
    let cut = run_with(&mut simulation, vec![stream()], drain(0));
    assert_eq!(cut.streams[0].account.counters().received, 5);
    // What was under way arrives in the next one, and is known as an earlier trial's.
    let next = run_with(&mut simulation, vec![stream()], drain(100));
    assert_eq!((next.earlier, next.streams[0].account.counters().received), (5, 10));
}

#[test]
fn runs_until_stopped() {
    let mut simulation = testbed(instant());
    let id = simulation.start(vec![stream(1, cbr(1_000_000), Stop::UntilStopped)], options()).unwrap();
    simulation.run_until(Picos::from_micros(1500));
    assert!(!simulation.is_finished(id));
    assert_eq!(simulation.progress(id)[0].sent, 1501);
    simulation.stop(id);
    simulation.cut_drain(id);
    assert!(simulation.is_finished(id));
    assert_eq!(simulation.elapsed(id), Nanos::from_micros(1500));
    assert_eq!(simulation.finish(id).unwrap().streams[0].account.counters().received, 1501);
    assert!(simulation.finish(id).is_none());
}

#[test]
fn frames_that_a_cable_cannot_take_are_not_offered() {
    // 10 Mpps of 64 bytes on 1 Gbit/s: as on the bench, the backlog may leave for 100 ms after the end.
    let link = LinkModel { rate_mbps: 1000.0, ..LinkModel::default() };
    let outcome = one(Model { link, ..Model::default() }, stream(1, cbr(10_000_000), Stop::After(MS(50))));
    let sent = outcome.account.counters().sent;
    assert_eq!(outcome.requested, 500_000);
    assert_eq!(sent, 150_000_000u64.div_ceil(672));
    assert_eq!(outcome.not_offered, 500_000 - sent);
}

#[test]
fn streams_of_a_port_take_turns() {
    let two = |schedule: fn() -> Schedule| {
        let streams = [1, 2].map(|id| stream(id, schedule(), Stop::After(MS(1))));
        let outcome = run(&mut testbed(Model::default()), streams.to_vec());
        outcome.streams.iter().map(|s| s.account.counters().sent).collect::<Vec<_>>()
    };
    assert_eq!(two(|| Schedule::Max), [7441, 7440]);
    assert_eq!(two(|| cbr(1_000_000)), [1000, 1000]);
}

#[test]
fn streams_that_are_always_due_share_by_weight_and_end_apart() {
    let streams = [(1, 3, 1000u64), (2, 1, 500)].map(|(id, weight, us)| Stream {
        weight,
        ..stream(id, Schedule::Max, Stop::After(Nanos::from_micros(us)))
    });
    let outcome = run(&mut testbed(Model::default()), streams.to_vec());
    let sent: Vec<_> = outcome.streams.iter().map(|s| s.account.counters().sent).collect();
    // 7441 frames in the first half, a quarter of them of the second stream; the rest is the first one's.
    assert!(sent[1].abs_diff(1860) <= 1 && sent[0] + sent[1] == 14_881, "{sent:?}");
}

#[test]
fn late_frames_are_caught_up_or_left_out() {
    // A frame each 500 ns; the cable takes one each 672 ns.
    let link = LinkModel { rate_mbps: 1000.0, ..LinkModel::default() };
    let model = Model { link, ..Model::default() };
    let late = |late| Stream { late, ..stream(1, cbr(2_000_000), Stop::After(MS(1))) };
    let skipped = one(model.clone(), late(LatePolicy::SKIP));
    assert!(skipped.gap_errors.errors.max_ns().unwrap() <= 500);
    assert_eq!(skipped.account.counters().sent + skipped.not_offered, 2000);
    assert!(skipped.account.counters().sent.abs_diff(1_000_000 / 672) <= 1);
    // 20 us behind after 116 frames; from then on one in four is left out.
    let within = one(model.clone(), late(LatePolicy::Within(Nanos::from_micros(20))));
    let latest = within.gap_errors.errors.max_ns().unwrap();
    assert!((20_000..=20_700).contains(&latest), "at most a gap and the cable's step more: {latest}");
    assert_eq!(within.account.counters().sent + within.not_offered, 2000);
    assert!(within.account.counters().sent.abs_diff((1_000_000 + latest) / 672) <= 1);
    assert_eq!(one(model, late(LatePolicy::CatchUp)).account.counters().sent, 2000);
}

#[test]
fn flows_are_walked_in_order() {
    let order = FlowOrder::Blocks { block: 2, repeats: 3 };
    let stream = Stream { frames: frames(4, 64), flow_order: order, ..stream(1, cbr(1000), Stop::Count(12)) };
    let outcome = one(instant(), stream);
    let first: Vec<_> = outcome.account.first_arrivals().map(|at| at.unwrap().0 / 1_000_000).collect();
    assert_eq!(first, [0, 1, 6, 7]);
}

#[test]
fn frames_without_probes_are_sent_and_not_recognised() {
    let raw = RawFrames::new(vec![vec![0xff; 60], vec![1; 100]], false).unwrap();
    let outcome = run(
        &mut testbed(instant()),
        vec![Stream { frames: Arc::new(raw).into(), ..stream(1, cbr(1000), Stop::Count(5)) }],
    );
    assert_eq!(outcome.streams[0].account.counters().sent, 5);
    assert_eq!(outcome.streams[0].account.counters().received, 0);
    assert_eq!(outcome.ports[1].foreign, 5);
}

#[test]
fn there_is_one_at_a_time_and_its_streams_must_make_sense() {
    let mut simulation = testbed(instant());
    let stream = || stream(1, cbr(1000), Stop::Count(5));
    let twice = simulation.start(vec![stream(), stream()], options());
    assert!(matches!(twice, Err(SimulationError::Traffic(TrafficError::DuplicateStream { stream: 1 }))));
    let nowhere = simulation.start(vec![Stream { tx_port: Some(9), ..stream() }], options());
    assert!(matches!(
        nowhere,
        Err(SimulationError::Traffic(TrafficError::NoSuchPort { port: 9, ports: 2, .. }))
    ));
    simulation.start(vec![stream()], options()).unwrap();
    assert!(matches!(simulation.start(vec![stream()], options()), Err(SimulationError::Busy)));
}
