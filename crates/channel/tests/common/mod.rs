//! What several tests need: a pair of our own endpoints, and raw peers that misbehave.
#![allow(dead_code)] // each test file uses its part
#[path = "ovs.rs"]
pub mod ovs;
#[path = "pki.rs"]
pub mod pki;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use flowgauge_channel::{Channel, Config, Connection, Versions, wire};

/// Long enough for a busy machine.
pub const SOON: Duration = Duration::from_secs(10);

/// A FEATURES_REPLY with datapath id 42.
pub fn features_reply(version: u8, xid: u32) -> Vec<u8> {
    let mut body = vec![0; 24];
    body[7] = 42;
    wire::message(version, wire::FEATURES_REPLY, xid, &body)
}

/// A free address on loopback.
pub fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// Answers requests on the switch's side of a connection until it ends: features, barriers, and everything
/// that `more` wants.
pub fn serve(connection: &Connection, mut more: impl FnMut(&[u8], &mut Vec<u8>)) {
    let mut log = flowgauge_channel::Log::new();
    let version = connection.version();
    while connection.ended().is_none() {
        connection.wait_log(Duration::from_millis(50));
        if connection.poll_log(&mut log) == 0 {
            continue;
        }
        let sent = connection.send_with(|out| {
            for request in log.iter() {
                let header = wire::Header::parse(request.frame).unwrap();
                match header.message_type {
                    wire::FEATURES_REQUEST => out.extend(features_reply(version, header.xid)),
                    k if k == wire::barrier_request(version) => {
                        out.extend(wire::message(version, wire::barrier_reply(version), header.xid, &[]));
                    }
                    _ => more(request.frame, out),
                }
            }
        });
        if sent.is_err() {
            return;
        }
    }
}

/// A controller that listens and a switch that connects, both up; the switch answers on its own thread.
pub fn pair(
    controller: Config,
    switch: Config,
    more: impl FnMut(&[u8], &mut Vec<u8>) + Send + 'static,
) -> (Channel, Connection, Channel, Connection) {
    let listening = Channel::listen(any_port(), controller).unwrap();
    let connecting = Channel::connect(listening.local_addr(), switch).unwrap();
    let at_switch = connecting.wait_connected(SOON).unwrap();
    let served = at_switch.clone();
    std::thread::spawn(move || serve(&served, more));
    let at_controller = listening.wait_connected(SOON).unwrap();
    (listening, at_controller, connecting, at_switch)
}

/// A pair with default settings.
pub fn plain_pair() -> (Channel, Connection, Channel, Connection) {
    pair(Config::controller(), Config::switch(), |_, _| {})
}

/// A raw peer that connects to a controller of ours.
pub fn raw_peer(config: Config) -> (Channel, TcpStream) {
    let listening = Channel::listen(any_port(), config).unwrap();
    let peer = TcpStream::connect(listening.local_addr()).unwrap();
    peer.set_read_timeout(Some(SOON)).unwrap();
    (listening, peer)
}

/// A raw peer that has completed the handshake as a switch of version 1.3.
pub fn raw_switch(config: Config) -> (Channel, Connection, TcpStream) {
    let (listening, mut peer) = raw_peer(config);
    peer.write_all(&Versions::new(&[4]).unwrap().hello(1)).unwrap();
    let hello = read_message(&mut peer);
    assert_eq!(hello[1], wire::HELLO);
    let request = read_message(&mut peer);
    assert_eq!(request[1], wire::FEATURES_REQUEST);
    peer.write_all(&features_reply(4, wire::Header::parse(&request).unwrap().xid)).unwrap();
    let connection = listening.wait_connected(SOON).unwrap();
    (listening, connection, peer)
}

/// The next message that a raw peer receives.
pub fn read_message(peer: &mut TcpStream) -> Vec<u8> {
    let mut message = vec![0; wire::HEADER_LEN];
    peer.read_exact(&mut message).unwrap();
    let length = wire::Header::parse(&message).unwrap().length;
    message.resize(usize::from(length), 0);
    peer.read_exact(&mut message[wire::HEADER_LEN..]).unwrap();
    message
}

/// An address on which nobody listens.
pub fn dead_port() -> SocketAddr {
    TcpListener::bind(any_port()).unwrap().local_addr().unwrap()
}
