//! Messages as text become bytes in hexadecimal.

use std::fmt::Write as _;

use flowgauge_openflow::json::Line;
use flowgauge_openflow::{Body, FlowMod, FlowModCommand, Message, TABLE_ALL, Version, encode, syntax};

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

    /// A message's bytes in hexadecimal: of a JSON object, or of a flow as ovs-ofctl writes it. Nothing for an empty line
    /// and a comment. Errors: what is wrong.
    pub fn line(&mut self, text: &str) -> Result<Option<String>, String> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let (version, message) = if text.starts_with('{') {
            let line: Line = serde_json::from_str(text).map_err(|e| described(&e))?;
            (line.version.unwrap_or(self.version), line.message)
        } else {
            let body = flow(text)?;
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

/// A flow, with or without a command before it, as in the files of `ovs-ofctl add-flows`.
fn flow(text: &str) -> Result<Body, String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let command = match word {
        "add" => FlowModCommand::Add,
        "modify" => FlowModCommand::Modify,
        "modify_strict" => FlowModCommand::ModifyStrict,
        "delete" => FlowModCommand::Delete,
        "delete_strict" => FlowModCommand::DeleteStrict,
        _ => return parse(text).map(Body::FlowMod),
    };
    let mut flow = parse(rest)?;
    flow.command = command;
    let names_table = rest.split([',', ' ']).any(|item| item.trim_start().starts_with("table="));
    if command == FlowModCommand::Delete && !names_table {
        flow.table_id = TABLE_ALL;
    }
    Ok(Body::FlowMod(flow))
}

fn parse(text: &str) -> Result<FlowMod, String> {
    syntax::parse_flow(text).map_err(|e| e.to_string())
}
