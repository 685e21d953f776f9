//! VLAN tags, for which ovs-ofctl has several spellings: `dl_vlan`, `dl_vlan_pcp`, `vlan_vid`, `vlan_tci`.

use flowgauge_packet::Field;

use super::SyntaxError;
use super::scan::Span;
use super::value;
use crate::{Match, MatchEntry};

/// The bit of `vlan_vid` that says that there is a tag (OFPVID_PRESENT).
pub const VLAN_PRESENT: u128 = 0x1000;
/// The bits of a tag's control information that `vlan_vid` has; the priority's are above them.
const VID_BITS: u128 = 0x1fff;
const PCP_SHIFT: u32 = 13;

/// `dl_vlan=5`, or 0xffff for packets without a tag.
pub fn dl_vlan(text: Span<'_>) -> Result<MatchEntry, SyntaxError> {
    match value::number(text, 0xffff)? {
        0xffff => Ok(MatchEntry::exact(Field::VlanVid, 0)),
        number @ 0..=0xfff => Ok(MatchEntry::exact(Field::VlanVid, VLAN_PRESENT | number)),
        _ => Err(text.expected("a VLAN id from 0 to 4095, or 0xffff for packets without a tag")),
    }
}

/// `vlan_tci=0x1005/0x1fff`: id, presence and priority at once; 0 alone means no tag.
pub fn vlan_tci(text: Span<'_>) -> Result<Vec<MatchEntry>, SyntaxError> {
    let (value, mask) = match text.split_once("/") {
        Some((value, mask)) => (value::number(value, 0xffff)?, value::number(mask, 0xffff)?),
        None => match value::number(text, 0xffff)? {
            0 => (0, VID_BITS),
            value => (value, 0xffff),
        },
    };
    let (vid, vid_mask) = (value & mask & VID_BITS, mask & VID_BITS);
    let (pcp, pcp_mask) = ((value & mask) >> PCP_SHIFT, mask >> PCP_SHIFT);
    let vid = (vid_mask != 0).then_some(MatchEntry::masked(Field::VlanVid, vid, vid_mask));
    let pcp = match pcp_mask {
        0 => None,
        7 => Some(MatchEntry::exact(Field::VlanPcp, pcp)),
        _ => return Err(text.expected("a mask with all or none of the priority's bits 0xe000")),
    };
    Ok(vid.into_iter().chain(pcp).collect())
}

/// What the match says of tags, as ovs-ofctl prints it; nothing if it says nothing.
pub fn print(m: &Match) -> Option<String> {
    let counts = |e: &&MatchEntry| e.mask != 0;
    let (vid, pcp) = (m.entry(Field::VlanVid).filter(counts), m.entry(Field::VlanPcp).filter(counts));
    let present = |e: &MatchEntry| e.value & VLAN_PRESENT != 0;
    match (vid, pcp) {
        (None, None) => None,
        (Some(e), None) if e.is_exact() && present(e) => Some(format!("dl_vlan={}", e.value & 0xfff)),
        (Some(e), Some(pcp)) if e.is_exact() && present(e) => {
            Some(format!("dl_vlan={},dl_vlan_pcp={}", e.value & 0xfff, pcp.value))
        }
        (Some(e), Some(pcp)) if e.mask == VLAN_PRESENT && present(e) => {
            Some(format!("dl_vlan_pcp={}", pcp.value))
        }
        (None, Some(pcp)) => Some(format!("dl_vlan_pcp={}", pcp.value)),
        (Some(vid), pcp) => {
            let (pcp, pcp_mask) = pcp.map_or((0, 0), |e| (e.value, e.mask));
            let (value, mask) = (vid.value | pcp << PCP_SHIFT, vid.mask | pcp_mask << PCP_SHIFT);
            Some(format!("vlan_tci={value:#06x}/{mask:#06x}"))
        }
    }
}
