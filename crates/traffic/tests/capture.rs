//! Captures: what arrives is in the file, whatever becomes of the file.

mod common;

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use common::{boxed, cbr, template};
use flowgauge_clock::Nanos;
use flowgauge_measure::Schedule;
use flowgauge_packet::RawFrames;
use flowgauge_ports::pcap::Format;
use flowgauge_ports::{Port, ring};
use flowgauge_traffic::capture::{CaptureOptions, CaptureOutcome, Captured, capture};
use flowgauge_traffic::{Options, Stop, Stream, start};

fn run(stream: Stream, file: Option<(File, Format)>, options: CaptureOptions) -> CaptureOutcome {
    let (a, b) = ring::pair(1 << 14);
    let capturing = capture(boxed(vec![b]), file, options).unwrap();
    let ports: Vec<Box<dyn Port>> = vec![Box::new(a)];
    let sending = start(ports, vec![stream], Options { drain: Some(Nanos::ZERO), ..Options::default() });
    let sent = sending.unwrap().finish();
    std::thread::sleep(Duration::from_millis(50));
    capturing.stop();
    let Captured { outcome, .. } = capturing.finish();
    drop(sent);
    outcome
}

fn scratch(name: &str) -> (std::path::PathBuf, File) {
    let path = std::env::temp_dir().join(format!("fg-capture-{}-{name}", std::process::id()));
    (path.clone(), File::create(path).unwrap())
}

/// The frames in the bytes of a pcap file.
fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut at, mut frames) = (24, Vec::new());
    while at < bytes.len() {
        let len = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        frames.push(bytes[at + 16..at + 16 + len].to_vec());
        at += 16 + len;
    }
    frames
}

#[test]
fn raw_frames_are_in_the_file_as_they_are() {
    let given: Vec<Vec<u8>> = (0..50u8).map(|i| vec![i; 14 + 29 * i as usize]).collect();
    let raw = Arc::new(RawFrames::new(&given, false).unwrap());
    let (path, file) = scratch("raw");
    let stream = Stream::new(1, Some(0), raw, cbr(10_000), Stop::Count(100));
    let outcome = run(stream, Some((file, Format::Pcap)), CaptureOptions::default());
    let found = frames(&std::fs::read(&path).unwrap());
    std::fs::remove_file(path).unwrap();
    assert_eq!((outcome.progress.frames, outcome.progress.lost), (100, 0));
    assert_eq!(found, [&given[..], &given[..]].concat());
}

#[test]
fn probes_are_judged_and_counts_end_a_capture() {
    let options = CaptureOptions { probes: true, count: Some(700), ..CaptureOptions::default() };
    let stream = Stream::new(3, Some(0), template(5), cbr(20_000), Stop::Count(1000));
    let outcome = run(stream, None, options);
    assert_eq!(outcome.progress.frames, 700);
    let [found] = &outcome.probes[..] else { panic!("one stream") };
    let c = found.counters;
    assert_eq!((found.stream, c.sent, c.received, c.lost, c.reordered), (3, 700, 700, 0, 0));
    assert!(found.latency.as_ref().unwrap().percentile_ns(50.0).unwrap() < 100_000_000);
}

#[test]
fn what_came_before_a_port_failed_is_kept() {
    let (a, b) = ring::pair(1 << 14);
    let stream = Stream::new(1, Some(0), template(5), Schedule::Max, Stop::Count(1000));
    let sending =
        start(boxed(vec![a]), vec![stream], Options { drain: Some(Nanos::ZERO), ..Options::default() });
    // The sender's end closes.
    drop(sending.unwrap().finish());
    let outcome = capture(boxed(vec![b]), None, CaptureOptions::default()).unwrap().finish().outcome;
    assert!(outcome.error.is_some_and(|error| error.to_string().contains("ring")));
    assert_eq!(outcome.progress.frames, 1000);
}

#[test]
fn a_full_disk_is_told_and_ends_the_capture() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let stream = Stream::new(1, Some(0), template(1), cbr(10_000), Stop::After(Nanos::from_millis(100)));
    let outcome = run(stream, Some((full, Format::Pcapng)), CaptureOptions::default());
    assert_eq!(outcome.write_error.unwrap().kind(), std::io::ErrorKind::StorageFull);
    assert!(outcome.error.is_none());
}

#[test]
fn what_the_file_has_no_time_for_is_counted() {
    let (reader, writer) = UnixStream::pair().unwrap();
    let slow = move |mut reader: UnixStream| {
        std::thread::sleep(Duration::from_millis(250));
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let reading = std::thread::spawn(move || slow(reader));
    let options = CaptureOptions { queue: 0, ..CaptureOptions::default() };
    let stream = Stream::new(1, Some(0), template(1), Schedule::Max, Stop::After(Nanos::from_millis(150)));
    let file = File::from(OwnedFd::from(writer));
    let progress = run(stream, Some((file, Format::Pcap)), options).progress;
    let kept = frames(&reading.join().unwrap()).len() as u64;
    assert!(progress.lost > 0 && kept > 0);
    assert_eq!(progress.frames, kept + progress.lost);
}

#[test]
fn a_reader_that_goes_away_is_told() {
    let (reader, writer) = UnixStream::pair().unwrap();
    drop(reader);
    let stream = Stream::new(1, Some(0), template(1), cbr(10_000), Stop::After(Nanos::from_millis(50)));
    let file = File::from(OwnedFd::from(writer));
    let outcome = run(stream, Some((file, Format::Pcapng)), CaptureOptions::default());
    assert_eq!(outcome.write_error.unwrap().kind(), std::io::ErrorKind::BrokenPipe);
}
