//! Messages as text become bytes in hexadecimal.

use std::fmt::Write as _;

use flowgauge_openflow::json::Line;
use flowgauge_openflow::syntax::{SyntaxError, parse_flow, parse_group, parse_meter};
use flowgauge_openflow::{Body, FlowModCommand, Message, TABLE_ALL, Version, encode};

/// Encodes one line after another.
#[derive(Debug)]
pub struct Encoder {
    version: Version,
    /// Transaction id of the next flow.
    xid: u32,
    buffer: Vec<u8>,
}

impl Encoder {
    /// For lines that don't name a version themselves.
    pub fn new(version: Version) -> Encoder {
        Encoder { version, xid: 1, buffer: Vec::new() }
    }

    /// A message's bytes in hexadecimal: of a JSON object, or of a flow, group or meter as ovs-ofctl writes it. Nothing for an
    /// empty line and a comment. Errors: what is wrong.
    pub fn line(&mut self, text: &str) -> Result<Option<String>, String> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let (version, message) = if text.starts_with('{') {
            let line: Line = serde_json::from_str(text).map_err(|e| described(&e))?;
            (line.version.unwrap_or(self.version), line.message)
        } else {
            let body = body(text).map_err(|e| e.to_string())?;
            let xid = self.xid;
            self.xid = xid.wrapping_add(1);
            (self.version, Message::new(xid, body))
        };
        self.buffer.clear();
        encode(&message, version, &mut self.buffer).map_err(|e| e.to_string())?;
        let mut hex = String::with_capacity(self.buffer.len() * 2);
        for byte in &self.buffer {
            let _ = write!(hex, "{byte:02x}");
        }
        Ok(Some(hex))
    }
}

/// serde_json's place, without the line, which is always the first.
fn described(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line 1 column ") {
        Some((what, column)) => format!("column {column}: {what}"),
        None => text,
    }
}

const FLOW_COMMANDS: [(&str, FlowModCommand); 5] = [
    ("add", FlowModCommand::Add),
    ("modify", FlowModCommand::Modify),
    ("modify_strict", FlowModCommand::ModifyStrict),
    ("delete", FlowModCommand::Delete),
    ("delete_strict", FlowModCommand::DeleteStrict),
];

/// A flow, group or meter, with or without a command before it, as in the files of `ovs-ofctl add-flows` and
/// `add-groups`.
fn body(text: &str) -> Result<Body, SyntaxError> {
    let has =
        |names: &[&str]| text.split([',', ' ']).any(|item| names.iter().any(|name| item.starts_with(name)));
    if has(&["group_id=", "bucket=", "buckets="]) {
        return parse_group(text).map(Body::GroupMod);
    }
    if has(&["meter=", "bands=", "band="]) {
        return parse_meter(text).map(Body::MeterMod);
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let Some((_, command)) = FLOW_COMMANDS.iter().find(|(known, _)| *known == word) else {
        return parse_flow(text).map(Body::FlowMod);
    };
    let mut flow = parse_flow(rest)
        .map_err(|error| SyntaxError { column: error.column + text.len() - rest.len(), ..error })?;
    flow.command = *command;
    if *command == FlowModCommand::Delete && !has(&["table="]) {
        flow.table_id = TABLE_ALL;
    }
    Ok(Body::FlowMod(flow))
}
