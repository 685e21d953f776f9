//! What is found, one line each: as JSON or as text.

use std::fmt::Write as _;
use std::io::Write as _;

use flowgauge_openflow::{DecodeError, Header, decode, frame_len};
use flowgauge_openflow::{json, syntax};
use serde::Serialize;

use crate::channels::{Place, Problem};

/// How a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A JSON object.
    Json,
    /// Text for people, as ovs-ofctl writes where it has a syntax.
    Text,
}

/// Where something was found.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// In a capture.
    Capture(Place),
    /// In a line of text.
    Line(u64),
    /// It concerns the whole input.
    Input,
}

/// Lines that have not been fetched yet, and how many there were.
#[derive(Debug)]
pub struct Lines {
    form: Form,
    /// The lines.
    pub out: Vec<u8>,
    /// Messages so far.
    pub messages: u64,
    /// Lines so far that say what is wrong.
    pub errors: u64,
}

/// A mistake as JSON.
#[derive(Serialize)]
struct Mistake<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// What is worth knowing, and no mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    /// Place of a message or piece in the connection's bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_offset: Option<u64>,
    /// Place of the mistake in the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<u64>,
    /// The message, or the first bytes of what is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

impl Lines {
    /// None yet.
    pub fn new(form: Form) -> Lines {
        Lines { form, out: Vec::new(), messages: 0, errors: 0 }
    }

    /// Bytes that should be one message or several behind each other.
    pub fn messages(&mut self, origin: Origin, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let length = frame_len(bytes).ok().flatten().unwrap_or(bytes.len()).clamp(1, bytes.len());
            let (message, rest) = bytes.split_at(length);
            self.message(origin, message);
            bytes = rest;
        }
    }

    /// One message's bytes.
    pub fn message(&mut self, origin: Origin, bytes: &[u8]) {
        let (version, message) = match decode(bytes) {
            Ok(decoded) => decoded,
            Err(error) => return self.undecodable(origin, &error, bytes),
        };
        self.messages += 1;
        match self.form {
            Form::Json => {
                let prefix = self.prefix(origin);
                let from = self.out.len();
                let line = json::Line { version: Some(version), message };
                // Writing to memory doesn't fail.
                let _ = serde_json::to_writer(&mut self.out, &line);
                if prefix {
                    self.out[from] = b',';
                }
            }
            Form::Text => {
                self.prefix(origin);
                let _ = write!(self.out, "{}", syntax::Line { version, message: &message });
            }
        }
        self.out.push(b'\n');
    }

    fn undecodable(&mut self, origin: Origin, error: &DecodeError, bytes: &[u8]) {
        let text = error.to_string();
        let mistake = Mistake {
            offset: Some(error.offset),
            expected: Some(error.expected),
            found: Some(error.found),
            bytes: Some(hex(bytes)),
            ..Mistake::new(&text, origin)
        };
        let what = Header::parse(bytes).map_or(String::new(), |h| {
            format!(" (version {}, type {}, xid {:#x})", h.version, h.message_type, h.xid)
        });
        self.mistake(origin, &mistake, &what);
    }

    /// What is wrong with a capture's connection.
    pub fn problem(&mut self, place: Place, problem: &Problem) {
        let (text, origin) = (problem.to_string(), Origin::Capture(place));
        let mistake = match problem {
            Problem::Garbage { error, start, .. } => Mistake {
                offset: Some(error.offset),
                expected: Some(error.expected),
                found: Some(error.found),
                bytes: Some(hex(start)),
                ..Mistake::new(&text, origin)
            },
            Problem::MidStream => Mistake { error: None, note: Some(&text), ..Mistake::new(&text, origin) },
            Problem::Missing { .. } | Problem::Skipped { .. } | Problem::Ends { .. } => {
                Mistake::new(&text, origin)
            }
        };
        self.mistake(origin, &mistake, "");
    }

    /// What is wrong with a line or the whole input.
    pub fn error(&mut self, origin: Origin, text: &str) {
        self.mistake(origin, &Mistake::new(text, origin), "");
    }

    fn mistake(&mut self, origin: Origin, mistake: &Mistake<'_>, what: &str) {
        self.errors += u64::from(mistake.error.is_some());
        match self.form {
            Form::Json => {
                let prefix = self.prefix(origin);
                let from = self.out.len();
                let _ = serde_json::to_writer(&mut self.out, mistake);
                if prefix {
                    self.out[from] = b',';
                }
            }
            Form::Text => {
                self.prefix(origin);
                let line = mistake.line.map_or(String::new(), |line| format!("line {line}: "));
                let (kind, text) = mistake.error.map_or(("note", mistake.note), |text| ("error", Some(text)));
                let _ = write!(self.out, "{line}{kind}: {}{what}", text.unwrap_or_default());
            }
        }
        self.out.push(b'\n');
    }

    /// Time and direction; as JSON they lack the closing brace, and whether there are any.
    fn prefix(&mut self, origin: Origin) -> bool {
        let Origin::Capture(Place { time_ns, from, to, .. }) = origin else { return false };
        let (seconds, nanos) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        let _ = match self.form {
            Form::Json => {
                write!(self.out, r#"{{"time":{seconds}.{nanos:09},"from":"{from}","to":"{to}""#)
            }
            Form::Text => write!(self.out, "{seconds}.{nanos:09} {from} > {to} "),
        };
        true
    }
}

impl Mistake<'_> {
    fn new(error: &str, origin: Origin) -> Mistake<'_> {
        let line = if let Origin::Line(line) = origin { Some(line) } else { None };
        let stream_offset = if let Origin::Capture(place) = origin { Some(place.at) } else { None };
        Mistake {
            line,
            error: Some(error),
            note: None,
            stream_offset,
            offset: None,
            expected: None,
            found: None,
            bytes: None,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
