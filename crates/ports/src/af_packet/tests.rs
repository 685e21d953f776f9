//! On veth pairs in namespaces of their own. Skipped, saying so, without root.

use std::time::{Duration, Instant};

use flowgauge_clock::Clock;

use super::*;
use crate::linux::Lab;

fn lab(test: &str) -> Option<Lab> {
    Lab::new(&format!("pk-{test}"), 1)
}

fn open_in(lab: &Lab, interface: &str) -> Result<AfPacketPort, PortError> {
    let options = AfPacketOptions { carrier_wait: Duration::from_millis(300), ..Default::default() };
    open(interface, Some(lab.netns()), options)
}

const MARK: [u8; 14] = [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5];

fn send(port: &mut AfPacketPort, n: usize, len: usize) {
    let mut burst = Burst::new();
    assert_eq!(port.alloc(&mut burst, n), n);
    for (i, slot) in burst.iter_mut().enumerate() {
        slot.set_len(len);
        slot.bytes_mut().fill(i as u8);
        slot.bytes_mut()[..14].copy_from_slice(&MARK);
    }
    assert_eq!(port.tx(&mut burst).unwrap(), n);
}

/// Our frames among what arrives within 200 ms; the kernel's own chatter is left out.
fn receive(port: &mut AfPacketPort, n: usize) -> Vec<(Nanos, Vec<u8>)> {
    let mut frames = Vec::new();
    let mut burst = Burst::new();
    let started = Instant::now();
    while frames.len() < n && started.elapsed() < Duration::from_millis(200) {
        port.rx(&mut burst, 64).unwrap();
        let ours = burst.iter().filter(|slot| slot.bytes().starts_with(&MARK[..12]));
        frames.extend(ours.map(|slot| (slot.stamp().expect("a stamp"), slot.bytes().to_vec())));
        port.free(&mut burst);
    }
    frames
}

use flowgauge_clock::Nanos;

#[test]
fn frames_pass_with_stamps_of_when_they_passed() {
    let Some(lab) = lab("pass") else { return };
    let (mut a, mut b) = (open_in(&lab, "va").unwrap(), open_in(&lab, "vb").unwrap());
    assert_eq!(a.capabilities().link_mbps, None, "a veth has no speed, whatever it says");
    for round in 0..50 {
        let before = Clock.now();
        send(&mut a, 1 + round, 60);
        let after = Clock.now();
        std::thread::sleep(Duration::from_micros(200));
        let frames = receive(&mut b, 1 + round);
        assert_eq!(frames.len(), 1 + round);
        for (i, (stamp, frame)) in frames.iter().enumerate() {
            assert_eq!((frame.len(), frame[59]), (60, i as u8));
            let slack = Nanos::from_micros(2);
            assert!(*stamp + slack >= before && *stamp <= after + slack, "{before} {stamp} {after}");
        }
    }
    let (sent, received) = (a.stats(), b.stats());
    assert_eq!((sent.tx_frames, sent.tx_errors, received.rx_dropped), (1275, 0, 0));
    assert_eq!(receive(&mut a, 1).len(), 0, "own frames don't come back");
}

