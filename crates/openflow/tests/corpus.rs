//! The golden corpus: bytes made by other codecs and by hand beside their meaning, and bad bytes beside their errors.

use std::fmt::Write as _;
use std::path::PathBuf;

use flowgauge_openflow::{Message, decode, encode};

/// All good messages have this transaction id.
const XID: u32 = 0x0102_0304;

/// A paragraph of the corpus.
struct Entry {
    name: String,
    /// Bytes, each under the word before the bar.
    bytes: Vec<(String, Vec<u8>)>,
    /// What follows the bytes: a word and a text.
    verdict: (String, String),
}

fn read(file: &str) -> Vec<Entry> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.split("\n\n").filter(|p| !p.trim_start().starts_with('#')).map(entry).collect()
}

fn entry(paragraph: &str) -> Entry {
    let mut lines = paragraph.trim().lines();
    let name = lines.next().expect("a name").to_string();
    let mut bytes: Vec<(String, Vec<u8>)> = Vec::new();
    let mut verdict = (String::new(), String::new());
    for line in lines {
        match line.split_once('|') {
            Some((label, hex)) if !line.starts_with("means") && !line.starts_with("error") => {
                let row = hex.split_whitespace().map(|b| u8::from_str_radix(b, 16).expect("hex"));
                match label.trim() {
                    "" => bytes.last_mut().expect("a first row").1.extend(row),
                    label => bytes.push((label.to_string(), row.collect())),
                }
            }
            _ => {
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                verdict = (word.to_string(), rest.to_string());
            }
        }
    }
    Entry { name, bytes, verdict }
}

#[test]
fn good_messages_mean_what_they_say_and_are_written_the_same() {
    let files = [
        "session",
        "flow",
        "packet",
        "port",
        "group",
        "multipart_request",
        "multipart_reply",
        "newer_1_4",
        "newer_1_5",
    ];
    let mut wrong = String::new();
    for entry in files.iter().flat_map(|file| read(&format!("{file}.txt"))) {
        for (label, bytes) in &entry.bytes {
            let found = match decode(bytes) {
                Ok((version, message)) => {
                    assert_eq!((version.to_string(), message.xid), (label.clone(), XID), "{}", entry.name);
                    check_written(&entry.name, &message, bytes);
                    format!("{:?}", message.body)
                }
                Err(error) => error.to_string(),
            };
            if found != entry.verdict.1 {
                writeln!(wrong, "{}\n{label} means {found}", entry.name).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "these mean something else:\n{wrong}");
}

fn check_written(name: &str, message: &Message, bytes: &[u8]) {
    let (version, _) = decode(bytes).expect("decoded before");
    let mut again = Vec::new();
    encode(message, version, &mut again).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(again, bytes, "{name} in {version}");
}

#[test]
fn bad_messages_are_refused_under_the_right_name() {
    let mut wrong = String::new();
    for entry in read("bad.txt") {
        for (_, bytes) in &entry.bytes {
            let found = match decode(bytes) {
                Ok((_, message)) => format!("{:?}", message.body),
                Err(e) => format!("{} {} {}", e.name(), e.offset, e.error_code()),
            };
            if found != entry.verdict.1 {
                writeln!(wrong, "{}\nerror {found}", entry.name).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "these are refused otherwise:\n{wrong}");
}
