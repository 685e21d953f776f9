//! Whole messages in one line, as `ovs-ofctl ofp-print` prints them in one or more.

use std::fmt;

use super::group::BucketId;
use super::multipart;
use super::print::{Hex, MatchAndPriority, flag_names};
use super::print_old::{ActionsOf, InstructionsOf};
use super::reasons::Reason;
use super::statistics::Duration;
use crate::{
    Body, FlowMod, FlowModCommand, FlowRemoved, GROUP_ANY, GroupMod, GroupModCommand, Kind, Message,
    MeterConfig, MeterMod, MeterModCommand, MultipartKind, NiciraMessage, PacketIn, PacketOut, PortNo,
    ReplyBody, RequestBody, Version,
};

/// A message in one line: `OFPT_FLOW_MOD (OF1.3) (xid=0x2): ADD priority=1,ip actions=output:2`.
///
/// Flow, group and meter messages and statistics say what `ovs-ofctl ofp-print` says in more lines; entries stand
/// behind `; `. Other messages are told by their fields.
///
/// ```
/// use flowgauge_openflow::{Body, Message, Version, syntax::{Line, parse_flow}};
/// let message = Message::new(2, Body::FlowMod(parse_flow("priority=1,ip actions=output:2").unwrap()));
/// let line = Line { version: Version::V1_3, message: &message }.to_string();
/// assert_eq!(line, "OFPT_FLOW_MOD (OF1.3) (xid=0x2): ADD priority=1,ip actions=output:2");
/// ```
pub struct Line<'a> {
    /// The version that it is in.
    pub version: Version,
    /// The message.
    pub message: &'a Message,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { version, message: Message { xid, body } } = self;
        write!(f, "{}", Name(body))?;
        // As ovs-ofctl: the version is told unless it is 1.0.
        if *version != Version::V1_0 {
            write!(f, " (OF{version})")?;
        }
        write!(f, " (xid={xid:#x}):")?;
        match body {
            Body::FlowMod(flow) | Body::Nicira(NiciraMessage::FlowMod(flow)) => flow_mod(flow, *version, f),
            Body::GroupMod(group) => group_mod(group, f),
            Body::MeterMod(meter) => meter_mod(meter, f),
            Body::FlowRemoved(removed) | Body::Nicira(NiciraMessage::FlowRemoved(removed)) => {
                flow_removed(removed, f)
            }
            Body::PacketIn(packet) | Body::Nicira(NiciraMessage::PacketIn(packet)) => packet_in(packet, f),
            Body::Nicira(NiciraMessage::PacketIn2(message)) => {
                packet_in(&message.packet, f)?;
                write!(f, " userdata={} continuation={}", Hex(&message.userdata), Hex(&message.continuation))
            }
            Body::PacketOut(packet) => packet_out(packet, *version, f),
            Body::Error(error) => write!(f, " {} data={}", error.code, Hex(&error.data)),
            Body::EchoRequest(data) | Body::EchoReply(data) => {
                write!(f, " {} bytes of payload", data.len())
            }
            Body::MultipartRequest(request) => multipart::request(&request.body, f),
            Body::MultipartReply(reply) => multipart::reply(&reply.body, *version, f),
            Body::FeaturesRequest
            | Body::GetConfigRequest
            | Body::BarrierRequest
            | Body::BarrierReply
            | Body::GetAsyncRequest => Ok(()),
            Body::Hello(hello) => write!(f, " {hello:?}"),
            Body::Experimenter(experimenter) => write!(
                f,
                " experimenter={:#x} type={:?} data={}",
                experimenter.experimenter,
                experimenter.experimenter_type,
                Hex(&experimenter.data)
            ),
            Body::Nicira(message) => write!(f, " {message:?}"),
            Body::FeaturesReply(features) => write!(f, " {features:?}"),
            Body::GetConfigReply(config) | Body::SetConfig(config) => write!(f, " {config:?}"),
            Body::PortStatus(status) => write!(f, " {status:?}"),
            Body::PortMod(port) => write!(f, " {port:?}"),
            Body::TableMod(table) => write!(f, " {table:?}"),
            Body::QueueGetConfigRequest(port) => write!(f, " port={port}"),
            Body::QueueGetConfigReply(config) => write!(f, " {config:?}"),
            Body::RoleRequest(role) | Body::RoleReply(role) => write!(f, " {role:?}"),
            Body::GetAsyncReply(config) | Body::SetAsync(config) => write!(f, " {config:?}"),
            Body::RoleStatus(status) => write!(f, " {status:?}"),
            Body::TableStatus(status) => write!(f, " {status:?}"),
            Body::RequestForward(inner) => {
                write!(f, " {}", Line { version: *version, message: inner })
            }
            Body::BundleControl(control) => write!(f, " {control:?}"),
            Body::BundleAddMessage(add) => write!(f, " {add:?}"),
            Body::ControllerStatus(status) => write!(f, " {status:?}"),
            Body::Unknown { message_type, data } => write!(f, " type={message_type} data={}", Hex(data)),
        }
    }
}

