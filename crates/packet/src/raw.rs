//! Raw frames: bytes that somebody else made, sent as they are, with or without a probe in their UDP payload.
//!
//! A probe takes the first 18 bytes of the payload. They are set to zero here and the UDP checksum is brought up to date, so that
//! a probe may replace them later (see [`template`](crate::template)): a checksum that was right stays right, a wrong one wrong,
//! and one that is absent absent.

use crate::checksum::{Sum, nonzero};
use crate::layout::{Layout, Transport};
use crate::template::PROBE_LEN;

/// The shortest frame: an Ethernet header.
pub const SHORTEST_RAW: usize = 14;
/// The longest frame, without FCS: what a slot of any port may hold at the most.
pub const LONGEST_RAW: usize = 65_535;

const UDP_HEADER: usize = 8;

/// Why frames can't be sent. Frames are counted from 1, as captures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RawError {
    /// There is none.
    #[error("there are no frames")]
    Empty,
    /// More than can be numbered.
    #[error("{found} frames are too many; at most {}", u32::MAX)]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// Shorter than an Ethernet header, or longer than any port takes.
    #[error(
        "frame {number} has {found} bytes; allowed: {SHORTEST_RAW} (an Ethernet header) to {LONGEST_RAW}"
    )]
    Length {
        /// Which one.
        number: usize,
        /// Its length.
        found: usize,
    },
    /// A probe was asked for, and there is no UDP payload to hold one.
    #[error("frame {number} can't bear a probe: it has no UDP header that is its datagram's only one")]
    NotUdp {
        /// Which one.
        number: usize,
    },
    /// A probe was asked for, and the UDP payload is shorter.
    #[error(
        "frame {number} can't bear a probe: its UDP payload has {found} bytes, a probe takes {PROBE_LEN}"
    )]
    NoRoom {
        /// Which one.
        number: usize,
        /// The payload's length.
        found: usize,
    },
}

/// Frames that somebody else made, one behind the other in one block of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFrames {
    bytes: Box<[u8]>,
    /// Where each begins, and where the last ends.
    starts: Box<[usize]>,
    /// Where the probe of each begins; empty when they bear none.
    probes: Box<[u32]>,
    longest: usize,
}

impl RawFrames {
    /// The frames, without FCS. `probe`: each makes room for a probe in its UDP payload.
    ///
    /// # Errors
    /// [`RawError`], which names the frame.
    pub fn new<F: AsRef<[u8]>>(
        frames: impl IntoIterator<Item = F>,
        probe: bool,
    ) -> Result<RawFrames, RawError> {
        let (mut bytes, mut starts, mut probes, mut longest) = (Vec::new(), vec![0], Vec::new(), 0);
        for (i, frame) in frames.into_iter().enumerate() {
            let (number, frame) = (i + 1, frame.as_ref());
            if !(SHORTEST_RAW..=LONGEST_RAW).contains(&frame.len()) {
                return Err(RawError::Length { number, found: frame.len() });
            }
            bytes.extend_from_slice(frame);
            if probe {
                let own = starts[i];
                probes.push(make_room(&mut bytes[own..], number)? as u32);
            }
            starts.push(bytes.len());
            longest = longest.max(frame.len());
        }
        match starts.len() - 1 {
            0 => Err(RawError::Empty),
            found if u32::try_from(found).is_err() => Err(RawError::TooMany { found }),
            _ => Ok(RawFrames { bytes: bytes.into(), starts: starts.into(), probes: probes.into(), longest }),
        }
    }

    /// How many there are, at least 1.
    #[inline]
    pub fn flows(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    /// A frame. Panics when there is no such one.
    #[inline]
    pub fn frame(&self, flow: u32) -> &[u8] {
        &self.bytes[self.starts[flow as usize]..self.starts[flow as usize + 1]]
    }

    /// All frames in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.starts.windows(2).map(|ends| &self.bytes[ends[0]..ends[1]])
    }

    /// Length of the longest frame.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Bytes of all frames together, without FCS.
    pub fn total(&self) -> usize {
        self.bytes.len()
    }

    /// Where a frame's probe begins, if they bear any.
    #[inline]
    pub fn probe_offset(&self, flow: u32) -> Option<usize> {
        self.probes.get(flow as usize).map(|&at| at as usize)
    }

    /// Every offset of a probe, each once, the most frequent first.
    pub fn probe_offsets(&self) -> Vec<usize> {
        let mut counts = std::collections::BTreeMap::new();
        for &at in &self.probes {
            *counts.entry(at as usize).or_insert(0u32) += 1;
        }
        let mut offsets: Vec<_> = counts.into_iter().collect();
        offsets.sort_by_key(|&(at, count)| (std::cmp::Reverse(count), at));
        offsets.into_iter().map(|(at, _)| at).collect()
    }

    /// Whether they bear probes.
    pub fn is_probed(&self) -> bool {
        !self.probes.is_empty()
    }
}

