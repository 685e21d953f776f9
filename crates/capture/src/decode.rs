//! Any input becomes lines.

use std::io::{BufRead, BufReader, Chain, Cursor, Read};

use crate::channels::{Channels, PORTS, Place};
use crate::file::{CaptureFile, Progress, header_len, is_capture};
use crate::hex::HexLines;
use crate::lines::{Form, Lines, Origin};
use crate::segment::{self, Segment};

/// What is handed over at once, about.
const BATCH: usize = 1 << 16;
/// A longer line of text is no message.
const LONGEST_LINE: u64 = 1 << 22;
/// What is looked at to tell what the input is, at most.
const START: usize = 1 << 16;

/// How to decode.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// What to write.
    pub form: Form,
    /// TCP ports of OpenFlow in captures; none: the usual ones.
    pub ports: Vec<u16>,
}

/// Where bytes come from.
pub type Input = Box<dyn Read + Send>;

/// Reads messages and writes a line each.
pub struct Decoder {
    source: Source,
    lines: Lines,
}

/// The input with its start put back.
type Whole = Chain<Cursor<Vec<u8>>, Input>;

enum Source {
    Capture(Box<Capture>),
    Text(Text),
    Done,
}

struct Capture {
    file: CaptureFile<Whole>,
    channels: Channels,
    /// Time of the latest packet.
    latest_ns: u64,
    /// TCP segments so far, of whatever connection.
    segments: u64,
    /// A link layer that can't be read, once it is told.
    strange_link: Option<i32>,
}

struct Text {
    input: BufReader<Whole>,
    hex: HexLines,
    line: u64,
}

impl Decoder {
    /// Looks at the start of `input` and tells what it is. Errors: reading fails.
    pub fn new(mut input: Input, options: &DecodeOptions) -> std::io::Result<Decoder> {
        let start = read_start(&mut input)?;
        let mut lines = Lines::new(options.form);
        let source = if is_capture(&start) {
            let whole = Cursor::new(start.clone()).chain(input);
            match CaptureFile::open(&start, whole) {
                Ok(file) => {
                    let ports = if options.ports.is_empty() { &PORTS[..] } else { &options.ports };
                    let channels = Channels::new(ports);
                    Source::Capture(Box::new(Capture {
                        file,
                        channels,
                        latest_ns: 0,
                        segments: 0,
                        strange_link: None,
                    }))
                }
                Err(error) => {
                    lines.error(Origin::Input, &error.to_string());
                    Source::Done
                }
            }
        } else if let Some(what) = not_text(&start) {
            lines.error(Origin::Input, &what);
            Source::Done
        } else {
            let input = BufReader::with_capacity(BATCH, Cursor::new(start).chain(input));
            Source::Text(Text { input, hex: HexLines::default(), line: 0 })
        };
        Ok(Decoder { source, lines })
    }

    /// More lines, each with its line feed; `None` at the end. Errors: reading fails.
    pub fn next_lines(&mut self) -> std::io::Result<Option<String>> {
        loop {
            let lines = &mut self.lines;
            let progress = match &mut self.source {
                Source::Capture(capture) => capture.step(lines),
                Source::Text(text) => text.step(lines)?,
                Source::Done => break,
            };
            match progress {
                Progress::Packet if lines.out.len() < BATCH => {}
                Progress::End => self.source = Source::Done,
                Progress::Packet | Progress::NeedsInput => break,
            }
        }
        let out = std::mem::take(&mut self.lines.out);
        Ok((!out.is_empty()).then(|| String::from_utf8_lossy(&out).into_owned()))
    }

    /// How many messages there were so far.
    pub fn messages(&self) -> u64 {
        self.lines.messages
    }

    /// How many lines so far say what is wrong.
    pub fn errors(&self) -> u64 {
        self.lines.errors
    }
}

