//! Plays against a switch's side of the channel over loopback.

use std::sync::Arc;
use std::time::Duration;

use flowgauge_channel::{Channel, ChannelError, Config, Connection, Log, wire};
use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::{FlowOrder, Probe, Schedule};
use flowgauge_packet::template::Payload;
use flowgauge_packet::{Field, FlowSet, FrameTemplate, Pattern};
use flowgauge_traffic::play::{Awaits, Echoes, Encoded, Messages, PacketOuts, Play, PlayOptions};

const SOON: Duration = Duration::from_secs(10);

struct Bench {
    controller: Connection,
    switch: Connection,
    _endpoints: (Channel, Channel),
}

/// What the switch's side does with a request other than the usual ones.
type More = fn(u64, &[u8], &mut Vec<u8>);

/// A controller and a switch that answers on a thread of its own. `more` gets the request's number.
fn bench(serve: bool, more: More) -> Bench {
    let listening = Channel::listen("127.0.0.1:0".parse().unwrap(), Config::controller()).unwrap();
    let connecting =
        Channel::connect(listening.local_addr(), Config { reconnect: false, ..Config::switch() }).unwrap();
    let switch = connecting.wait_connected(SOON).unwrap();
    let mut log = Log::new();
    switch.wait_log(SOON);
    switch.poll_log(&mut log);
    let xid = wire::Header::parse(log.iter().next().unwrap().frame).unwrap().xid;
    switch.send_raw(&wire::message(4, wire::FEATURES_REPLY, xid, &[0; 24])).unwrap();
    let controller = listening.wait_connected(SOON).unwrap();
    if serve {
        let switch = switch.clone();
        std::thread::spawn(move || answer(&switch, more));
    }
    Bench { controller, switch, _endpoints: (listening, connecting) }
}

fn answer(switch: &Connection, more: More) {
    let (mut log, mut n) = (Log::new(), 0);
    while switch.ended().is_none() {
        switch.wait_log(Duration::from_millis(20));
        switch.poll_log(&mut log);
        let _ = switch.send_with(|out| {
            for request in log.iter() {
                let header = wire::Header::parse(request.frame).unwrap();
                if header.message_type == wire::barrier_request(4) {
                    out.extend(wire::message(4, wire::barrier_reply(4), header.xid, &[]));
                } else {
                    more(n, request.frame, out);
                    n += 1;
                }
            }
        });
    }
}

fn flow_mods(n: u64) -> Box<Encoded> {
    Box::new(Encoded::new(
        n,
        Box::new(|i, xid, out| out.extend(wire::message(4, wire::FLOW_MOD, xid, &[i as u8; 88]))),
    ))
}

#[test]
fn a_hundred_thousand_flow_mods_and_a_barrier() {
    let bench = bench(true, |_, _, _| {});
    let before = Clock.now();
    let play = Play::start(&bench.controller, flow_mods(100_000), PlayOptions::default());
    let result = play.wait(Some(SOON)).unwrap();
    assert_eq!((result.requested, result.sent, result.acknowledged), (100_000, 100_000, 100_000));
    assert_eq!(bench.switch.received(wire::FLOW_MOD), 100_000);
    assert!(result.sent_ns.is_sorted() && result.errors.is_empty() && result.closed.is_none());
    let (first, barrier) = (result.first_byte.unwrap(), result.barrier.unwrap());
    assert!(before <= first && first.0 as i64 == result.sent_ns[0]);
    assert!(barrier.0 as i64 >= result.sent_ns[99_999] && barrier <= Clock.now());
    assert!(result.reply_ns.iter().all(|&t| t == -1));
    assert_eq!(play.progress().sent, 100_000);
    assert!(play.progress().done);
    assert_eq!(bench.controller.log_len(), 0);
}

#[test]
fn refusals_are_listed_by_index() {
    let bench = bench(true, |i, request, out| {
        if i % 1000 == 7 {
            let xid = wire::Header::parse(request).unwrap().xid;
            out.extend(wire::message(4, wire::ERROR, xid, &[0, 5, 0, 1]));
        }
    });
    let result =
        Play::start(&bench.controller, flow_mods(5000), PlayOptions::default()).wait(Some(SOON)).unwrap();
    let found: Vec<_> = result.errors.iter().map(|e| (e.index, e.error_type, e.code)).collect();
    assert_eq!(found, [7, 1007, 2007, 3007, 4007].map(|i| (i, 5, 1)));
}

