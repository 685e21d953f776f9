//! What a flow entry matches: an ordered list of fields, each with value and mask.

use std::fmt;

use flowgauge_packet::{Field, FlowKey};
use serde::{Deserialize, Serialize};

use super::{MatchError, MatchProblem};

/// One field of a match. A packet matches if `packet & mask == value & mask`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatchEntry {
    /// The field.
    pub field: Field,
    /// Its value, right-aligned.
    pub value: u128,
    /// The bits that count; [`Field::full_mask`] for an exact match.
    pub mask: u128,
}

impl MatchEntry {
    /// An exact match.
    pub const fn exact(field: Field, value: u128) -> MatchEntry {
        MatchEntry { field, value, mask: field.full_mask() }
    }

    /// A match of the bits in `mask`.
    pub const fn masked(field: Field, value: u128, mask: u128) -> MatchEntry {
        MatchEntry { field, value, mask }
    }

    /// Whether all bits of the field count.
    pub const fn is_exact(&self) -> bool {
        self.mask == self.field.full_mask()
    }
}

impl fmt::Debug for MatchEntry {
    /// `ipv4_dst=0xa000000/0xff000000`; without the mask if it is exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:#x}", self.field, self.value)?;
        if self.is_exact() { Ok(()) } else { write!(f, "/{:#x}", self.mask) }
    }
}

/// An OXM field that Flowgauge does not know, as it stood on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawOxm {
    /// Class, field, has-mask bit and length, as one number.
    #[serde(with = "crate::json::hex_number")]
    pub header: u32,
    /// What followed the header.
    #[serde(with = "crate::json::hex")]
    pub payload: Vec<u8>,
}

/// What a flow entry matches; the empty match matches every packet.
///
/// Entries keep the order in which they were added or received. Equality looks at the order too: compare
/// [`Match::canonical`] forms to ask whether two matches mean the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Match {
    /// The fields that are known.
    pub entries: Vec<MatchEntry>,
    /// The fields that are not; a match with such fields matches nothing here.
    pub unknown: Vec<RawOxm>,
}

impl Match {
    /// Every packet.
    pub const fn any() -> Match {
        Match { entries: Vec::new(), unknown: Vec::new() }
    }

    /// Whether it matches every packet.
    pub fn is_any(&self) -> bool {
        self.entries.is_empty() && self.unknown.is_empty()
    }

    /// This match with one more field, exactly matched: `Match::any().with(Field::InPort, 1)`.
    #[must_use]
    pub fn with(self, field: Field, value: u128) -> Match {
        self.with_masked(field, value, field.full_mask())
    }

    /// This match with one more field, of which the bits in `mask` count.
    #[must_use]
    pub fn with_masked(mut self, field: Field, value: u128, mask: u128) -> Match {
        self.entries.push(MatchEntry { field, value, mask });
        self
    }

    /// The entry of `field`.
    pub fn entry(&self, field: Field) -> Option<&MatchEntry> {
        self.entries.iter().find(|e| e.field == field)
    }

    /// The value of `field` if it is matched exactly.
    pub fn get(&self, field: Field) -> Option<u128> {
        self.entry(field).filter(|e| e.is_exact()).map(|e| e.value)
    }

    /// The match of the packets that have `fields` in common with `packet`, in canonical order, with whatever
    /// the fields need before they may be matched.
    ///
    /// # Errors
    /// [`MatchProblem::NoValue`] for a field that the packet does not have.
    pub fn exact(packet: &FlowKey, fields: &[Field]) -> Result<Match, MatchError> {
        let entry = |&field| match packet.get(field) {
            Some(value) => Ok(MatchEntry::exact(field, value)),
            None => Err(MatchError { field, problem: MatchProblem::NoValue }),
        };
        let entries = fields.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        Ok(Match { entries, unknown: Vec::new() }.with_prerequisites(|field| packet.get(field)))
    }

    /// Whether a packet with this key matches; a field that it does not have never does.
    pub fn matches(&self, packet: &FlowKey) -> bool {
        let entry_matches = |e: &MatchEntry| packet.get(e.field).is_some_and(|v| (v ^ e.value) & e.mask == 0);
        self.unknown.is_empty() && self.entries.iter().all(entry_matches)
    }

    /// The same match with its fields in the order of [`Field::ALL`] (prerequisites come first), values cut to
    /// their masks, and fields of which no bit counts left out.
    #[must_use]
    pub fn canonical(&self) -> Match {
        let mut result = self.clone();
        result.entries.retain(|e| e.mask != 0);
        result.entries.sort_by_key(|e| e.field);
        for entry in &mut result.entries {
            entry.value &= entry.mask;
        }
        result
    }
}

impl FromIterator<MatchEntry> for Match {
    fn from_iter<I: IntoIterator<Item = MatchEntry>>(entries: I) -> Match {
        Match { entries: entries.into_iter().collect(), unknown: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp() -> FlowKey {
        FlowKey::from_iter([
            (Field::InPort, 1),
            (Field::EthType, 0x0800),
            (Field::VlanVid, 0),
            (Field::IpProto, 17),
            (Field::Ipv4Dst, 0x0a000001),
            (Field::UdpDst, 80),
        ])
    }

    #[test]
    fn an_exact_match_matches_its_packet_and_no_other() {
        let m = Match::exact(&udp(), &[Field::UdpDst, Field::Ipv4Dst]).unwrap();
        assert_eq!(m.check(), Ok(()));
        assert_eq!(m.entries.len(), 4, "eth_type and ip_proto are added");
        assert!(m.matches(&udp()));
        let mut other = udp();
        other.set(Field::UdpDst, 81);
        assert!(!m.matches(&other));
    }

    #[test]
    fn a_field_that_the_packet_lacks_can_not_be_matched() {
        let error = Match::exact(&udp(), &[Field::TcpDst]).unwrap_err();
        assert_eq!(error.to_string(), "tcp_dst has no value in these packets");
        assert!(!Match::any().with_masked(Field::TcpDst, 0, 0xf000).matches(&udp()));
    }

    #[test]
    fn only_masked_bits_count() {
        let tagged = Match::any().with_masked(Field::VlanVid, 0x1000, 0x1000);
        assert!(!tagged.matches(&udp()));
        let net = Match::any().with_masked(Field::Ipv4Dst, 0x0a000000, 0xff000000);
        assert!(net.matches(&udp()));
    }

    #[test]
    fn canonical_forms_are_equal_when_matches_mean_the_same() {
        let a = Match::any().with(Field::UdpDst, 1).with_masked(Field::Ipv4Src, 0x0a0000ff, 0xffffff00);
        let b = Match::any().with_masked(Field::Ipv4Src, 0x0a000000, 0xffffff00).with(Field::UdpDst, 1);
        assert_ne!(a, b);
        assert_eq!(a.canonical(), b.canonical().with_masked(Field::EthSrc, 1, 0).canonical());
    }
}