/// Where the probe goes; its bytes are zero afterwards, and the checksum is as right as before.
fn make_room(frame: &mut [u8], number: usize) -> Result<usize, RawError> {
    let layout = Layout::of(frame);
    if layout.transport != Transport::Udp {
        return Err(RawError::NotUdp { number });
    }
    let at = layout.l4 + UDP_HEADER;
    let found = layout.end.saturating_sub(at);
    if found < PROBE_LEN {
        return Err(RawError::NoRoom { number, found });
    }
    let removed = Sum::default().bytes(&frame[at..at + PROBE_LEN]);
    frame[at..at + PROBE_LEN].fill(0);
    let check = &mut frame[layout.l4 + 6..layout.l4 + 8];
    let old = u16::from_be_bytes([check[0], check[1]]);
    if old != 0 {
        // RFC 1624: HC' = ~(~HC + ~m + m'), and m' is zero.
        let new = nonzero(Sum::default().u16(!old).u16(!removed.folded()).checksum());
        check.copy_from_slice(&new.to_be_bytes());
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::checksum::pseudo_v4;
    use crate::{FlowSet, FrameTemplate, Payload};

    /// Ethernet, IPv4, UDP: a frame of ours with that payload behind the headers.
    fn udp_frame(payload: &[u8]) -> Vec<u8> {
        let flows = FlowSet::new(1, vec![]).unwrap();
        let template = FrameTemplate::new(&flows, 42 + payload.len().max(18) + 4, Payload::Zero);
        let template = template.unwrap_or_else(|_| FrameTemplate::new(&flows, 64, Payload::Zero).unwrap());
        let mut frame = vec![0; template.len()];
        template.write(0, &mut frame);
        frame[42..42 + payload.len()].copy_from_slice(payload);
        set_checksum(&mut frame);
        frame
    }

    fn udp_sum(frame: &[u8]) -> Sum {
        let layout = Layout::of(frame);
        let address = |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().unwrap());
        let udp = &frame[layout.l4..layout.end];
        pseudo_v4(address(layout.l3 + 12), address(layout.l3 + 16), 17, udp.len() as u16).bytes(udp)
    }

    fn set_checksum(frame: &mut [u8]) {
        frame[40..42].fill(0);
        let check = udp_sum(frame).udp_checksum();
        frame[40..42].copy_from_slice(&check.to_be_bytes());
    }

    proptest! {
        #[test]
        fn a_right_checksum_stays_right_with_a_probe_in_it(
            payload in prop::collection::vec(any::<u8>(), 18..200), words in prop::collection::vec(any::<u16>(), 8),
        ) {
            let frames = RawFrames::new([udp_frame(&payload)], true).unwrap();
            let mut frame = frames.frame(0).to_vec();
            prop_assert_eq!(frames.probe_offset(0), Some(42));
            prop_assert_eq!(&frame[42..60], &[0; 18]);
            // Any 18 bytes that sum to 0xffff, as probes do.
            let area: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
            frame[44..60].copy_from_slice(&area);
            let balance = Sum::default().bytes(&area).checksum();
            frame[42..44].copy_from_slice(&balance.to_be_bytes());
            prop_assert!(udp_sum(&frame).verifies());
        }

        #[test]
        fn takes_any_bytes(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..90), 0..4), probe: bool) {
            let _ = RawFrames::new(&frames, probe);
        }
    }

    #[test]
    fn frames_stay_as_they_are_without_a_probe() {
        let given = [vec![1; 14], vec![2; 1500], vec![3; 60]];
        let frames = RawFrames::new(&given, false).unwrap();
        assert_eq!((frames.flows(), frames.longest(), frames.total()), (3, 1500, 1574));
        assert!(frames.iter().eq(given.iter().map(Vec::as_slice)));
        assert_eq!((frames.probe_offset(1), frames.is_probed()), (None, false));
    }

    #[test]
    fn a_checksum_that_is_absent_or_wrong_stays_so() {
        let mut absent = udp_frame(&[9; 40]);
        absent[40..42].fill(0);
        let mut wrong = udp_frame(&[9; 40]);
        wrong[41] ^= 5;
        let frames = RawFrames::new([&absent, &wrong], true).unwrap();
        assert_eq!(frames.frame(0)[40..42], [0, 0]);
        assert!(!udp_sum(frames.frame(1)).verifies());
        assert_eq!(frames.frame(1)[60..], wrong[60..]);
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let none: [&[u8]; 0] = [];
        assert_eq!(RawFrames::new(none, false), Err(RawError::Empty));
        let short = RawFrames::new([vec![0; 60], vec![0; 13]], false);
        assert_eq!(short, Err(RawError::Length { number: 2, found: 13 }));
        assert_eq!(RawFrames::new([vec![0; 60]], true), Err(RawError::NotUdp { number: 1 }));
        let mut little = udp_frame(&[1; 18]);
        little[17] -= 8;
        assert_eq!(RawFrames::new([little], true), Err(RawError::NoRoom { number: 1, found: 10 }));
    }

    #[test]
    fn the_most_frequent_offset_comes_first() {
        let mut tagged = udp_frame(&[1; 30]);
        tagged.splice(12..12, [0x81, 0, 0, 5]);
        let frames = RawFrames::new([udp_frame(&[1; 30]), tagged.clone(), tagged], true).unwrap();
        assert_eq!(frames.probe_offsets(), [46, 42]);
    }
}
