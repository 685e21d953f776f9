//! How many FLOW_MODs with six match fields one core encodes and decodes per second, and how many a `FlowEncoder`
//! writes: `cargo run --release -p flowgauge-openflow --example codec_rate`.

use std::hint::black_box;
use std::time::Instant;

use flowgauge_openflow::{
    Action, Body, FlowEncoder, FlowMod, Match, Message, PortNo, Version, decode, encode,
};
use flowgauge_packet::{Field, FlowSet, Pattern};

/// Rounds of a run, and runs, of which the best is told: others lost the core for a while.
const ROUNDS: u32 = 50_000;
const RUNS: u32 = 40;

fn flow_mod() -> FlowMod {
    let match_ = Match::any()
        .with(Field::InPort, 1)
        .with(Field::EthType, 0x0800)
        .with(Field::IpProto, 17)
        .with(Field::Ipv4Src, 0x0a000001)
        .with(Field::Ipv4Dst, 0x0a000002)
        .with(Field::UdpDst, 80);
    FlowMod::add(10, match_, vec![Action::output(PortNo(2))])
}

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