/// The message's name in the protocol.
struct Name<'a>(&'a Body);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Body::MultipartRequest(request) => match request.body {
                RequestBody::NiciraFlow(_) => f.write_str("NXST_FLOW request"),
                RequestBody::NiciraAggregate(_) => f.write_str("NXST_AGGREGATE request"),
                _ => write!(f, "OFPST_{} request", statistics(request.body.kind())),
            },
            Body::MultipartReply(reply) => {
                match reply.body {
                    ReplyBody::NiciraFlow(_) => f.write_str("NXST_FLOW reply")?,
                    ReplyBody::NiciraAggregate(_) => f.write_str("NXST_AGGREGATE reply")?,
                    _ => write!(f, "OFPST_{} reply", statistics(reply.body.kind()))?,
                }
                f.write_str(if reply.more { " (more)" } else { "" })
            }
            Body::Nicira(message) => f.write_str(match message {
                NiciraMessage::SetFlowFormat(_) => "NXT_SET_FLOW_FORMAT",
                NiciraMessage::FlowMod(_) => "NXT_FLOW_MOD",
                NiciraMessage::FlowRemoved(_) => "NXT_FLOW_REMOVED",
                NiciraMessage::FlowModTableId(_) => "NXT_FLOW_MOD_TABLE_ID",
                NiciraMessage::SetPacketInFormat(_) => "NXT_SET_PACKET_IN_FORMAT",
                NiciraMessage::PacketIn(_) => "NXT_PACKET_IN",
                NiciraMessage::PacketIn2(_) => "NXT_PACKET_IN2",
                NiciraMessage::FlowAge => "NXT_FLOW_AGE",
                NiciraMessage::SetControllerId(_) => "NXT_SET_CONTROLLER_ID",
            }),
            body => write!(f, "OFPT_{}", capitals(&word(body.kind()))),
        }
    }
}

fn word(kind: Kind) -> String {
    match kind {
        Kind::Unknown(_) => "Unknown".into(),
        kind => format!("{kind:?}"),
    }
}

fn statistics(kind: MultipartKind) -> String {
    match kind {
        MultipartKind::PortStats => "PORT".into(),
        MultipartKind::Unknown(code) => format!("UNKNOWN_{code}"),
        kind => capitals(&format!("{kind:?}")),
    }
}

/// `FlowMod` as `FLOW_MOD`.
fn capitals(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
    }
    text
}

