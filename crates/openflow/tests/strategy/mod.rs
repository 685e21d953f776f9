//! Every message that a version can express.

mod flow;
mod group;
mod multipart;
pub mod nicira;
mod session;
mod since_1_4;

use flowgauge_openflow::*;
use flowgauge_packet::MacAddr;
use proptest::collection::vec;
use proptest::prelude::*;

pub fn message(v: Version) -> BoxedStrategy<Message> {
    (any::<u32>(), body(v)).prop_map(|(xid, body)| Message { xid, body }).boxed()
}

fn body(v: Version) -> BoxedStrategy<Body> {
    let common = prop_oneof![
        2 => session::session(v),
        4 => flow::flow_mod(v).prop_map(Body::FlowMod),
        2 => flow::flow_removed(v).prop_map(Body::FlowRemoved),
        2 => packet_in(v).prop_map(Body::PacketIn),
        2 => packet_out(v).prop_map(Body::PacketOut),
        1 => port_status(v).prop_map(Body::PortStatus),
        1 => port_mod(v).prop_map(Body::PortMod),
        4 => multipart::request(v).prop_map(Body::MultipartRequest),
        6 => multipart::reply(v).prop_map(Body::MultipartReply),
        2 => nicira::message(v),
    ];
    let queues = prop_oneof![
        multipart::queue_config(v).prop_map(Body::QueueGetConfigReply),
        port_no(v).prop_map(Body::QueueGetConfigRequest),
    ];
    match v {
        Version::V1_0 => prop_oneof![9 => common, 1 => queues].boxed(),
        Version::V1_3 => prop_oneof![9 => common, 2 => group::since_1_3(v), 1 => queues].boxed(),
        Version::V1_4 | Version::V1_5 => {
            prop_oneof![9 => common, 2 => group::since_1_3(v), 3 => since_1_4::since_1_4(v)].boxed()
        }
    }
}

pub fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> + Clone {
    vec(any::<u8>(), 0..max)
}

/// Bytes of a length that is `rest` more than a multiple of eight.
pub fn padded(rest: usize) -> impl Strategy<Value = Vec<u8>> + Clone {
    (0..4usize).prop_flat_map(move |n| vec(any::<u8>(), 8 * n + rest))
}

pub fn text(max: usize) -> impl Strategy<Value = String> + Clone {
    vec(prop::sample::select(vec!['a', 'Z', '9', '-', ' ', 'ß', '→']), 0..=max / 3)
        .prop_map(String::from_iter)
}

pub fn mac() -> impl Strategy<Value = MacAddr> {
    any::<[u8; 6]>().prop_map(MacAddr)
}

/// A port that the version has a number for.
pub fn port_no(v: Version) -> BoxedStrategy<PortNo> {
    match v {
        Version::V1_0 => any::<u16>().prop_map(PortNo::from_u16).boxed(),
        _ => prop_oneof![any::<u32>().prop_map(PortNo), Just(PortNo::CONTROLLER)].boxed(),
    }
}

/// Any of the bits that the version knows or nobody does.
pub fn bits(unknown_to: impl Fn(u32) -> u32 + Clone, width: u32) -> impl Strategy<Value = u32> {
    (0..1u32 << width).prop_map(move |bits| bits & !unknown_to(bits))
}

/// A code that the version knows, or one that nobody does.
pub fn code_of<T: std::fmt::Debug + Copy + 'static>(
    known: &'static [T],
    versions: fn(T) -> Versions,
    unknown: T,
    v: Version,
) -> impl Strategy<Value = T> {
    let mut choices: Vec<T> = known.iter().copied().filter(|c| versions(*c).include(v)).collect();
    choices.push(unknown);
    prop::sample::select(choices)
}

macro_rules! code {
    ($type:ident, $v:expr) => {
        $crate::strategy::code_of($type::KNOWN, $type::versions, $type::Unknown(200), $v)
    };
}
pub(crate) use code;

macro_rules! flags {
    ($type:ident, $v:expr) => {{
        let version = $v;
        $crate::strategy::bits(move |bits| $type(bits).unknown_to(version).0, 16).prop_map($type)
    }};
}
pub(crate) use flags;

fn buffer_id() -> impl Strategy<Value = Option<u32>> {
    any::<Option<u32>>().prop_map(|id| id.filter(|&id| id != u32::MAX))
}

fn packet_in(v: Version) -> impl Strategy<Value = PacketIn> {
    let fields = (buffer_id(), any::<u16>(), code!(PacketInReason, v), any::<u8>(), any::<u64>());
    (fields, flow::match_(v), port_no(v), bytes(80)).prop_map(move |(fields, match_, in_port, data)| {
        let (buffer_id, total_len, reason, table_id, cookie) = fields;
        let whole = PacketIn { buffer_id, total_len, reason, table_id, cookie, match_, data };
        let only_port = Match::any().with(flowgauge_packet::Field::InPort, in_port.0.into());
        match v {
            Version::V1_0 => PacketIn { table_id: 0, cookie: u64::MAX, match_: only_port, ..whole },
            _ => whole,
        }
    })
}

fn packet_out(v: Version) -> impl Strategy<Value = PacketOut> {
    let actions = vec(flow::action(v), 0..5);
    let fields = (buffer_id(), port_no(v), flow::match_(v));
    (fields, actions, bytes(80)).prop_map(move |((buffer_id, port, mut match_), actions, data)| {
        match_.entries.retain(|e| e.field != flowgauge_packet::Field::InPort);
        let match_ = if v == Version::V1_5 { match_ } else { Match::any() };
        // 1.0 says NONE where the others, and the model, say CONTROLLER.
        let from_nowhere = v == Version::V1_0 && port == PortNo::ANY;
        let in_port = if from_nowhere { PortNo::CONTROLLER } else { port };
        PacketOut { buffer_id, in_port, match_, actions, data }
    })
}

fn port_status(v: Version) -> impl Strategy<Value = PortStatus> {
    (code!(PortStatusReason, v), multipart::port(v)).prop_map(|(reason, port)| PortStatus { reason, port })
}

fn port_mod(v: Version) -> impl Strategy<Value = PortMod> {
    let optical = since_1_4::since(v, Version::V1_4, since_1_4::optical_settings(v));
    let properties = since_1_4::properties(v, Version::V1_4);
    let config = (flags!(PortConfig, v), flags!(PortConfig, v));
    (port_no(v), mac(), config, multipart::link(v), optical, properties).prop_map(
        |(port_no, hw_addr, (config, mask), advertise, optical, properties)| PortMod {
            port_no,
            hw_addr,
            config,
            mask,
            advertise,
            optical,
            properties,
        },
    )
}
