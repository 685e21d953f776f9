//! Packets in capture files: pcap and pcapng, of either byte order, with micro- or nanoseconds.

use std::io::Read;

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, LegacyPcapReader, PcapBlockOwned, PcapError, PcapNGReader};

/// What is read at once; a larger record makes the buffer grow, to the limit.
const BUFFER: usize = 1 << 20;
const LARGEST_BUFFER: usize = 1 << 26;

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// When it was captured, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Its link layer.
    pub link_type: i32,
    /// Its bytes, as far as they were kept.
    pub data: &'a [u8],
    /// How many there were.
    pub original_len: usize,
}

/// A capture file that is damaged; where, in bytes from its start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It ends within a record.
    #[error("the capture ends within a record at byte {at}: expected the whole record, found {found} bytes")]
    Truncated {
        /// Where the record begins.
        at: u64,
        /// How many bytes of it there are.
        found: usize,
    },
    /// A record makes no sense.
    #[error("the capture is damaged at byte {at}: expected a record, found {what}")]
    Damaged {
        /// Where the record begins.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// The file can't be read.
    #[error("the capture can't be read from byte {at} on")]
    Unreadable {
        /// Where.
        at: u64,
    },
}

/// A capture file that is being read.
pub enum CaptureFile<R: Read> {
    /// Pcap.
    Legacy(LegacyPcapReader<R>, Legacy),
    /// Pcapng.
    NextGeneration(PcapNGReader<R>, Vec<Interface>),
}

/// What came of an attempt to get a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It was handed on.
    Packet,
    /// More of the file must be read first.
    NeedsInput,
    /// There is none any more.
    End,
}

/// What a pcap file's header says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Legacy {
    link_type: i32,
    nanoseconds: bool,
}

/// What a pcapng file says of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    link_type: i32,
    /// Units of its time stamps per second.
    resolution: u64,
    /// Seconds to add to them.
    offset: i64,
}

/// Whether a file that starts like this is a capture.
pub fn is_capture(start: &[u8]) -> bool {
    // Pcapng, then pcap with micro- and nanoseconds and in Kuznetzov's form, of either byte order.
    const MAGICS: [u32; 7] =
        [0x0a0d_0d0a, 0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1, 0xa1b2_cd34, 0x34cd_b2a1];
    start.first_chunk().is_some_and(|magic| MAGICS.contains(&u32::from_be_bytes(*magic)))
}

/// The length of the header of a capture that starts like this, as far as it can be told.
pub fn header_len(start: &[u8]) -> usize {
    // The first block of pcapng says its length, in the byte order that its magic number tells.
    match *start {
        [0x0a, 0x0d, 0x0d, 0x0a, a, b, c, d, 0x1a, ..] => u32::from_be_bytes([a, b, c, d]) as usize,
        [0x0a, 0x0d, 0x0d, 0x0a, a, b, c, d, _, ..] => u32::from_le_bytes([a, b, c, d]) as usize,
        _ => 24,
    }
}

impl<R: Read> CaptureFile<R> {
    /// Opens a file that starts as [`is_capture`] says; `file` must give its header at the first read.
    pub fn open(start: &[u8], file: R) -> Result<CaptureFile<R>, FileError> {
        let opened = if start.starts_with(&[0x0a, 0x0d]) {
            PcapNGReader::new(BUFFER, file).map(|reader| CaptureFile::NextGeneration(reader, Vec::new()))
        } else {
            LegacyPcapReader::new(BUFFER, file).map(|reader| CaptureFile::Legacy(reader, Legacy::default()))
        };
        opened.map_err(|error| match error {
            PcapError::Incomplete(_) => FileError::Truncated { at: 0, found: start.len() },
            other => damaged(0, &other),
        })
    }

