//! Plays against a real Open vSwitch, privately started. Needs root; skips itself with a printed reason.

#[path = "../../channel/tests/common/ovs.rs"]
#[allow(dead_code)]
mod ovs;

use std::time::Duration;

use flowgauge_channel::{Channel, Config, Connection, Versions};
use flowgauge_clock::Nanos;
use flowgauge_measure::Schedule;
use flowgauge_openflow::{
    Action, Body, FlowEncoder, FlowMod, FlowStatsRequest, Match, Message, MultipartReply, MultipartRequest,
    PortNo, ReplyBody, RequestBody, encode,
};
use flowgauge_packet::{Field, FlowSet, Pattern};
use flowgauge_traffic::play::{Awaits, Echoes, Encoded, Messages, Play, PlayOptions};

const PATIENCE: Duration = Duration::from_secs(30);

fn flow_mods(connection: &Connection, n: u32) -> Box<Encoded> {
    let version = connection.protocol().unwrap();
    let part = |start, n| {
        let dst = Pattern::Increment { start, step: 1, mask: 0xffff };
        let fields = vec![(Field::EthType, Pattern::Fixed(0x0800)), (Field::Ipv4Dst, dst)];
        let entry = FlowMod::add(100, Match::any(), vec![Action::Output { port: PortNo(1), max_len: 0 }]);
        FlowEncoder::new(entry, FlowSet::new(n, fields).unwrap(), &[Field::Ipv4Dst], version).unwrap()
    };
    Box::new(Encoded::flow_mods(vec![part(0x0a00_0000, 1), part(0x0a01_0000, n - 1)]))
}

fn entries(connection: &Connection) -> u32 {
    let request = MultipartRequest::new(RequestBody::Aggregate(FlowStatsRequest::default()));
    let replies = connection.transact(Body::MultipartRequest(request), PATIENCE).unwrap();
    match &replies[0].body {
        Body::MultipartReply(MultipartReply { body: ReplyBody::Aggregate(stats), .. }) => stats.flow_count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn entries_echoes_and_polls_in_both_versions() {
    if let Some(reason) = ovs::missing() {
        println!("skipped: {reason}");
        return;
    }
    let ovs = ovs::Ovs::start("play");
    ovs.vsctl(&["set", "bridge", "br0", "protocols=OpenFlow10,OpenFlow13"]);
    ovs.vsctl(&["set-controller", "br0", "ptcp:6653:127.0.0.1"]);
    for version in [1, 4] {
        let versions = Versions::new(&[version]).unwrap();
        let config = Config { versions, netns: Some((&ovs.netns).into()), ..Config::controller() };
        let channel = Channel::connect("127.0.0.1:6653".parse().unwrap(), config).unwrap();
        let connection = channel.wait_connected(PATIENCE).unwrap();
        connection.apply(vec![Body::FlowMod(FlowMod::delete_all())], PATIENCE).unwrap();

        let source = flow_mods(&connection, 5000);
        let result = Play::start(&connection, source, PlayOptions::default()).wait(Some(PATIENCE)).unwrap();
        assert_eq!((result.sent, result.acknowledged, result.errors.len()), (5000, 5000, 0));
        assert!(result.barrier > result.first_byte);
        assert_eq!(entries(&connection), 5000);

        let paced = PlayOptions {
            schedule: Schedule::cbr_pps(200.0).unwrap(),
            duration: Some(Nanos::from_millis(100)),
            barrier: false,
            ..PlayOptions::default()
        };
        let echoes = Play::start(&connection, Box::new(Echoes::new(version)), paced.clone());
        let request = MultipartRequest::new(RequestBody::Flow(FlowStatsRequest::default()));
        let mut poll = Vec::new();
        let message = Message::new(0, Body::MultipartRequest(request));
        encode(&message, connection.protocol().unwrap(), &mut poll).unwrap();
        let polls = Play::start(&connection, Box::new(Messages::repeated(vec![poll], Awaits::Reply)), paced);
        for play in [echoes, polls] {
            let result = play.wait(Some(PATIENCE)).unwrap();
            assert_eq!(result.sent, 20);
            assert!(result.sent_ns.iter().zip(&result.reply_ns).all(|(sent, reply)| reply > sent));
            assert!(result.payload_intact.iter().all(|intact| *intact));
        }
    }
}
