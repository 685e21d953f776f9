//! A message in a line of text.

use std::fmt;

use flowgauge_openflow::{Body, HelloElement, Message, Version};

/// Version, transaction id, type, and what it says: as ovs-ofctl writes flows, the essentials of the common messages,
/// and all of the others as JSON.
pub struct Summary<'a> {
    /// The version.
    pub version: Version,
    /// The message.
    pub message: &'a Message,
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OF{} xid={:#x} ", self.version, self.message.xid)?;
        body(&self.message.body, f)
    }
}

fn body(body: &Body, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match body {
        Body::Hello(hello) => {
            f.write_str("hello")?;
            hello.elements.iter().try_for_each(|element| hello_element(element, f))
        }
        Body::Error(error) => {
            write!(f, "error {}, about {} bytes", error.code, error.data.len())
        }
        Body::EchoRequest(data) => write!(f, "echo_request of {} bytes", data.len()),
        Body::EchoReply(data) => write!(f, "echo_reply of {} bytes", data.len()),
        Body::FeaturesReply(features) => write!(
            f,
            "features_reply datapath_id={:016x} n_tables={} n_buffers={} capabilities={:?} ports={}",
            features.datapath_id,
            features.n_tables,
            features.n_buffers,
            features.capabilities,
            features.ports.len()
        ),
        Body::PacketIn(packet) => {
            write!(
                f,
                "packet_in reason={} table={} cookie={:#x} {}",
                name(&packet.reason),
                packet.table_id,
                packet.cookie,
                packet.match_
            )?;
            buffer(packet.buffer_id, f)?;
            write!(f, " data={} of {} bytes", packet.data.len(), packet.total_len)
        }
        Body::PacketOut(packet) => {
            let actions = flowgauge_openflow::syntax::Actions(&packet.actions);
            write!(f, "packet_out in_port={} actions={actions}", packet.in_port)?;
            buffer(packet.buffer_id, f)?;
            write!(f, " data={} bytes", packet.data.len())
        }
        Body::FlowMod(flow) => write!(f, "flow_mod {} {flow}", name(&flow.command)),
        Body::FlowRemoved(flow) => write!(
            f,
            "flow_removed reason={} table={} cookie={:#x} priority={} packets={} bytes={} {}",
            name(&flow.reason),
            flow.table_id,
            flow.cookie,
            flow.priority,
            flow.packet_count,
            flow.byte_count,
            flow.match_
        ),
        Body::PortStatus(status) => {
            let port = &status.port;
            let what = name(&status.reason);
            write!(f, "port_status {what} port={} name={} state={:?}", port.port_no, port.name, port.state)
        }
        other => all(other, f),
    }
}

fn hello_element(element: &HelloElement, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match element {
        HelloElement::VersionBitmap(words) => {
            let numbers = (0..words.len() as u32 * 32).filter(|n| words[*n as usize / 32] >> (n % 32) & 1 == 1);
            let names: Vec<String> = numbers
                .map(|n| {
                    let known = u8::try_from(n).ok().and_then(Version::from_wire);
                    known.map_or(format!("version {n:#04x}"), |version| version.to_string())
                })
                .collect();
            write!(f, " versions={}", names.join(","))
        }
        HelloElement::Unknown { element_type, data } => write!(f, " element {element_type} of {} bytes", data.len()),
    }
}

fn buffer(id: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    id.map_or(Ok(()), |id| write!(f, " buffer={id:#x}"))
}

/// A code's name as in JSON.
fn name(code: &impl serde::Serialize) -> String {
    serde_json::to_string(code).unwrap_or_default().trim_matches('"').to_string()
}

/// All of it: `group_mod {...}`.
fn all(body: &Body, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let json = serde_json::to_string(body).map_err(|_| fmt::Error)?;
    match json.strip_prefix("{\"").and_then(|rest| rest.strip_suffix('}')).and_then(|rest| rest.split_once("\":")) {
        Some((name, content)) => write!(f, "{name} {content}"),
        None => f.write_str(json.trim_matches('"')),
    }
}
