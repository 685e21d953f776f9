//! Frames per second of the pipeline on one core (parsing, lookup, output) and bytes per entry: run in release.
//!
//! `pipeline_rate [entries] [masks] [flows]`: UDP entries spread over so many sets of masks, frames of so many flows.

use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Pipeline, PortRule, Punt, Sink};
use flowgauge_openflow::{Action, FlowMod, FlowRemoved, Match, PortNo, TableStatus, Version};
use flowgauge_packet::Field;
use std::time::Instant;

const FRAMES: usize = 20_000_000;
const BATCH: usize = 64;

/// Counts and copies, as a port does.
struct Counter {
    frames: u64,
    slot: [u8; 2048],
}

impl Sink for Counter {
    fn output(&mut self, _port: u32, _queue: Option<u32>, bytes: &[u8]) {
        self.slot[..bytes.len()].copy_from_slice(bytes);
        self.frames += 1;
    }
    fn punt(&mut self, _punt: &Punt<'_>) {}
    fn flow_removed(&mut self, _removed: FlowRemoved) {}
    fn table_status(&mut self, _status: TableStatus) {}
}

/// A 64-byte frame (with FCS) of Ethernet, IPv4 and UDP to host `host`.
fn frame(host: u32) -> [u8; 60] {
    let mut bytes = [0u8; 60];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    bytes[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    bytes[26..30].copy_from_slice(&[10, 0, 0, 1]);
    bytes[30..34].copy_from_slice(&(0x0a00_0000 + host).to_be_bytes());
    bytes[34..40].copy_from_slice(&[0x10, 0, 0x20, 0, 0, 26]);
    bytes
}

/// An entry for the frames to `host` and its neighbours.
fn entry(host: u32, prefix_bits: u32) -> FlowMod {
    let mask = u128::from(u32::MAX << prefix_bits);
    let wanted = Match::any()
        .with(Field::EthType, 0x800)
        .with(Field::IpProto, 17)
        .with_masked(Field::Ipv4Dst, u128::from(0x0a00_0000 + host) & mask, mask)
        .with(Field::UdpDst, 0x2000);
    FlowMod::add(100, wanted, vec![Action::output(PortNo(2))])
}

/// Resident bytes of this process.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|p| p.parse::<usize>().ok()).unwrap_or(0) * 4096
}

fn main() {
    let argument =
        |n: usize, default| std::env::args().nth(n).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (entries, masks, flows): (u32, u32, u32) = (argument(1, 1000), argument(2, 1), argument(3, 1000));
    let mut sink = Counter { frames: 0, slot: [0; 2048] };
    let ports = vec![PortRule::new(2)];
    let mut pipeline = Pipeline::new(Limits { tables: 1, entries: entries as usize }, ports);

    let (before, start) = (resident(), Instant::now());
    for host in 0..entries {
        let result = pipeline.flow_mod(&entry(host, host % masks), Version::V1_3, Nanos::ZERO, &mut sink);
        assert_eq!(result, Ok(()));
    }
    let nanos = start.elapsed().as_nanos() as f64 / f64::from(entries);
    let held = pipeline.tables()[0].len();
    println!("{held} entries: {nanos:.0} ns each to add, {} bytes each", (resident() - before) / held);

    let bytes: Vec<_> = (0..flows).map(frame).collect();
    let frames: Vec<_> = bytes.iter().map(|bytes| Frame { bytes, in_port: 1 }).collect();
    let start = Instant::now();
    for batch in
        frames.chunks(BATCH).cycle().take(std::env::var("FR").map_or(FRAMES, |f| f.parse().unwrap()) / BATCH)
    {
        pipeline.process(batch, Nanos(1), &mut sink);
    }
    let seconds = start.elapsed().as_secs_f64();
    let looked_up = pipeline.tables()[0].lookups;
    println!("{:.1} Mpps; {} of {looked_up} frames sent", looked_up as f64 / seconds / 1e6, sink.frames);
}
