//! The probe: 18 bytes right behind the UDP header of each frame, by which it is recognised and timed.
//!
//! ```text
//! byte   0  balance   makes the one's complement sum of the nine words 0xffff, so that the UDP checksum stays valid
//!        2  nonce     of the trial: frames of an earlier one are recognised
//!        4  stream
//!        6  sequence number, 48 bits
//!       12  when it left, in nanoseconds since the trial's origin, 48 bits (78 hours)
//! ```
//!
//! A trial's origin is a multiple of 2^47 ns on the tester's clock ([`Probe::origin`]), so that another program on the same host
//! knows when a frame left. All fields are big-endian. The balance doubles as a check: a probe area of zeros, or a damaged one, is no probe.

use flowgauge_clock::Nanos;

/// What a frame says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The trial's nonce.
    pub nonce: u16,
    /// The stream's number.
    pub stream: u16,
    /// The sequence number within the stream, below 2^48.
    pub seq: u64,
    /// When it left, since the trial's origin; below 2^48 ns.
    pub time: Nanos,
}

/// Why bytes are not a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// Fewer than [`Probe::LEN`] bytes.
    #[error("{found} bytes are too few for a probe of 18")]
    TooShort {
        /// How many there are.
        found: usize,
    },
    /// The balance is wrong: not a probe, or a damaged one. What the fields say is given all the same.
    #[error("the probe's balance is wrong")]
    Unbalanced {
        /// The fields as they stand.
        fields: Probe,
    },
}

impl Probe {
    /// Its length in bytes.
    pub const LEN: usize = 18;
    /// Sequence numbers and times are below this.
    pub const LIMIT: u64 = 1 << 48;

    /// The origin of a trial that starts at `now`: the last multiple of 2^47 ns (39 hours) on the tester's clock.
    pub const fn origin(now: Nanos) -> Nanos {
        Nanos(now.0 - now.0 % (Self::LIMIT / 2))
    }

    /// How long ago the frame left, for a program on the same host that does not know the trial; wrong by multiples of 39 hours
    /// where the two clocks have nothing to do with each other.
    pub const fn age(&self, now: Nanos) -> Nanos {
        Nanos(now.0.wrapping_sub(self.time.0) % (Self::LIMIT / 2))
    }

    /// Writes the probe over the first 18 bytes of `area`. Panics when there are fewer. Sequence number and time are cut
    /// to 48 bits.
    #[inline]
    pub fn write(&self, area: &mut [u8]) {
        let (head, tail) = self.words();
        write(area, fold(head, tail), head, tail);
    }

    /// All but the balance.
    #[inline]
    fn words(&self) -> (u64, u64) {
        let head = (self.nonce as u64) << 48 | (self.stream as u64) << 32 | (self.seq >> 16) & 0xffff_ffff;
        (head, self.seq << 48 | self.time.0 & 0xffff_ffff_ffff)
    }

    /// Reads the probe at the start of `area`.
    #[inline]
    pub fn read(area: &[u8]) -> Result<Probe, ProbeError> {
        let Some(area) = area.first_chunk::<{ Self::LEN }>() else {
            return Err(ProbeError::TooShort { found: area.len() });
        };
        let word = |at: usize| u64::from_be_bytes(area[at..at + 8].try_into().expect("8 bytes"));
        let balance = u16::from_be_bytes([area[0], area[1]]);
        let (head, tail) = (word(2), word(10));
        let fields = Probe {
            nonce: (head >> 48) as u16,
            stream: (head >> 32) as u16,
            seq: (head & 0xffff_ffff) << 16 | tail >> 48,
            time: Nanos(tail & 0xffff_ffff_ffff),
        };
        if balance == !fold(head, tail) { Ok(fields) } else { Err(ProbeError::Unbalanced { fields }) }
    }
}

/// The probes of consecutive frames that leave at the same time, written faster than one by one.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRun {
    next: Probe,
    /// All of the probe but the balance and the low word of the sequence number, as the bytes stand.
    head: [u8; 8],
    time: [u8; 8],
    /// One's complement sum of all words but the low one of the sequence number.
    sum: u16,
}

impl ProbeRun {
    /// From `first` on.
    pub fn new(first: Probe) -> ProbeRun {
        let (head, tail) = first.words();
        let time = tail & 0xffff_ffff_ffff;
        ProbeRun { next: first, head: head.to_be_bytes(), time: time.to_be_bytes(), sum: fold(head, time) }
    }

