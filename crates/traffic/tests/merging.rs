//! Streams that share a port leave in exactly the order and proportion that their schedules and weights say.

mod common;

use std::sync::{Arc, Mutex};

use common::*;
use flowgauge_clock::Nanos;
use flowgauge_measure::{FlowOrder, Probe, Schedule};
use flowgauge_ports::ring;
use flowgauge_traffic::{Options, Stop, Stream};

const FRAMES: u64 = 1_000_000;

/// The frames that leave by one port, in their order: stream, sequence number, and the destination's low half.
fn leave(streams: Vec<Stream>, options: Options) -> Vec<(u16, u64, u16)> {
    let (ours, theirs) = ring::pair_with(1 << 12, ring::WhenFull::Wait);
    let seen = Arc::new(Mutex::new(Vec::with_capacity(FRAMES as usize)));
    let noted = Arc::clone(&seen);
    let device = Device::new(
        vec![theirs],
        Box::new(move |_, frame| {
            let probe = Probe::read(&frame[42..]).unwrap();
            noted.lock().unwrap().push((probe.stream, probe.seq, u16::from_be_bytes([frame[32], frame[33]])));
            vec![]
        }),
    );
    let sent: u64 = run(boxed(vec![ours]), streams, options)
        .outcome
        .streams
        .iter()
        .map(|stream| stream.account.counters().sent)
        .sum();
    while (seen.lock().unwrap().len() as u64) < sent {
        std::thread::yield_now();
    }
    device.stop();
    std::mem::take(&mut seen.lock().unwrap())
}

fn brief() -> Options {
    Options { drain: Some(Nanos::ZERO), ..options() }
}

#[test]
fn streams_with_a_pace_leave_in_the_order_of_their_schedules() {
    let _alone = alone();
    let rates = [1_200_000, 800_000, 500_000, 333_333];
    let total: u64 = rates.iter().sum();
    let counts = rates.map(|rate| FRAMES * rate / total);
    let streams = rates.iter().zip(counts).enumerate();
    let streams =
        streams.map(|(id, (&rate, count))| stream(id as u16, cbr(rate), Stop::Count(count))).collect();
    let found = leave(streams, brief());
    let mut expected: Vec<(Nanos, u16, u64)> = Vec::new();
    for (id, (&rate, count)) in rates.iter().zip(counts).enumerate() {
        expected.extend((0..count).map(|k| (cbr(rate).departure(k), id as u16, k)));
    }
    expected.sort();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.0, found.1), (expected.1, expected.2));
    }
}

#[test]
fn streams_without_pause_share_by_their_weights_at_any_moment() {
    let _alone = alone();
    for weights in [[1, 1, 1], [5, 3, 1], [1000, 999, 1]] {
        let total: u64 = weights.iter().sum();
        let rounds = FRAMES / 3 / total;
        let greedy = |(id, weight): (usize, &u64)| {
            let plain = stream(id as u16, Schedule::Max, Stop::Count(rounds * weight));
            Stream { weight: *weight as u32, ..plain }
        };
        let found = leave(weights.iter().enumerate().map(greedy).collect(), brief());
        assert_eq!(found.len() as u64, rounds * total);
        let mut counts = [0u64; 3];
        for (n, (id, seq, _)) in (1..).zip(found) {
            assert_eq!(seq, counts[id as usize]);
            counts[id as usize] += 1;
            for (count, weight) in counts.iter().zip(weights) {
                // No stream is ever two frames from its share.
                assert!((count * total).abs_diff(n * weight) < 2 * total, "{counts:?} of {n}, {weights:?}");
            }
        }
        assert_eq!(counts, weights.map(|weight| rounds * weight));
    }
}

#[test]
fn flows_are_walked_in_blocks_and_a_burst_may_be_one_frame() {
    let _alone = alone();
    let order = FlowOrder::Blocks { block: 2000, repeats: 10 };
    for burst in [None, Some(1)] {
        let mut walker = stream(0, Schedule::Max, Stop::Count(FRAMES / 2));
        (walker.frames, walker.flow_order) = (template(64_000).into(), order);
        let found = leave(vec![walker], Options { burst, ..brief() });
        assert_eq!(found.len() as u64, FRAMES / 2);
        for (k, (_, seq, destination)) in (0..).zip(found) {
            assert_eq!((seq, u32::from(destination)), (k, (order.flow(k, 64_000) + 1) & 0xffff));
        }
    }
}