impl Capture {
    /// One packet. What is found is handed over before more input is waited for.
    fn step(&mut self, lines: &mut Lines) -> Progress {
        let Capture { file, channels, latest_ns, segments, strange_link } = self;
        let tell = |lines: &mut Lines, place: Place, found: crate::channels::Found<'_>| match found {
            Ok(bytes) => lines.message(Origin::Capture(place), bytes),
            Err(problem) => lines.problem(place, &problem),
        };
        let outcome = file.next_packet(lines.out.is_empty(), |packet| {
            *latest_ns = packet.time_ns;
            if let Some(segment) = Segment::parse(packet.time_ns, packet.link_type, packet.data) {
                *segments += 1;
                channels.push(&segment, |place, found| tell(lines, place, found));
            } else if !segment::is_known(packet.link_type) && strange_link.replace(packet.link_type).is_none()
            {
                let text = format!("packets of link type {} can't be read", packet.link_type);
                lines.error(Origin::Input, &text);
            }
        });
        if let Ok(going_on @ (Progress::Packet | Progress::NeedsInput)) = outcome {
            return going_on;
        }
        channels.finish(*latest_ns, |place, found| tell(lines, place, found));
        if let Err(error) = outcome {
            lines.error(Origin::Input, &error.to_string());
        } else if lines.messages == 0 && lines.errors == 0 {
            lines.error(Origin::Input, &nothing(*segments));
        }
        Progress::End
    }
}

fn nothing(segments: u64) -> String {
    match segments {
        0 => "the capture holds no TCP segments".into(),
        n => format!(
            "none of the capture's {n} TCP segments is OpenFlow's: expected port 6653 or 6633, or a HELLO at a \
             connection's start; --port names another"
        ),
    }
}

impl Text {
    /// One line.
    fn step(&mut self, lines: &mut Lines) -> std::io::Result<Progress> {
        if self.input.buffer().is_empty() && !lines.out.is_empty() {
            return Ok(Progress::NeedsInput);
        }
        let mut line = Vec::new();
        let read = self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        self.line += 1;
        let found = if read == 0 {
            [self.hex.finish(), None]
        } else if read as u64 == LONGEST_LINE {
            self.input.skip_until(b'\n')?;
            let text = format!("expected a message, found a line of more than {LONGEST_LINE} characters");
            lines.error(Origin::Line(self.line), &text);
            [None, None]
        } else {
            self.hex.push(self.line, &String::from_utf8_lossy(&line))
        };
        for (number, bytes) in found.into_iter().flatten() {
            match bytes {
                Ok(bytes) => lines.messages(Origin::Line(number), &bytes),
                Err(error) => lines.error(Origin::Line(number), &error.to_string()),
            }
        }
        Ok(if read > 0 { Progress::Packet } else { Progress::End })
    }
}

/// As much as tells what the input is, and no more: the rest may be long in coming.
pub(crate) fn read_start(input: &mut Input) -> std::io::Result<Vec<u8>> {
    let (mut start, mut chunk) = (Vec::new(), [0; 4096]);
    while start.len() < START && start_is_short(&start) {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => start.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(start)
}

fn start_is_short(start: &[u8]) -> bool {
    if is_capture(start) {
        start.len() < header_len(start)
    } else {
        start.len() < 24 && !start.contains(&b'\n')
    }
}

/// What the input is, if it is no text.
fn not_text(start: &[u8]) -> Option<String> {
    let expected = "expected a pcap or pcapng file, or bytes in hexadecimal";
    match start {
        [0x1f, 0x8b, ..] => return Some(format!("{expected}, found gzip: decompress it first")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Some(format!("{expected}, found zstd: decompress it first")),
        _ => {}
    }
    let strange = start.iter().filter(|b| b.is_ascii_control() && !b.is_ascii_whitespace()).count();
    let first: Vec<String> = start.iter().take(8).map(|b| format!("{b:02x}")).collect();
    (strange > 0).then(|| format!("{expected}, found a file that starts with {}", first.join(" ")))
}
