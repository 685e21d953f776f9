//! Where each field lies in a flow key's words.

use crate::Field;

/// Number of 64-bit words in a [`FlowKey`](super::FlowKey). A key of 256 bytes is cleared by a few vector stores; a
/// longer one by a call, which would make parsing a third slower.
pub const WORDS: usize = 32;

/// The word that says which fields are present: bit `field as u8`. The Nicira extensions' fields, which every packet
/// has, have no bit.
pub const PRESENCE: usize = 0;

/// A field's place: its lowest bit is bit `shift` of word `word`. A field of 128 bits fills `word` (its upper
/// half) and the word behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index of the word.
    pub word: u8,
    /// Bits to the right of the field in its word.
    pub shift: u8,
}

/// The place of a field.
///
/// Fields that lie side by side in a header share a word in the same order, so that parsing copies words.
#[inline]
pub const fn slot(field: Field) -> Slot {
    let (word, shift) = match field {
        Field::InPort => (1, 32),
        Field::InPhyPort => (1, 0),
        Field::Metadata => (2, 0),
        Field::TunnelId => (3, 0),
        Field::EthDst => (4, 16),
        Field::VlanVid => (4, 3),
        Field::VlanPcp => (4, 0),
        Field::EthSrc => (5, 16),
        Field::EthType => (5, 0),
        Field::IpDscp => (6, 58),
        Field::IpEcn => (6, 56),
        Field::IpProto => (6, 48),
        Field::IpTtl => (6, 40),
        Field::Ipv4Id => (6, 24),
        Field::MplsLabel => (6, 4),
        Field::MplsTc => (6, 1),
        Field::MplsBos => (6, 0),
        Field::Ipv4Src => (7, 32),
        Field::Ipv4Dst => (7, 0),
        Field::TcpSrc => (8, 48),
        Field::TcpDst => (8, 32),
        Field::UdpSrc => (8, 16),
        Field::UdpDst => (8, 0),
        Field::SctpSrc => (9, 48),
        Field::SctpDst => (9, 32),
        Field::TcpFlags => (21, 0),
        Field::Icmpv4Type => (20, 56),
        Field::Icmpv4Code => (20, 48),
        Field::ArpOp => (10, 48),
        Field::ArpSha => (10, 0),
        Field::ArpTha => (11, 16),
        Field::Icmpv6Type => (11, 8),
        Field::Icmpv6Code => (11, 0),
        Field::ArpSpa => (12, 32),
        Field::ArpTpa => (12, 0),
        Field::Ipv6Src => (13, 0),
        Field::Ipv6Dst => (15, 0),
        Field::Ipv6NdTarget => (17, 0),
        Field::Ipv6NdSll => (19, 0),
        Field::Ipv6NdTll => (20, 0),
        Field::Ipv6Flabel => (21, 44),
        Field::PbbIsid => (21, 20),
        Field::PbbUca => (19, 57),
        Field::Ipv6Exthdr => (19, 48),
        Field::ActsetOutput => (22, 32),
        Field::PacketType => (22, 0),
        Field::Reg0 => (23, 32),
        Field::Reg1 => (23, 0),
        Field::Reg2 => (24, 32),
        Field::Reg3 => (24, 0),
        Field::Reg4 => (25, 32),
        Field::Reg5 => (25, 0),
        Field::Reg6 => (26, 32),
        Field::Reg7 => (26, 0),
        Field::Reg8 => (27, 32),
        Field::Reg9 => (27, 0),
        Field::Reg10 => (28, 32),
        Field::Reg11 => (28, 0),
        Field::Reg12 => (29, 32),
        Field::Reg13 => (29, 0),
        Field::Reg14 => (30, 32),
        Field::Reg15 => (30, 0),
        Field::TunSrc => (31, 32),
        Field::TunDst => (31, 0),
        Field::PktMark => (9, 0),
    };
    Slot { word, shift }
}

/// The presence bit of a field; 0 for those that are always there.
#[inline]
pub const fn presence(field: Field) -> u64 {
    if field.is_nicira() { 0 } else { 1 << field as u8 }
}

/// Reads a field's bits, whether present or not.
#[inline]
pub(super) fn read(words: &[u64; WORDS], field: Field) -> u128 {
    let Slot { word, shift } = slot(field);
    let word = usize::from(word);
    if field.bits() == 128 {
        u128::from(words[word]) << 64 | u128::from(words[word + 1])
    } else {
        u128::from(words[word] >> shift) & field.full_mask()
    }
}

/// Writes a field's bits; those above its width are cut off.
#[inline]
pub(super) fn write(words: &mut [u64; WORDS], field: Field, value: u128) {
    let Slot { word, shift } = slot(field);
    let word = usize::from(word);
    if field.bits() == 128 {
        words[word] = (value >> 64) as u64;
        words[word + 1] = value as u64;
    } else {
        let mask = field.full_mask() as u64;
        words[word] = words[word] & !(mask << shift) | (value as u64 & mask) << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_fields_share_a_bit() {
        let mut taken = [0u64; WORDS];
        for &field in Field::ALL {
            assert_eq!(taken[PRESENCE] & presence(field), 0, "{field}");
            taken[PRESENCE] |= presence(field);
        }
        for &field in Field::ALL {
            let mut mine = [0u64; WORDS];
            write(&mut mine, field, u128::MAX);
            assert_eq!(mine.iter().map(|w| w.count_ones()).sum::<u32>(), field.bits(), "{field}");
            for (word, (taken, mine)) in taken.iter_mut().zip(mine).enumerate() {
                assert!(*taken & mine == 0, "{field} in word {word}");
                *taken |= mine;
            }
        }
    }
}
