//! Holds the classifier against a linear search for as many lookups as asked for: run in release.
//!
//! `oracle_soak [millions of lookups] [seed]`: fails at the first difference. Entries come and go meanwhile.

use flowgauge_datapath::classifier::Classifier;
use flowgauge_datapath::rule::Rule;
use flowgauge_packet::{Field, FlowKey};

/// The fields that rules match, with masks.
const SPACE: [(Field, [u128; 3]); 6] = [
    (Field::InPort, [u128::MAX; 3]),
    (Field::EthDst, [u128::MAX, 0xffff_ff00_0000, 0x0100_0000_0000]),
    (Field::VlanVid, [u128::MAX, 0x1000, 0x0fff]),
    (Field::Ipv4Src, [u128::MAX, 0xffff_fff8, 0xffff_0000]),
    (Field::Ipv6Dst, [u128::MAX, u128::MAX << 64, 0xffff]),
    (Field::UdpDst, [u128::MAX, 0xfff0, 0x3]),
];
const MOST_RULES: usize = 300;

/// xorshift64*: a seed gives the same run everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    /// A value of which few exist, so that rules meet frames; not only in the low bits.
    fn value(&mut self, field: Field) -> u128 {
        let few = self.below(6) as u128;
        (few | few << 9 | few << 20 | few << 40 | few << 70) & field.full_mask()
    }

    fn rule(&mut self) -> Rule {
        // Two fields and more: a rule for everything would hide the others.
        let mut terms = Vec::new();
        while terms.len() < 2 + self.below(3) {
            let (field, masks) = SPACE[self.below(SPACE.len())];
            terms.push((field, self.value(field), masks[self.below(3)]));
        }
        Rule::new(terms)
    }

    fn frame(&mut self) -> FlowKey {
        let mut key = FlowKey::default();
        for (field, _) in SPACE {
            if self.below(8) > 0 {
                key.set(field, self.value(field));
            }
        }
        key
    }
}

fn main() {
    let argument =
        |n: usize, default| std::env::args().nth(n).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (millions, seed): (u64, u64) = (argument(1, 10), argument(2, 1));
    let mut random = Random(seed.max(1));
    let (mut ours, mut linear) = (Classifier::default(), Vec::<(u32, Rule, u16)>::new());
    let (mut lookups, mut hits) = (0u64, 0u64);
    while lookups < millions * 1_000_000 {
        let (rule, priority) = (random.rule(), random.below(8) as u16);
        if linear.len() > random.below(MOST_RULES) {
            let (id, ..) = linear.swap_remove(random.below(linear.len()));
            assert!(ours.remove(id).is_some());
        } else if ours.find(&rule, priority).is_none() {
            linear.push((ours.insert(&rule, priority, ()), rule, priority));
        }
        // Frames come again, so that the cache has its part.
        let frames: [FlowKey; 64] = std::array::from_fn(|_| random.frame());
        for _ in 0..200 {
            let key = frames[random.below(frames.len())];
            let best = linear.iter().filter(|(_, rule, _)| rule.matches(&key)).map(|e| e.2).max();
            let found = ours.lookup(&key);
            assert_eq!(found.and_then(|id| ours.priority(id)), best, "{key:?}, seed {seed}");
            assert!(found.is_none_or(|id| ours.rule(id).is_some_and(|r| r.matches(&key))), "{key:?}");
            hits += u64::from(best.is_some());
            lookups += 1;
        }
    }
    println!("{lookups} lookups agree with a linear search, {hits} of them hits");
}
