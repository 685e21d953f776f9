//! What a flow entry matches, in a normal form: sorted by field, without wildcards, values cut to their masks.
//!
//! Two matches that mean the same are equal here, whatever order or notation they came in. The naive
//! definitions of matching, covering and overlap live here too: tests hold the classifier against them.

use flowgauge_openflow::{Match, MatchEntry};
use flowgauge_packet::{Field, FlowKey, FlowMask};

/// One field of a match. The field must be present and equal `value` where `mask` has bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// The field compared.
    pub field: Field,
    /// Its value; no bit outside `mask`.
    pub value: u128,
    /// The bits compared; never 0.
    pub mask: u128,
}

/// A match in normal form. Empty: every frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rule {
    terms: Box<[Term]>,
}

impl Rule {
    /// Normalises (field, value, mask). An all-zero mask is a wildcard and dropped (OpenFlow 1.3.5, 7.2.3.5);
    /// of a field given twice the last counts.
    pub fn new(terms: impl IntoIterator<Item = (Field, u128, u128)>) -> Rule {
        let mut kept: Vec<Term> = Vec::new();
        for (field, value, mask) in terms {
            let mask = mask & field.full_mask();
            kept.retain(|t| t.field != field);
            if mask != 0 {
                kept.push(Term { field, value: value & mask, mask });
            }
        }
        kept.sort_unstable();
        Rule { terms: kept.into_boxed_slice() }
    }

    /// The fields compared, sorted.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The term on `field`.
    pub fn term(&self, field: Field) -> Option<&Term> {
        self.terms.iter().find(|t| t.field == field)
    }

    /// The key that has the rule's fields and values and nothing else.
    pub fn key(&self) -> FlowKey {
        self.terms.iter().map(|t| (t.field, t.value)).collect()
    }

    /// The bits that the rule compares.
    pub fn mask(&self) -> FlowMask {
        self.terms.iter().map(|t| (t.field, t.mask)).collect()
    }

    /// Whether a frame with this key matches.
    pub fn matches(&self, key: &FlowKey) -> bool {
        self.terms.iter().all(|t| key.get(t.field).is_some_and(|v| v & t.mask == t.value))
    }

    /// Whether every frame that matches `other` matches this rule by the letter of its fields: what makes
    /// `other` subject to a loose modify or delete (OpenFlow 1.3.5, 6.4).
    pub fn covers(&self, other: &Rule) -> bool {
        self.terms.iter().all(|mine| {
            other
                .term(mine.field)
                .is_some_and(|o| o.mask & mine.mask == mine.mask && o.value & mine.mask == mine.value)
        })
    }

    /// Whether some frame could match both.
    pub fn overlaps(&self, other: &Rule) -> bool {
        self.terms.iter().all(|mine| {
            other.term(mine.field).is_none_or(|o| (mine.value ^ o.value) & mine.mask & o.mask == 0)
        })
    }
}

impl From<&Match> for Rule {
    fn from(wanted: &Match) -> Rule {
        wanted.entries.iter().map(|e| (e.field, e.value, e.mask)).collect()
    }
}

impl From<&Rule> for Match {
    fn from(rule: &Rule) -> Match {
        rule.terms.iter().map(|t| MatchEntry::masked(t.field, t.value, t.mask)).collect()
    }
}

impl FromIterator<(Field, u128, u128)> for Rule {
    fn from_iter<I: IntoIterator<Item = (Field, u128, u128)>>(terms: I) -> Rule {
        Rule::new(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DST: Field = Field::Ipv4Dst;

    #[test]
    fn order_and_bits_outside_the_mask_do_not_matter() {
        let a = Rule::new([
            (DST, 0x0a00_0001, 0xffff_0000),
            (Field::EthType, 0x800, 0xffff),
            (Field::InPort, 7, 0),
        ]);
        let b = Rule::new([(Field::EthType, 0x800, u128::MAX), (DST, 0x0a00_0002, 0xffff_0000)]);
        assert_eq!(a, b);
        assert_eq!(a.terms().len(), 2);
    }

    #[test]
    fn covering_is_being_more_general() {
        let wide = Rule::new([(DST, 0x0a00_0000, 0xff00_0000)]);
        let narrow = Rule::new([(DST, 0x0a01_0000, 0xffff_0000), (Field::EthType, 0x800, 0xffff)]);
        let other = Rule::new([(DST, 0x0b01_0000, 0xffff_0000)]);
        assert!(wide.covers(&narrow) && !narrow.covers(&wide) && wide.covers(&wide));
        assert!(!wide.covers(&other) && Rule::default().covers(&other));
        assert!(wide.overlaps(&narrow) && narrow.overlaps(&wide) && !wide.overlaps(&other));
    }
}
