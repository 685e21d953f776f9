//! A switch between ring ports and a controller of our own.
#![allow(dead_code)]

use flowgauge_channel::{Channel, ChannelError, Config, Connection, Versions};
use flowgauge_openflow::{Action, Match, PortNo, Version, decode, encode};
use flowgauge_openflow::{Body, FlowMod, Message, MultipartReply, MultipartRequest, ReplyBody, RequestBody};
use flowgauge_packet::Field;
use flowgauge_ports::ring::{self, RingPort};
use flowgauge_ports::{BURST, Burst, Port};
use flowgauge_switch::{PortConfig, Switch, SwitchConfig};
use std::time::{Duration, Instant};

pub const SECOND: Duration = Duration::from_secs(1);
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A controller's end of a connection.
pub struct Peer {
    pub connection: Connection,
    pub version: Version,
    pub channel: Channel,
}

/// A switch with ports 1 to 3 on rings, and a controller that speaks one version.
pub struct Bench {
    pub switch: Switch,
    /// The far ends of the ports, in order.
    pub testers: Vec<RingPort>,
    pub peer: Peer,
}

impl std::ops::Deref for Bench {
    type Target = Peer;
    fn deref(&self) -> &Peer {
        &self.peer
    }
}

/// Ring ports for the switch, and their far ends.
pub fn ports(count: u32) -> (Vec<PortConfig>, Vec<RingPort>) {
    let pair = |number| {
        let (far, near) = ring::pair(1024);
        (PortConfig::new(number, format!("p{number}"), Box::new(near)), far)
    };
    (1..=count).map(pair).unzip()
}

impl Bench {
    pub fn new(version: Version) -> Bench {
        Bench::with(version, |_| {})
    }

    pub fn with(version: Version, change: impl FnOnce(&mut SwitchConfig)) -> Bench {
        let versions = Versions::new(&[version.wire()]).unwrap();
        let config = Config { versions, ..Config::controller() };
        let channel = Channel::listen("127.0.0.1:0".parse().unwrap(), config).unwrap();
        let (ports, testers) = ports(3);
        let control = format!("tcp:{}", channel.local_addr()).parse().unwrap();
        let mut config = SwitchConfig::new(0x1234, ports, control);
        config.versions = versions;
        change(&mut config);
        let switch = Switch::start(config).unwrap();
        let connection = channel.wait_connected(PATIENCE).unwrap();
        Bench { switch, testers, peer: Peer { connection, version, channel } }
    }

    /// A switch that waits for controllers, and the first of them.
    pub fn listening(version: Version, change: impl FnOnce(&mut SwitchConfig)) -> Bench {
        let (switch, testers) = listening(change);
        let peer = Peer::of(&switch, version);
        Bench { switch, testers, peer }
    }

    /// One more controller; the switch must be listening.
    pub fn join(&self, version: Version) -> Peer {
        Peer::of(&self.switch, version)
    }

    /// Sends frames into port `number`.
    pub fn inject(&mut self, number: usize, frame: &[u8]) {
        let port = &mut self.testers[number - 1];
        let mut burst = Burst::new();
        assert_eq!(port.alloc(&mut burst, 1), 1);
        burst[0].set_len(frame.len());
        burst[0].bytes_mut().copy_from_slice(frame);
        assert_eq!(port.tx(&mut burst).unwrap(), 1);
    }

    /// The next frame out of port `number`, if one comes in time.
    pub fn expect(&mut self, number: usize, patience: Duration) -> Option<Vec<u8>> {
        let port = &mut self.testers[number - 1];
        let (deadline, mut burst) = (Instant::now() + patience, Burst::new());
        while port.rx(&mut burst, 1).unwrap() == 0 {
            if Instant::now() > deadline {
                return None;
            }
            std::thread::yield_now();
        }
        let frame = burst[0].bytes().to_vec();
        port.free(&mut burst);
        Some(frame)
    }

    /// Frames waiting at port `number`.
    pub fn drain(&mut self, number: usize) -> usize {
        let port = &mut self.testers[number - 1];
        let (mut burst, mut count) = (Burst::new(), 0);
        while port.rx(&mut burst, BURST).unwrap() > 0 {
            count += burst.len();
            port.free(&mut burst);
        }
        count
    }
}

