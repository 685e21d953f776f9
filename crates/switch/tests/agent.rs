//! The agent without sockets: the caller's time, messages and frames in memory.

use flowgauge_clock::Nanos;
use flowgauge_datapath::{Frame, Limits};
use flowgauge_openflow::{Body, ErrorCode, Message, PacketOut, PortNo, Version, decode, encode, syntax};
use flowgauge_switch::{Agent, AgentConfig, AgentPort};

fn agent(version: Version) -> Agent {
    let port = |number| AgentPort { number, name: format!("p{number}"), link_mbps: None, queues: vec![] };
    let config = AgentConfig {
        datapath_id: 7,
        ports: (1..=2).map(port).collect(),
        limits: Limits { tables: 2, entries: 3 },
        buffers: 4,
        description: "test".into(),
    };
    let mut agent = Agent::new(config);
    agent.connect(version);
    agent
}

fn encoded(xid: u32, body: Body, version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&Message::new(xid, body), version, &mut bytes).unwrap();
    bytes
}

fn add(text: &str) -> Body {
    Body::FlowMod(syntax::parse_flow(text).unwrap())
}

/// Asks, and gives what it said since the last time.
fn told(agent: &mut Agent, xid: u32, body: Body, at: Nanos) -> Vec<Message> {
    agent.request(&encoded(xid, body, Version::V1_3), at);
    messages(agent)
}

fn messages(agent: &mut Agent) -> Vec<Message> {
    let mut bytes = Vec::new();
    agent.take_messages(&mut bytes);
    let (mut rest, mut found) = (bytes.as_slice(), Vec::new());
    while !rest.is_empty() {
        let length = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        found.push(decode(&rest[..length]).unwrap().1);
        rest = &rest[length..];
    }
    found
}

#[test]
fn it_answers_at_the_callers_time() {
    let mut agent = agent(Version::V1_3);
    assert_eq!(
        told(&mut agent, 9, Body::EchoRequest(vec![1, 2]), Nanos(5)),
        [Message::new(9, Body::EchoReply(vec![1, 2]))]
    );
    assert_eq!(
        told(
            &mut agent,
            1,
            add("hard_timeout=2,send_flow_rem,in_port=1,actions=output:2"),
            Nanos::from_secs(10)
        ),
        []
    );
    assert_eq!(agent.next_deadline(), Some(Nanos::from_secs(12)));
    agent.expire(Nanos::from_secs(12));
    let gone = messages(&mut agent);
    assert!(matches!(&gone[..], [Message { body: Body::FlowRemoved(_), .. }]), "{gone:?}");
}

#[test]
fn frames_of_packet_outs_and_of_entries_are_taken_out_of_it() {
    let mut agent = agent(Version::V1_3);
    let out = PacketOut::to_port(PortNo(2), vec![7; 60]);
    assert_eq!(told(&mut agent, 1, Body::PacketOut(out), Nanos(1)), []);
    let frames = agent.take_frames();
    assert_eq!((frames.len(), frames[0].port, &frames[0].bytes[..]), (1, 2, &[7; 60][..]));
    told(&mut agent, 2, add("in_port=1,actions=output:2,CONTROLLER:65535"), Nanos(2));
    agent.forward(Frame { bytes: &[9; 60], in_port: 1 }, Nanos(3));
    assert_eq!(agent.take_frames().len(), 1);
    assert!(matches!(&messages(&mut agent)[..], [Message { body: Body::PacketIn(_), .. }]));
}

#[test]
fn a_full_table_and_the_caller_refuse() {
    let mut agent = agent(Version::V1_3);
    for n in 1..=3 {
        assert_eq!(told(&mut agent, n, add(&format!("udp,tp_dst={n},actions=drop")), Nanos(1)), []);
    }
    let refused = told(&mut agent, 4, add("udp,tp_dst=4,actions=drop"), Nanos(1));
    assert!(matches!(&refused[..], [Message { xid: 4, body: Body::Error(_) }]), "{refused:?}");
    let message = encoded(5, add("udp,tp_dst=5,actions=drop"), Version::V1_3);
    agent.refuse(&message, ErrorCode::FlowModTableFull);
    assert_eq!(messages(&mut agent).len(), 1);
    agent.disconnect();
    assert_eq!(told(&mut agent, 6, Body::BarrierRequest, Nanos(2)), []);
}
