//! Transmissions over ring ports: every frame is accounted for, whatever the device does.

mod common;

use common::*;
use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::{Probe, Rate, Schedule};
use flowgauge_ports::{Impaired, Impairment, Port, ring};
use flowgauge_traffic::{LatePolicy, Options, PacketIn, Sink, Stop, Stream, start};

#[test]
fn a_paced_stream_arrives_whole_and_ends_when_it_should() {
    let _alone = alone();
    let (a, b) = ring::pair(4096);
    let finished = run(boxed(vec![a, b]), vec![stream(1, cbr(50_000), Stop::After(MS(100)))], options());
    let outcome = &finished.outcome;
    assert!(outcome.error.is_none());
    let stream = &outcome.streams[0];
    let counters = stream.account.counters();
    assert_eq!((stream.requested, stream.not_offered), (5000, 0));
    assert_eq!((counters.sent, counters.received, counters.lost, counters.duplicated), (5000, 5000, 0, 0));
    assert_eq!((counters.reordered, counters.corrupt, stream.misrouted, outcome.earlier), (0, 0, 0, 0));
    assert!(stream.elapsed() >= MS(100), "{}", stream.elapsed());
    assert_eq!((stream.by_port[0], stream.by_port[1]), (0, 5000));
    assert_eq!(stream.gap_errors.errors.count(), 5000);
    assert_eq!(stream.account.windows().slices().iter().map(|w| w.count).sum::<u64>(), 5000);
    assert!(outcome.end - outcome.stop < MS(500), "the drain ends early");
    assert_eq!(finished.ports.len(), 2);
    assert_eq!(outcome.ports[0].stats.tx_frames, 5000);
    assert_eq!(outcome.timestamps(), "user transmit, user receive");
    assert!(outcome.ring().unwrap() > MS(70));
}

#[test]
fn ports_serve_one_transmission_after_the_other_and_old_probes_are_told_apart() {
    let _alone = alone();
    let (a, b) = ring::pair(4096);
    let first = run(
        boxed(vec![a, b]),
        vec![stream(1, cbr(10_000), Stop::Count(10))],
        Options { nonce: 1, ..options() },
    );
    assert_eq!(first.outcome.streams[0].account.counters().received, 10);
    let (mut c, d) = ring::pair(64);
    let mut ports = first.ports;
    ports.push(Box::new(d));
    let running =
        start(ports, vec![stream(1, cbr(1000), Stop::Count(100))], Options { nonce: 2, ..options() });
    let running = running.unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let mut frame = vec![0; 60];
    send(&mut c, &frame);
    Probe { nonce: 1, stream: 1, seq: 3, time: Nanos(5) }.write(&mut frame[42..]);
    send(&mut c, &frame);
    let outcome = running.finish().outcome;
    assert_eq!(outcome.streams[0].account.counters().received, 100);
    assert_eq!((outcome.earlier, outcome.ports[2].foreign), (1, 1));
}

#[test]
fn losses_copies_and_wrong_ports_are_counted_exactly() {
    let _alone = alone();
    let pairs: Vec<_> = (0..3).map(|_| ring::pair(16_384)).collect();
    let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    // Of ten frames: one lost, one doubled, one to the wrong port, one damaged, one late by two places.
    let mut held = None;
    let rule = move |n: u64, frame: &mut Vec<u8>| match n % 10 {
        0 => vec![],
        1 => vec![1, 1],
        2 => vec![2],
        3 => {
            frame[50] ^= 1;
            vec![1]
        }
        4 => {
            held = Some(frame.clone());
            vec![]
        }
        6 => {
            // The held frame takes this one's place, and this one is lost.
            *frame = held.take().unwrap();
            vec![1]
        }
        _ => vec![1],
    };
    let device = Device::new(theirs, Box::new(rule));
    let mut probes = stream(9, cbr(20_000), Stop::Count(1000));
    probes.sink = Sink::Port(1);
    probes.record = 50;
    let finished = run(boxed(ours), vec![probes], Options { drain: Some(MS(50)), ..options() });
    device.stop();
    let stream = &finished.outcome.streams[0];
    let counters = stream.account.counters();
    assert_eq!(counters.sent, 1000);
    assert_eq!(counters.received, 600, "places 1, 4, 5, 7, 8, 9");
    assert_eq!(counters.lost, 400);
    assert_eq!((counters.duplicated, counters.reordered, counters.corrupt), (100, 100, 100));
    assert_eq!((stream.misrouted, stream.by_port[2]), (100, 100));
    assert_eq!((stream.account.departures().len(), stream.account.arrivals().len()), (50, 50));
    assert_eq!(stream.account.arrivals()[0][0], 1);
    assert!(stream.account.departures().is_sorted());
}

