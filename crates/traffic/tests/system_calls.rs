//! At most one system call per burst, as strace counts them. Skipped, saying so, without root or strace.
//!
//! Each test runs itself again under strace; the run inside counts its bursts.

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use common::*;
use flowgauge_measure::Schedule;
use flowgauge_ports::{BURST, Burst, Port, PortError, af_packet, af_xdp, forward};
use flowgauge_traffic::{Options, Sink, Stop, Stream};

/// Opens an interface in a network namespace.
type Open = fn(&str, &Path) -> Result<Box<dyn Port>, PortError>;

/// System calls that are not the loop's: starting, opening and closing ports, and the looks at links and clocks in between.
const OTHERS: u64 = 4_000;
const FRAMES: u64 = 30_000;

/// Counts the bursts that are transmitted, also those that the port does not take.
struct Counted {
    port: Box<dyn Port>,
    bursts: Arc<AtomicU64>,
}

impl Port for Counted {
    forward!(self, self.port; describe capabilities alloc rx free stats flush check);

    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
        self.bursts.fetch_add(1, Relaxed);
        self.port.tx(burst)
    }
}

/// Runs `transmission` under strace; it prints how many bursts it took.
fn at_most_one_call_per_burst(test: &str, open: Open) {
    const INSIDE: &str = "FLOWGAUGE_TEST_NETNS";
    if let Some(netns) = std::env::var_os(INSIDE) {
        return transmit(open, Path::new(&netns));
    }
    let Some(lab) = Lab::new(test) else { return };
    let list = std::env::temp_dir().join(format!("fg-strace-{}-{test}", std::process::id()));
    let own = std::env::current_exe().unwrap();
    let traced = Command::new("strace")
        .args(["-f", "-c", "-o"])
        .args([list.as_os_str(), own.as_os_str()])
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, lab.name())
        .output();
    let traced = match traced {
        Ok(traced) => traced,
        Err(error) => return eprintln!("skipped: {test} needs strace: {error}"),
    };
    let said = String::from_utf8_lossy(&traced.stdout);
    let table = std::fs::read_to_string(&list).unwrap_or_default();
    let _ = std::fs::remove_file(&list);
    if said.contains("skipped:") || table.is_empty() {
        return eprintln!("skipped: {test}: {said}{}", String::from_utf8_lossy(&traced.stderr));
    }
    let number = |text: &str| {
        said.split(text).nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
    };
    let bursts =
        number("bursts=").unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&traced.stderr)));
    let calls = calls(&table);
    println!("{test}: {FRAMES} frames in {bursts} bursts, {calls} system calls");
    assert!(
        bursts >= FRAMES / BURST as u64 && calls <= bursts + OTHERS,
        "{bursts} bursts, {calls} system calls\n{table}"
    );
}

/// The calls of a summary of strace, `% time, seconds, usecs/call, calls, errors, syscall`, but for offers of the core.
fn calls(table: &str) -> u64 {
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let counted = rows.filter(|row| row.first().is_some_and(|word| word.parse::<f64>().is_ok()));
    let loops =
        counted.filter(|row| !["sched_yield", "total", "clock_nanosleep"].contains(row.last().unwrap()));
    loops.filter_map(|row| row.get(3)?.parse::<u64>().ok()).sum()
}

/// A paced stream, each of whose frames is a burst, and one that goes as fast as possible, the other way.
fn transmit(open: Open, netns: &Path) {
    let bursts = Arc::new(AtomicU64::new(0));
    let mut ports: Vec<Box<dyn Port>> = Vec::new();
    for name in ["va", "vb"] {
        match open(name, netns) {
            Ok(port) => ports.push(Box::new(Counted { port, bursts: Arc::clone(&bursts) })),
            Err(error) => return println!("skipped: {error}"),
        }
    }
    let mut one_by_one = stream(1, cbr(20_000), Stop::Count(FRAMES / 3));
    one_by_one.sink = Sink::Port(1);
    let greedy = stream(2, Schedule::Max, Stop::Count(FRAMES * 2 / 3));
    let greedy = Stream { tx_port: Some(1), sink: Sink::Port(0), ..greedy };
    let outcome = run(ports, vec![one_by_one, greedy], Options { drain: Some(MS(50)), ..options() }).outcome;
    assert!(outcome.error.is_none());
    let sent: u64 = outcome.streams.iter().map(|stream| stream.account.counters().sent).sum();
    assert_eq!(sent, FRAMES / 3 + FRAMES * 2 / 3);
    println!("bursts={} ", bursts.load(Relaxed));
}

#[test]
fn af_packet_makes_one_call_per_burst() {
    let _alone = alone();
    at_most_one_call_per_burst("af_packet_makes_one_call_per_burst", |name, netns| {
        let options = af_packet::AfPacketOptions { blocks: 16, ..Default::default() };
        Ok(Box::new(af_packet::open(name, Some(netns), options)?))
    });
}

#[test]
fn af_xdp_makes_one_call_per_burst() {
    let _alone = alone();
    at_most_one_call_per_burst("af_xdp_makes_one_call_per_burst", |name, netns| {
        Ok(Box::new(af_xdp::open(name, Some(netns), af_xdp::AfXdpOptions::default())?))
    });
}
