//! Cuts the peer's byte stream into messages: pure, bounded, and never trusting a length.
//!
//! The buffer holds one message of the largest size that the length field can say (64 KiB) and what one
//! read may add: nothing that a hostile peer sends makes it grow.

use crate::error::{ChannelError, version_name};
use crate::tls::{speaks_tls, tls_peer};
use crate::wire::{self, HEADER_LEN, Header};

/// Room that a read always finds.
pub const READ_SIZE: usize = 16 * 1024;
const BUFFER: usize = 64 * 1024 + 8 * READ_SIZE;

/// Which headers are allowed now. Once a version is agreed on, types that nobody knows are too: their lengths frame
/// them, and whoever they are for refuses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Before negotiation: any known version, HELLO or ERROR.
    Opening,
    /// After it: this version. HELLO, ERROR and echoes may still carry another.
    Version(u8),
}

/// The inbound framing of one connection.
pub struct Framer {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Stream position of `start`.
    offset: u64,
}

impl Default for Framer {
    fn default() -> Self {
        Framer { buffer: vec![0; BUFFER].into_boxed_slice(), start: 0, end: 0, offset: 0 }
    }
}

impl Framer {
    /// An empty framer at position 0 of the stream.
    pub fn new() -> Framer {
        Framer::default()
    }

    /// Room for the next read: at least [`READ_SIZE`] bytes, provided that [`Framer::next_frame`] was called
    /// until it gave `None`.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.buffer.len() - self.end < READ_SIZE {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let end = (self.end + READ_SIZE).min(self.buffer.len());
        &mut self.buffer[self.end..end]
    }

    /// Says that the read filled `n` bytes of the room.
    pub fn filled(&mut self, n: usize) {
        debug_assert!(self.end + n <= self.buffer.len());
        self.end += n;
    }

    /// Bytes that wait for the rest of their message.
    pub fn pending(&self) -> usize {
        self.end - self.start
    }

    /// Bytes received since the connection began.
    pub fn received(&self) -> u64 {
        self.offset + self.pending() as u64
    }

    /// Stream position of the next message.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next whole message, `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`ChannelError::Garbage`] when the bytes can't be OpenFlow: they are judged as soon as they come, so a
    /// peer that sends a wrong first byte is not awaited for ever.
    pub fn next_frame(&mut self, expect: Expect) -> Result<Option<&[u8]>, ChannelError> {
        let bytes = &self.buffer[self.start..self.end];
        check(bytes, expect, self.offset)?;
        let Some(header) = Header::parse(bytes) else { return Ok(None) };
        let length = usize::from(header.length);
        if bytes.len() < length {
            return Ok(None);
        }
        let start = self.start;
        self.start += length;
        self.offset += length as u64;
        Ok(Some(&self.buffer[start..start + length]))
    }
}

fn check(bytes: &[u8], expect: Expect, offset: u64) -> Result<(), ChannelError> {
    let garbage = |at: u64, expected: &str, found: String| {
        Err(ChannelError::Garbage { offset: offset + at, expected: expected.to_owned(), found })
    };
    let Some(&version) = bytes.first() else { return Ok(()) };
    if offset == 0 {
        match bytes {
            // One more byte tells.
            [_] if speaks_tls(&[version, 3]) => return Ok(()),
            _ if speaks_tls(bytes) => return Err(tls_peer()),
            _ => {}
        }
    }
    if !(1..=6).contains(&version) {
        return garbage(0, "a version of 1 to 6", quote(bytes));
    }
    let Some(&kind) = bytes.get(1) else { return Ok(()) };
    let versionless = matches!(kind, wire::HELLO | wire::ERROR | wire::ECHO_REQUEST | wire::ECHO_REPLY);
    match expect {
        Expect::Opening if !matches!(kind, wire::HELLO | wire::ERROR) => {
            return garbage(1, "HELLO", format!("type {kind}"));
        }
        Expect::Version(ours) if version != ours && !versionless => {
            let expected = format!("version {}", version_name(ours));
            return garbage(0, &expected, format!("version {}", version_name(version)));
        }
        Expect::Opening | Expect::Version(_) => {}
    }
    let Some(header) = Header::parse(bytes) else { return Ok(()) };
    if usize::from(header.length) < HEADER_LEN {
        return garbage(2, "a length of at least 8", format!("length {}", header.length));
    }
    Ok(())
}

