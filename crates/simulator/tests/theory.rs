//! Queues with known answers: waiting times and losses lie in their 99.9 % intervals around the textbook's.

mod common;

use common::*;
use flowgauge_clock::Nanos;
use flowgauge_measure::{Account, Schedule};
use flowgauge_simulator::Model;
use flowgauge_simulator::model::{Distribution, ForwardingModel, QueuesModel};
use flowgauge_traffic::{Stop, Stream};

const SERVICE_NS: f64 = 1000.0;
/// Student's t for 30 runs, 99.9 %, two-sided.
const T: f64 = 3.659;
const RUNS: u64 = 30;

fn model(service: Distribution, service_frames: Option<u32>) -> Model {
    Model {
        forwarding: ForwardingModel { service, ..ForwardingModel::default() },
        queues: QueuesModel { service_frames, ..QueuesModel::default() },
        ..instant()
    }
}

fn exponential() -> Distribution {
    Distribution::exponential(SERVICE_NS)
}

/// Independent runs (another seed each): mean and half width of what `figure` says of each.
fn estimate(model: &Model, pps: u64, figure: impl Fn(&Account) -> f64) -> (f64, f64) {
    let figures: Vec<f64> = (0..RUNS)
        .map(|seed| {
            let mut simulation = flowgauge_simulator::Simulation::new(model.clone(), 2, seed).unwrap();
            let request =
                flowgauge_openflow::FlowMod::add(1, flowgauge_openflow::Match::any(), vec![output(2)]);
            add(&mut simulation, &request);
            let stream = stream(1, poisson(pps, 1000 + seed), Stop::After(MS(20)));
            let id = simulation.start(vec![stream], options()).unwrap();
            simulation.run_until(simulation.now() + Nanos::from_millis(22).into());
            figure(&simulation.finish(id).unwrap().streams[0].account)
        })
        .collect();
    let mean = figures.iter().sum::<f64>() / RUNS as f64;
    let variance = figures.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (RUNS - 1) as f64;
    (mean, T * (variance / RUNS as f64).sqrt())
}

fn sojourn(account: &Account) -> f64 {
    account.latency().mean_ns().unwrap()
}

fn loss(account: &Account) -> f64 {
    account.counters().lost as f64 / account.counters().sent as f64
}

fn agrees(found: (f64, f64), theory: f64, most_half_width: f64) {
    let (mean, half) = found;
    assert!((mean - theory).abs() <= half, "{mean} +- {half}, theory says {theory}");
    assert!(half <= most_half_width * theory, "{half} is too wide to say much");
}

#[test]
fn m_d_1_waits_as_pollaczek_and_khinchine_say() {
    for rho in [0.3, 0.6, 0.8] {
        let found = estimate(&model(constant(SERVICE_NS), None), (rho * 1e6) as u64, sojourn);
        agrees(found, SERVICE_NS * (1.0 + rho / (2.0 * (1.0 - rho))), 0.03);
    }
}

#[test]
fn m_m_1_waits_as_its_sojourn_time_says() {
    for rho in [0.3, 0.6, 0.8] {
        let found = estimate(&model(exponential(), None), (rho * 1e6) as u64, sojourn);
        agrees(found, SERVICE_NS / (1.0 - rho), 0.06);
    }
}

#[test]
fn m_m_1_k_loses_what_its_formula_says() {
    // K waiting places and one in service: N = K + 1 in the textbook's M/M/1/N.
    for (rho, k) in [(0.8, 3), (1.0, 4), (1.5, 9)] {
        let n = f64::from(k) + 1.0;
        let blocked: f64 = if rho == 1.0 {
            1.0 / (n + 1.0)
        } else {
            (1.0 - rho) * f64::powf(rho, n) / (1.0 - f64::powf(rho, n + 1.0))
        };
        let found = estimate(&model(exponential(), Some(k)), (rho * 1e6) as u64, loss);
        agrees(found, blocked, 0.06);
    }
}

#[test]
fn d_d_1_k_is_exact() {
    // 1 Mpps of service; offered 1.25 Mpps. Without waiting places every second frame finds the server busy; with any, it
    // never idles, and of five frames four are served once the queue is full.
    let plain = one(model(constant(SERVICE_NS), Some(0)), stream(1, cbr(1_250_000), Stop::Count(50_000)));
    assert_eq!(plain.account.counters().received, 25_000);
    for k in [1u64, 10, 100] {
        let stream = Stream { record: 100_000, ..stream(1, cbr(1_250_000), Stop::Count(50_000)) };
        let outcome = one(model(constant(SERVICE_NS), Some(k as u32)), stream);
        let counters = outcome.account.counters();
        // Work done until the last arrival at 49 999 * 800 ns, then what is left of K waiting and one in service.
        let steady = *delays(&outcome).iter().rev().nth(50).unwrap();
        assert!(steady > k * 1000 && steady <= (k + 1) * 1000, "K = {k}: {steady}");
        let expected = 39_999 + k + 1;
        assert!(counters.received.abs_diff(expected) <= 1, "K = {k}: {} of {expected}", counters.received);
        assert_eq!(counters.lost, 50_000 - counters.received);
    }
}

#[test]
fn d_d_1_below_capacity_never_waits() {
    let outcome = one(model(constant(SERVICE_NS), Some(0)), stream(1, cbr(1_000_000), Stop::Count(1000)));
    let latency = outcome.account.latency();
    assert_eq!((latency.min_ns(), latency.max_ns(), latency.count()), (Some(1000), Some(1000), 1000));
}

#[test]
fn littles_law_holds_at_any_load() {
    let mut simulation = testbed(model(exponential(), None));
    let stream = stream(1, poisson(700_000, 5), Stop::After(MS(100)));
    let id = simulation.start(vec![stream], options()).unwrap();
    // The number in the system, sampled; arrivals are Poisson, so samples at even times will do.
    let (mut sum, samples) = (0, 100_000);
    for i in 1..=samples {
        simulation.run_until(Nanos(i * 1000).into());
        sum += simulation.ledger().queued;
    }
    simulation.run_until(Nanos::from_millis(110).into());
    let outcome = simulation.finish(id).unwrap();
    let account = &outcome.streams[0].account;
    let little = account.counters().sent as f64 / 0.1 * sojourn(account) / 1e9;
    let counted = sum as f64 / samples as f64;
    assert!((counted / little - 1.0).abs() < 0.005, "{counted} {little}");
}

#[test]
fn as_fast_as_possible_fills_the_cable() {
    let outcome = one(Model::default(), stream(1, Schedule::Max, Stop::After(MS(1))));
    assert_eq!(outcome.account.counters().received, 14_881);
}
