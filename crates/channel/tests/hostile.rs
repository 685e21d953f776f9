//! Peers that misbehave: each ends in its own typed error and harms only its own connection.

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use common::{SOON, any_port, dead_port, features_reply, raw_peer, raw_switch, read_message};
use flowgauge_channel::{Channel, ChannelError, Config, Versions, wire};

fn quick() -> Config {
    Config { handshake_timeout: Duration::from_millis(100), ..Config::controller() }
}

#[test]
fn garbage_is_named_with_its_place() {
    let (listening, mut peer) = raw_peer(Config::controller());
    peer.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert!(
        matches!(&error, ChannelError::Garbage { offset: 0, found, .. } if found.contains("GET /")),
        "{error}"
    );
}

#[test]
fn garbage_later_ends_the_connection_and_what_came_before_is_kept() {
    let (_listening, connection, mut peer) = raw_switch(Config::controller());
    let mut bytes = wire::message(4, wire::PACKET_IN, 0, &[1; 50]);
    bytes.extend([0xff; 30]);
    peer.write_all(&bytes).unwrap();
    let error = connection.wait_ended(SOON).unwrap();
    // HELLO with its bitmap is 16 bytes, FEATURES_REPLY 32, PACKET_IN 58.
    assert!(matches!(error, ChannelError::Garbage { offset: 106, .. }), "{error}");
    assert_eq!(connection.take_log().len(), 1);
}

#[test]
fn another_version_is_a_mismatch_and_the_peer_is_told() {
    let config = Config { versions: Versions::new(&[4]).unwrap(), ..Config::controller() };
    let (listening, mut peer) = raw_peer(config);
    peer.write_all(&wire::message(1, wire::HELLO, 7, &[])).unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert_eq!(error, ChannelError::VersionMismatch { ours: vec![4], theirs: vec![1] });
    assert_eq!(read_message(&mut peer)[1], wire::HELLO);
    let told = read_message(&mut peer);
    assert_eq!(told[..12], [1, wire::ERROR, 0, told.len() as u8, 0, 0, 0, 7, 0, 0, 0, 0]);
}

#[test]
fn a_peer_that_refuses_our_hello_is_a_mismatch() {
    let (listening, mut peer) = raw_peer(Config::controller());
    peer.write_all(&wire::message(6, wire::ERROR, 0, &[0, 0, 0, 0])).unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert_eq!(error, ChannelError::VersionMismatch { ours: vec![1, 4], theirs: vec![6] });
}

#[test]
fn silence_times_out_naming_what_is_missing() {
    let (listening, mut peer) = raw_peer(quick());
    let error = listening.wait_connected(SOON).unwrap_err();
    assert!(matches!(&error, ChannelError::Timeout { what, .. } if what == "HELLO"), "{error}");
    let mut rest = Vec::new();
    peer.read_to_end(&mut rest).unwrap();
    let (listening, mut peer) = raw_peer(quick());
    peer.write_all(&Versions::new(&[1]).unwrap().hello(1)).unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert!(matches!(&error, ChannelError::Timeout { what, .. } if what == "FEATURES_REPLY"), "{error}");
}

#[test]
fn closing_in_the_middle_of_a_message_is_seen() {
    let (_listening, connection, mut peer) = raw_switch(Config::controller());
    peer.write_all(&wire::message(4, wire::PACKET_IN, 0, &[1; 500])[..300]).unwrap();
    drop(peer);
    assert_eq!(connection.wait_ended(SOON), Some(ChannelError::Closed { partial: 300 }));
    assert_eq!(connection.ended().unwrap().name(), "channel-closed");
}

#[test]
fn a_length_below_the_header_is_garbage() {
    let (_listening, connection, mut peer) = raw_switch(Config::controller());
    peer.write_all(&[4, wire::PACKET_IN, 0, 0, 0, 0, 0, 0]).unwrap();
    let error = connection.wait_ended(SOON).unwrap();
    assert!(matches!(&error, ChannelError::Garbage { found, .. } if found == "length 0"), "{error}");
}

#[test]
fn a_reset_is_a_reset() {
    let (_listening, connection, peer) = raw_switch(Config::controller());
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: sets an option from a valid struct.
    unsafe {
        let size = size_of::<libc::linger>() as libc::socklen_t;
        libc::setsockopt(
            peer.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size,
        );
    }
    drop(peer);
    let error = connection.wait_ended(SOON).unwrap();
    assert!(matches!(error, ChannelError::Reset { .. }), "{error}");
    assert_eq!(error, connection.barrier(SOON).unwrap_err());
}

#[test]
fn a_reset_while_a_request_waits_ends_the_wait() {
    let (_listening, connection, peer) = raw_switch(Config::controller());
    let waiting = connection.clone();
    let waiter = std::thread::spawn(move || waiting.barrier(Duration::from_secs(60)));
    std::thread::sleep(Duration::from_millis(20));
    drop(peer);
    assert!(matches!(waiter.join().unwrap(), Err(ChannelError::Reset { .. } | ChannelError::Closed { .. })));
}

