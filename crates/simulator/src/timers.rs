//! What happens next: the time of each element's next event, and the earliest of them all.
//!
//! An element (a cable, a server, a port) has one next event at a time; what waits behind that waits in the element. So the
//! set of events is as large as the testbed, not as the traffic, and a tournament tree keeps it: to set a time costs the
//! logarithm of the number of elements. Of events at one instant, that of the element with the lowest number comes first.

use crate::picos::Picos;

/// A match of the tournament: the earlier time, and whose it is.
#[derive(Clone, Copy, Debug)]
struct Winner {
    at: Picos,
    element: u32,
}

/// The next event of each of a fixed number of elements.
#[derive(Clone, Debug)]
pub struct Timers {
    /// Node 1 is the root, node `leaves + i` element `i`.
    nodes: Vec<Winner>,
    leaves: usize,
}

impl Timers {
    /// That many elements, none of which has an event.
    pub fn new(elements: usize) -> Timers {
        let leaves = elements.next_power_of_two().max(2);
        let mut nodes = vec![Winner { at: Picos::MAX, element: 0 }; 2 * leaves];
        for node in (1..2 * leaves).rev() {
            nodes[node].element =
                if node >= leaves { (node - leaves) as u32 } else { nodes[2 * node].element };
        }
        Timers { nodes, leaves }
    }

    /// The earliest event: when, and whose. [`Picos::MAX`]: there is none.
    #[inline]
    pub fn first(&self) -> (Picos, usize) {
        let Winner { at, element } = self.nodes[1];
        (at, element as usize)
    }

    /// Sets when an element's next event is; [`Picos::MAX`]: it has none.
    #[inline]
    pub fn set(&mut self, element: usize, at: Picos) {
        let mut node = self.leaves + element;
        self.nodes[node].at = at;
        while node > 1 {
            node /= 2;
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            let winner = if right.at < left.at { right } else { left };
            let before = self.nodes[node];
            if before.at == winner.at && before.element == winner.element {
                return;
            }
            self.nodes[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_looking_at_all(
            elements in 1usize..20,
            steps in prop::collection::vec((0usize..20, prop_oneof![0u64..10, Just(u64::MAX)]), 0..100),
        ) {
            let mut timers = Timers::new(elements);
            let mut plain = vec![Picos::MAX; elements];
            for (element, at) in steps {
                timers.set(element % elements, Picos(at));
                plain[element % elements] = Picos(at);
                let expected = plain.iter().enumerate().map(|(i, &at)| (at, i)).min().unwrap();
                prop_assert_eq!(timers.first(), expected);
            }
        }
    }
}
