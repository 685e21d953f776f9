//! TCP segments become OpenFlow messages, per connection and direction.

use std::collections::HashMap;
use std::net::SocketAddr;

use flowgauge_openflow::{DecodeError, Header, Version};

use crate::framing::{Frame, Framer};
use crate::reassembly::{Direction, Piece};
use crate::segment::Segment;

/// Where and when a message was in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// When it was complete, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Who sent it.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// Its first byte in what was sent, from 0.
    pub at: u64,
}

/// Why there is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The capture began later than the connection.
    #[error("the capture starts in mid-stream: messages are looked for from here on")]
    MidStream,
    /// Segments are not in the capture.
    #[error("{bytes} bytes are missing in the capture")]
    Missing {
        /// How many bytes.
        bytes: u64,
    },
    /// No header can be where one is due.
    #[error("not OpenFlow: {error}; {hint}")]
    Garbage {
        /// What the header has instead.
        error: DecodeError,
        /// What it might be, or what happens next.
        hint: &'static str,
        /// The first bytes of it.
        start: Vec<u8>,
    },
    /// Messages were found again.
    #[error("{bytes} bytes were left out before the next message")]
    Skipped {
        /// How many bytes.
        bytes: u64,
    },
    /// The connection or the capture ends within a message.
    #[error("ends within a message: expected {}, found {found} bytes", expected(.length))]
    Ends {
        /// How many bytes of it there are.
        found: usize,
        /// How long it is, if its header is there.
        length: Option<usize>,
    },
}

fn expected(length: &Option<usize>) -> String {
    length.map_or("a header of 8 bytes".into(), |length| format!("{length} bytes"))
}

/// A message's bytes, or why there are none.
pub type Found<'a> = Result<&'a [u8], Problem>;

/// The ports of OpenFlow: the one that IANA assigned, and the one that came before it.
pub const PORTS: [u16; 2] = [6653, 6633];

/// All connections of a capture that speak OpenFlow: those of certain ports, and those that begin with a HELLO.
#[derive(Debug)]
pub struct Channels {
    ports: Vec<u16>,
    /// By the two ends, the smaller first.
    open: HashMap<(SocketAddr, SocketAddr), Conversation>,
}

/// A connection: what the smaller end sends, and what the other does.
type Conversation = [Stream; 2];

#[derive(Debug, Default)]
struct Stream {
    direction: Direction,
    framer: Framer,
    /// Whether it is still to be told that the capture began in mid-stream.
    mid_stream: bool,
}

impl Channels {
    /// Connections with one of `ports` at an end.
    pub fn new(ports: &[u16]) -> Channels {
        Channels { ports: ports.to_vec(), open: HashMap::new() }
    }

    /// Takes a segment; hands on the messages that it completes.
    pub fn push(&mut self, segment: &Segment<'_>, mut sink: impl FnMut(Place, Found<'_>)) {
        let Segment { from, to, arrival, reset } = *segment;
        let key = (from.min(to), from.max(to));
        if !self.open.contains_key(&key) {
            let silent = !arrival.syn && arrival.payload.is_empty() && arrival.cut == 0;
            let known = self.ports.contains(&from.port()) || self.ports.contains(&to.port());
            let greets = begins_with_hello(arrival.payload);
            if silent || reset || !(known || greets) {
                return;
            }
            let mut conversation = Conversation::default();
            if greets && !arrival.syn {
                conversation[usize::from(from > to)].direction = Direction::fresh(arrival.seq);
            }
            self.open.insert(key, conversation);
        }
        let Some(conversation) = self.open.get_mut(&key) else { return };
        let [one, other] = conversation;
        let (stream, back) = if from < to { (one, other) } else { (other, one) };
        stream.push(segment, &mut sink);
        if reset || (stream.direction.ended() && back.direction.ended()) {
            stream.finish(arrival.time_ns, from, to, &mut sink);
            back.finish(arrival.time_ns, to, from, &mut sink);
            self.open.remove(&key);
        }
    }

    /// The capture is over: hands on what waits, and tells what is not whole.
    pub fn finish(&mut self, time_ns: u64, mut sink: impl FnMut(Place, Found<'_>)) {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_by_key(|(key, _)| *key);
        for ((small, large), [mut one, mut other]) in open {
            one.finish(time_ns, small, large, &mut sink);
            other.finish(time_ns, large, small, &mut sink);
        }
    }
}

impl Stream {
    fn push(&mut self, segment: &Segment<'_>, sink: &mut impl FnMut(Place, Found<'_>)) {
        let Stream { direction, framer, mid_stream } = self;
        let (from, to) = (segment.from, segment.to);
        direction.push(segment.arrival, |time_ns, piece| {
            let mut tell = |at, found: Found<'_>| sink(Place { time_ns, from, to, at }, found);
            take(framer, mid_stream, piece, &mut tell);
        });
    }

    fn finish(
        &mut self,
        time_ns: u64,
        from: SocketAddr,
        to: SocketAddr,
        sink: &mut impl FnMut(Place, Found<'_>),
    ) {
        let Stream { direction, framer, mid_stream } = self;
        let mut last = time_ns;
        direction.flush(|time_ns, piece| {
            last = time_ns;
            let mut tell = |at, found: Found<'_>| sink(Place { time_ns, from, to, at }, found);
            take(framer, mid_stream, piece, &mut tell);
        });
        if let Some((found, length)) = framer.unfinished() {
            let at = framer.position() - found as u64;
            sink(Place { time_ns: last, from, to, at }, Err(Problem::Ends { found, length }));
        }
        *framer = Framer::default();
    }
}

/// One piece of a stream.
fn take(framer: &mut Framer, mid_stream: &mut bool, piece: Piece<'_>, tell: &mut impl FnMut(u64, Found<'_>)) {
    match piece {
        Piece::Start => {
            *framer = Framer::default();
            *mid_stream = false;
        }
        Piece::MidStream => {
            *framer = Framer::default();
            framer.lose(0);
            *mid_stream = true;
        }
        Piece::Gap(bytes) => {
            tell(framer.position(), Err(Problem::Missing { bytes }));
            framer.lose(bytes);
        }
        Piece::Bytes(bytes) => {
            if std::mem::take(mid_stream) {
                tell(0, Err(Problem::MidStream));
            }
            framer.push(bytes, |frame| match frame {
                Frame::Message { at, bytes } => tell(at, Ok(bytes)),
                Frame::Skipped { at, bytes } => tell(at, Err(Problem::Skipped { bytes })),
                Frame::Garbage { at, error, bytes } => {
                    let start = bytes[..bytes.len().min(16)].to_vec();
                    tell(at, Err(Problem::Garbage { error, hint: hint(bytes), start }));
                }
            });
        }
        Piece::End => {}
    }
}

/// What bytes that are not OpenFlow might be.
fn hint(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x14..=0x17, 3, ..] => "it looks like TLS, which can't be read",
        _ => "the next message is looked for",
    }
}

/// Whether a stream that begins like this is OpenFlow's: a HELLO, short as they are.
fn begins_with_hello(bytes: &[u8]) -> bool {
    let header = Header::parse(bytes).filter(|h| h.message_type == 0 && (8..=64).contains(&h.length));
    header.is_some_and(|h| {
        (1..=Version::V1_5.wire()).contains(&h.version) && usize::from(h.length) <= bytes.len()
    })
}