#[test]
fn one_byte_at_a_time_works() {
    let (listening, mut peer) = raw_peer(Config::controller());
    peer.set_nodelay(true).unwrap();
    let mut slowly = |bytes: &[u8]| bytes.iter().for_each(|byte| peer.write_all(&[*byte]).unwrap());
    slowly(&Versions::new(&[4]).unwrap().hello(1));
    // Our first two transaction ids go to HELLO and FEATURES_REQUEST.
    slowly(&features_reply(4, 2));
    let connection = listening.wait_connected(SOON).unwrap();
    slowly(&wire::message(4, wire::PACKET_IN, 9, &[1; 64]));
    assert!(connection.wait_log(SOON));
    assert_eq!(connection.take_log().iter().next().unwrap().frame.len(), 72);
}

#[test]
fn a_hostile_peer_harms_only_its_own_connection() {
    let (listening, connection, _peer) = raw_switch(Config::controller());
    for _ in 0..5 {
        let mut other = std::net::TcpStream::connect(listening.local_addr()).unwrap();
        other.write_all(&[0x17, 3, 1, 2, 0, 1]).unwrap();
        assert_eq!(listening.wait_connected(SOON).unwrap_err().name(), "tls");
    }
    assert_eq!(connection.ended(), None);
}

#[test]
fn random_bytes_and_random_ends_harm_nobody_else() {
    let (listening, connection, mut good) = raw_switch(Config::controller());
    let mut seed = 7u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    for round in 0..300 {
        let mut peer = std::net::TcpStream::connect(listening.local_addr()).unwrap();
        // Every other one gets through the handshake first.
        if round % 2 == 0 {
            peer.write_all(&Versions::new(&[4]).unwrap().hello(1)).unwrap();
            peer.write_all(&features_reply(4, 2)).unwrap();
        }
        let mut bytes: Vec<u8> = (0..random() % 3000).map(|_| random() as u8).collect();
        // Half of them begin like a message of a random length.
        if round % 4 < 2 && bytes.len() > 8 {
            bytes[..2].copy_from_slice(&[4, (random() % 36) as u8]);
        }
        let _ = peer.write_all(&bytes);
        if round % 3 == 0 {
            let _ = peer.shutdown(std::net::Shutdown::Write);
        }
        drop(peer);
        good.write_all(&wire::message(4, wire::ECHO_REQUEST, round, &[1])).unwrap();
        assert_eq!(read_message(&mut good)[1], wire::ECHO_REPLY);
    }
    assert_eq!(connection.ended(), None);
    // What they left behind is the failures' end: the endpoint serves the next.
    while listening.wait_connected(Duration::from_millis(100)).is_err_and(|e| e.name() != "never-connected") {
    }
}

#[test]
fn nobody_there() {
    let listening = Channel::listen(any_port(), Config::controller()).unwrap();
    let error = listening.wait_connected(Duration::from_millis(30)).unwrap_err();
    assert!(error.to_string().ends_with("within 30.0ms: nobody connected"), "{error}");
    let connecting = Channel::connect(dead_port(), Config::controller()).unwrap();
    let error = connecting.wait_connected(Duration::from_millis(100)).unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
}

#[test]
fn connecting_waits_for_a_peer_that_starts_late() {
    let address = dead_port();
    let connecting = Channel::connect(address, Config::controller()).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    let late = TcpListener::bind(address).unwrap();
    let (mut peer, _) = late.accept().unwrap();
    peer.write_all(&Versions::new(&[4]).unwrap().hello(1)).unwrap();
    peer.write_all(&features_reply(4, 2)).unwrap();
    assert_eq!(connecting.wait_connected(SOON).unwrap().version(), 4);
}

#[test]
fn a_port_in_use_says_who_to_ask() {
    let taken = TcpListener::bind(any_port()).unwrap();
    let address = taken.local_addr().unwrap();
    let error = Channel::listen(address, Config::controller()).err().unwrap();
    assert_eq!(error.name(), "port-busy");
    assert_eq!(error.to_string(), format!("{address} is in use"));
    let ChannelError::PortBusy { advice, .. } = error else { panic!("{error:?}") };
    assert_eq!(advice, format!("ss -ltnp 'sport = :{}'", address.port()));
    let error = Channel::listen("192.0.2.1:1".parse().unwrap(), Config::controller()).err().unwrap();
    assert_eq!(error.name(), "setup");
    let config = Config { netns: Some("fg-nowhere".into()), ..Config::controller() };
    let error = Channel::listen(any_port(), config).err().unwrap();
    assert!(error.to_string().contains("/run/netns/fg-nowhere"), "{error}");
}

#[test]
fn an_endpoint_closes_quickly() {
    let start = Instant::now();
    let (listening, connection, mut peer) = raw_switch(Config::controller());
    drop(listening);
    assert_eq!(connection.ended(), Some(ChannelError::ClosedHere));
    let mut rest = Vec::new();
    peer.read_to_end(&mut rest).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5));
}
