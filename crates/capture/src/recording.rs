//! The frames of a capture, all at once, to be sent again.

use std::io::{Cursor, Read};

use crate::decode::{Input, read_start};
use crate::file::{CaptureFile, FileError, Progress, is_capture};

/// Link type of Ethernet (https://www.tcpdump.org/linktypes.html).
const ETHERNET: i32 = 1;

/// The frames of a capture with their times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    bytes: Vec<u8>,
    /// Where each frame ends.
    ends: Vec<usize>,
    /// Nanoseconds since 1970, in the file's order.
    times_ns: Vec<u64>,
    /// Frames of which the capture kept only the first bytes.
    pub cut: u64,
    /// Why the file was not read to its end, if it was not.
    pub broken: Option<FileError>,
}

/// Why there are no frames to be had.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is something else.
    #[error("is no capture: expected a pcap or pcapng file, found {found}")]
    NotCapture {
        /// What its start looks like.
        found: String,
    },
    /// It holds none.
    #[error("holds no frames")]
    Empty,
    /// It holds something else than Ethernet frames.
    #[error("holds packets of link type {link_type}: expected Ethernet (1)")]
    LinkType {
        /// What it holds.
        link_type: i32,
    },
    /// It is damaged before the first frame.
    #[error("can't be read: {0}")]
    File(#[from] FileError),
    /// The system's error.
    #[error("can't be read: {0}")]
    System(#[from] std::io::Error),
}

impl Recording {
    /// Reads a capture to its end, or to where it is damaged: what is whole until there is kept.
    ///
    /// # Errors
    /// [`RecordingError`]: there is no frame to be had.
    pub fn read(mut input: Input) -> Result<Recording, RecordingError> {
        let start = read_start(&mut input)?;
        if !is_capture(&start) {
            return Err(RecordingError::NotCapture { found: describe(&start) });
        }
        let mut file = CaptureFile::open(&start, Cursor::new(start.clone()).chain(input))?;
        let mut recording = Recording::default();
        let mut strange = None;
        loop {
            let progress = file.next_packet(true, |packet| {
                if packet.link_type != ETHERNET {
                    strange = Some(packet.link_type);
                    return;
                }
                recording.bytes.extend_from_slice(packet.data);
                recording.ends.push(recording.bytes.len());
                recording.times_ns.push(packet.time_ns);
                recording.cut += (packet.original_len > packet.data.len()) as u64;
            });
            if let Some(link_type) = strange {
                return Err(RecordingError::LinkType { link_type });
            }
            match progress {
                Ok(Progress::Packet | Progress::NeedsInput) => {}
                Ok(Progress::End) if recording.is_empty() => return Err(RecordingError::Empty),
                Ok(Progress::End) => return Ok(recording),
                Err(error) if recording.is_empty() => return Err(error.into()),
                Err(error) => {
                    recording.broken = Some(error);
                    return Ok(recording);
                }
            }
        }
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none; never after [`Recording::read`].
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Frame `i`, if there is one.
    pub fn frame(&self, i: usize) -> Option<&[u8]> {
        let end = *self.ends.get(i)?;
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }

    /// All frames in turn.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.frame(i).expect("as many as there are"))
    }

    /// When each was captured, in nanoseconds since 1970.
    pub fn times_ns(&self) -> &[u64] {
        &self.times_ns
    }

    /// Bytes of all frames together.
    pub fn total(&self) -> usize {
        self.bytes.len()
    }
}

fn describe(start: &[u8]) -> String {
    match start {
        [] => "an empty file".into(),
        [0x1f, 0x8b, ..] => "gzip: decompress it first".into(),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd: decompress it first".into(),
        _ => {
            let first: Vec<String> = start.iter().take(8).map(|b| format!("{b:02x}")).collect();
            format!("a file that starts with {}", first.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pcap file of frames with their times, in that byte order and unit.
    fn pcap(big: bool, nano: bool, frames: &[(u64, usize)]) -> Vec<u8> {
        let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let (magic, unit) = if nano { (0xa1b2_3c4d, 1) } else { (0xa1b2_c3d4, 1000) };
        let mut out: Vec<u8> =
            [magic, if big { 2 << 16 | 4 } else { 4 << 16 | 2 }, 0, 0, 65535, 1].map(word).concat();
        for &(ns, len) in frames {
            let head = [ns / 1_000_000_000, ns % 1_000_000_000 / unit, len as u64, len as u64];
            out.extend(head.map(|n| word(n as u32)).concat());
            out.extend(vec![len as u8; len]);
        }
        out
    }

    fn read(bytes: &[u8]) -> Result<Recording, RecordingError> {
        Recording::read(Box::new(Cursor::new(bytes.to_vec())))
    }

    const FRAMES: [(u64, usize); 3] =
        [(1_700_000_000_123_456_000, 60), (1_700_000_001_000_001_000, 14), (5, 1514)];

    #[test]
    fn both_byte_orders_and_both_units_are_read() {
        for (big, nano) in [(false, false), (false, true), (true, false), (true, true)] {
            let found = read(&pcap(big, nano, &FRAMES)).unwrap();
            let last = if nano { 5 } else { 0 };
            assert_eq!(found.times_ns(), [FRAMES[0].0, FRAMES[1].0, last], "{big} {nano}");
            assert_eq!(found.frames().map(<[u8]>::len).collect::<Vec<_>>(), [60, 14, 1514]);
            assert_eq!((found.frame(1).unwrap(), found.frame(3)), (&[14; 14][..], None));
            assert_eq!((found.cut, found.broken, found.bytes.len()), (0, None, 1588));
        }
    }

    #[test]
    fn what_is_whole_of_a_truncated_file_is_kept() {
        let whole = pcap(false, true, &FRAMES);
        let found = read(&whole[..whole.len() - 7]).unwrap();
        assert_eq!(found.len(), 2);
        let said = found.broken.unwrap().to_string();
        assert!(said.contains("ends within a record at byte 130"), "{said}");
    }

    #[test]
    fn what_holds_no_frames_says_why() {
        let said = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(said(&[]), "is no capture: expected a pcap or pcapng file, found an empty file");
        assert_eq!(said(&pcap(false, true, &[])), "holds no frames");
        assert!(said(&pcap(false, true, &FRAMES)[..30]).contains("ends within a record"));
        assert!(said(b"\x1f\x8b\x08").contains("gzip"));
        assert!(said(b"hello, world").contains("68 65 6c 6c 6f 2c 20 77"));
        let mut raw = pcap(false, true, &FRAMES);
        raw[20] = 101;
        assert_eq!(said(&raw), "holds packets of link type 101: expected Ethernet (1)");
    }

    #[test]
    fn frames_that_the_capture_cut_are_counted() {
        let mut bytes = pcap(false, true, &FRAMES);
        bytes[24 + 12] = 99;
        assert_eq!(read(&bytes).unwrap().cut, 1);
    }
}
