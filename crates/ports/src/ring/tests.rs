//! Frames through a pair: whole, in order, counted, and never two users of a slot.

use super::*;

fn send(port: &mut RingPort, burst: &mut Burst, first: u64, n: usize) -> usize {
    let n = port.alloc(burst, n);
    for (i, slot) in burst.iter_mut().enumerate() {
        slot.set_len(60 + (first as usize + i) % 1000);
        slot.bytes_mut().fill(0xa5);
        slot.bytes_mut()[..8].copy_from_slice(&(first + i as u64).to_be_bytes());
    }
    let taken = port.tx(burst).unwrap();
    port.free(burst);
    assert!(taken <= n);
    taken
}

fn number(slot: &crate::Slot) -> u64 {
    u64::from_be_bytes(slot.bytes()[..8].try_into().unwrap())
}

#[test]
fn frames_arrive_whole_and_in_order_both_ways() {
    let (mut a, mut b) = pair(64);
    let mut burst = Burst::new();
    for round in 0..100u64 {
        assert_eq!(send(&mut a, &mut burst, round * 10, 10), 10);
        assert_eq!(send(&mut b, &mut burst, round * 10, 10), 10);
        for port in [&mut a, &mut b] {
            assert_eq!(port.rx(&mut burst, 64).unwrap(), 10);
            for (i, slot) in burst.iter().enumerate() {
                let n = round * 10 + i as u64;
                assert_eq!(number(slot), n);
                assert_eq!(slot.len(), 60 + n as usize % 1000);
                assert!(slot.bytes()[8..].iter().all(|&b| b == 0xa5));
                assert_eq!(slot.stamp(), None);
            }
            port.free(&mut burst);
        }
    }
    assert_eq!(
        a.stats(),
        PortStats { tx_frames: 1000, rx_frames: 1000, link_up: true, ..Default::default() }
    );
}

#[test]
fn a_full_ring_drops_at_the_receiver_or_makes_the_sender_wait() {
    let mut burst = Burst::new();
    let (mut a, mut b) = pair(64);
    assert_eq!(send(&mut a, &mut burst, 0, 64), 64);
    assert_eq!(send(&mut a, &mut burst, 64, 10), 10);
    assert_eq!(b.rx(&mut burst, 64).unwrap(), 64);
    b.free(&mut burst);
    assert_eq!(b.rx(&mut burst, 64).unwrap(), 0);
    assert_eq!((a.stats().tx_frames, b.stats().rx_frames, b.stats().rx_dropped), (74, 64, 10));

    let (mut a, mut b) = pair_with(64, WhenFull::Wait);
    assert_eq!(send(&mut a, &mut burst, 0, 60), 60);
    assert_eq!(send(&mut a, &mut burst, 60, 10), 4);
    assert_eq!((a.stats().tx_frames, b.stats().rx_dropped), (64, 0));
    assert_eq!(b.rx(&mut burst, 64).unwrap(), 64);
    b.free(&mut burst);
}

#[test]
fn a_closed_end_is_an_error_and_frames_on_loan_stay_readable() {
    let (mut a, mut b) = pair(64);
    let mut burst = Burst::new();
    send(&mut a, &mut burst, 7, 3);
    assert_eq!(b.rx(&mut burst, 64).unwrap(), 3);
    drop(b);
    assert_eq!(a.check().unwrap_err().name(), "link-down");
    assert!(!a.stats().link_up);
    let mut mine = Burst::new();
    a.alloc(&mut mine, 1);
    assert_eq!(a.tx(&mut mine).unwrap_err().name(), "link-down");
    a.free(&mut mine);
    drop(a);
    assert_eq!(number(&burst[2]), 9);
}

#[test]
fn two_threads_account_for_every_frame() {
    const N: u64 = 200_000;
    let (mut a, mut b) = pair(256);
    let sender = std::thread::spawn(move || {
        let mut burst = Burst::new();
        let mut sent = 0;
        while sent < N {
            let n = (N - sent).min(1 + sent % 64) as usize;
            let taken = send(&mut a, &mut burst, sent, n);
            sent += taken as u64;
            if taken < n || sent % 7 == 0 {
                std::thread::yield_now();
            }
        }
        a
    });
    let mut burst = Burst::new();
    let mut received = 0;
    let mut last = None;
    let mut ended = false;
    loop {
        let finished = sender.is_finished();
        let n = b.rx(&mut burst, 64).unwrap();
        for slot in burst.iter() {
            assert!(last < Some(number(slot)), "in order");
            assert!(slot.bytes()[8..].iter().all(|&b| b == 0xa5), "nobody writes while it is read");
            last = Some(number(slot));
        }
        b.free(&mut burst);
        received += n as u64;
        if n == 0 {
            if ended {
                break;
            }
            ended = finished;
            std::thread::yield_now();
        }
    }
    let mut a = sender.join().unwrap();
    assert_eq!(received + b.stats().rx_dropped, N);
    assert_eq!(a.stats().tx_frames, N);
    assert_eq!(a.alloc(&mut burst, 64), 64, "all slots came back");
    a.free(&mut burst);
}
