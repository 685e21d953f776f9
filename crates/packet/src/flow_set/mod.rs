//! Flow sets: families of header values, from which both flow entries and frames are made, so that rules
//! and traffic can't disagree.

mod choose;
pub(crate) mod defaults;
mod error;
mod pattern;
pub mod stack;

use crate::{Field, FlowKey};
pub use error::FlowSetError;
pub use pattern::Pattern;
pub(crate) use pattern::split_mix;
use stack::Stack;

/// A family of `count` header values: base header and patterns on fields.
///
/// The fields named decide the header stack; where they are silent it is Ethernet, IPv4, UDP with a TTL of
/// 64, and the addresses and ports that RFC 2544, 5180 set aside for benchmarks. Pipeline fields (ports,
/// metadata, tunnel id) are part of the flows' keys and not of their frames. Some rules keep keys and frames
/// in agreement:
///
/// * `vlan_vid` fixed at 0 means no tag; any other pattern means a tag, and its values get OFPVID_PRESENT
///   (0x1000).
/// * `eth_type`, `ip_proto` and `mpls_bos` decide which headers follow, so they must be fixed; so must
///   `icmpv6_type` beside neighbour discovery fields.
/// * Nothing behind an MPLS label is looked at, so a set names none of it; its frames carry IPv4 and UDP
///   there.
///
/// ```
/// use flowgauge_packet::{Field, FlowSet, Pattern};
/// let dst = Pattern::Increment { start: 0x0a00_0001, step: 1, mask: 0xffff_ffff };
/// let set = FlowSet::new(100, vec![(Field::Ipv4Dst, dst), (Field::UdpDst, Pattern::Fixed(7))])?;
/// assert_eq!(set.value(Field::Ipv4Dst, 99), Some(0x0a00_0064));
/// assert_eq!(set.flow(99).get(Field::EthType), Some(0x0800));
/// # Ok::<(), flowgauge_packet::FlowSetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSet {
    count: u32,
    first: u32,
    patterns: Vec<(Field, Pattern)>,
    stack: Stack,
    base: FlowKey,
}

impl FlowSet {
    /// A set of `count` flows, at least 1, with at most one pattern per field.
    ///
    /// # Errors
    /// [`FlowSetError`], naming the field: a pattern is missing or given twice, or no frame can carry all
    /// fields.
    pub fn new(count: u32, patterns: Vec<(Field, Pattern)>) -> Result<FlowSet, FlowSetError> {
        if count == 0 {
            return Err(FlowSetError::NoFlows);
        }
        for (i, (field, pattern)) in patterns.iter().enumerate() {
            if patterns[..i].iter().any(|(earlier, _)| earlier == field) {
                return Err(FlowSetError::Twice { field: *field });
            }
            if matches!(pattern, Pattern::List(values) if values.is_empty()) {
                return Err(FlowSetError::EmptyList { field: *field });
            }
        }
        let stack = choose::choose(&patterns)?;
        let base = defaults::key(&stack);
        Ok(FlowSet { count, first: 0, patterns, stack, base })
    }

    /// Number of flows, at least 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The index in the original set of this set's flow 0 (see [`FlowSet::slice`]).
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The fields that the set names, each with its pattern.
    pub fn patterns(&self) -> &[(Field, Pattern)] {
        &self.patterns
    }

    /// The fields that the set names.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.patterns.iter().map(|&(field, _)| field)
    }

    /// The headers of its frames.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The field's value in flow `i`, `None` if the set doesn't name the field.
    pub fn value(&self, field: Field, i: u32) -> Option<u128> {
        let (_, pattern) = self.patterns.iter().find(|(named, _)| *named == field)?;
        Some(self.patterned(field, pattern, i))
    }

    /// The key of flow `i`: that of its frame, defaults included, and the pipeline fields that the set names.
    pub fn flow(&self, i: u32) -> FlowKey {
        let mut key = self.base;
        for (field, pattern) in &self.patterns {
            key.set(*field, self.patterned(*field, pattern, i));
        }
        if self.stack.is_arp() {
            // OpenFlow 1.0's view of the opcode, as FlowKey::parse shows it.
            let op = key.get(Field::ArpOp).and_then(|op| u8::try_from(op).ok()).unwrap_or(0);
            key.set(Field::IpProto, op.into());
        }
        key
    }

    /// `count` flows (at least 1) from flow `first` on. Patterns stay indexed as in this set, so flow `i` of
    /// the slice is flow `first + i` of this set; both are defined beyond this set's count, too.
    #[must_use]
    pub fn slice(&self, first: u32, count: u32) -> FlowSet {
        FlowSet { first: self.first.wrapping_add(first), count: count.max(1), ..self.clone() }
    }

    fn patterned(&self, field: Field, pattern: &Pattern, i: u32) -> u128 {
        let value = pattern.value(field, self.first.wrapping_add(i));
        let tag = field == Field::VlanVid && self.stack.vlan;
        if tag { value | u128::from(crate::flow_key::VLAN_PRESENT) } else { value }
    }
}

#[cfg(test)]
mod tests;
