//! Several switches on one endpoint, and several controllers of one switch.

mod common;

use std::collections::HashSet;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::pki::pki;
use common::{SOON, any_port, dead_port, read_message, serve};
use flowgauge_channel::{
    Address, Backoff, Channel, ChannelError, Config, Connection, KeepAlive, Versions, wire,
};

/// Connects as a switch of this datapath id and completes the handshake.
fn switch(listening: &Channel, datapath_id: u64, auxiliary_id: u8) -> TcpStream {
    let mut peer = TcpStream::connect(listening.local_addr()).unwrap();
    peer.set_read_timeout(Some(SOON)).unwrap();
    peer.write_all(&Versions::new(&[4]).unwrap().hello(1)).unwrap();
    read_message(&mut peer);
    let request = read_message(&mut peer);
    let mut body = vec![0; 24];
    body[..8].copy_from_slice(&datapath_id.to_be_bytes());
    body[13] = auxiliary_id;
    let xid = wire::Header::parse(&request).unwrap().xid;
    peer.write_all(&wire::message(4, wire::FEATURES_REPLY, xid, &body)).unwrap();
    peer
}

#[test]
fn switches_are_told_apart_by_their_datapath_ids() {
    let listening = Channel::listen(any_port(), Config::controller()).unwrap();
    let _peers: Vec<TcpStream> = (1..=20).map(|id| switch(&listening, id, 0)).collect();
    let _auxiliary = switch(&listening, 21, 3);
    let main = switch(&listening, 21, 0);
    let twelfth = listening.wait_datapath(12, SOON).unwrap();
    assert_eq!(twelfth.datapath_id(), Some(12));
    let last = listening.wait_datapath(21, SOON).unwrap();
    assert_eq!((last.peer(), last.auxiliary_id()), (main.local_addr().ok(), 0));
    let others: HashSet<_> =
        (0..20).map(|_| listening.wait_connected(SOON).unwrap().datapath_id().unwrap()).collect();
    assert_eq!(others, (1..=21).filter(|id| *id != 12).collect());
    let error = listening.wait_datapath(99, Duration::from_millis(10)).unwrap_err();
    assert!(error.to_string().contains("datapath id 0000000000000063"), "{error}");
}

#[test]
fn each_switch_has_its_own_messages_transactions_and_end() {
    let listening = Channel::listen(any_port(), Config::controller()).unwrap();
    let mut switches = Vec::new();
    for id in 1..=8u8 {
        let connecting = Channel::connect(listening.local_addr(), Config::switch()).unwrap();
        let at_switch = connecting.wait_connected(SOON).unwrap();
        // They all say 42 of themselves: one after the other, to tell which is which.
        let served = at_switch.clone();
        std::thread::spawn(move || serve(&served, |_, _| {}));
        let connection = listening.wait_connected(SOON).unwrap();
        for _ in 0..=id {
            at_switch.send_raw(&wire::message(4, wire::PACKET_IN, 0, &[id; 20])).unwrap();
        }
        switches.push((id, connecting, connection));
    }
    for (id, _, connection) in &switches {
        connection.barrier(SOON).unwrap();
        let log = connection.take_log();
        assert_eq!(log.len(), usize::from(*id) + 1);
        assert!(log.iter().all(|r| r.frame[8..] == [*id; 20]));
    }
    let (_, third, gone) = switches.remove(2);
    drop(third);
    assert!(gone.wait_ended(SOON).is_some());
    assert!(switches.iter().all(|(_, _, c)| c.barrier(SOON).is_ok()));
}

