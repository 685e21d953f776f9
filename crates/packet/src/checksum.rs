//! The Internet checksum: full (RFC 1071), over pseudo headers, and updated in place (RFC 1624).
//!
//! A [`Sum`] is a one's-complement sum in progress. Its order of addition doesn't matter, so a template sums
//! its payload once and adds a header per flow. Summing is done in native byte order, eight bytes at a time;
//! only the result is turned to network order (RFC 1071, section 2B).

/// A one's-complement sum of 16-bit words in progress, in native byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl Sum {
    /// Adds bytes that start at an even offset of the data summed. An odd last byte is padded with zero.
    #[must_use]
    #[inline]
    pub fn bytes(self, bytes: &[u8]) -> Sum {
        let mut sum = self;
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            sum = sum.word(u64::from_ne_bytes(word.try_into().expect("chunks of 8")));
        }
        let rest = words.remainder();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum.word(u64::from_ne_bytes(last))
    }

    /// Adds a 16-bit number.
    #[must_use]
    #[inline]
    pub fn u16(self, value: u16) -> Sum {
        self.word(value.to_be() as u64)
    }

    /// Adds a 32-bit number.
    #[must_use]
    #[inline]
    pub fn u32(self, value: u32) -> Sum {
        self.word(value.to_be() as u64)
    }

    /// Adds a 128-bit number.
    #[must_use]
    #[inline]
    pub fn u128(self, value: u128) -> Sum {
        let value = value.to_be();
        self.word(value as u64).word((value >> 64) as u64)
    }

    /// Adds another sum, of data whose length is even or that comes last.
    #[must_use]
    #[inline]
    pub fn sum(self, other: Sum) -> Sum {
        self.word(other.0)
    }

    /// The checksum to be put in a header: the complement of the sum. All data with it then sums to 0xffff.
    #[inline]
    pub fn checksum(self) -> u16 {
        !self.folded()
    }

    /// The checksum as UDP carries it: 0 means "none" there, so 0 is sent as 0xffff (RFC 768).
    #[inline]
    pub fn udp_checksum(self) -> u16 {
        nonzero(self.checksum())
    }

    /// Whether data that includes its checksum is sound.
    #[inline]
    pub fn verifies(self) -> bool {
        self.folded() == 0xffff
    }

    /// The sum in 16 bits, in network order's value.
    #[inline]
    pub fn folded(self) -> u16 {
        let mut sum = self.0;
        sum = (sum & 0xffff_ffff) + (sum >> 32);
        sum = (sum & 0xffff_ffff) + (sum >> 32);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        u16::from_be((sum & 0xffff) as u16 + (sum >> 16) as u16)
    }

    #[inline]
    fn word(self, value: u64) -> Sum {
        let (sum, carry) = self.0.overflowing_add(value);
        Sum(sum + carry as u64)
    }
}

/// The checksum of `bytes` (RFC 1071), to be put in a header whose checksum field is zero.
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum::default().bytes(bytes).checksum()
}

/// SCTP's checksum (CRC-32C) of a packet whose checksum field is taken as zero, as a number in network order
/// (RFC 9260, 6.8 and appendix A). Fewer than 12 bytes give 0.
pub fn sctp(packet: &[u8]) -> u32 {
    let Some((header, chunks)) = packet.split_first_chunk::<12>() else { return 0 };
    let state = crc32c(crc32c(crc32c(!0, &header[..8]), &[0; 4]), chunks);
    (!state).swap_bytes()
}

/// CRC-32C (Castagnoli, reflected) bit by bit: only templates and edits of SCTP need it.
fn crc32c(state: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(state, |state, &byte| {
        (0..8).fold(state ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 })
    })
}

/// The sum of the pseudo header of TCP and UDP over IPv4 (RFC 768, 9293); `len` counts the L4 header and
/// data.
pub fn pseudo_v4(src: u32, dst: u32, proto: u8, len: u16) -> Sum {
    Sum::default().u32(src).u32(dst).u16(proto as u16).u16(len)
}

