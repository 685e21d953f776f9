//! Both roles against each other over loopback.

mod common;

use std::time::Duration;

use common::{SOON, any_port, pair, plain_pair};
use flowgauge_channel::{Channel, ChannelError, Config, KeepAlive, Timestamps, Versions, wire};
use flowgauge_clock::Clock;

#[test]
fn they_agree_on_the_highest_common_version() {
    for (ours, theirs, agreed) in
        [(&[1, 4][..], &[1, 4, 6][..], 4), (&[1], &[1, 4], 1), (&[1, 4, 5], &[1], 1)]
    {
        let controller = Config { versions: Versions::new(ours).unwrap(), ..Config::controller() };
        let switch = Config { versions: Versions::new(theirs).unwrap(), ..Config::switch() };
        let (_a, connection, _b, at_switch) = pair(controller, switch, |_, _| {});
        assert_eq!((connection.version(), at_switch.version()), (agreed, agreed));
        assert_eq!(connection.datapath_id(), Some(42));
        assert_eq!(at_switch.datapath_id(), None);
    }
}

#[test]
fn without_a_common_version_both_say_so() {
    let controller = Config { versions: Versions::new(&[4]).unwrap(), ..Config::controller() };
    let switch = Config { versions: Versions::new(&[1]).unwrap(), reconnect: false, ..Config::switch() };
    let listening = Channel::listen(any_port(), controller).unwrap();
    let connecting = Channel::connect(listening.local_addr(), switch).unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert_eq!(error, ChannelError::VersionMismatch { ours: vec![4], theirs: vec![1] });
    let error = connecting.wait_connected(SOON).unwrap_err();
    assert_eq!(error, ChannelError::VersionMismatch { ours: vec![1], theirs: vec![4] });
}

#[test]
fn the_controller_may_be_the_one_that_connects() {
    let listening = Channel::listen(any_port(), Config::switch()).unwrap();
    let connecting = Channel::connect(listening.local_addr(), Config::controller()).unwrap();
    let at_switch = listening.wait_connected(SOON).unwrap();
    std::thread::spawn(move || common::serve(&at_switch, |_, _| {}));
    let connection = connecting.wait_connected(SOON).unwrap();
    connection.barrier(SOON).unwrap();
}

#[test]
fn kernel_stamps_lie_between_request_and_return() {
    let (_a, connection, _b, _) = plain_pair();
    for _ in 0..200 {
        let before = Clock.now();
        let reply = connection.barrier(SOON).unwrap();
        let after = Clock.now();
        assert!(before <= reply && reply <= after, "{before:?} {reply:?} {after:?}");
    }
    assert_eq!(connection.timestamps(), Timestamps::Kernel);
}