#[test]
fn beyond_the_limit_peers_are_turned_away_and_counted() {
    let config = Config { max_connections: 3, ..Config::controller() };
    let listening = Channel::listen(any_port(), config).unwrap();
    let mut peers: Vec<TcpStream> = (1..=3).map(|id| switch(&listening, id, 0)).collect();
    let connections: Vec<Connection> = (0..3).map(|_| listening.wait_connected(SOON).unwrap()).collect();
    let mut extra = TcpStream::connect(listening.local_addr()).unwrap();
    extra.set_read_timeout(Some(SOON)).unwrap();
    assert_eq!(std::io::Read::read(&mut extra, &mut [0; 8]).unwrap_or(0), 0);
    assert_eq!(listening.turned_away(), 1);
    peers.pop();
    assert!(connections[2].wait_ended(SOON).is_some());
    let _fourth = switch(&listening, 4, 0);
    assert_eq!(listening.wait_connected(SOON).unwrap().datapath_id(), Some(4));
}

#[test]
fn those_who_say_nothing_keep_nobody_out() {
    let listening =
        Channel::listen(any_port(), Config { max_connections: 10, ..Config::controller() }).unwrap();
    let _good = switch(&listening, 1, 0);
    let first = listening.wait_connected(SOON).unwrap();
    let _silent: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(listening.local_addr()).unwrap()).collect();
    let _late = switch(&listening, 2, 0);
    assert_eq!(listening.wait_datapath(2, SOON).unwrap().datapath_id(), Some(2));
    assert_eq!(first.ended(), None);
    assert!(listening.turned_away() >= 91, "{}", listening.turned_away());
}

/// A switch that connects with these addresses, quickly again.
fn at_switch(addresses: &[Address]) -> Channel {
    let backoff = Backoff { first: Duration::from_millis(10), most: Duration::from_millis(40) };
    Channel::open_all(addresses, Config { backoff, ..Config::switch() }).unwrap()
}

#[test]
fn a_switch_has_several_controllers_and_each_comes_back_on_its_own() {
    // The switch answers nothing here: it takes the controllers long to notice.
    let patient = || Config { handshake_timeout: Duration::from_secs(60), ..Config::controller() };
    let listen = |at| Channel::listen(at, patient()).unwrap();
    let (first, second) = (listen(any_port()), listen(any_port()));
    let nobody = dead_port();
    let (a, b) = (first.local_addr(), second.local_addr());
    let addresses =
        [Address::Connect(nobody), Address::Connect(a), Address::Connect(b), Address::Listen(any_port())];
    let switch = at_switch(&addresses);
    let mut up: Vec<Connection> = (0..2).map(|_| switch.wait_connected(SOON).unwrap()).collect();
    up.sort_by_key(Connection::source);
    assert_eq!(up.iter().map(Connection::source).collect::<Vec<_>>(), [1, 2]);
    // Somebody may also come to it.
    let third = Channel::connect(switch.addresses()[3].at(), patient()).unwrap();
    let passive = switch.wait_connected(SOON).unwrap();
    assert_eq!((passive.source(), passive.address()), (3, switch.addresses()[3]));
    drop(third);
    // One goes and comes back: the other notices nothing.
    drop(first);
    assert!(up[0].wait_ended(SOON).is_some());
    let again = listen(a);
    let back = switch.wait_connected(SOON).unwrap();
    assert_eq!((back.source(), back.address()), (1, Address::Connect(a)));
    assert_eq!(up[1].ended(), None);
    drop((again, second));
    // And the one that nobody answered is still being tried.
    let late = listen(nobody);
    while switch.wait_connected(SOON).map(|c| c.source()) != Ok(0) {}
    drop(late);
}

#[test]
fn plain_and_tls_addresses_may_be_mixed() {
    let Some(pki) = pki() else { return };
    let controller = Config { tls: Some(pki.tls("controller", "switchca")), ..Config::controller() };
    let both = [Address::Listen(any_port()), Address::ListenTls(any_port())];
    let listening = Channel::open_all(&both, controller).unwrap();
    let tls = Some(pki.tls("switch", "controllerca"));
    let [plain, secure] = [listening.addresses()[0].at(), listening.addresses()[1].at()];
    let addresses = [Address::Connect(plain), Address::ConnectTls(secure)];
    let switch = Channel::open_all(&addresses, Config { tls, ..Config::switch() }).unwrap();
    for _ in 0..2 {
        let at_switch = switch.wait_connected(SOON).unwrap();
        std::thread::spawn(move || serve(&at_switch, |_, _| {}));
        let connection = listening.wait_connected(SOON).unwrap();
        connection.barrier(SOON).unwrap();
        assert_eq!(connection.is_tls(), connection.source() == 1);
    }
}