#[test]
fn flows_are_spread_over_queues_and_each_stays_on_one() {
    let Some(lab) = lab("fanout") else { return };
    let mut a = open_in(&lab, "va").unwrap();
    let mut queues = open_each("vb", Some(lab.netns()), AfPacketOptions::default(), 3).unwrap();
    assert_eq!(queues[2].describe(), format!("af_packet vb in {} (3 queues)", lab.netns().display()));
    let mut burst = Burst::new();
    for _ in 0..4 {
        assert_eq!(a.alloc(&mut burst, 64), 64);
        for (flow, slot) in (0u8..).zip(burst.iter_mut()) {
            // UDP over IPv4, each flow to a port of its own.
            slot.set_len(60);
            slot.bytes_mut().fill(0);
            slot.bytes_mut()[..12].copy_from_slice(&MARK[..12]);
            slot.bytes_mut()[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
            slot.bytes_mut()[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
            slot.bytes_mut()[37] = flow;
        }
        assert_eq!(a.tx(&mut burst).unwrap(), 64);
    }
    let mut found = vec![[0; 64]; 3];
    let started = Instant::now();
    while found.iter().flatten().sum::<u32>() < 256 && started.elapsed() < Duration::from_secs(1) {
        for (port, flows) in queues.iter_mut().zip(&mut found) {
            port.rx(&mut burst, 64).unwrap();
            let ours = burst.iter().filter(|slot| slot.bytes().starts_with(&MARK[..12]));
            ours.for_each(|slot| flows[slot.bytes()[37] as usize] += 1);
            port.free(&mut burst);
        }
    }
    for flow in 0..64 {
        let mut counts: Vec<_> = found.iter().map(|flows| flows[flow]).collect();
        counts.sort();
        assert_eq!(counts, [0, 0, 4], "flow {flow}");
    }
    assert!(found.iter().all(|flows| flows.iter().any(|&n| n > 0)), "{found:?}");
    // Each sends, and nobody sees what leaves.
    queues.iter_mut().for_each(|port| send(port, 2, 60));
    assert_eq!(receive(&mut a, 6).len(), 6);
    assert!(queues.iter_mut().all(|port| receive(port, 1).is_empty()));
}

#[test]
fn departures_are_sampled_and_lie_between_the_call_and_the_arrival() {
    let Some(lab) = lab("sampled") else { return };
    let (mut a, mut b) = (open_in(&lab, "va").unwrap(), open_in(&lab, "vb").unwrap());
    assert_eq!(a.capabilities().tx_stamps, StampSource::KernelSoftware);
    let mut samples = Vec::new();
    a.tx_stamps(&mut samples);
    for round in 0..50 {
        let before = Clock.now();
        send(&mut a, 3, 60);
        let after = Clock.now();
        std::thread::sleep(Duration::from_micros(200));
        a.tx_stamps(&mut samples);
        let arrived = receive(&mut b, 3)[0].0;
        let stamp = samples.pop().expect("each burst in between is sampled");
        let slack = Nanos::from_micros(2);
        assert!(before <= stamp.handed && stamp.handed <= stamp.left, "round {round}: {stamp:?}");
        assert!(stamp.left <= after + slack && stamp.left <= arrived + slack, "{stamp:?} {arrived}");
    }
    send(&mut a, 3, 60);
    send(&mut a, 3, 60);
    a.tx_stamps(&mut samples);
    a.tx_stamps(&mut samples);
    assert_eq!((samples.len(), a.stats().tx_errors), (1, 0), "one between two calls at the most");
}

#[test]
fn stripped_tags_are_put_back() {
    let Some(lab) = lab("tags") else { return };
    let (mut a, mut b) = (open_in(&lab, "va").unwrap(), open_in(&lab, "vb").unwrap());
    for tpid in [[0x81, 0x00], [0x88, 0xa8]] {
        let mut burst = Burst::new();
        a.alloc(&mut burst, 1);
        burst[0].set_len(64);
        burst[0].bytes_mut().fill(7);
        burst[0].bytes_mut()[..12].copy_from_slice(&MARK[..12]);
        burst[0].bytes_mut()[12..18].copy_from_slice(&[tpid[0], tpid[1], 0x60, 0x2a, 0x88, 0xb5]);
        let sent = burst[0].bytes().to_vec();
        assert_eq!(a.tx(&mut burst).unwrap(), 1);
        assert_eq!(receive(&mut b, 1)[0].1, sent);
    }
}

#[test]
fn says_what_is_wrong_with_an_interface() {
    let Some(lab) = lab("wrong") else { return };
    let error = open_in(&lab, "zz").err().unwrap();
    assert_eq!(error.name(), "interface-missing");
    assert!(["lo", "va", "vb"].iter().all(|name| error.to_string().contains(name)), "{error}");
    lab.cut();
    let text = |error: &PortError| format!("{error}; {}", error.advice());
    let error = open_in(&lab, "vb").err().unwrap();
    assert_eq!(error.name(), "interface-down");
    let up = format!("`ip -n {} link set vb up`", lab.netns().display());
    assert!(text(&error).contains(&up), "{}", text(&error));
    let error = open_in(&lab, "va").err().unwrap();
    assert_eq!(error.name(), "interface-down");
    assert!(text(&error).contains("no carrier"), "{}", text(&error));
    let missing = open("va", Some(Path::new("fg-no-such")), AfPacketOptions::default()).err().unwrap();
    assert_eq!(missing.name(), "namespace");
}

#[test]
fn an_interface_that_goes_down_ends_it_with_the_reason() {
    let Some(lab) = lab("down") else { return };
    let (mut a, mut b) = (open_in(&lab, "va").unwrap(), open_in(&lab, "vb").unwrap());
    send(&mut a, 1, 60);
    assert!(a.check().is_ok() && a.stats().link_up);
    lab.cut();
    assert!(a.check().unwrap_err().to_string().contains("carrier"));
    assert!(b.check().unwrap_err().to_string().contains("taken down"));
    let mut burst = Burst::new();
    b.alloc(&mut burst, 1);
    burst[0].set_len(60);
    assert_eq!(b.tx(&mut burst).unwrap_err().name(), "link-down");
    b.free(&mut burst);
    lab.ip("link del va");
    assert!(a.check().unwrap_err().to_string().contains("removed"));
    a.alloc(&mut burst, 1);
    burst[0].set_len(60);
    assert_eq!(a.tx(&mut burst).unwrap_err().name(), "link-down");
    a.free(&mut burst);
}

#[test]
fn frames_on_loan_hold_their_block_back_and_drops_are_counted() {
    let Some(lab) = lab("loan") else { return };
    let mut a = open_in(&lab, "va").unwrap();
    let options = AfPacketOptions { block_size: 1 << 16, blocks: 2, ..Default::default() };
    let mut b = open("vb", Some(lab.netns()), options).unwrap();
    for _ in 0..100 {
        send(&mut a, 64, 60);
    }
    std::thread::sleep(Duration::from_millis(20));
    let mut loans = Vec::new();
    loop {
        let mut burst = Burst::new();
        if b.rx(&mut burst, 64).unwrap() == 0 {
            break;
        }
        loans.push(burst);
    }
    let lent: usize = loans.iter().map(|burst| burst.len()).sum();
    let stats = b.stats();
    // How many fit depends on how early the kernel closes a block, which a busy host decides; the sum does not.
    assert!(lent > 0 && stats.rx_dropped as usize + lent >= 6400, "{lent} {stats:?}");
    loans.iter_mut().for_each(|burst| b.free(burst));
    send(&mut a, 5, 60);
    assert_eq!(receive(&mut b, 5).len(), 5, "the ring goes on");
}

#[test]
fn a_frame_that_is_too_long_is_an_error() {
    let Some(lab) = lab("long") else { return };
    let mut a = open_in(&lab, "va").unwrap();
    let mut burst = Burst::new();
    a.alloc(&mut burst, 1);
    burst[0].set_len(1600);
    assert_eq!(a.tx(&mut burst).unwrap_err().name(), "frame-too-long");
    a.free(&mut burst);
}