#[test]
fn a_transaction_collects_all_parts_of_a_multipart_reply() {
    let (_a, connection, _b, _) = pair(Config::controller(), Config::switch(), |request, out| {
        let xid = wire::Header::parse(request).unwrap().xid;
        for (more, part) in [(1, 0u8), (1, 1), (0, 2)] {
            out.extend(wire::message(4, wire::multipart_reply(4), xid, &[0, 1, 0, more, 0, 0, 0, 0, part]));
        }
    });
    let request = wire::message(4, 18, connection.reserve_xids(1), &[0, 1, 0, 0, 0, 0, 0, 0]);
    let replies = connection.transact_raw(&request, SOON).unwrap();
    assert_eq!(replies.iter().map(|r| r.frame[16]).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(connection.log_len(), 0);
}

#[test]
fn an_error_with_our_xid_is_a_rejection_and_others_are_logged() {
    let (_a, connection, _b, at_switch) = pair(Config::controller(), Config::switch(), |request, out| {
        let header = wire::Header::parse(request).unwrap();
        if header.message_type == wire::FLOW_MOD && request.len() > 60 {
            out.extend(wire::message(4, wire::ERROR, header.xid, &[0, 5, 0, 1, 7, 7]));
        }
    });
    let mut good = [wire::message(4, wire::FLOW_MOD, 0, &[0; 40])];
    connection.apply_raw(&mut good, SOON).unwrap();
    let mut mixed = [good[0].clone(), wire::message(4, wire::FLOW_MOD, 0, &[0; 60]), good[0].clone()];
    let error = connection.apply_raw(&mut mixed, SOON).unwrap_err();
    let ChannelError::Rejected { error_type: 5, code: 1, data, xid } = error else { panic!("{error}") };
    assert_eq!(data, [7, 7]);
    assert_eq!(xid, wire::Header::parse(&mixed[1]).unwrap().xid);
    at_switch.send_raw(&wire::message(4, wire::ERROR, 999_999, &[0; 4])).unwrap();
    assert!(connection.wait_log(SOON));
    assert_eq!(connection.take_log().iter().map(|r| r.frame[1]).collect::<Vec<_>>(), [wire::ERROR]);
}

#[test]
fn a_silent_switch_times_out_by_name() {
    let (_a, connection, _b, _) = plain_pair();
    let request = wire::message(4, 18, connection.reserve_xids(1), &[0; 8]);
    let error = connection.transact_raw(&request, Duration::from_millis(30)).unwrap_err();
    assert_eq!(error.to_string(), "no reply to xid 3 (message type 18) within 30.0ms");
    assert!(connection.ended().is_none());
}

#[test]
fn packet_ins_are_counted_logged_and_stamped_in_order() {
    let (_a, connection, _b, at_switch) = plain_pair();
    for i in 0..10_000u32 {
        at_switch.send_raw(&wire::message(4, wire::PACKET_IN, 0, &i.to_be_bytes())).unwrap();
    }
    let start = Clock.now();
    while connection.received(wire::PACKET_IN) < 10_000 {
        assert!((Clock.now() - start).as_secs_f64() < 10.0);
        std::thread::yield_now();
    }
    let log = connection.take_log();
    assert_eq!((log.len(), log.bytes(), connection.log_dropped()), (10_000, 120_000, 0));
    assert!(log.iter().enumerate().all(|(i, r)| r.frame[8..12] == (i as u32).to_be_bytes()));
    assert!(log.iter().zip(log.iter().skip(1)).all(|(a, b)| a.stamp <= b.stamp));
    assert_eq!(connection.log_len(), 0);
}

#[test]
fn a_full_log_drops_and_counts_at_a_controller_and_holds_back_at_a_switch() {
    // Ten messages of 100 bytes, each counted as 144.
    let controller = Config { log_cap: 1440, ..Config::controller() };
    let switch = Config { log_cap: 1440, ..Config::switch() };
    let listening = Channel::listen(any_port(), controller).unwrap();
    let connecting = Channel::connect(listening.local_addr(), switch).unwrap();
    let at_switch = connecting.wait_connected(SOON).unwrap();
    assert!(at_switch.wait_log(SOON));
    let xid = wire::Header::parse(at_switch.take_log().iter().next().unwrap().frame).unwrap().xid;
    at_switch.send_raw(&common::features_reply(4, xid)).unwrap();
    let connection = listening.wait_connected(SOON).unwrap();
    for _ in 0..50 {
        at_switch.send_raw(&wire::message(4, wire::PACKET_IN, 0, &[0; 92])).unwrap();
        connection.send_raw(&wire::message(4, wire::PACKET_OUT, 1, &[0; 92])).unwrap();
    }
    let (mut total, mut rounds) = (0, 0);
    while total < 50 {
        assert!(at_switch.wait_log(SOON));
        total += at_switch.take_log().len();
        rounds += 1;
    }
    assert_eq!((total, at_switch.log_dropped()), (50, 0));
    assert!(rounds <= 50);
    while connection.received(wire::PACKET_IN) < 50 {
        std::thread::yield_now();
    }
    assert_eq!((connection.take_log().len(), connection.log_dropped()), (10, 40));
}

#[test]
fn keep_alive_finds_a_dead_peer_and_leaves_a_living_one_alone() {
    let keep_alive = Some(KeepAlive { idle: Duration::from_millis(40), misses: 2 });
    let controller = Config { keep_alive, ..Config::controller() };
    let (_a, connection, _b, _) = pair(controller.clone(), Config::switch(), |_, _| {});
    assert_eq!(connection.wait_ended(Duration::from_millis(300)), None);
    assert!(connection.received(wire::ECHO_REPLY) >= 2);
    let deaf = Config { answer_echo: false, reconnect: false, ..Config::switch() };
    let (_a, connection, _b, _) = pair(controller, deaf, |_, _| {});
    let why = connection.wait_ended(SOON).unwrap();
    assert!(matches!(why, ChannelError::Timeout { .. }), "{why}");
}

#[test]
fn closing_sends_what_is_queued_and_both_remember_why() {
    let (_a, connection, _b, at_switch) = plain_pair();
    for _ in 0..1000 {
        connection.send_raw(&wire::message(4, wire::FLOW_MOD, 1, &[0; 72])).unwrap();
    }
    connection.close();
    assert_eq!(connection.wait_ended(SOON), Some(ChannelError::ClosedHere));
    assert_eq!(at_switch.wait_ended(SOON), Some(ChannelError::Closed { partial: 0 }));
    assert_eq!(at_switch.received(wire::FLOW_MOD), 1000);
    assert_eq!(connection.send_raw(&[]), Err(ChannelError::ClosedHere));
    assert_eq!(connection.barrier(SOON), Err(ChannelError::ClosedHere));
}

#[test]
fn sending_after_a_close_ends_it_and_nothing_hangs() {
    let (_listening, connection, peer) = common::raw_switch(Config::controller());
    connection.close();
    std::thread::sleep(Duration::from_millis(20));
    let _ = connection.send_raw(&wire::message(4, wire::FLOW_MOD, 1, &[0; 72]));
    assert_eq!(connection.wait_ended(SOON), Some(ChannelError::ClosedHere));
    drop(peer);
}

#[test]
fn a_switch_connects_again() {
    let listening = Channel::listen(any_port(), Config::controller()).unwrap();
    let connecting = Channel::connect(listening.local_addr(), Config::switch()).unwrap();
    for _ in 0..3 {
        let at_switch = connecting.wait_connected(SOON).unwrap();
        let served = at_switch.clone();
        std::thread::spawn(move || common::serve(&served, |_, _| {}));
        let connection = listening.wait_connected(SOON).unwrap();
        connection.barrier(SOON).unwrap();
        connection.close();
        assert!(at_switch.wait_ended(SOON).is_some());
    }
}