fn flow_mod(flow: &FlowMod, version: Version, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match flow.command {
        FlowModCommand::Add => f.write_str(" ADD")?,
        FlowModCommand::Modify => f.write_str(" MOD")?,
        FlowModCommand::ModifyStrict => f.write_str(" MOD_STRICT")?,
        FlowModCommand::Delete => f.write_str(" DEL")?,
        FlowModCommand::DeleteStrict => f.write_str(" DEL_STRICT")?,
        FlowModCommand::Unknown(code) => write!(f, " cmd:{code}")?,
    }
    if flow.table_id != 0 {
        write!(f, " table:{}", flow.table_id)?;
    }
    let match_ = MatchAndPriority { match_: &flow.match_, priority: flow.priority }.to_string();
    let space = if match_.is_empty() { "" } else { " " };
    write!(f, "{space}{match_} ")?;
    if flow.cookie_mask != 0 {
        write!(f, "cookie:{:#x}/{:#x} ", flow.cookie, flow.cookie_mask)?;
    } else if flow.cookie != 0 {
        write!(f, "cookie:{:#x} ", flow.cookie)?;
    }
    for (name, number) in
        [("idle", flow.idle_timeout), ("hard", flow.hard_timeout), ("importance", flow.importance)]
    {
        if number != 0 {
            write!(f, "{name}:{number} ")?;
        }
    }
    if let Some(buffer) = flow.buffer_id {
        write!(f, "buf:{buffer:#x} ")?;
    }
    if flow.out_port != PortNo::ANY {
        write!(f, "out_port:{} ", flow.out_port)?;
    }
    if flow.out_group != GROUP_ANY {
        write!(f, "out_group:{} ", flow.out_group)?;
    }
    flag_names(flow.flags).try_for_each(|name| write!(f, "{name} "))?;
    write!(f, "actions={}", InstructionsOf(version, &flow.instructions))
}

fn group_mod(group: &GroupMod, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let word = match group.command {
        GroupModCommand::Add => "ADD",
        GroupModCommand::Modify => "MOD",
        GroupModCommand::Delete => "DEL",
        GroupModCommand::InsertBucket => "INSERT_BUCKET",
        GroupModCommand::RemoveBucket => "REMOVE_BUCKET",
        GroupModCommand::Unknown(_) => "UNKNOWN",
    };
    write!(f, " {word} ")?;
    let changes_buckets =
        matches!(group.command, GroupModCommand::InsertBucket | GroupModCommand::RemoveBucket);
    if changes_buckets {
        write!(f, "command_bucket_id:{},", BucketId(group.command_bucket_id))?;
    }
    write!(f, "{}", super::group::Content { group, has_type: !changes_buckets })
}

fn meter_mod(meter: &MeterMod, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let word = match meter.command {
        MeterModCommand::Add => "ADD",
        MeterModCommand::Modify => "MOD",
        MeterModCommand::Delete => "DEL",
        MeterModCommand::Unknown(_) => "UNKNOWN",
    };
    let MeterMod { flags, meter_id, .. } = *meter;
    write!(f, " {word} {}", MeterConfig { flags, meter_id, bands: meter.bands.clone() })
}

fn flow_removed(removed: &FlowRemoved, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let match_ = MatchAndPriority { match_: &removed.match_, priority: removed.priority }.to_string();
    let duration = Duration { sec: removed.duration_sec, nsec: removed.duration_nsec };
    let reason = capitals(&format!("{:?}", removed.reason)).to_lowercase();
    let space = if match_.is_empty() { "" } else { " " };
    write!(f, "{space}{match_} reason={reason} table_id={}", removed.table_id)?;
    write!(f, " cookie:{:#x} duration{duration}", removed.cookie)?;
    write!(f, " idle{} hard{}", removed.idle_timeout, removed.hard_timeout)?;
    write!(f, " pkts{} bytes{}", removed.packet_count, removed.byte_count)
}

fn packet_in(packet: &PacketIn, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if packet.table_id != 0 {
        write!(f, " table_id={}", packet.table_id)?;
    }
    if packet.cookie != u64::MAX {
        write!(f, " cookie={:#x}", packet.cookie)?;
    }
    write!(f, " total_len={} {}", packet.total_len, packet.match_)?;
    write!(f, " (via {}) data_len={}", Reason(packet.reason.code()), packet.data.len())?;
    match packet.buffer_id {
        Some(buffer) => write!(f, " buffer={buffer:#x}")?,
        None => f.write_str(" (unbuffered)")?,
    }
    write!(f, " data={}", Hex(&packet.data))
}

fn packet_out(packet: &PacketOut, version: Version, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, " in_port={} actions={}", packet.in_port, ActionsOf(version, &packet.actions))?;
    if !packet.match_.is_any() {
        write!(f, " match={}", packet.match_)?;
    }
    match packet.buffer_id {
        Some(buffer) => write!(f, " buffer={buffer:#x}"),
        None => write!(f, " data_len={} data={}", packet.data.len(), Hex(&packet.data)),
    }
}
