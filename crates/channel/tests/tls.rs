//! TLS in both roles: who is trusted, what is said when somebody is not, and that everything else works as without.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::pki::{Pki, pki};
use common::{SOON, any_port, serve};
use flowgauge_channel::{
    Address, Channel, ChannelError, Config, Connection, Timestamps, Tls, TlsFiles, Versions, wire,
};
use flowgauge_clock::Clock;

fn controller(tls: Tls) -> Config {
    Config { tls: Some(tls), ..Config::controller() }
}

fn switch(tls: Tls) -> Config {
    Config { tls: Some(tls), reconnect: false, ..Config::switch() }
}

/// A controller that listens, and a switch that connects.
fn endpoints(controller: Config, switch: Config) -> (Channel, Channel) {
    let listening = Channel::open(Address::ListenTls(any_port()), controller).unwrap();
    let connecting = Channel::open(Address::ConnectTls(listening.local_addr()), switch).unwrap();
    (listening, connecting)
}

fn established(pki: &Pki, ours: &str, theirs: &str) -> (Channel, Connection, Channel, Connection) {
    let (listening, connecting) =
        endpoints(controller(pki.tls(ours, "switchca")), switch(pki.tls(theirs, "controllerca")));
    let at_switch = connecting.wait_connected(SOON).unwrap();
    let served = at_switch.clone();
    std::thread::spawn(move || serve(&served, |_, _| {}));
    let connection = listening.wait_connected(SOON).unwrap();
    (listening, connection, connecting, at_switch)
}