#[test]
fn paced_echoes_come_back_intact_and_in_time() {
    let bench = bench(true, |_, _, _| {});
    let options = PlayOptions {
        schedule: Schedule::cbr_pps(500.0).unwrap(),
        duration: Some(Nanos::from_millis(200)),
        barrier: false,
        ..PlayOptions::default()
    };
    let result = Play::start(&bench.controller, Box::new(Echoes::new(4)), options).wait(Some(SOON)).unwrap();
    assert_eq!((result.requested, result.sent), (100, 100));
    assert!(result.payload_intact.iter().all(|ok| *ok));
    assert!(result.sent_ns.iter().zip(&result.reply_ns).all(|(sent, reply)| sent < reply));
    let span = Nanos((result.sent_ns[99] - result.sent_ns[0]) as u64);
    assert!(span > Nanos::from_millis(190) && span < Nanos::from_millis(230), "{span}");
    assert_eq!(result.gap_errors.errors.count(), 100);
}

#[test]
fn statistics_are_replied_by_their_last_part() {
    let bench = bench(true, |_, request, out| {
        let xid = wire::Header::parse(request).unwrap().xid;
        for more in [1, 1, 0] {
            out.extend(wire::message(4, wire::multipart_reply(4), xid, &[0, 1, 0, more, 0, 0, 0, 0]));
        }
    });
    let request = wire::message(4, 18, 0, &[0, 1, 0, 0, 0, 0, 0, 0]);
    let source = Messages::repeated(vec![request], Awaits::Reply);
    let options = PlayOptions {
        schedule: Schedule::cbr_pps(1000.0).unwrap(),
        count: Some(20),
        barrier: false,
        ..PlayOptions::default()
    };
    let result = Play::start(&bench.controller, Box::new(source), options).wait(Some(SOON)).unwrap();
    assert_eq!(result.sent, 20);
    assert!(result.reply_ns.iter().all(|&t| t > 0));
    assert_eq!(bench.controller.log_len(), 0);
}

fn packet_outs(epoch: Nanos) -> PacketOuts {
    let fields = vec![
        (Field::EthType, Pattern::Fixed(0x0800)),
        (Field::IpProto, Pattern::Fixed(17)),
        (Field::Ipv4Dst, Pattern::Increment { start: 0x0a00_0001, step: 1, mask: 0xffff_ffff }),
    ];
    let template = FrameTemplate::new(&FlowSet::new(4, fields).unwrap(), 200, Payload::default()).unwrap();
    PacketOuts::new(
        wire::message(4, wire::PACKET_OUT, 0, &[9; 32]),
        Arc::new(template),
        FlowOrder::Sequential,
        (77, 3, epoch),
    )
}

#[test]
fn packet_outs_carry_probes_stamped_as_they_leave() {
    let bench = bench(false, |_, _, _| {});
    let epoch = Clock.now();
    let source = packet_outs(epoch);
    let options = PlayOptions {
        schedule: Schedule::cbr_pps(2000.0).unwrap(),
        duration: Some(Nanos::from_millis(100)),
        barrier: false,
        ..PlayOptions::default()
    };
    let result = Play::start(&bench.controller, Box::new(source), options).wait(Some(SOON)).unwrap();
    assert_eq!((result.requested, result.sent, result.acknowledged), (200, 200, 200));
    while bench.switch.received(wire::PACKET_OUT) < 200 {
        std::thread::yield_now();
    }
    let log = bench.switch.take_log();
    for (i, received) in log.iter().enumerate() {
        assert_eq!(received.frame.len(), 40 + 196);
        assert_eq!(usize::from(wire::Header::parse(received.frame).unwrap().length), received.frame.len());
        let probe = Probe::read(&received.frame[40 + 42..]).unwrap();
        assert_eq!((probe.nonce, probe.stream, probe.seq), (77, 3, i as u64));
        let sent = Nanos(result.sent_ns[i] as u64);
        assert!(epoch + probe.time <= sent && sent - (epoch + probe.time) < Nanos::from_millis(20));
    }
}

#[test]
fn a_peer_that_does_not_read_makes_messages_not_offered() {
    // The switch's log is capped, so it stops reading; TCP's buffers (at most 16 MiB each way) fill, and the play ends on time.
    let bench = bench(false, |_, _, _| {});
    let options = PlayOptions {
        schedule: Schedule::cbr_pps(1e6).unwrap(),
        duration: Some(Nanos::from_millis(200)),
        barrier: false,
        settle: Nanos::from_millis(20),
        ..PlayOptions::default()
    };
    let start = Clock.now();
    let play = Play::start(&bench.controller, Box::new(packet_outs(start)), options);
    let result = play.wait(Some(SOON)).unwrap();
    assert!(Clock.now() - start < Nanos::from_millis(900));
    assert_eq!(result.requested, 200_000);
    assert!(
        result.acknowledged < result.sent && result.sent < result.requested,
        "acknowledged {}, sent {}",
        result.acknowledged,
        result.sent
    );
    assert_eq!(result.sent_ns.len(), 200_000);
    assert_eq!(result.sent_ns[result.sent as usize..].iter().max(), Some(&-1));
    // The messages that the switch sees from now on are whole and in order.
    let (mut log, mut seq) = (Log::new(), 0);
    while seq < result.sent && bench.switch.wait_log(SOON) {
        bench.switch.poll_log(&mut log);
        for received in log.iter() {
            assert_eq!(Probe::read(&received.frame[82..]).unwrap().seq, seq);
            seq += 1;
        }
    }
    assert_eq!(seq, result.sent);
}

