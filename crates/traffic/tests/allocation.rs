//! The loops allocate nothing per frame, whatever they do: ten times the frames, the same number of allocations.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use std::sync::Arc;

use common::*;
use flowgauge_measure::{Counters, FlowOrder, Rate, Schedule};
use flowgauge_packet::RawFrames;
use flowgauge_ports::pcap::Format;
use flowgauge_ports::ring;
use flowgauge_traffic::capture::{CaptureOptions, capture};
use flowgauge_traffic::{LatePolicy, Options, Stop, Stream, start_on};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: the system's allocator does the work; counting touches no memory of its.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A way to run: how many workers on two ports, and streams of so many frames each.
struct Way {
    name: &'static str,
    workers: usize,
    options: Options,
    streams: fn(u64) -> Vec<Stream>,
}

/// Allocations of a transmission of `frames` frames per stream, of which none is left out or refused.
fn allocations(way: &Way, frames: u64) -> u64 {
    let (a, b) = ring::pair(1 << 12);
    let streams = (way.streams)(frames);
    let sending = streams.iter().filter(|stream| stream.tx_port.is_some()).count() as u64;
    let before = ALLOCATIONS.load(Relaxed);
    let options = Options { drain: Some(MS(5)), ..way.options };
    let running = start_on(boxed(vec![a, b]), streams, options, &vec![None; way.workers]).unwrap();
    let outcome = running.finish().outcome;
    let after = ALLOCATIONS.load(Relaxed);
    let count = |count: fn(&Counters) -> u64| {
        outcome.streams.iter().map(|s| count(&s.account.counters())).sum::<u64>()
    };
    assert_eq!(
        count(|c| c.sent) + outcome.streams.iter().map(|s| s.not_offered).sum::<u64>(),
        sending * frames
    );
    assert_eq!(count(|c| c.received) + outcome.rx_dropped(), count(|c| c.sent));
    after - before
}

fn probes(id: u16, schedule: Schedule, frames: u64) -> Stream {
    let mut probes = stream(id, schedule, Stop::Count(frames));
    (probes.frames, probes.record) = (template(1000).into(), 100);
    probes
}

fn back(stream: Stream) -> Stream {
    Stream { tx_port: Some(1), ..stream }
}

fn raw(frames: u64) -> Vec<Stream> {
    let mut frame = vec![0; 60];
    template(1).write(0, &mut frame);
    let raw = RawFrames::new([&frame, &frame], true).unwrap();
    vec![Stream { frames: Arc::new(raw).into(), ..probes(1, Schedule::Max, frames) }]
}

/// Allocations of a capture of `frames` frames, with probes judged and a file that takes everything, and of its sender.
fn allocations_of_capture(frames: u64) -> u64 {
    // Room for all: a capture that lost one would wait for it.
    let (a, b) = ring::pair(1 << 15);
    let before = ALLOCATIONS.load(Relaxed);
    let file = std::fs::File::options().write(true).open("/dev/null").unwrap();
    let capture_options = CaptureOptions { probes: true, count: Some(frames), ..CaptureOptions::default() };
    let capturing = capture(boxed(vec![b]), Some((file, Format::Pcapng)), capture_options).unwrap();
    run(
        boxed(vec![a]),
        vec![stream(1, cbr(200_000), Stop::Count(frames))],
        Options { drain: Some(MS(0)), ..options() },
    );
    let found = capturing.finish().outcome;
    let after = ALLOCATIONS.load(Relaxed);
    assert_eq!((found.progress.frames, found.progress.lost, found.probes.len()), (frames, 0, 1));
    after - before
}

// One test: allocations are counted for the whole process.
#[test]
fn nothing_is_allocated_per_frame() {
    let (few, many) = (allocations_of_capture(2_000), allocations_of_capture(20_000));
    assert!(many <= few + 10, "capture: {few} allocations for 2 000 frames, {many} for 20 000");
    let way = |name, workers, streams| Way { name, workers, options: options(), streams };
    let ways = [
        way("as fast as possible", 1, |n| vec![probes(1, Schedule::Max, n)]),
        way("paced", 1, |n| vec![probes(1, cbr(1_000_000), n)]),
        way("at random", 1, |n| {
            let poisson = Schedule::Poisson { rate: Rate::new(1_000_000, 1).unwrap(), seed: 1 };
            vec![Stream { flow_order: FlowOrder::Random { seed: 2 }, ..probes(1, poisson, n) }]
        }),
        way("late frames skipped", 1, |n| {
            vec![Stream { late: LatePolicy::SKIP, ..probes(1, cbr(100_000_000), n) }]
        }),
        way("several streams, both ways", 1, |n| {
            let greedy = |id| probes(id, Schedule::Max, n);
            vec![
                greedy(1),
                greedy(2),
                probes(3, cbr(500_000), n),
                back(greedy(4)),
                back(probes(5, cbr(500_000), n)),
            ]
        }),
        way("raw frames", 1, raw),
        way("two workers, one sends", 2, |n| vec![probes(1, Schedule::Max, n)]),
        way("two workers, both send", 2, |n| {
            vec![probes(1, cbr(500_000), n), back(probes(2, Schedule::Max, n))]
        }),
        Way {
            options: Options { burst: Some(1), ..options() },
            ..way("one by one", 1, |n| vec![probes(1, Schedule::Max, n)])
        },
    ];
    for way in ways {
        allocations(&way, 1000);
        let (few, many) = (allocations(&way, 5_000), allocations(&way, 50_000));
        assert!(many <= few + 4, "{}: {few} allocations for 5 000 frames, {many} for 50 000", way.name);
    }
}
