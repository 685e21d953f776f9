//! In which order a stream walks the flows of its set.

use crate::Random;

/// Which flow the frame with a given sequence number belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowOrder {
    /// One after the other, from the start again.
    #[default]
    Sequential,
    /// One frame each for a block of flows, that `repeats` times, then the next block (Agilio: 2 000 flows, 10 times).
    Blocks {
        /// Flows in a block, at least 1. The last block of the set may be smaller.
        block: u32,
        /// How often a block is walked before the next one, at least 1.
        repeats: u32,
    },
    /// At random, each frame on its own; the same for the same seed.
    Random {
        /// The seed.
        seed: u64,
    },
}

impl FlowOrder {
    /// The flow of frame `seq` in a set of `flows` (at least 1).
    #[inline]
    pub fn flow(self, seq: u64, flows: u32) -> u32 {
        if flows <= 1 {
            return 0;
        }
        match self {
            FlowOrder::Sequential => (seq % flows as u64) as u32,
            FlowOrder::Blocks { block, repeats } => blocks(seq, flows, block, repeats),
            FlowOrder::Random { seed } => ((Random::nth(seed, seq) as u128 * flows as u128) >> 64) as u32,
        }
    }
}

fn blocks(seq: u64, flows: u32, block: u32, repeats: u32) -> u32 {
    let (block, repeats, flows) = (block.clamp(1, flows) as u64, repeats.max(1) as u64, flows as u64);
    let within_walk = seq % (flows * repeats);
    let start = within_walk / (block * repeats) * block;
    let size = block.min(flows - start);
    (start + (within_walk - start * repeats) % size) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_walked_as_often_as_asked() {
        let order = FlowOrder::Blocks { block: 2, repeats: 2 };
        let flows: Vec<_> = (0..12).map(|seq| order.flow(seq, 5)).collect();
        assert_eq!(flows, [0, 1, 0, 1, 2, 3, 2, 3, 4, 4, 0, 1]);
    }

    #[test]
    fn blocks_agree_with_plain_loops() {
        for (flows, block, repeats) in [(7, 3, 4), (10, 10, 1), (10, 20, 3), (6, 1, 5)] {
            let mut expected = Vec::new();
            for start in (0..flows).step_by(block as usize) {
                for _ in 0..repeats {
                    expected.extend(start..(start + block).min(flows));
                }
            }
            let order = FlowOrder::Blocks { block, repeats };
            let n = expected.len();
            let found: Vec<_> = (0..2 * n as u64).map(|seq| order.flow(seq, flows)).collect();
            assert_eq!(found[..n], expected);
            assert_eq!(found[n..], expected);
        }
    }

    #[test]
    fn random_order_reaches_all_and_stays_inside() {
        let order = FlowOrder::Random { seed: 3 };
        let mut seen = [false; 100];
        (0..2000).for_each(|seq| seen[order.flow(seq, 100) as usize] = true);
        assert!(seen.iter().all(|&s| s));
        assert_eq!(FlowOrder::Sequential.flow(9, 0), 0);
    }
}
