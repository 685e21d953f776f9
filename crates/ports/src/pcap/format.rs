//! The bytes of pcap and pcapng files with nanosecond stamps, little-endian, link type Ethernet.
//!
//! Pcap: draft-ietf-opsawg-pcap-05. Pcapng: draft-ietf-opsawg-pcapng-02. A file is a start, records, and an end. Whatever is whole of
//! a file is readable.

/// The size that files name when records are not cut.
pub const UNCUT: u32 = 262_144;

const ETHERNET: u16 = 1;
/// Words in front of a frame's bytes: of a pcap record, and of a pcapng enhanced packet block.
const PCAP_HEADER: usize = 16;
const BLOCK_HEADER: usize = 28;

/// Block types of pcapng.
mod block {
    pub const SECTION: u32 = 0x0a0d_0d0a;
    pub const INTERFACE: u32 = 1;
    pub const STATISTICS: u32 = 5;
    pub const PACKET: u32 = 6;
}

/// A format of capture files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pcap with nanoseconds (magic number 0xa1b23c4d).
    Pcap,
    /// Pcapng: several interfaces with names, and counters at the end.
    Pcapng,
}

/// What an interface counted, for the end of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounts {
    /// Frames that arrived.
    pub received: u64,
    /// Frames that the interface, or the kernel, dropped.
    pub dropped: u64,
    /// Frames that were lost between there and the file.
    pub lost: u64,
}

impl Format {
    /// The format that a file's name asks for: `.pcap` and `.cap` pcap, all others pcapng.
    pub fn of_name(name: &str) -> Format {
        if name.ends_with(".pcap") || name.ends_with(".cap") { Format::Pcap } else { Format::Pcapng }
    }

    /// A file's start. `snaplen` 0: frames are not cut.
    pub fn start(self, interfaces: &[&str], snaplen: u32, out: &mut Vec<u8>) {
        let snaplen = if snaplen == 0 { UNCUT } else { snaplen };
        match self {
            Format::Pcap => words(out, &[0xa1b2_3c4d, 4 << 16 | 2, 0, 0, snaplen, ETHERNET.into()]),
            Format::Pcapng => {
                block(out, block::SECTION, |out| {
                    // Byte order, version 1.0, a section of unknown length.
                    words(out, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]);
                    option(out, 4, b"Flowgauge");
                    words(out, &[0]);
                });
                for name in interfaces {
                    block(out, block::INTERFACE, |out| {
                        words(out, &[ETHERNET.into(), snaplen]);
                        option(out, 2, name.as_bytes());
                        // Stamps in units of 10^-9 s.
                        option(out, 9, &[9]);
                        words(out, &[0]);
                    });
                }
            }
        }
    }

    /// A frame of `interface`, stamped in nanoseconds since 1970; its first `snaplen` bytes are kept (0: all).
    #[inline]
    pub fn record(self, interface: u32, wall_ns: u64, frame: &[u8], snaplen: u32, out: &mut Vec<u8>) {
        let kept = if snaplen == 0 { frame.len() } else { frame.len().min(snaplen as usize) };
        let (len, kept_len) = (frame.len() as u32, kept as u32);
        match self {
            Format::Pcap => {
                let (seconds, ns) = ((wall_ns / 1_000_000_000) as u32, (wall_ns % 1_000_000_000) as u32);
                out.reserve(PCAP_HEADER + kept);
                head(out, [seconds, ns, kept_len, len]);
                out.extend_from_slice(&frame[..kept]);
            }
            Format::Pcapng => {
                let padding = kept.next_multiple_of(4) - kept;
                let total = (BLOCK_HEADER + kept + padding + 4) as u32;
                out.reserve(total as usize);
                let (high, low) = ((wall_ns >> 32) as u32, wall_ns as u32);
                head(out, [block::PACKET, total, interface, high, low, kept_len, len]);
                out.extend_from_slice(&frame[..kept]);
                out.extend_from_slice(&[0; 4][..padding]);
                out.extend_from_slice(&total.to_le_bytes());
            }
        }
    }

    /// A file's end, at that time: what each interface counted. Pcap has none.
    pub fn end(self, wall_ns: u64, counts: &[InterfaceCounts], out: &mut Vec<u8>) {
        if self == Format::Pcap {
            return;
        }
        for (interface, counts) in counts.iter().enumerate() {
            block(out, block::STATISTICS, |out| {
                words(out, &[interface as u32, (wall_ns >> 32) as u32, wall_ns as u32]);
                for (code, value) in [(4, counts.received), (5, counts.dropped), (7, counts.lost)] {
                    option(out, code, &value.to_le_bytes());
                }
                words(out, &[0]);
            });
        }
    }

    /// How many bytes at the start of `records` are whole records.
    pub fn whole(self, records: &[u8]) -> usize {
        self.records(records).map(<[u8]>::len).sum()
    }

    /// How many whole frames there are at the start of `records`, which have no file header before them.
    pub fn frames(self, records: &[u8]) -> u64 {
        let is_frame = |record: &[u8]| match self {
            Format::Pcap => true,
            Format::Pcapng => word(record, 0) == Some(block::PACKET),
        };
        self.records(records).filter(|record| is_frame(record)).count() as u64
    }

    /// The whole records at the start of some bytes, one by one.
    fn records(self, mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        std::iter::from_fn(move || {
            let len = match self {
                Format::Pcap => word(bytes, 8).map(|kept| PCAP_HEADER + kept as usize),
                Format::Pcapng => word(bytes, 4).map(|len| len as usize).filter(|&len| len >= 12),
            };
            let (record, rest) = bytes.split_at_checked(len?)?;
            bytes = rest;
            Some(record)
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().expect("four bytes")))
}