    /// Hands the next packet to `sink`. Records that are no packets are passed over. Reads from the file, which may
    /// have to be waited for, only if it `may_read`.
    pub fn next_packet(
        &mut self,
        may_read: bool,
        sink: impl FnOnce(Packet<'_>),
    ) -> Result<Progress, FileError> {
        let mut sink = Some(sink);
        loop {
            let at = self.reader().consumed() as u64;
            let outcome = match self {
                CaptureFile::Legacy(reader, file) => step(reader, |block| legacy(block, file, &mut sink)),
                CaptureFile::NextGeneration(reader, interfaces) => {
                    step(reader, |block| next_generation(block, interfaces, &mut sink))
                }
            };
            match outcome {
                Step::Record if sink.is_none() => return Ok(Progress::Packet),
                Step::Record => {}
                Step::End => return Ok(Progress::End),
                Step::More if !may_read => return Ok(Progress::NeedsInput),
                Step::More => self.refill(at)?,
                Step::Truncated => {
                    return Err(FileError::Truncated { at, found: self.reader().data().len() });
                }
                Step::Damaged(what) => return Err(FileError::Damaged { at, what }),
            }
        }
    }

    fn reader(&mut self) -> &mut dyn PcapReaderIterator {
        match self {
            CaptureFile::Legacy(reader, _) => reader,
            CaptureFile::NextGeneration(reader, _) => reader,
        }
    }

    fn refill(&mut self, at: u64) -> Result<(), FileError> {
        let reader = self.reader();
        let held = reader.data().len();
        if reader.position() == 0 && held >= BUFFER / 2 {
            if held >= LARGEST_BUFFER / 2 {
                let what = format!("one of more than {held} bytes");
                return Err(FileError::Damaged { at, what });
            }
            reader.grow(held * 4);
        }
        reader.refill().map_err(|_| FileError::Unreadable { at })
    }
}

/// What came of an attempt to read a record.
enum Step {
    Record,
    End,
    More,
    Truncated,
    Damaged(String),
}

fn step(reader: &mut impl PcapReaderIterator, take: impl FnOnce(PcapBlockOwned<'_>)) -> Step {
    let length = match reader.next() {
        Ok((length, block)) => {
            take(block);
            length
        }
        Err(PcapError::Eof) => return Step::End,
        Err(PcapError::Incomplete(_) | PcapError::BufferTooSmall) => return Step::More,
        Err(PcapError::UnexpectedEof) => return Step::Truncated,
        Err(other) => return Step::Damaged(describe(&other)),
    };
    reader.consume(length);
    Step::Record
}

fn damaged<I: std::fmt::Debug>(at: u64, error: &PcapError<I>) -> FileError {
    FileError::Damaged { at, what: describe(error) }
}

fn describe<I: std::fmt::Debug>(error: &PcapError<I>) -> String {
    match error {
        PcapError::HeaderNotRecognized => "no header of a capture".into(),
        PcapError::NomError(_, kind) => format!("one that breaks off ({kind:?})"),
        _ => "one that contradicts itself".into(),
    }
}

fn legacy(block: PcapBlockOwned<'_>, file: &mut Legacy, sink: &mut Option<impl FnOnce(Packet<'_>)>) {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            *file = Legacy {
                // The upper bits are flags (draft-ietf-opsawg-pcap).
                link_type: header.network.0 & 0xffff,
                nanoseconds: header.is_nanosecond_precision(),
            };
        }
        PcapBlockOwned::Legacy(record) => {
            let unit = if file.nanoseconds { 1 } else { 1000 };
            let time_ns = u64::from(record.ts_sec) * 1_000_000_000 + u64::from(record.ts_usec) * unit;
            if let Some(sink) = sink.take() {
                let original_len = record.origlen as usize;
                sink(Packet { time_ns, link_type: file.link_type, data: record.data, original_len });
            }
        }
        PcapBlockOwned::NG(_) => {}
    }
}

fn next_generation(
    block: PcapBlockOwned<'_>,
    interfaces: &mut Vec<Interface>,
    sink: &mut Option<impl FnOnce(Packet<'_>)>,
) {
    let PcapBlockOwned::NG(block) = block else { return };
    match block {
        Block::SectionHeader(_) => interfaces.clear(),
        Block::InterfaceDescription(described) => interfaces.push(Interface {
            link_type: described.linktype.0,
            resolution: described.ts_resolution().unwrap_or(1_000_000).max(1),
            offset: described.ts_offset(),
        }),
        Block::EnhancedPacket(packet) => {
            let interface = interfaces.get(packet.if_id as usize);
            if let (Some(interface), Some(sink)) = (interface, sink.take_if(|_| interface.is_some())) {
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let time_ns = interface.time_ns(units);
                sink(Packet {
                    time_ns,
                    link_type: interface.link_type,
                    data: packet.packet_data(),
                    original_len: packet.origlen as usize,
                });
            }
        }
        Block::SimplePacket(packet) => {
            let interface = interfaces.first();
            if let (Some(interface), Some(sink)) = (interface, sink.take_if(|_| interface.is_some())) {
                sink(Packet {
                    time_ns: 0,
                    link_type: interface.link_type,
                    data: packet.packet_data(),
                    original_len: packet.origlen as usize,
                });
            }
        }
        // Names, statistics and whatever else there is.
        _ => {}
    }
}

impl Interface {
    fn time_ns(&self, units: u64) -> u64 {
        let ns = u128::from(units) * 1_000_000_000 / u128::from(self.resolution);
        (ns as u64).wrapping_add_signed(self.offset.wrapping_mul(1_000_000_000))
    }
}
