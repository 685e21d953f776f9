//! Version negotiation: the HELLO that we send, and the version that two HELLOs agree on.

use crate::error::ChannelError;
use crate::wire;

/// The set of wire versions that one side speaks. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions(u32);

impl Versions {
    /// These wire versions (1 is OpenFlow 1.0, 4 is 1.3); `None` when there is none, or one is not of 1 to 6.
    pub fn new(wire: &[u8]) -> Option<Versions> {
        let mut bits = 0;
        for &version in wire {
            if !(1..=6).contains(&version) {
                return None;
            }
            bits |= 1 << version;
        }
        (bits != 0).then_some(Versions(bits))
    }

    /// All that the bitmap names, ascending.
    pub fn list(self) -> Vec<u8> {
        (0..32).filter(|v| self.0 >> v & 1 == 1).collect()
    }

    /// The highest.
    pub fn highest(self) -> u8 {
        31 - self.0.leading_zeros() as u8
    }

    /// Whether `version` is one of them.
    pub fn contains(self, version: u8) -> bool {
        version < 32 && self.0 >> version & 1 == 1
    }

    /// The HELLO that offers these versions: highest in the header, all in the bitmap element.
    pub fn hello(self, xid: u32) -> Vec<u8> {
        let mut body = vec![0, 1, 0, 8];
        body.extend_from_slice(&self.0.to_be_bytes());
        wire::message(self.highest(), wire::HELLO, xid, &body)
    }
}

/// The version that our offer and the peer's HELLO agree on (OpenFlow 1.3, section 6.3.1): the highest in
/// both bitmaps, or, when the peer sent none, the lower of the two header versions.
///
/// # Errors
/// [`ChannelError::VersionMismatch`] when there is none.
pub fn negotiate(ours: Versions, hello: &[u8]) -> Result<u8, ChannelError> {
    let mismatch = |theirs| ChannelError::VersionMismatch { ours: ours.list(), theirs };
    let header_version = hello.first().copied().unwrap_or(0);
    match bitmap(hello) {
        Some(theirs) => {
            let common = ours.0 & theirs;
            if common == 0 { Err(mismatch(Versions(theirs).list())) } else { Ok(Versions(common).highest()) }
        }
        None => {
            let version = header_version.min(ours.highest());
            if ours.contains(version) { Ok(version) } else { Err(mismatch(vec![header_version])) }
        }
    }
}

/// The version bitmap among a HELLO's elements. Bytes that are no elements (1.0 allows any) count as none.
fn bitmap(hello: &[u8]) -> Option<u32> {
    let mut rest = hello.get(wire::HEADER_LEN..)?;
    while let Some(&[t0, t1, l0, l1]) = rest.first_chunk::<4>() {
        let length = usize::from(u16::from_be_bytes([l0, l1]));
        if [t0, t1] == [0, 1] && length >= 8 {
            return rest.get(4..8).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
        }
        if length < 4 {
            return None;
        }
        rest = rest.get(length.next_multiple_of(8)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn versions(list: &[u8]) -> Versions {
        Versions::new(list).unwrap()
    }

    #[test]
    fn two_bitmaps_agree_on_the_highest_common_version() {
        assert_eq!(negotiate(versions(&[1, 4]), &versions(&[1, 4, 6]).hello(1)), Ok(4));
        assert_eq!(negotiate(versions(&[1, 5]), &versions(&[1, 4]).hello(1)), Ok(1));
        let error = negotiate(versions(&[4]), &versions(&[1, 6]).hello(1)).unwrap_err();
        assert_eq!(error, ChannelError::VersionMismatch { ours: vec![4], theirs: vec![1, 6] });
    }

    #[test]
    fn without_a_bitmap_the_lower_header_counts() {
        assert_eq!(negotiate(versions(&[1, 4]), &wire::message(1, wire::HELLO, 1, &[])), Ok(1));
        assert_eq!(negotiate(versions(&[1, 4]), &wire::message(6, wire::HELLO, 1, &[])), Ok(4));
        let error = negotiate(versions(&[4]), &wire::message(1, wire::HELLO, 1, &[])).unwrap_err();
        assert_eq!(error, ChannelError::VersionMismatch { ours: vec![4], theirs: vec![1] });
    }

    #[test]
    fn other_elements_are_skipped() {
        let mut body = vec![0, 9, 0, 5, 1, 0, 0, 0];
        body.extend([0, 1, 0, 8, 0, 0, 0, 0x12]);
        assert_eq!(negotiate(versions(&[1, 4, 6]), &wire::message(6, wire::HELLO, 1, &body)), Ok(4));
    }

    #[test]
    fn an_offer_needs_known_versions() {
        assert_eq!(Versions::new(&[]), None);
        assert_eq!(Versions::new(&[1, 7]), None);
    }

    proptest! {
        #[test]
        fn random_hellos_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = negotiate(versions(&[1, 4]), &bytes);
        }
    }
}
