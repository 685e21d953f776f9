//! How long the per-frame work takes, in nanoseconds: `cargo build --release --example speed`, then run it.

use std::hint::black_box;
use std::time::Instant;

use flowgauge_packet::{Field, FlowKey, FlowMask, FlowSet, FrameTemplate, Pattern, Payload, edit};

/// Best of five, per call.
fn time(what: &str, mut call: impl FnMut(u32)) {
    const CALLS: u32 = 4_000_000;
    let best = (0..5).map(|_| {
        let start = Instant::now();
        (0..CALLS).for_each(&mut call);
        start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    });
    println!("{what:32} {:6.1} ns", best.fold(f64::INFINITY, f64::min));
}

fn template(extra: &[(Field, u128)], size: usize) -> FrameTemplate {
    let dst = Pattern::Increment { start: 0x0a00_0000, step: 1, mask: 0xffff };
    let fixed = extra.iter().map(|&(field, value)| (field, Pattern::Fixed(value)));
    let patterns = fixed.chain([(Field::EthSrc, dst)]).collect();
    FrameTemplate::new(&FlowSet::new(1024, patterns).unwrap(), size, Payload::Zero).unwrap()
}

fn main() {
    let mut buf = [0; 2048];
    for size in [64, 1518] {
        let udp = template(&[], size);
        time(&format!("write, {size} bytes, 1024 flows"), |i| udp.write(i & 1023, black_box(&mut buf)));
    }
    let frames = [("UDP", 64, vec![]), ("IPv6 UDP", 84, vec![(Field::Ipv6Dst, 1)])];
    for (name, size, fields) in frames {
        let frame = &mut buf[..size - 4];
        template(&fields, size).write(0, frame);
        time(&format!("parse, {name}"), |i| {
            black_box(FlowKey::parse(black_box(frame), i));
        });
        let key = FlowKey::parse(frame, 1);
        let mask = FlowMask::from_iter([(Field::UdpDst, 0xffff), (Field::EthType, 0xffff)]);
        let value = mask.apply(&key);
        time(&format!("masked compare, {name}"), |_| {
            black_box(black_box(&mask).matches(black_box(&key), &value));
        });
        time(&format!("set udp_dst, {name}"), |i| {
            let _ = black_box(edit::set_field(black_box(frame), Field::UdpDst, i.into()));
        });
        time(&format!("set_ttl and dec_ttl, {name}"), |_| {
            let _ = black_box(edit::set_ttl(black_box(frame), 64));
            let _ = black_box(edit::dec_ttl(black_box(frame)));
        });
    }
}
