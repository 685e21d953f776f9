//! The classifier held against a linear search under random rules, frames and changes.

use flowgauge_datapath::classifier::Classifier;
use flowgauge_datapath::rule::Rule;
use flowgauge_packet::{Field, FlowKey};
use proptest::prelude::*;

/// Few fields, values and masks, so that rules meet frames and one another. IPv6 has two words.
const SPACE: [(Field, &[u128]); 5] = [
    (Field::InPort, &[0xffff_ffff]),
    (Field::EthType, &[0xffff]),
    (Field::Ipv4Dst, &[0xffff_ffff, 0xffff_ff00, 0xff, 0x3]),
    (Field::UdpDst, &[0xffff, 0xfffc]),
    (Field::Ipv6Dst, &[u128::MAX, u128::MAX << 64, u64::MAX as u128]),
];

fn value() -> impl Strategy<Value = u128> {
    (0u128..4, any::<bool>()).prop_map(|(low, high)| low | if high { low << 64 | 1 << 8 } else { 0 })
}

fn rule() -> impl Strategy<Value = Rule> {
    let terms = SPACE.map(|(field, masks)| {
        prop::option::weighted(0.4, (Just(field), value(), prop::sample::select(masks)))
    });
    terms.prop_map(|terms| Rule::new(terms.into_iter().flatten()))
}

fn frame() -> impl Strategy<Value = FlowKey> {
    let values = SPACE.map(|(field, _)| prop::option::weighted(0.9, (Just(field), value())));
    values.prop_map(|values| {
        let mut key = FlowKey::default();
        for (field, value) in values.into_iter().flatten() {
            key.set(field, value & field.full_mask());
        }
        key
    })
}

#[derive(Clone, Debug)]
enum Step {
    Add(Rule, u16),
    Remove(usize),
    Look(Vec<FlowKey>),
    Covered(Rule),
    Overlap(Rule, u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (rule(), 0u16..4).prop_map(|(r, p)| Step::Add(r, p)),
        1 => any::<usize>().prop_map(Step::Remove),
        3 => prop::collection::vec(frame(), 1..20).prop_map(Step::Look),
        1 => rule().prop_map(Step::Covered),
        1 => (rule(), 0u16..4).prop_map(|(r, p)| Step::Overlap(r, p)),
    ]
}

/// The definition: look at every entry.
#[derive(Default)]
struct Linear(Vec<(u32, Rule, u16)>);

impl Linear {
    fn best(&self, key: &FlowKey) -> Option<u16> {
        self.0.iter().filter(|(_, rule, _)| rule.matches(key)).map(|&(_, _, p)| p).max()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn agrees_with_a_linear_search(steps in prop::collection::vec(step(), 1..80)) {
        let (mut ours, mut linear) = (Classifier::<()>::default(), Linear::default());
        for step in steps {
            match step {
                Step::Add(rule, priority) => {
                    let known = linear.0.iter().find(|e| e.1 == rule && e.2 == priority).map(|e| e.0);
                    prop_assert_eq!(ours.find(&rule, priority), known);
                    if known.is_none() {
                        let id = ours.insert(&rule, priority, ());
                        prop_assert_eq!(ours.rule(id), Some(rule.clone()));
                        linear.0.push((id, rule, priority));
                    }
                }
                Step::Remove(at) if !linear.0.is_empty() => {
                    let (id, ..) = linear.0.swap_remove(at % linear.0.len());
                    prop_assert!(ours.remove(id).is_some() && ours.remove(id).is_none());
                }
                Step::Remove(_) => prop_assert!(ours.is_empty()),
                Step::Look(frames) => for key in frames {
                    let found = ours.lookup(&key);
                    prop_assert_eq!(found.and_then(|id| ours.priority(id)), linear.best(&key));
                    prop_assert!(found.is_none_or(|id| ours.rule(id).is_some_and(|r| r.matches(&key))));
                    prop_assert_eq!(ours.lookup(&key), found, "the cache gives the same entry");
                },
                Step::Covered(filter) => {
                    let mut found = Vec::new();
                    ours.for_each_covered(&filter, |id| found.push(id));
                    found.sort_unstable();
                    let mut wanted: Vec<_> =
                        linear.0.iter().filter(|e| filter.covers(&e.1)).map(|e| e.0).collect();
                    wanted.sort_unstable();
                    prop_assert_eq!(found, wanted);
                }
                Step::Overlap(rule, priority) => {
                    let wanted = linear.0.iter().any(|e| e.2 == priority && e.1.overlaps(&rule));
                    prop_assert_eq!(ours.overlapping(&rule, priority).is_some(), wanted);
                }
            }
            prop_assert_eq!(ours.len(), linear.0.len());
        }
    }
}