#[test]
fn several_streams_share_a_port_in_exact_proportion() {
    let _alone = alone();
    let (a, b) = ring::pair(8192);
    let streams = vec![
        stream(1, cbr(30_000), Stop::After(MS(100))),
        stream(2, cbr(10_000), Stop::After(MS(100))),
        stream(3, Schedule::Poisson { rate: Rate::new(5000, 1).unwrap(), seed: 3 }, Stop::After(MS(100))),
        Stream { start_after: MS(50), ..stream(4, cbr(20_000), Stop::After(MS(50))) },
    ];
    let poisson = streams[2].schedule.count_within(MS(100)).unwrap();
    let outcome = run(boxed(vec![a, b]), streams, options()).outcome;
    let received: Vec<_> = outcome.streams.iter().map(|s| s.account.counters().received).collect();
    assert_eq!(received, [3000, 1000, poisson, 1000]);
    assert!(outcome.streams[3].start >= outcome.start + MS(50));
}

#[test]
fn greedy_streams_take_turns_and_stop_when_told() {
    let _alone = alone();
    let (a, b) = ring::pair(1 << 14);
    let streams =
        vec![stream(1, Schedule::Max, Stop::UntilStopped), stream(2, Schedule::Max, Stop::UntilStopped)];
    let running = start(boxed(vec![a, b]), streams, options()).unwrap();
    while running.progress().sent[0] < 10_000 {
        std::thread::yield_now();
    }
    running.stop();
    let outcome = running.finish().outcome;
    let sent: Vec<_> = outcome.streams.iter().map(|s| s.account.counters().sent).collect();
    assert!(sent[0].abs_diff(sent[1]) <= 1, "{sent:?}");
    for stream in &outcome.streams {
        let counters = stream.account.counters();
        assert_eq!(counters.sent, counters.received + counters.lost);
        assert_eq!((stream.requested, stream.gap_errors.errors.count()), (counters.sent, 0));
    }
    let received: u64 = outcome.streams.iter().map(|s| s.account.counters().received).sum();
    assert_eq!(received + outcome.rx_dropped(), sent[0] + sent[1]);
}

#[test]
fn a_known_delay_and_loss_are_found_again() {
    let _alone = alone();
    let delay = Nanos::from_micros(1000);
    let (a, b) = ring::pair(4096);
    let b: Box<dyn Port> = Box::new(Impaired::new(b, Impairment::new(delay, 100)));
    let streams = vec![stream(1, cbr(20_000), Stop::After(MS(200)))];
    let outcome = run(vec![Box::new(a), b], streams, options()).outcome;
    let account = &outcome.streams[0].account;
    let counters = account.counters();
    assert_eq!((counters.sent, counters.received, counters.lost), (4000, 3960, 40));
    assert_eq!((counters.duplicated, counters.reordered, counters.corrupt), (0, 0, 0));
    // Nothing can be faster; how much slower depends on who else has the core. The histogram has 3 digits.
    assert!(account.latency().min_ns().unwrap() >= delay.0);
    assert!(account.latency().percentile_ns(50.0).unwrap() >= delay.0 - delay.0 / 1000);
}

#[test]
fn a_loop_that_was_kept_from_its_core_sends_what_was_due() {
    let _alone = alone();
    let (inner, b) = ring::pair(1 << 12);
    // From the middle of the stream until long after its end.
    let a = Holding { inner, at: 50, pause: std::time::Duration::from_millis(500) };
    let streams = vec![stream(1, cbr(10_000), Stop::After(MS(100)))];
    let outcome = run(vec![Box::new(a), Box::new(b)], streams, options()).outcome;
    let stream = &outcome.streams[0];
    let counters = stream.account.counters();
    assert_eq!((stream.requested, stream.not_offered), (1000, 0));
    assert_eq!((counters.sent, counters.received, counters.lost), (1000, 1000, 0));
    assert!(stream.gap_errors.late_frames > 900, "{}", stream.gap_errors.late_frames);
}

#[test]
fn what_the_port_does_not_take_is_not_offered() {
    let _alone = alone();
    let (a, b) = ring::pair_with(64, ring::WhenFull::Wait);
    let ports: Vec<Box<dyn Port>> = vec![Box::new(a)];
    let outcome = run(ports, vec![stream(1, cbr(10_000), Stop::After(MS(50)))], options()).outcome;
    let stream = &outcome.streams[0];
    assert_eq!((stream.requested, stream.not_offered, stream.account.counters().sent), (500, 436, 64));
    assert_eq!(stream.account.counters().lost, 64);
    drop(b);
}