fn reason(error: &ChannelError) -> &str {
    match error {
        ChannelError::Tls { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn certificates_of_version_3_and_1_serve_on_both_sides() {
    let Some(pki) = pki() else { return };
    for (ours, theirs) in
        [("controller", "switch"), ("old-controller", "switch"), ("controller", "old-switch")]
    {
        let (_a, connection, _b, at_switch) = established(pki, ours, theirs);
        assert_eq!((connection.peer_name(), at_switch.peer_name()), (Some(theirs), Some(ours)));
        for _ in 0..50 {
            let before = Clock.now();
            let reply = connection.barrier(SOON).unwrap();
            assert!(before <= reply && reply <= Clock.now());
        }
        assert_eq!(connection.timestamps(), Timestamps::Read);
        assert!(connection.is_tls() && at_switch.is_tls());
        assert!(connection.address().to_string().starts_with("pssl:"));
    }
}

#[test]
fn the_controller_may_be_the_one_that_connects() {
    let Some(pki) = pki() else { return };
    let at_switch = switch(pki.tls("switch", "controllerca"));
    let listening = Channel::open(Address::ListenTls(any_port()), at_switch).unwrap();
    let at_controller = controller(pki.tls("controller", "switchca"));
    let connecting = Channel::open(Address::ConnectTls(listening.local_addr()), at_controller).unwrap();
    let at_switch = listening.wait_connected(SOON).unwrap();
    std::thread::spawn(move || serve(&at_switch, |_, _| {}));
    connecting.wait_connected(SOON).unwrap().barrier(SOON).unwrap();
}

#[test]
fn a_certificate_may_itself_be_what_is_trusted() {
    let Some(pki) = pki() else { return };
    // Self-signed, and marked as an authority, as `openssl req -x509` makes it.
    let (listening, connecting) = endpoints(
        controller(pki.tls("controller", "strangerca")),
        switch(pki.tls("strangerca", "controllerca")),
    );
    connecting.wait_connected(SOON).unwrap();
    drop(listening);
}

#[test]
fn much_data_passes_both_ways_and_is_accounted_for() {
    let Some(pki) = pki() else { return };
    let (_a, connection, _b, at_switch) = established(pki, "controller", "switch");
    const N: u64 = 100_000;
    let sender = connection.clone();
    let there = std::thread::spawn(move || {
        for i in 0..N {
            sender.send_raw(&wire::message(4, wire::PACKET_OUT, i as u32, &[0; 100])).unwrap();
        }
    });
    for i in 0..N {
        at_switch.send_raw(&wire::message(4, wire::PACKET_IN, i as u32, &[i as u8; 300])).unwrap();
    }
    there.join().unwrap();
    connection.barrier(Duration::from_secs(30)).unwrap();
    assert_eq!(at_switch.received(wire::PACKET_OUT), N);
    let start = Instant::now();
    while connection.received(wire::PACKET_IN) < N {
        assert!(start.elapsed() < SOON);
        std::thread::sleep(Duration::from_millis(1));
    }
    let log = connection.take_log();
    assert!(log.iter().enumerate().all(|(i, r)| r.frame[8..] == [i as u8; 300]));
    assert!(log.iter().zip(log.iter().skip(1)).all(|(a, b)| a.stamp <= b.stamp));
    assert_eq!((log.len() as u64, connection.queued_bytes()), (N, 0));
}

#[test]
fn closing_is_in_order() {
    let Some(pki) = pki() else { return };
    let (_a, connection, _b, at_switch) = established(pki, "controller", "switch");
    for _ in 0..1000 {
        connection.send_raw(&wire::message(4, wire::FLOW_MOD, 1, &[0; 72])).unwrap();
    }
    connection.close();
    assert_eq!(connection.wait_ended(SOON), Some(ChannelError::ClosedHere));
    assert_eq!(at_switch.wait_ended(SOON), Some(ChannelError::Closed { partial: 0 }));
    assert_eq!(at_switch.received(wire::FLOW_MOD), 1000);
}

#[test]
fn whoever_is_not_signed_by_the_authority_is_refused_and_both_say_so() {
    let Some(pki) = pki() else { return };
    for (name, ours) in [
        ("stranger", "no authority in"),
        ("forged", "bears the name of the peer's authority"),
        ("old-forged", "bears the name of the peer's authority"),
    ] {
        let (listening, connecting) =
            endpoints(controller(pki.tls("controller", "switchca")), switch(pki.tls(name, "controllerca")));
        let error = listening.wait_connected(SOON).unwrap_err();
        assert!(reason(&error).contains(ours), "{name}: {error}");
        let error = connecting.wait_connected(SOON).unwrap_err();
        assert!(reason(&error).contains(&format!("{name}-cert.pem")), "{name}: {error}");
    }
    // The other way round: the switch does not trust us.
    let (listening, connecting) =
        endpoints(controller(pki.tls("stranger", "switchca")), switch(pki.tls("switch", "controllerca")));
    let error = connecting.wait_connected(SOON).unwrap_err();
    assert!(reason(&error).contains("no authority in"), "{error}");
    let error = listening.wait_connected(SOON).unwrap_err();
    assert!(reason(&error).contains("stranger-cert.pem"), "{error}");
}

#[test]
fn a_peer_without_a_certificate_is_refused() {
    let Some(pki) = pki() else { return };
    let at_controller = controller(pki.tls("controller", "switchca"));
    let listening = Channel::open(Address::ListenTls(any_port()), at_controller).unwrap();
    for version in ["-tls1_2", "-tls1_3"] {
        let at = listening.local_addr().to_string();
        let mut client = Command::new("openssl")
            .args(["s_client", version, "-connect", &at])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let error = listening.wait_connected(SOON).unwrap_err();
        assert_eq!(reason(&error), "the peer showed no certificate", "{version}");
        let _ = client.kill();
        client.wait().unwrap();
    }
}

#[test]
fn one_with_tls_and_one_without_understand_why() {
    let Some(pki) = pki() else { return };
    let (tls_at_switch, plain) = (switch(pki.tls("switch", "controllerca")), Config::controller());
    // TLS to a plain port.
    let listening = Channel::listen(any_port(), plain).unwrap();
    let connecting = Channel::open(Address::ConnectTls(listening.local_addr()), tls_at_switch).unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert_eq!(reason(&error), "the peer speaks TLS, and this address is without");
    let error = connecting.wait_connected(SOON).unwrap_err();
    let said = reason(&error);
    assert!(said.contains("plain OpenFlow") || said.contains("closed the connection"), "{said}");
    // Plain to a TLS port.
    let at_controller = controller(pki.tls("controller", "switchca"));
    let listening = Channel::open(Address::ListenTls(any_port()), at_controller).unwrap();
    let plain_switch = Config { reconnect: false, ..Config::switch() };
    let _connecting = Channel::connect(listening.local_addr(), plain_switch).unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert!(reason(&error).starts_with("the peer speaks plain OpenFlow (it begins with 04 00"), "{error}");
    let mut other = TcpStream::connect(listening.local_addr()).unwrap();
    other.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let error = listening.wait_connected(SOON).unwrap_err();
    assert!(reason(&error).starts_with("the peer speaks no TLS"), "{error}");
}

#[test]
fn files_that_do_not_serve_are_named() {
    let Some(pki) = pki() else { return };
    let good = pki.files("controller", "switchca");
    let refused = |files: TlsFiles| match Tls::load(&files) {
        Err(ChannelError::TlsFile { key, file, reason }) => (key, file, reason),
        other => panic!("{other:?}"),
    };
    let missing = pki.path("nowhere.pem");
    let (key, file, said) = refused(TlsFiles { private_key: missing.clone(), ..good.clone() });
    assert_eq!((key, file), ("private_key", missing.clone()));
    assert!(said.contains("No such file"), "{said}");
    assert_eq!(refused(TlsFiles { certificate: missing.clone(), ..good.clone() }).0, "certificate");
    assert_eq!(refused(TlsFiles { ca: missing, ..good.clone() }).0, "ca");
    let other_key = pki.path("switch-privkey.pem");
    let (key, _, said) = refused(TlsFiles { private_key: other_key, ..good.clone() });
    assert_eq!(key, "private_key");
    assert!(
        said.contains("is not the key of the certificate in") && said.contains("controller-cert.pem"),
        "{said}"
    );
    let (key, _, said) = refused(TlsFiles { private_key: good.certificate.clone(), ..good.clone() });
    assert!(key == "private_key" && said.contains("holds no private key"), "{said}");
    let (key, _, said) = refused(TlsFiles { ca: good.private_key.clone(), ..good.clone() });
    assert!(key == "ca" && said.contains("holds no certificate"), "{said}");
    let broken = pki.path("broken.pem");
    std::fs::write(&broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let (_, _, said) = refused(TlsFiles { ca: broken, ..good.clone() });
    assert_eq!(said, "holds a malformed certificate");
    let locked = pki.path("locked.pem");
    std::fs::write(
        &locked,
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    )
    .unwrap();
    assert!(refused(TlsFiles { private_key: locked, ..good }).2.contains("password"));
    let error = Channel::open(Address::ListenTls(any_port()), Config::controller()).err().unwrap();
    assert!(reason(&error).contains("needs a private key"), "{error}");
}

#[test]
fn who_says_nothing_in_the_handshake_is_let_go() {
    let Some(pki) = pki() else { return };
    let config = Config {
        handshake_timeout: Duration::from_millis(100),
        ..controller(pki.tls("controller", "switchca"))
    };
    let listening = Channel::open(Address::ListenTls(any_port()), config).unwrap();
    // Nothing at all; the start of a record and no more.
    for start in [&[][..], &[0x16], &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]] {
        let mut peer = TcpStream::connect(listening.local_addr()).unwrap();
        peer.write_all(start).unwrap();
        let error = listening.wait_connected(SOON).unwrap_err();
        assert!(matches!(&error, ChannelError::Timeout { what, .. } if what == "TLS handshake"), "{error}");
        let mut rest = Vec::new();
        peer.set_read_timeout(Some(SOON)).unwrap();
        let _ = peer.read_to_end(&mut rest);
    }
    // One byte of a handshake that never ends, every few milliseconds.
    let mut slow = TcpStream::connect(listening.local_addr()).unwrap();
    let start = Instant::now();
    for byte in [0x16, 3, 1, 2, 0].into_iter().chain(std::iter::repeat(1)) {
        if slow.write_all(&[byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
        assert!(start.elapsed() < SOON);
    }
    assert!(listening.wait_connected(SOON).is_err());
}

#[test]
fn random_bytes_inside_records_end_only_their_connection() {
    let Some(pki) = pki() else { return };
    let (listening, connection, _b, _) = established(pki, "controller", "switch");
    let mut seed = 1u64;
    for round in 0..40 {
        let mut peer = TcpStream::connect(listening.local_addr()).unwrap();
        let mut bytes = vec![20 + (round % 4) as u8, 3, 3, 0, 200];
        bytes.extend((0..200).map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 56) as u8
        }));
        peer.write_all(&bytes).unwrap();
        let error = listening.wait_connected(SOON).unwrap_err();
        assert_eq!(error.name(), "tls", "{error}");
    }
    connection.barrier(SOON).unwrap();
}

#[test]
fn one_byte_at_a_time_works() {
    let Some(pki) = pki() else { return };
    let at_controller = controller(pki.tls("controller", "switchca"));
    let listening = Channel::open(Address::ListenTls(any_port()), at_controller).unwrap();
    let relay = one_byte_relay(listening.local_addr());
    let at_switch = switch(pki.tls("switch", "controllerca"));
    let connecting = Channel::open(Address::ConnectTls(relay), at_switch).unwrap();
    let at_switch = connecting.wait_connected(SOON).unwrap();
    std::thread::spawn(move || serve(&at_switch, |_, _| {}));
    listening.wait_connected(SOON).unwrap().barrier(SOON).unwrap();
}

/// Passes the bytes of one connection on to `to` one by one, and what comes back as it comes.
fn one_byte_relay(to: SocketAddr) -> SocketAddr {
    let relay = std::net::TcpListener::bind(any_port()).unwrap();
    let at = relay.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut near, _) = relay.accept().unwrap();
        let mut far = TcpStream::connect(to).unwrap();
        far.set_nodelay(true).unwrap();
        let (mut back, mut there) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut back, &mut there));
        let mut byte = [0];
        while near.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
    });
    at
}

#[test]
fn versions_are_negotiated_inside() {
    let Some(pki) = pki() else { return };
    let (listening, connecting) = endpoints(
        Config { versions: Versions::new(&[4]).unwrap(), ..controller(pki.tls("controller", "switchca")) },
        Config { versions: Versions::new(&[1]).unwrap(), ..switch(pki.tls("switch", "controllerca")) },
    );
    assert_eq!(listening.wait_connected(SOON).unwrap_err().name(), "version-mismatch");
    assert_eq!(connecting.wait_connected(SOON).unwrap_err().name(), "version-mismatch");
}
