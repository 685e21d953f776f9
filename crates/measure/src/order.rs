//! In which order a stream walks the flows of its set.

use std::ops::Range;

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

/// Walks the flows frame by frame: as [`FlowOrder::flow`] for 0, 1, 2 and so on, without its divisions.
#[derive(Clone, Debug)]
pub struct FlowWalk {
    order: FlowOrder,
    flows: u32,
    seq: u64,
    /// The next flow, unless they are drawn at random.
    flow: u32,
    /// The block that it is in, and how often that is still to be walked, this time included.
    block: Range<u32>,
    walks: u32,
}

impl FlowWalk {
    /// A walk over `flows` (at least 1), from the first frame on.
    pub fn new(order: FlowOrder, flows: u32) -> FlowWalk {
        let mut walk = FlowWalk { order, flows: flows.max(1), seq: 0, flow: 0, block: 0..0, walks: 0 };
        walk.enter(0);
        walk
    }

    /// The next frames' flows, as many up to `most` (at least 1) as have consecutive ones.
    #[inline]
    pub fn next_flows(&mut self, most: usize) -> Range<u32> {
        if let FlowOrder::Random { .. } = self.order {
            let flow = self.order.flow(self.seq, self.flows);
            self.seq += 1;
            return flow..flow + 1;
        }
        let first = self.flow;
        self.flow += (self.block.end - first).min(u32::try_from(most).unwrap_or(u32::MAX));
        let flows = first..self.flow;
        if self.flow == self.block.end {
            self.turn();
        }
        flows
    }

    /// The block has been walked: again, or on to the next one.
    fn turn(&mut self) {
        self.walks -= 1;
        if self.walks == 0 {
            self.enter(if self.block.end == self.flows { 0 } else { self.block.end });
        } else {
            self.flow = self.block.start;
        }
    }

    fn enter(&mut self, start: u32) {
        let (block, walks) = match self.order {
            FlowOrder::Blocks { block, repeats } => (block.max(1), repeats.max(1)),
            FlowOrder::Sequential | FlowOrder::Random { .. } => (self.flows, 1),
        };
        self.block = start..start.saturating_add(block).min(self.flows);
        (self.flow, self.walks) = (start, walks);
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
    fn agilio_walks_2000_flows_10_times_then_the_next() {
        let mut walk = FlowWalk::new(FlowOrder::Blocks { block: 2000, repeats: 10 }, 64_000);
        for frame in 0..2 * 640_000u64 {
            let (block, within) = (frame / 20_000 % 32, frame % 2000);
            assert_eq!(u64::from(walk.next_flows(1).start), block * 2000 + within, "frame {frame}");
        }
    }

    #[test]
    fn a_walk_agrees_with_the_flows_of_its_frames() {
        let blocks = |block, repeats| FlowOrder::Blocks { block, repeats };
        let orders = [FlowOrder::Sequential, FlowOrder::Random { seed: 9 }];
        for order in [blocks(3, 4), blocks(7, 1), blocks(20, 3), blocks(0, 0)].into_iter().chain(orders) {
            for flows in [0, 1, 2, 7] {
                for most in [1, 3, 200] {
                    let mut walk = FlowWalk::new(order, flows);
                    let found: Vec<_> =
                        std::iter::repeat_with(|| walk.next_flows(most)).flatten().take(100).collect();
                    let expected: Vec<_> = (0..100).map(|seq| order.flow(seq, flows)).collect();
                    assert_eq!(found, expected, "{order:?} of {flows}, at most {most}");
                }
            }
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