#[test]
fn late_frames_are_skipped_when_asked() {
    let _alone = alone();
    for late in [LatePolicy::SKIP, LatePolicy::Within(Nanos::from_micros(50))] {
        let (a, b) = ring::pair(1 << 14);
        let hurried = stream(1, cbr(200_000_000), Stop::After(MS(2)));
        let hurried = Stream { late, ..hurried };
        let outcome = run(boxed(vec![a, b]), vec![hurried], options()).outcome;
        let stream = &outcome.streams[0];
        let sent = stream.account.counters().sent;
        assert_eq!(stream.requested, 400_000);
        assert_eq!(sent + stream.not_offered, 400_000);
        assert!(stream.not_offered > 0);
        let worst = stream.gap_errors.errors.percentile_ns(50.0).unwrap();
        assert!(worst < 100_000, "no backlog builds up: {worst}");
    }
}

#[test]
fn a_port_that_breaks_ends_the_transmission_with_the_reason() {
    let _alone = alone();
    let (a, b) = ring::pair(1 << 10);
    let running = start(boxed(vec![a]), vec![stream(1, cbr(1000), Stop::UntilStopped)], options()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    drop(b);
    let finished = running.finish();
    assert_eq!(finished.outcome.error.unwrap().name(), "link-down");
    assert!(finished.outcome.streams[0].account.counters().sent >= 10);
    assert_eq!(finished.ports.len(), 1);
}

#[test]
fn streams_that_others_send_are_counted_and_packet_ins_join_later() {
    let _alone = alone();
    let (a, mut b) = ring::pair(1 << 10);
    let mut first = stream(1, cbr(1000), Stop::UntilStopped);
    first.tx_port = None;
    let mut second = stream(2, cbr(1000), Stop::Count(5));
    second.sink = Sink::Control;
    let options = Options { drain: Some(MS(20)), ..options() };
    let running = start(boxed(vec![a]), vec![first, second], options).unwrap();
    let mut frame = vec![0; 60];
    let mut probe = |stream, seq| {
        let time = Clock.now() - running.origin();
        Probe { nonce: running.nonce(), stream, seq, time }.write(&mut frame[42..]);
        frame.clone()
    };
    std::thread::sleep(std::time::Duration::from_millis(10));
    [0, 1, 1, 3].into_iter().for_each(|seq| send(&mut b, &probe(1, seq)));
    let inside = [0, 1, 2, 4].map(|seq| (probe(2, seq), Clock.now() + Nanos(1000)));
    std::thread::sleep(std::time::Duration::from_millis(10));
    assert_eq!(running.progress().received, [3, 0]);
    running.set_sent(0, 5);
    let mut outcome = running.finish().outcome;
    let counters = outcome.streams[0].account.counters();
    assert_eq!((counters.sent, counters.received, counters.lost, counters.duplicated), (5, 3, 2, 1));
    let cut = |(frame, at): &(Vec<u8>, Nanos)| (frame[..60].to_vec(), *at);
    let inside: Vec<_> = inside.iter().map(cut).collect();
    let messages = inside.iter().map(|(frame, at)| PacketIn { frame, at: *at, buffered: false });
    let foreign = [9; 60];
    let other = PacketIn { frame: &foreign, at: Nanos(0), buffered: true };
    assert_eq!(outcome.account_packet_ins(messages.chain([other])), 1);
    let control = &outcome.streams[1];
    let counters = control.account.counters();
    assert_eq!((counters.sent, counters.received, counters.lost), (5, 4, 1));
    assert_eq!(
        (control.packet_ins.count, control.packet_ins.shortest, control.packet_ins.buffered),
        (4, Some(60), 0)
    );
    assert!(control.account.latency().min_ns().unwrap() >= 1000);
}

#[test]
fn refuses_what_can_not_be_and_gives_the_ports_back() {
    let _alone = alone();
    let bad = |streams: Vec<Stream>| {
        let (a, _) = ring::pair(64);
        let failed = start(boxed(vec![a]), streams, options()).err().unwrap();
        assert_eq!(failed.ports.len(), 1);
        failed.error.name()
    };
    let plain = || stream(1, cbr(1), Stop::Count(1));
    assert_eq!(bad(vec![Stream { tx_port: Some(1), ..plain() }]), "no-such-port");
    assert_eq!(bad(vec![Stream { sink: Sink::Port(3), ..plain() }]), "no-such-port");
    assert_eq!(bad(vec![plain(), plain()]), "duplicate-stream");
}

#[test]
fn dropping_it_stops_it() {
    let _alone = alone();
    let (a, b) = ring::pair(1 << 10);
    let running =
        start(boxed(vec![a, b]), vec![stream(1, cbr(1000), Stop::UntilStopped)], options()).unwrap();
    drop(running);
}