/// What `work` gives, which must not take longer than ten seconds.
fn soon<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(SOON).expect("it returns in time")
}

#[test]
fn an_overdue_barrier_is_a_timeout_and_stop_gives_what_was_done() {
    let bench = bench(false, |_, _, _| {});
    let play = Play::start(&bench.controller, flow_mods(10), PlayOptions::default());
    let (play, waited) = soon(move || {
        let waited = play.wait(Some(Duration::from_millis(50)));
        (play, waited)
    });
    assert_eq!(waited.unwrap_err().to_string(), "no BARRIER_REPLY behind 10 messages within 50.0ms");
    let result = play.stop();
    assert_eq!((result.sent, result.barrier), (10, None));
}

#[test]
fn a_wait_that_runs_out_of_time_returns_and_the_play_goes_on() {
    let bench = bench(true, |_, _, _| {});
    let options = PlayOptions {
        schedule: Schedule::cbr_pps(100.0).unwrap(),
        count: Some(50),
        barrier: false,
        ..PlayOptions::default()
    };
    let play = Play::start(&bench.controller, Box::new(Echoes::new(4)), options);
    let (play, waits) = soon(move || {
        let waits: Vec<_> = (0..3).map(|_| play.wait(Some(Duration::from_millis(20)))).collect();
        (play, waits)
    });
    for waited in waits {
        let said = waited.unwrap_err().to_string();
        assert!(
            said.starts_with("no end of the play: ") && said.ends_with(" answered within 20.0ms"),
            "{said}"
        );
    }
    assert_eq!(soon(move || play.wait(None)).unwrap().sent, 50);
}

#[test]
fn a_channel_that_ends_is_a_result() {
    let bench = bench(false, |_, _, _| {});
    let options = PlayOptions {
        schedule: Schedule::cbr_pps(1000.0).unwrap(),
        count: Some(5000),
        ..PlayOptions::default()
    };
    let play = Play::start(&bench.controller, flow_mods(5000), options.clone());
    std::thread::sleep(Duration::from_millis(100));
    assert!(play.progress().sent > 10 && !play.progress().done);
    bench.switch.close();
    let result = play.wait(Some(SOON)).unwrap();
    assert_eq!(result.closed, Some(ChannelError::Closed { partial: 0 }));
    assert!(result.sent > 10 && result.sent < 5000 && result.requested == 5000);
    let late = Play::start(&bench.controller, flow_mods(5), options).wait(Some(SOON)).unwrap();
    assert_eq!((late.sent, late.closed.clone()), (0, Some(ChannelError::Closed { partial: 0 })));
}

#[test]
fn two_plays_run_beside_each_other_and_requests_still_work() {
    let bench = bench(true, |_, _, _| {});
    let adds = Play::start(&bench.controller, flow_mods(300_000), PlayOptions::default());
    // The second must not be starved by the first, which fills the socket.
    let paced = PlayOptions {
        schedule: Schedule::cbr_pps(200.0).unwrap(),
        count: Some(30),
        barrier: false,
        ..PlayOptions::default()
    };
    let echoes = Play::start(&bench.controller, Box::new(Echoes::new(4)), paced);
    bench.controller.barrier(SOON).unwrap();
    assert_eq!(adds.wait(Some(SOON)).unwrap().sent, 300_000);
    let echoes = echoes.wait(Some(SOON)).unwrap();
    assert_eq!(echoes.sent, 30);
    assert!(echoes.payload_intact.iter().all(|ok| *ok));
}

#[test]
fn stopping_an_endless_play() {
    let bench = bench(true, |_, _, _| {});
    let options = PlayOptions {
        schedule: Schedule::cbr_pps(1000.0).unwrap(),
        barrier: false,
        ..PlayOptions::default()
    };
    let play = Play::start(&bench.controller, Box::new(Echoes::new(4)), options);
    std::thread::sleep(Duration::from_millis(50));
    let result = play.stop();
    assert!(result.sent > 5 && result.requested == result.sent);
}