#[inline]
fn head<const N: usize>(out: &mut Vec<u8>, words: [u32; N]) {
    let bytes = words.map(u32::to_le_bytes);
    out.extend_from_slice(bytes.as_flattened());
}

fn words(out: &mut Vec<u8>, words: &[u32]) {
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// A block of pcapng: its length stands in front and behind.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    words(out, &[kind, 0]);
    body(out);
    let len = (out.len() + 4 - start) as u32;
    out[start + 4..start + 8].copy_from_slice(&len.to_le_bytes());
    words(out, &[len]);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    words(out, &[(value.len() as u32) << 16 | u32::from(code)]);
    out.extend_from_slice(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pcap_record_is_sixteen_bytes_and_the_frame() {
        let mut out = Vec::new();
        Format::Pcap.start(&["a"], 0, &mut out);
        assert_eq!(out.len(), 24);
        assert_eq!(out[..4], [0x4d, 0x3c, 0xb2, 0xa1]);
        Format::Pcap.record(0, 7_000_000_009, &[5; 60], 50, &mut out);
        let words: Vec<_> =
            out[24..40].chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        assert_eq!(words, [7, 9, 50, 60]);
        assert_eq!(out.len(), 24 + 16 + 50);
    }

    #[test]
    fn what_was_cut_off_is_not_whole() {
        for format in [Format::Pcap, Format::Pcapng] {
            let mut out = Vec::new();
            let mut ends = vec![0];
            for len in [60, 61, 1514, 14] {
                format.record(0, 1, &vec![1; len], 0, &mut out);
                ends.push(out.len());
            }
            for cut in 0..=out.len() {
                let expected = *ends.iter().rfind(|&&end| end <= cut).unwrap();
                assert_eq!(format.whole(&out[..cut]), expected, "{format:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn blocks_are_of_whole_words_and_end_with_their_length() {
        let mut out = Vec::new();
        Format::Pcapng.start(&["eth0", "a"], 0, &mut out);
        Format::Pcapng.record(1, u64::MAX / 3, &[1; 61], 0, &mut out);
        Format::Pcapng.end(9, &[InterfaceCounts::default(); 2], &mut out);
        assert_eq!(Format::Pcapng.whole(&out), out.len());
        assert_eq!(out.len() % 4, 0);
    }

    #[test]
    fn frames_are_counted_as_far_as_they_are_whole() {
        for format in [Format::Pcap, Format::Pcapng] {
            let mut out = Vec::new();
            for len in [60, 61, 1514] {
                format.record(0, 1, &[7; 1514][..len], 0, &mut out);
            }
            let whole = out.len();
            format.end(9, &[InterfaceCounts::default()], &mut out);
            assert_eq!(format.frames(&out), 3, "{format:?}");
            assert_eq!(format.frames(&out[..whole - 1]), 2, "{format:?}");
        }
    }

    #[test]
    fn names_choose_the_format() {
        assert_eq!(Format::of_name("a.pcap"), Format::Pcap);
        assert_eq!(["a.pcapng", "-", "a"].map(Format::of_name), [Format::Pcapng; 3]);
    }
}
