//! Which entries time out next: a heap of deadlines.
//!
//! Nothing is removed from the middle. An entry that goes leaves its deadline behind, which is recognised
//! by its serial number when it comes up; when more than half are such left-overs, the heap is rebuilt. An
//! idle timeout isn't moved with every packet either: when it comes up, the entry says when it was last used.

use flowgauge_clock::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An entry's deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// When the entry may have timed out.
    pub at: Nanos,
    /// Its number.
    pub id: u32,
    /// Its serial number, as numbers are used again.
    pub serial: u32,
}

/// Deadlines, earliest first.
#[derive(Debug, Default)]
pub struct Timers {
    heap: BinaryHeap<Reverse<Deadline>>,
    /// How many deadlines in the heap belong to entries that are gone.
    stale: usize,
}

impl Timers {
    /// Adds a deadline.
    pub fn arm(&mut self, deadline: Deadline) {
        self.heap.push(Reverse(deadline));
    }

    /// The earliest deadline, if it is not later than `now`; it leaves the heap.
    pub fn due(&mut self, now: Nanos) -> Option<Deadline> {
        let first = self.heap.peek()?.0;
        if first.at > now {
            return None;
        }
        self.heap.pop();
        Some(first)
    }

    /// The earliest deadline, left-overs included.
    pub fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|d| d.0.at)
    }

    /// A deadline that came up belonged to an entry that was gone.
    pub fn was_stale(&mut self) {
        self.stale = self.stale.saturating_sub(1);
    }

    /// An entry with a deadline is gone. `is_live` tells the deadlines that stay, should it be time to tidy up.
    pub fn left_over(&mut self, is_live: impl Fn(&Deadline) -> bool) {
        self.stale += 1;
        if self.stale > 64 && self.stale * 2 > self.heap.len() {
            self.heap.retain(|d| is_live(&d.0));
            self.stale = 0;
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn come_up_in_order_and_not_early() {
        let mut timers = Timers::default();
        for at in [30, 10, 20] {
            timers.arm(Deadline { at: Nanos(at), id: at as u32, serial: 0 });
        }
        assert_eq!(timers.next(), Some(Nanos(10)));
        assert_eq!(timers.due(Nanos(9)), None);
        assert_eq!(timers.due(Nanos(25)).map(|d| d.id), Some(10));
        assert_eq!(timers.due(Nanos(25)).map(|d| d.id), Some(20));
        assert_eq!(timers.due(Nanos(25)), None);
    }

    #[test]
    fn left_overs_do_not_pile_up() {
        let mut timers = Timers::default();
        for id in 0..10_000 {
            timers.arm(Deadline { at: Nanos(1_000_000), id, serial: 0 });
            timers.left_over(|d| d.id > id);
        }
        assert!(timers.len() < 200, "{}", timers.len());
    }
}