/// The start of what was found, in hexadecimal and, where printable, as text.
fn quote(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(8)];
    let hex: Vec<String> = head.iter().map(|b| format!("{b:02x}")).collect();
    if head.iter().all(|b| (0x20..0x7f).contains(b)) {
        format!("{} ({:?})", hex.join(" "), String::from_utf8_lossy(head))
    } else {
        hex.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feed(framer: &mut Framer, mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, ChannelError> {
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let room = framer.space();
            assert!(room.len() >= READ_SIZE);
            let n = room.len().min(bytes.len());
            room[..n].copy_from_slice(&bytes[..n]);
            framer.filled(n);
            bytes = &bytes[n..];
            while let Some(frame) = framer.next_frame(Expect::Version(4))? {
                frames.push(frame.to_vec());
            }
        }
        Ok(frames)
    }

    fn found(bytes: &[u8], expect: Expect) -> ChannelError {
        let mut framer = Framer::new();
        framer.space()[..bytes.len()].copy_from_slice(bytes);
        framer.filled(bytes.len());
        framer.next_frame(expect).unwrap_err()
    }

    #[test]
    fn tells_what_was_found_where() {
        let error = found(b"GET / HTTP/1.1\r\n", Expect::Opening);
        assert_eq!(
            error.to_string(),
            "not OpenFlow at byte 0 of the peer's stream: expected a version of 1 to 6, found \
             47 45 54 20 2f 20 48 54 (\"GET / HT\")"
        );
        assert!(matches!(
            found(&[4, 0, 0, 7, 0, 0, 0, 1], Expect::Opening),
            ChannelError::Garbage { offset: 2, .. }
        ));
        assert!(matches!(found(&[4, 99], Expect::Opening), ChannelError::Garbage { offset: 1, .. }));
        assert!(matches!(found(&[4, 10], Expect::Opening), ChannelError::Garbage { offset: 1, .. }));
        assert!(matches!(found(&[1, 10], Expect::Version(4)), ChannelError::Garbage { offset: 0, .. }));
    }

    #[test]
    fn offsets_count_from_the_start_of_the_stream() {
        let mut framer = Framer::new();
        let mut bytes = wire::message(4, wire::PACKET_IN, 0, &[7; 100]);
        bytes.extend([9; 8]);
        let error = feed(&mut framer, &bytes).unwrap_err();
        assert!(matches!(error, ChannelError::Garbage { offset: 108, .. }), "{error}");
    }

    #[test]
    fn the_largest_message_passes_and_the_buffer_stays() {
        let mut framer = Framer::new();
        let big = wire::message(4, wire::PACKET_IN, 1, &[1; 70_000]);
        assert_eq!(big.len(), 65_535);
        for _ in 0..20 {
            assert_eq!(feed(&mut framer, &big).unwrap(), std::slice::from_ref(&big));
        }
        assert_eq!(framer.buffer.len(), BUFFER);
    }

    proptest! {
        #[test]
        fn any_segmentation_gives_the_same_messages(
            bodies in prop::collection::vec((0u8..=35, prop::collection::vec(any::<u8>(), 0..300)), 1..40),
            cuts in prop::collection::vec(1usize..500, 1..80),
        ) {
            let messages: Vec<Vec<u8>> =
                bodies.iter().enumerate().map(|(i, (kind, body))| wire::message(4, *kind, i as u32, body)).collect();
            let stream = messages.concat();
            let mut framer = Framer::new();
            let (mut at, mut frames) = (0, Vec::new());
            for cut in cuts.iter().cycle() {
                let end = (at + cut).min(stream.len());
                frames.extend(feed(&mut framer, &stream[at..end]).unwrap());
                at = end;
                if at == stream.len() { break }
            }
            prop_assert_eq!(frames, messages);
            prop_assert_eq!(framer.pending(), 0);
            prop_assert_eq!(framer.offset(), stream.len() as u64);
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
            let _ = feed(&mut Framer::new(), &bytes);
        }
    }
}
