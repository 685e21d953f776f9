//! Receipt goes on, and echoes are answered, whatever waits to be sent.

mod common;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use common::{SOON, plain_pair, raw_switch};
use flowgauge_channel::{Config, wire};

const MILLION: usize = 1_000_000;

#[test]
fn a_million_queued_messages_do_not_stall_receipt() {
    // This peer reads nothing until told, so that all that exceeds TCP's buffers waits with us.
    let (_listening, connection, mut peer) = raw_switch(Config::controller());
    let message = wire::message(4, wire::FLOW_MOD, 1, &[0; 72]);
    for _ in 0..MILLION {
        connection.send_raw(&message).unwrap();
    }
    assert!(connection.queued_bytes() > 60_000_000, "{}", connection.queued_bytes());
    for i in 0..1000u32 {
        peer.write_all(&wire::message(4, wire::PACKET_IN, i, &[0; 92])).unwrap();
    }
    let start = Instant::now();
    while connection.received(wire::PACKET_IN) < 1000 {
        assert!(start.elapsed() < SOON);
        std::thread::yield_now();
    }
    peer.write_all(&wire::message(4, wire::ECHO_REQUEST, 5, b"hello")).unwrap();
    // Now it reads: the echo reply must overtake what waits with us.
    let (mut bytes, mut seen, mut replied_at) = (vec![0; 1 << 20], 0, None);
    let total = MILLION * 80 + 13;
    let mut framer = flowgauge_channel::framing::Framer::new();
    while seen < total {
        let n = peer.read(&mut bytes).unwrap();
        let mut part = &bytes[..n];
        while !part.is_empty() {
            let room = framer.space();
            let n = room.len().min(part.len());
            room[..n].copy_from_slice(&part[..n]);
            framer.filled(n);
            part = &part[n..];
            while let Some(frame) = framer.next_frame(flowgauge_channel::framing::Expect::Version(4)).unwrap()
            {
                seen += frame.len();
                if frame[1] == wire::ECHO_REPLY {
                    replied_at = Some(seen);
                }
            }
        }
    }
    assert_eq!(seen, total);
    let replied_at = replied_at.unwrap();
    assert!(replied_at < total / 2, "the echo reply came after {replied_at} of {total} bytes");
    // The peer may have read the last byte before the sender's thread has counted it as gone.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while connection.queued_bytes() > 0 && std::time::Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert_eq!(connection.queued_bytes(), 0);
}

#[test]
fn both_directions_at_once() {
    let (_a, connection, _b, at_switch) = plain_pair();
    let sender = connection.clone();
    let there = std::thread::spawn(move || {
        for _ in 0..200_000 {
            sender.send_raw(&wire::message(4, wire::PACKET_OUT, 1, &[0; 100])).unwrap();
        }
    });
    for _ in 0..200_000 {
        at_switch.send_raw(&wire::message(4, wire::PACKET_IN, 1, &[0; 100])).unwrap();
    }
    there.join().unwrap();
    connection.barrier(Duration::from_secs(30)).unwrap();
    assert_eq!(at_switch.received(wire::PACKET_OUT), 200_000);
    let start = Instant::now();
    while connection.received(wire::PACKET_IN) < 200_000 {
        assert!(start.elapsed() < SOON);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(connection.take_log().len(), 200_000);
}
