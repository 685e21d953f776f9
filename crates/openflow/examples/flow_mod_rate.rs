//! How many FLOW_MODs with six match fields one core encodes or decodes per second, for `make bench`:
//! `flow_mod_rate encode|decode VERSION SECONDS [HEX]`. Prints the rate; with HEX, the message is that one.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::flow_mod;
use flowgauge_openflow::{Body, Message, Version, decode, encode};

/// Calls between two looks at the clock.
const ROUND: u32 = 10_000;

fn rate(duration: Duration, mut once: impl FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0u64);
    while start.elapsed() < duration {
        (0..ROUND).for_each(|_| once());
        calls += u64::from(ROUND);
    }
    calls as f64 / start.elapsed().as_secs_f64()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, version, seconds, rest @ ..] = &arguments[..] else {
        return Err("flow_mod_rate encode|decode VERSION SECONDS [HEX]".into());
    };
    let (version, duration): (Version, _) =
        (version.parse()?, Duration::try_from_secs_f64(seconds.parse()?)?);
    let mut bytes = Vec::new();
    let mut message = Message::new(7, Body::FlowMod(flow_mod()));
    encode(&message, version, &mut bytes)?;
    if let [hex] = rest {
        let pairs = hex.as_bytes().chunks_exact(2);
        bytes = pairs
            .map(|pair| {
                u8::from_str_radix(std::str::from_utf8(pair)?, 16).map_err(Box::<dyn std::error::Error>::from)
            })
            .collect::<Result<_, _>>()?;
        message = decode(&bytes)?.1;
    }
    let rate = match &what[..] {
        "encode" => {
            let mut out = Vec::new();
            rate(duration, || {
                out.clear();
                encode(black_box(&message), version, &mut out).expect("it could be encoded before");
                black_box(&out);
            })
        }
        "decode" => rate(duration, || {
            black_box(decode(black_box(&bytes)).expect("it is a message"));
        }),
        other => return Err(format!("no {other:?}: encode or decode").into()),
    };
    println!("{rate}");
    Ok(())
}
