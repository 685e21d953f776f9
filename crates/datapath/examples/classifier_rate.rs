//! Lookups per second of the classifier, parsing included, and bytes per entry: run in release.
//!
//! `classifier_rate [entries] [masks]`: exact-match UDP entries spread over so many sets of masks.

use flowgauge_datapath::classifier::Classifier;
use flowgauge_datapath::rule::Rule;
use flowgauge_packet::{Field, FlowKey};
use std::time::Instant;

const LOOKUPS: usize = 20_000_000;

/// A 64-byte frame (with FCS) of Ethernet, IPv4 and UDP to host `host`.
fn frame(host: u32) -> [u8; 60] {
    let mut bytes = [0u8; 60];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    bytes[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    bytes[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 0]);
    bytes[30..34].copy_from_slice(&(0x0a00_0000 + host).to_be_bytes());
    bytes[34..40].copy_from_slice(&[0x10, 0, 0x20, 0, 0, 26]);
    bytes
}

fn rule(host: u32, prefix_bits: u32) -> Rule {
    let mask = u128::from(u32::MAX << prefix_bits);
    Rule::new([
        (Field::EthType, 0x800, 0xffff),
        (Field::IpProto, 17, 0xff),
        (Field::Ipv4Dst, u128::from(0x0a00_0000 + host), mask),
        (Field::UdpDst, 0x2000, 0xffff),
    ])
}

/// Resident bytes of this process.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|p| p.parse::<usize>().ok()).unwrap_or(0) * 4096
}

fn main() {
    let argument = |n: usize| std::env::args().nth(n).and_then(|a| a.parse::<u32>().ok());
    let (entries, masks) = (argument(1).unwrap_or(1000), argument(2).unwrap_or(1));
    let before = resident();
    let start = Instant::now();
    let mut classifier = Classifier::default();
    for host in 0..entries {
        let rule = rule(host, host % masks);
        if classifier.find(&rule, 100).is_none() {
            classifier.insert(&rule, 100, [0u64; 8]);
        }
    }
    let added = start.elapsed();
    println!(
        "{} entries: {:.0} ns and {} bytes each",
        classifier.len(),
        added.as_nanos() as f64 / f64::from(entries),
        resident().saturating_sub(before) / classifier.len().max(1)
    );
    let frames: Vec<_> = (0..entries.min(1 << 16)).map(frame).collect();
    let (mut hits, start) = (0, Instant::now());
    for bytes in frames.iter().cycle().take(LOOKUPS) {
        hits += usize::from(classifier.lookup(&FlowKey::parse(bytes, 1)).is_some());
    }
    let per_second = LOOKUPS as f64 / start.elapsed().as_secs_f64();
    println!("{:.1} M lookups/s with parsing, {hits} hits", per_second / 1e6);
}
