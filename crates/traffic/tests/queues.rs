//! Ports of several queues: their streams are spread, and what arrives is counted as one port's arrivals.

mod common;

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

use common::*;
use flowgauge_clock::Nanos;
use flowgauge_measure::{Probe, Schedule};
use flowgauge_ports::{Port, ring};
use flowgauge_traffic::loopback::{LoopbackOptions, measure};
use flowgauge_traffic::{Finished, Options, Ports, Sink, Stop, Stream, start_on};
use proptest::prelude::*;

fn run_on(workers: usize, ports: Ports, streams: Vec<Stream>, options: Options) -> Finished {
    start_on(ports, streams, options, &vec![None; workers]).unwrap().finish()
}

/// What becomes of a frame: the queues of port 1 to which copies go, and whether it waits until later ones have passed.
type Fate = (Vec<usize>, bool);

/// What arrived, counted in the simplest way.
#[derive(Debug, Default, PartialEq, Eq)]
struct Naive {
    received: u64,
    lost: u64,
    duplicated: u64,
    reordered: u64,
    by_port: Vec<u64>,
}

impl Naive {
    /// `arrived`: sequence numbers by queue, in order of arrival. Order is judged within a queue.
    fn of(sent: u64, arrived: &[Vec<u64>]) -> Naive {
        let all: u64 = arrived.iter().map(|queue| queue.len() as u64).sum();
        let distinct = arrived.iter().flatten().collect::<HashSet<_>>().len() as u64;
        let late_in = |queue: &Vec<u64>| {
            let mut seen = BTreeSet::new();
            queue.iter().filter(|&&seq| seen.insert(seq) && seen.last() > Some(&seq)).count() as u64
        };
        let reordered = arrived.iter().map(late_in).sum();
        Naive {
            received: distinct,
            lost: sent - distinct,
            duplicated: all - distinct,
            reordered,
            by_port: vec![0, all],
        }
    }
}

/// Frames from port 0 by a device with these fates to the queues of port 1: what was counted, and what is true.
fn distribute(fates: Vec<Fate>, queues: usize, workers: usize) -> (Naive, Naive) {
    let (ours, theirs): (Vec<_>, Vec<_>) = (0..=queues).map(|_| ring::pair(1 << 12)).unzip();
    let arrived = Arc::new(Mutex::new(vec![Vec::new(); queues]));
    let (noted, sent) = (Arc::clone(&arrived), fates.len() as u64);
    let mut held: Option<Vec<u8>> = None;
    let rule = move |n: u64, frame: &mut Vec<u8>| {
        let (to, waits) = fates[n as usize].clone();
        if waits {
            match held.take() {
                // It takes the place of the next one that waits, which is lost.
                Some(earlier) => *frame = earlier,
                None => {
                    held = Some(std::mem::take(frame));
                    return vec![];
                }
            }
        }
        let mut noted = noted.lock().unwrap();
        let seq = |frame: &[u8]| Probe::read(&frame[42..]).unwrap().seq;
        to.iter().for_each(|&queue| noted[queue].push(seq(frame)));
        to.into_iter().map(|queue| queue + 1).collect()
    };
    let device = Device::new(theirs, Box::new(rule));
    let ports = Ports::with_queues(boxed(ours), &[1, queues]);
    let probes = Stream { sink: Sink::Port(1), ..stream(3, cbr(100_000), Stop::Count(sent)) };
    let options = Options { drain: Some(MS(20)), ..options() };
    let outcome = run_on(workers, ports, vec![probes], options).outcome;
    device.stop();
    assert!(outcome.error.is_none() && outcome.ports.len() == 2);
    let (stream, arrived) = (&outcome.streams[0], arrived.lock().unwrap());
    let counters = stream.account.counters();
    assert_eq!((counters.sent, counters.corrupt, stream.misrouted), (sent, 0, 0));
    assert_eq!(outcome.ports[1].stats.rx_frames, arrived.iter().map(|queue| queue.len() as u64).sum::<u64>());
    let counted = Naive {
        received: counters.received,
        lost: counters.lost,
        duplicated: counters.duplicated,
        reordered: counters.reordered,
        by_port: stream.by_port.clone(),
    };
    (counted, Naive::of(sent, &arrived))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn however_frames_are_spread_the_counts_are_exact(
        fates in prop::collection::vec((prop::collection::vec(0..4usize, 0..3), prop::bool::weighted(0.05)), 1..400),
        queues in 1..=4usize,
        workers in 1..=5usize,
    ) {
        let _alone = alone();
        let fates = fates.into_iter().map(|(to, waits)| (to.into_iter().map(|q| q % queues).collect(), waits));
        let (counted, truth) = distribute(fates.collect(), queues, workers);
        prop_assert_eq!(counted, truth);
    }
}