impl Peer {
    /// Connects to a switch that listens.
    pub fn of(switch: &Switch, version: Version) -> Peer {
        let versions = Versions::new(&[version.wire()]).unwrap();
        let config = Config { versions, ..Config::controller() };
        let channel = Channel::connect(switch.controls()[0].at(), config).unwrap();
        let connection = channel.wait_connected(PATIENCE).unwrap();
        Peer { connection, version, channel }
    }

    pub fn encode(&self, xid: u32, body: Body) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&Message { xid, body }, self.version, &mut bytes).unwrap();
        bytes
    }

    /// Sends a message that has no reply, and waits until it has taken effect.
    pub fn apply(&self, body: Body) -> Result<(), ChannelError> {
        self.connection.apply_raw(&mut [self.encode(0, body)], PATIENCE).map(|_| ())
    }

    pub fn flow(&self, request: FlowMod) {
        self.apply(Body::FlowMod(request)).unwrap();
    }

    /// Type and code of the error that refuses a message.
    pub fn refusal(&self, body: Body) -> (u16, u16) {
        refusal(self.apply(body))
    }

    pub fn ask(&self, body: Body) -> Result<Vec<Body>, ChannelError> {
        let request = self.encode(self.connection.reserve_xids(1), body);
        let replies = self.connection.transact_raw(&request, PATIENCE)?;
        Ok(replies.iter().map(|r| decode(&r.frame).unwrap().1.body).collect())
    }

    pub fn statistics(&self, body: RequestBody) -> Vec<ReplyBody> {
        let replies = self.ask(Body::MultipartRequest(MultipartRequest::new(body))).unwrap();
        let part = |body| match body {
            Body::MultipartReply(MultipartReply { body, .. }) => body,
            other => panic!("{other:?}"),
        };
        replies.into_iter().map(part).collect()
    }

    /// The next message that the switch sends unasked.
    pub fn next_event(&self) -> Body {
        assert!(self.connection.wait_log(PATIENCE), "no message in time");
        let log = self.connection.take_log();
        assert_eq!(log.len(), 1, "more than one message");
        decode(log.iter().next().unwrap().frame).unwrap().1.body
    }

    /// Everything that the switch has sent unasked, once it has answered all that came before.
    pub fn events(&self) -> Vec<Body> {
        self.connection.barrier(PATIENCE).unwrap();
        self.connection.take_log().iter().map(|r| decode(r.frame).unwrap().1.body).collect()
    }
}

/// A switch with ports 1 to 3 that waits for controllers.
pub fn listening(change: impl FnOnce(&mut SwitchConfig)) -> (Switch, Vec<RingPort>) {
    let (ports, testers) = ports(3);
    let mut config = SwitchConfig::new(0x1234, ports, "ptcp:0:127.0.0.1".parse().unwrap());
    config.versions = Versions::new(&[1, 4, 5, 6]).unwrap();
    change(&mut config);
    (Switch::start(config).unwrap(), testers)
}

/// An entry for what comes in on port 1: out of `port`.
pub fn to_port(port: u32) -> FlowMod {
    let m = Match::any().with(Field::InPort, 1);
    FlowMod::add(100, m, vec![Action::output(PortNo(port))])
}

pub fn refusal<T: std::fmt::Debug>(result: Result<T, ChannelError>) -> (u16, u16) {
    match result {
        Err(ChannelError::Rejected { error_type, code, data, .. }) => {
            assert!(data.len() >= 8, "the error quotes the message");
            (error_type, code)
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// A 64-byte frame (with FCS) of Ethernet, IPv4 and UDP.
pub fn udp_frame(dst: [u8; 4], port: u16) -> Vec<u8> {
    let mut bytes = vec![0u8; 60];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    bytes[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    bytes[26..30].copy_from_slice(&[10, 0, 0, 1]);
    bytes[30..34].copy_from_slice(&dst);
    bytes[34..36].copy_from_slice(&[0x10, 0]);
    bytes[36..38].copy_from_slice(&port.to_be_bytes());
    bytes[38..40].copy_from_slice(&[0, 26]);
    bytes
}
