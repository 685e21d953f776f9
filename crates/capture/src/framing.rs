//! A stream's bytes become messages; where they don't, the next place at which they do is looked for.

use flowgauge_openflow::{DecodeError, Header, Version, frame_len};

/// Highest message type of any version.
const LAST_TYPE: u8 = 35;

/// What framing hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// One whole message, as its header says; `at` is its place in the stream.
    Message {
        /// Place of its first byte.
        at: u64,
        /// Its bytes.
        bytes: &'a [u8],
    },
    /// No message can begin here.
    Garbage {
        /// The place.
        at: u64,
        /// Why not.
        error: DecodeError,
        /// What is there.
        bytes: &'a [u8],
    },
    /// Bytes were left out until a message seemed to begin.
    Skipped {
        /// Place of the first of them.
        at: u64,
        /// How many.
        bytes: u64,
    },
}

/// Splits one direction's bytes into messages.
#[derive(Debug, Default)]
pub struct Framer {
    /// The beginning of a message.
    pending: Vec<u8>,
    /// Place in the stream behind `pending`.
    position: u64,
    /// Place from which bytes are being left out; `None` while messages follow each other.
    lost_at: Option<u64>,
}

impl Framer {
    /// How many bytes there are of a message that is not whole, and how long it will be if that is known.
    pub fn unfinished(&self) -> Option<(usize, Option<usize>)> {
        let length = || frame_len(&self.pending).ok().flatten();
        (!self.pending.is_empty()).then(|| (self.pending.len(), length()))
    }

    /// Where in the stream it is.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The stream goes on elsewhere: `skipped` bytes are not there. Looks for the next message.
    pub fn lose(&mut self, skipped: u64) {
        let from = self.position - self.pending.len() as u64;
        self.pending.clear();
        self.position += skipped;
        self.lost_at.get_or_insert(from);
    }

    /// Takes the bytes of one segment.
    pub fn push(&mut self, segment: &[u8], mut sink: impl FnMut(Frame<'_>)) {
        let start = self.position;
        self.position += segment.len() as u64;
        let mut bytes = segment;
        if let Some(lost_at) = self.lost_at {
            let Some(found) = find_start(segment) else { return };
            let at = start + found as u64;
            if at > lost_at {
                sink(Frame::Skipped { at: lost_at, bytes: at - lost_at });
            }
            self.lost_at = None;
            bytes = &segment[found..];
        }
        if self.pending.is_empty() {
            let rest = self.split(bytes, &mut sink);
            self.pending.extend_from_slice(rest);
        } else {
            let mut pending = std::mem::take(&mut self.pending);
            pending.extend_from_slice(bytes);
            let rest = self.split(&pending, &mut sink).len();
            pending.drain(..pending.len() - rest);
            self.pending = pending;
        }
    }

    /// Hands on the messages in `bytes`, which end at `position`; returns the beginning of one that is not whole.
    fn split<'a>(&mut self, mut bytes: &'a [u8], sink: &mut impl FnMut(Frame<'_>)) -> &'a [u8] {
        loop {
            let at = self.position - bytes.len() as u64;
            match frame_len(bytes) {
                Ok(Some(length)) if length <= bytes.len() => {
                    let (message, rest) = bytes.split_at(length);
                    sink(Frame::Message { at, bytes: message });
                    bytes = rest;
                }
                Ok(_) => return bytes,
                Err(error) => {
                    sink(Frame::Garbage { at, error, bytes });
                    self.lost_at = Some(at);
                    return &[];
                }
            }
        }
    }
}

/// Where in a segment messages begin: at its start, or where one message follows another to its end.
fn find_start(segment: &[u8]) -> Option<usize> {
    (0..segment.len().saturating_sub(Header::LEN - 1)).find(|&at| {
        let followed = chain(&segment[at..]);
        // One header alone looks like a message by chance once in a while; only at the start that is enough.
        followed > if at == 0 { 0 } else { 1 }
    })
}

/// How many messages of one version seem to follow each other from here to the end; 0 if something else does.
fn chain(mut bytes: &[u8]) -> usize {
    let version = bytes[0];
    let mut count = 0;
    while let Some(header) = Header::parse(bytes) {
        let length = usize::from(header.length);
        let known = Version::from_wire(header.version).is_some() && header.version == version;
        if !known || header.message_type > LAST_TYPE || length < Header::LEN {
            return 0;
        }
        count += 1;
        match bytes.get(length..) {
            Some(rest) if !rest.is_empty() => bytes = rest,
            Some(_) | None => return count,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: [u8; 8] = [4, 2, 0, 8, 0, 0, 0, 1];

    fn frames(framer: &mut Framer, segment: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        framer.push(segment, |frame| {
            found.push(match frame {
                Frame::Message { at, bytes } => format!("message {at}+{}", bytes.len()),
                Frame::Garbage { at, .. } => format!("garbage {at}"),
                Frame::Skipped { at, bytes } => format!("skipped {at}+{bytes}"),
            });
        });
        found
    }

    #[test]
    fn messages_lie_in_segments_as_they_like() {
        let mut framer = Framer::default();
        let two = [ECHO, ECHO].concat();
        assert_eq!(frames(&mut framer, &two[..3]), [""; 0]);
        assert_eq!(framer.unfinished(), Some((3, None)));
        assert_eq!(frames(&mut framer, &two[3..12]), ["message 0+8"]);
        assert_eq!(framer.unfinished(), Some((4, Some(8))));
        assert_eq!(frames(&mut framer, &two[12..]), ["message 8+8"]);
        assert_eq!(framer.unfinished(), None);
    }

    #[test]
    fn garbage_is_left_out_to_the_next_message() {
        let mut framer = Framer::default();
        let bad = [&ECHO[..], &[0x47; 20]].concat();
        assert_eq!(frames(&mut framer, &bad), ["message 0+8", "garbage 8"]);
        assert_eq!(frames(&mut framer, &[0x47; 5]), [""; 0]);
        assert_eq!(frames(&mut framer, &ECHO), ["skipped 8+25", "message 33+8"]);
    }

    #[test]
    fn messages_are_found_again_behind_a_gap() {
        let mut framer = Framer::default();
        frames(&mut framer, &ECHO[..4]);
        framer.lose(100);
        let tail = [&[9, 9, 9][..], &ECHO, &ECHO].concat();
        assert_eq!(frames(&mut framer, &tail), ["skipped 0+107", "message 107+8", "message 115+8"]);
    }
}