    /// Writes the next probe over the first 18 bytes of `area`. Panics when there are fewer.
    #[inline]
    pub fn write_next(&mut self, area: &mut [u8]) {
        let low = self.next.seq as u16;
        let (sum, carry) = self.sum.overflowing_add(low);
        // After a carry the sum is below 0xffff, so that adding it can't carry again.
        let balance = !(sum + u16::from(carry));
        let tail = u64::from_ne_bytes(self.time) | u64::from_ne_bytes(low_word_first(low));
        let area = area.first_chunk_mut::<{ Probe::LEN }>().expect("room for a probe");
        area[..2].copy_from_slice(&balance.to_be_bytes());
        area[2..10].copy_from_slice(&self.head);
        area[10..].copy_from_slice(&tail.to_ne_bytes());
        self.next.seq += 1;
        if low == u16::MAX {
            *self = ProbeRun::new(self.next);
        }
    }
}

/// A sequence number's low word where it stands in the last eight bytes of a probe.
#[inline]
fn low_word_first(low: u16) -> [u8; 8] {
    let [high, low] = low.to_be_bytes();
    [high, low, 0, 0, 0, 0, 0, 0]
}

#[inline]
fn write(area: &mut [u8], sum: u16, head: u64, tail: u64) {
    let area: &mut [u8; Probe::LEN] = area[..Probe::LEN].as_mut().try_into().expect("18 bytes");
    area[..2].copy_from_slice(&(!sum).to_be_bytes());
    area[2..10].copy_from_slice(&head.to_be_bytes());
    area[10..].copy_from_slice(&tail.to_be_bytes());
}

/// The one's complement sum of the eight 16-bit words of two numbers.
#[inline]
fn fold(head: u64, tail: u64) -> u16 {
    let (sum, carry) = head.overflowing_add(tail);
    // After a carry the sum is below 2^64 - 1, so that adding it can't carry again.
    let sum = sum + carry as u64;
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn probes() -> impl Strategy<Value = Probe> {
        (any::<u16>(), any::<u16>(), 0..Probe::LIMIT, 0..Probe::LIMIT)
            .prop_map(|(nonce, stream, seq, time)| Probe { nonce, stream, seq, time: Nanos(time) })
    }

    /// The one's complement sum of RFC 1071, a word at a time.
    fn sum(bytes: &[u8]) -> u32 {
        bytes.chunks(2).fold(0u32, |sum, w| {
            let sum = sum + u16::from_be_bytes([w[0], w[1]]) as u32;
            (sum & 0xffff) + (sum >> 16)
        })
    }

    proptest! {
        #[test]
        fn comes_back_as_it_was_written_and_balanced(probe in probes()) {
            let mut area = [0xa5; 20];
            probe.write(&mut area);
            prop_assert_eq!(Probe::read(&area), Ok(probe));
            prop_assert_eq!(sum(&area[..18]), 0xffff);
            prop_assert_eq!(&area[18..], &[0xa5; 2]);
        }

        #[test]
        fn a_run_is_probe_after_probe(first in probes(), back in prop::option::of(0..5u64)) {
            // Also across the wrap of the sequence number's low word.
            let seq = back.map_or(first.seq, |back| (first.seq | 0xffff) - back) & (Probe::LIMIT - 1);
            let mut run = ProbeRun::new(Probe { seq, ..first });
            for seq in seq..seq + 8 {
                let (mut found, mut expected) = ([0; 18], [0; 18]);
                run.write_next(&mut found);
                Probe { seq, ..first }.write(&mut expected);
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn notices_a_flipped_bit(probe in probes(), bit in 0..18 * 8usize) {
            let mut area = [0; 18];
            probe.write(&mut area);
            area[bit / 8] ^= 1 << (bit % 8);
            let noticed = matches!(Probe::read(&area), Err(ProbeError::Unbalanced { .. }));
            prop_assert!(noticed);
        }

        #[test]
        fn takes_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Probe::read(&bytes);
        }
    }

    #[test]
    fn another_program_knows_its_age() {
        for now in [5, Probe::LIMIT / 2 + 7, 9 * Probe::LIMIT + 123_456] {
            let (start, left) = (Nanos(now), Nanos(now + 1_000_000));
            let probe = Probe { nonce: 1, stream: 1, seq: 1, time: left - Probe::origin(start) };
            assert_eq!(probe.age(left + Nanos(250)), Nanos(250));
        }
    }

    #[test]
    fn zeros_are_no_probe() {
        assert!(Probe::read(&[0; 18]).is_err());
        assert_eq!(Probe::read(&[0; 17]), Err(ProbeError::TooShort { found: 17 }));
    }

    #[test]
    fn stands_where_the_methods_say() {
        let probe =
            Probe { nonce: 0x0102, stream: 0x0304, seq: 0x0506_0708_090a, time: Nanos(0x0b0c_0d0e_0f10) };
        let mut area = [0; 18];
        probe.write(&mut area);
        assert_eq!(area[2..], std::array::from_fn::<u8, 16, _>(|i| i as u8 + 1));
    }
}