#[test]
fn pauses_between_attempts_grow() {
    let backoff = Backoff { first: Duration::from_millis(10), most: Duration::from_millis(80) };
    let listening = std::net::TcpListener::bind(any_port()).unwrap();
    let at = listening.local_addr().unwrap();
    let _switch = Channel::connect(at, Config { backoff, ..Config::switch() }).unwrap();
    let mut times = Vec::new();
    for _ in 0..7 {
        drop(listening.accept().unwrap());
        times.push(Instant::now());
    }
    let pauses: Vec<Duration> = times.windows(2).map(|w| w[1] - w[0]).collect();
    for (pause, least) in pauses.iter().zip([10, 20, 40, 80, 80, 80]) {
        assert!(*pause >= Duration::from_millis(least - 2), "{pauses:?}");
    }
}

#[test]
fn a_benchmark_sees_an_end_as_an_end() {
    let listening = Channel::listen(any_port(), Config::switch()).unwrap();
    let connecting = Channel::connect(listening.local_addr(), Config::controller()).unwrap();
    let at_switch = listening.wait_connected(SOON).unwrap();
    let served = at_switch.clone();
    std::thread::spawn(move || serve(&served, |_, _| {}));
    let connection = connecting.wait_connected(SOON).unwrap();
    at_switch.close();
    assert_eq!(connection.wait_ended(SOON), Some(ChannelError::Closed { partial: 0 }));
    let error = listening.wait_connected(Duration::from_millis(300)).unwrap_err();
    assert_eq!(error.name(), "never-connected");
}

#[test]
fn a_switch_that_is_just_starting_is_awaited() {
    let starting = std::net::TcpListener::bind(any_port()).unwrap();
    let at = starting.local_addr().unwrap();
    let connecting = Channel::connect(at, Config::controller()).unwrap();
    let peer = std::thread::spawn(move || {
        // Thrice it accepts and goes away.
        (0..3).for_each(|_| drop(starting.accept().unwrap()));
        let (mut peer, _) = starting.accept().unwrap();
        peer.write_all(&Versions::new(&[4]).unwrap().hello(1)).unwrap();
        read_message(&mut peer);
        let xid = wire::Header::parse(&read_message(&mut peer)).unwrap().xid;
        peer.write_all(&common::features_reply(4, xid)).unwrap();
        peer
    });
    assert_eq!(connecting.wait_until_connected(SOON).unwrap().version(), 4);
    peer.join().unwrap();
    let nobody = Channel::connect(dead_port(), Config::controller()).unwrap();
    let error = nobody.wait_until_connected(Duration::from_millis(50)).unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
}

#[test]
fn a_controller_that_hangs_is_found_and_another_one_tried() {
    let deaf = std::net::TcpListener::bind(any_port()).unwrap();
    let keep_alive = Some(KeepAlive { idle: Duration::from_millis(30), misses: 2 });
    let config = Config { keep_alive, ..Config::switch() };
    let switch = Channel::connect(deaf.local_addr().unwrap(), config).unwrap();
    let (mut first, _) = deaf.accept().unwrap();
    first.write_all(&Versions::new(&[4]).unwrap().hello(1)).unwrap();
    let connection = switch.wait_connected(SOON).unwrap();
    // Bytes that never make a message are no sign of life.
    let start = Instant::now();
    while connection.ended().is_none() {
        let _ = first.write_all(&[if start.elapsed() < Duration::from_millis(1) { 4 } else { 0 }]);
        std::thread::sleep(Duration::from_millis(5));
        assert!(start.elapsed() < SOON);
    }
    let why = connection.ended().unwrap();
    assert!(matches!(&why, ChannelError::Timeout { .. } | ChannelError::Garbage { .. }), "{why}");
    let (_second, _) = deaf.accept().unwrap();
}