#[test]
fn queues_that_are_read_in_turn_reorder_nothing() {
    let _alone = alone();
    for workers in [1, 2, 3] {
        let fates = (0..4000).map(|n| (vec![n * 7 / 3 % 3], false)).collect();
        let (counted, truth) = distribute(fates, 3, workers);
        assert_eq!((counted.received, counted.lost, counted.reordered), (4000, 0, 0), "{workers} workers");
        assert_eq!(counted, truth);
    }
}

#[test]
fn streams_are_spread_over_queues_and_each_stays_on_one() {
    let _alone = alone();
    for workers in [1, 2, 4, 9] {
        // Two ports of two queues each, joined queue to queue.
        let (a, b): (Vec<_>, Vec<_>) = (0..2).map(|_| ring::pair_with(1 << 10, ring::WhenFull::Wait)).unzip();
        let ports = Ports::with_queues(boxed(a.into_iter().chain(b).collect()), &[2, 2]);
        let streams = (1..=3).map(|id| {
            let schedule = if id == 3 { cbr(100_000) } else { Schedule::Max };
            Stream { sink: Sink::Port(1), ..stream(id, schedule, Stop::Count(1000 * u64::from(id))) }
        });
        let mut finished = run_on(workers, ports, streams.collect(), options());
        let outcome = &finished.outcome;
        assert!(outcome.error.is_none());
        for (stream, sent) in outcome.streams.iter().zip([1000, 2000, 3000]) {
            let counters = stream.account.counters();
            assert_eq!((counters.sent, counters.received, counters.reordered), (sent, sent, 0));
            assert_eq!((stream.requested, stream.by_port.as_slice()), (sent, &[0, sent][..]));
        }
        let frames = |port: &flowgauge_traffic::PortOutcome| (port.stats.tx_frames, port.stats.rx_frames);
        assert_eq!(outcome.ports.iter().map(frames).collect::<Vec<_>>(), [(6000, 0), (0, 6000)]);
        assert!(outcome.end - outcome.stop < MS(500), "the drain ends early");
        let sent: Vec<_> = finished.ports.iter_mut().map(|port| port.stats().tx_frames).collect();
        assert_eq!(sent, [4000, 2000, 0, 0], "handles come back in their order: {workers} workers");
    }
}

#[test]
fn frames_of_somebody_else_are_counted_on_all_queues() {
    let _alone = alone();
    let (ours, mut theirs): (Vec<_>, Vec<_>) = (0..2).map(|_| ring::pair(64)).unzip();
    let elsewhere = Stream { tx_port: None, ..stream(1, cbr(1000), Stop::UntilStopped) };
    let ports = Ports::with_queues(boxed(ours), &[2]);
    let running = start_on(ports, vec![elsewhere], options(), &[None]).unwrap();
    running.wait_until_started();
    let mut frame = vec![0; 60];
    for (queue, seq) in [(0, 0), (1, 1), (0, 1), (1, 3)] {
        let time = flowgauge_clock::Clock.now() - running.origin();
        Probe { nonce: running.nonce(), stream: 1, seq, time }.write(&mut frame[42..]);
        send(&mut theirs[queue], &frame);
    }
    while running.progress().received[0] < 4 {
        std::thread::yield_now();
    }
    running.set_sent(0, 5);
    let counters = running.finish().outcome.streams[0].account.counters();
    assert_eq!((counters.sent, counters.received, counters.lost, counters.duplicated), (5, 3, 2, 1));
}

#[test]
fn the_tester_is_measured_on_ports_of_several_queues() {
    let _alone = alone();
    let (a, b): (Vec<_>, Vec<_>) = (0..2).map(|_| ring::pair(1 << 12)).unzip();
    let ports = Ports::with_queues(boxed(a.into_iter().chain(b).collect()), &[2, 2]);
    let delay_trial = Nanos::from_millis(20);
    let (handles, result) =
        measure(ports, &LoopbackOptions { sizes: vec![], delay_trial, ..LoopbackOptions::default() });
    assert_eq!((handles.len(), result.unwrap().delay_count), (4, 200));
}

#[test]
fn a_capture_has_an_interface_for_each_port() {
    let _alone = alone();
    let (ours, mut theirs): (Vec<_>, Vec<_>) = (0..3).map(|_| ring::pair(64)).unzip();
    let options = flowgauge_traffic::capture::CaptureOptions { count: Some(9), ..Default::default() };
    let ports = Ports::with_queues(boxed(ours), &[2, 1]);
    let running = flowgauge_traffic::capture::capture(ports, None, options).unwrap();
    for (queue, port) in theirs.iter_mut().enumerate() {
        (0..2 + queue).for_each(|_| send(port, &[0; 60]));
    }
    let captured = running.finish();
    let frames: Vec<_> = captured.outcome.ports.iter().map(|&(_, frames, _)| frames).collect();
    assert_eq!((frames, captured.ports.len()), (vec![5, 4], 3));
}
