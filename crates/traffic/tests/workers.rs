//! Several workers count exactly what one worker counts.

mod common;

use std::time::Duration;

use common::*;
use flowgauge_measure::{FlowOrder, Schedule};
use flowgauge_ports::{Port, ring};
use flowgauge_traffic::{Finished, Options, Sink, Stop, Stream, start_on};

fn run_on(workers: usize, ports: Vec<Box<dyn Port>>, streams: Vec<Stream>, options: Options) -> Finished {
    start_on(ports, streams, options, &vec![None; workers]).unwrap().finish()
}

/// Two streams, one each way between two ports, and one that stays at its port's other end.
fn both_ways(schedule: &Schedule) -> Vec<Stream> {
    let between = |id, from, to| {
        let mut stream = stream(id, schedule.clone(), Stop::Count(20_000));
        (stream.tx_port, stream.sink, stream.frames) = (Some(from), Sink::Port(to), template(100).into());
        (stream.flow_order, stream.record) = (FlowOrder::Blocks { block: 10, repeats: 3 }, 500);
        stream
    };
    vec![between(1, 0, 1), between(2, 1, 0)]
}

#[test]
fn two_workers_find_what_one_finds() {
    let _alone = alone();
    for schedule in [cbr(200_000), Schedule::Max] {
        for workers in [1, 2, 7] {
            let (a, b) = ring::pair_with(1 << 10, ring::WhenFull::Wait);
            let finished = run_on(workers, boxed(vec![a, b]), both_ways(&schedule), options());
            let outcome = &finished.outcome;
            assert!(outcome.error.is_none() && finished.ports.len() == 2);
            for (number, stream) in outcome.streams.iter().enumerate() {
                let counters = stream.account.counters();
                assert_eq!(
                    (counters.sent, counters.received, counters.lost),
                    (20_000, 20_000, 0),
                    "{workers} workers"
                );
                assert_eq!((counters.duplicated, counters.reordered, counters.corrupt), (0, 0, 0));
                assert_eq!((stream.requested, stream.not_offered, stream.misrouted), (20_000, 0, 0));
                assert_eq!(stream.by_port[1 - number], 20_000);
                assert_eq!(stream.account.latency().count(), 20_000);
                assert_eq!(stream.account.windows().slices().iter().map(|w| w.count).sum::<u64>(), 20_000);
                assert!(stream.account.first_arrivals().all(|at| at.is_some()));
                assert_eq!((stream.account.departures().len(), stream.account.arrivals().len()), (500, 500));
                let gaps = stream.gap_errors.errors.count();
                assert_eq!(gaps, if schedule == Schedule::Max { 0 } else { 20_000 });
                assert!(
                    stream.start == outcome.start
                        && stream.stop <= outcome.stop
                        && stream.stop > stream.start
                );
            }
            assert_eq!(outcome.ports[0].stats.tx_frames, 20_000);
            assert!(outcome.end - outcome.stop < MS(500), "the drain ends early");
        }
    }
}

#[test]
fn copies_and_losses_are_counted_once_however_ports_are_divided() {
    let _alone = alone();
    for workers in [1, 2, 4] {
        let (ours, theirs): (Vec<_>, Vec<_>) = (0..4).map(|_| ring::pair(1 << 14)).unzip();
        // Of ten frames: one lost, one doubled at one port, one at two ports, one damaged, one swapped with its successor.
        let mut held = None;
        let rule = move |n: u64, frame: &mut Vec<u8>| match n % 10 {
            0 => vec![],
            1 => vec![3, 3],
            2 => vec![1, 3],
            3 => {
                frame[50] ^= 1;
                vec![2]
            }
            4 => {
                held = Some(frame.clone());
                vec![]
            }
            5 => {
                let first = held.take().unwrap();
                held = Some(std::mem::replace(frame, first));
                vec![1]
            }
            6 => {
                *frame = held.take().unwrap();
                vec![2]
            }
            _ => vec![1],
        };
        let device = Device::new(theirs, Box::new(rule));
        let probes = stream(9, cbr(20_000), Stop::Count(1000));
        let options = Options { drain: Some(MS(50)), ..options() };
        let finished = run_on(workers, boxed(ours), vec![probes], options);
        device.stop();
        let stream = &finished.outcome.streams[0];
        let counters = stream.account.counters();
        assert_eq!((counters.sent, counters.received, counters.lost), (1000, 700, 300), "{workers} workers");
        assert_eq!((counters.duplicated, counters.corrupt), (200, 100), "{workers} workers");
        assert_eq!(stream.by_port, [0, 500, 100, 300], "{workers} workers");
    }
}

#[test]
fn one_worker_that_breaks_ends_them_all() {
    let _alone = alone();
    let ((a, b), (c, d)) = (ring::pair(1 << 10), ring::pair(1 << 10));
    let streams =
        (0..2).map(|i| Stream { tx_port: Some(i), ..stream(i as u16, cbr(1000), Stop::UntilStopped) });
    let running = start_on(boxed(vec![a, c]), streams.collect(), options(), &[None, None]).unwrap();
    while running.progress().sent.iter().any(|&sent| sent < 10) {
        std::thread::yield_now();
    }
    drop(b);
    let finished = running.finish();
    assert_eq!(finished.outcome.error.unwrap().name(), "link-down");
    assert_eq!(finished.ports.len(), 2);
    assert!(finished.outcome.streams.iter().all(|stream| stream.account.counters().sent >= 10));
    drop(d);
}

#[test]
fn stopping_and_the_frames_of_others_reach_every_worker() {
    let _alone = alone();
    let ((a, mut b), (c, d)) = (ring::pair(1 << 14), ring::pair(1 << 14));
    let mut elsewhere = stream(1, cbr(1000), Stop::UntilStopped);
    elsewhere.tx_port = None;
    let greedy = Stream { tx_port: Some(1), ..stream(2, Schedule::Max, Stop::UntilStopped) };
    let running =
        start_on(boxed(vec![a, c, d]), vec![elsewhere, greedy], options(), &[None, None, None]).unwrap();
    running.wait_until_started();
    let mut frame = vec![0; 60];
    for seq in [0, 1, 1, 3] {
        let time = flowgauge_clock::Clock.now() - running.origin();
        flowgauge_measure::Probe { nonce: running.nonce(), stream: 1, seq, time }.write(&mut frame[42..]);
        send(&mut b, &frame);
    }
    while running.progress().received[0] < 3 || running.progress().sent[1] < 1000 {
        std::thread::yield_now();
    }
    running.set_sent(0, 5);
    running.stop();
    let outcome = running.finish().outcome;
    let counters = outcome.streams[0].account.counters();
    assert_eq!((counters.sent, counters.received, counters.lost, counters.duplicated), (5, 3, 2, 1));
    let greedy = outcome.streams[1].account.counters();
    assert_eq!(greedy.sent, greedy.received + outcome.rx_dropped());
}

#[test]
fn waiting_ends_with_the_last_worker() {
    let _alone = alone();
    let (a, b) = ring::pair_with(1 << 10, ring::WhenFull::Wait);
    let mut streams = both_ways(&cbr(1000));
    streams.iter_mut().for_each(|stream| stream.stop = Stop::UntilStopped);
    let running = start_on(boxed(vec![a, b]), streams, options(), &[None, None]).unwrap();
    assert!(!running.wait(Some(Duration::from_millis(5))) && !running.is_finished());
    running.stop();
    assert!(running.wait(None) && running.is_finished());
    assert!(running.finish().outcome.error.is_none());
}