/// The sum of the pseudo header of TCP, UDP and ICMPv6 over IPv6 (RFC 8200, 8.1); `proto` is that of the
/// upper-layer header, `len` counts it and its data.
pub fn pseudo_v6(src: u128, dst: u128, proto: u8, len: u32) -> Sum {
    Sum::default().u128(src).u128(dst).u16(proto as u16).u32(len)
}

/// What replacing bytes does to a checksum that covers them (RFC 1624, equation 3): computed once, applied to each
/// checksum, an IPv4 header's and a pseudo header's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change(Sum);

impl Change {
    /// `old` is replaced by `new`, an even number of bytes at an even offset.
    #[inline(always)]
    pub fn from<const N: usize>(old: [u8; N], new: [u8; N]) -> Change {
        const { assert!(N % 2 == 0, "whole 16-bit words are replaced") };
        Change(Sum::default().bytes(&old.map(|byte| !byte)).bytes(&new))
    }

    /// The checksum after the change.
    #[inline(always)]
    pub fn applied(self, check: u16) -> u16 {
        self.0.u16(!check).checksum()
    }
}

/// The checksum after a 16-bit word at an even offset changed from `old` to `new` (RFC 1624, equation 3).
#[inline]
pub fn update_u16(check: u16, old: u16, new: u16) -> u16 {
    Change::from(old.to_be_bytes(), new.to_be_bytes()).applied(check)
}

/// A UDP checksum after an update: 0 ("none") would be read as no checksum, and is sent as 0xffff.
#[inline]
pub(crate) fn nonzero(check: u16) -> u16 {
    if check == 0 { 0xffff } else { check }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071 word by word.
    fn naive(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in bytes.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn agrees_with_rfc_1071_example() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn agrees_with_rfc_1624_example() {
        assert_eq!(update_u16(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn crc_agrees_with_rfc_3720_example() {
        assert_eq!(!crc32c(!0, &[0; 32]), 0x8a91_36aa);
        assert_eq!(!crc32c(!0, b"123456789"), 0xe306_9283);
    }

    #[test]
    fn all_ones_do_not_overflow() {
        assert_eq!(checksum(&[0xff; 9018]), 0);
        assert_eq!(checksum(&[]), 0xffff);
    }

    proptest! {
        #[test]
        fn full_agrees_with_naive(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(checksum(&bytes), naive(&bytes));
        }

        #[test]
        fn pseudo_headers_agree_with_their_bytes(src: u128, dst: u128, proto: u8, len: u16) {
            let v4 = [&(src as u32).to_be_bytes()[..], &(dst as u32).to_be_bytes(), &[0, proto], &len.to_be_bytes()];
            prop_assert_eq!(pseudo_v4(src as u32, dst as u32, proto, len).checksum(), naive(&v4.concat()));
            let v6 = [&src.to_be_bytes()[..], &dst.to_be_bytes(), &u32::from(len).to_be_bytes(), &[0, 0, 0, proto]];
            prop_assert_eq!(pseudo_v6(src, dst, proto, len.into()).checksum(), naive(&v6.concat()));
        }

        #[test]
        fn updates_keep_sound_data_sound(
            mut bytes in proptest::collection::vec(any::<u8>(), 32), new: [u8; 8], at in 1usize..12
        ) {
            bytes[..2].fill(0);
            let check = checksum(&bytes);
            let old = bytes[2 * at..2 * at + 8].try_into().unwrap();
            let updated = Change::from(old, new).applied(check);
            bytes[2 * at..2 * at + 8].copy_from_slice(&new);
            bytes[..2].copy_from_slice(&updated.to_be_bytes());
            prop_assert!(Sum::default().bytes(&bytes).verifies() || bytes.iter().all(|&b| b == 0));
        }
    }
}
