//! Memory of a million entries, once with actions that all share and once with actions of their own.
//!
//! Fails when either takes a gibibyte or more.

use flowgauge_clock::Nanos;
use flowgauge_datapath::{Limits, Pipeline};
use flowgauge_openflow::{Action, FlowMod, Match, PortNo, Version};
use flowgauge_packet::Field;
use std::time::Instant;

const ENTRIES: u32 = 1_000_000;

/// Resident bytes of this process.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|p| p.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Six fields, and a timeout.
fn entry(number: u32, actions: Vec<Action>) -> FlowMod {
    let match_ = Match::any()
        .with(Field::InPort, 1)
        .with(Field::EthType, 0x800)
        .with(Field::IpProto, 17)
        .with(Field::Ipv4Src, (0x0b00_0000 + number).into())
        .with(Field::Ipv4Dst, (0x0a00_0000 + number).into())
        .with(Field::UdpDst, 53);
    FlowMod { idle_timeout: 60, ..FlowMod::add(100, match_, actions) }
}

fn fill(name: &str, actions: impl Fn(u32) -> Vec<Action>) {
    let mut pipeline = Pipeline::new(Limits { tables: 1, entries: ENTRIES as usize }, vec![]);
    let (before, start) = (resident(), Instant::now());
    for number in 0..ENTRIES {
        let request = entry(number, actions(number));
        assert_eq!(pipeline.flow_mod(&request, Version::V1_3, Nanos::ZERO, &mut ()), Ok(()));
    }
    let (seconds, bytes) = (start.elapsed().as_secs_f64(), resident() - before);
    println!(
        "{name}: {} entries, {} MiB, {} bytes each, {:.0} entries/s",
        pipeline.tables()[0].len(),
        bytes >> 20,
        bytes / ENTRIES as usize,
        f64::from(ENTRIES) / seconds
    );
    assert!(bytes < 1 << 30, "a gibibyte or more");
}

fn main() {
    fill("shared actions", |_| vec![Action::output(PortNo(2))]);
    let own =
        |n: u32| vec![Action::set(Field::EthDst, n.into()), Action::DecNwTtl, Action::output(PortNo(2))];
    fill("own actions", own);
}
