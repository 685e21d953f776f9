//! How many FLOW_MODs with six match fields one core encodes and decodes per second, and how many a `FlowEncoder`
//! writes: `cargo run --release -p flowgauge-openflow --example codec_rate`.

mod common;

use std::hint::black_box;
use std::time::Instant;

use common::flow_mod;
use flowgauge_openflow::{
    Action, Body, FlowEncoder, FlowMod, Match, Message, PortNo, Version, decode, encode,
};
use flowgauge_packet::{Field, FlowSet, Pattern};

/// Rounds of a run, and runs, of which the best is told: others lost the core for a while.
const ROUNDS: u32 = 50_000;
const RUNS: u32 = 40;

fn report(what: &str, version: Version, mut once: impl FnMut(u32)) {
    let run = |_| {
        let start = Instant::now();
        (0..ROUNDS).for_each(&mut once);
        f64::from(ROUNDS) / start.elapsed().as_secs_f64() / 1e6
    };
    let millions = (0..RUNS).map(run).fold(0.0, f64::max);
    println!("OpenFlow {version}: {what} {millions:6.2} million FLOW_MODs per second");
}

fn main() {
    for version in Version::IMPLEMENTED {
        let message = Message::new(7, Body::FlowMod(flow_mod()));
        let mut out = Vec::new();
        report("encode", version, |_| {
            out.clear();
            encode(black_box(&message), version, &mut out).expect("can be expressed");
        });
        report("decode", version, |_| {
            black_box(decode(black_box(&out))).expect("a message");
        });
        let patterns =
            vec![(Field::Ipv4Dst, Pattern::Increment { start: 0x0a000001, step: 1, mask: 0xffff })];
        let flows = FlowSet::new(64_000, patterns).expect("a flow set");
        let encoder =
            FlowEncoder::new(flow_template(), flows, &[Field::Ipv4Dst], version).expect("an encoder");
        report("stream", version, |i| {
            out.clear();
            encoder.encode(i % 64_000, i, black_box(&mut out));
        });
    }
}

fn flow_template() -> FlowMod {
    FlowMod::add(10, Match::any().with(Field::InPort, 1), vec![Action::output(PortNo(2))])
}
