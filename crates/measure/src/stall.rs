//! Stalls: times in which a loop did not turn.

use flowgauge_clock::Nanos;

/// Counts the stalls of a loop that reports each of its turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallLog {
    /// Turns that came more than 100 us after the one before.
    pub over_100us: u64,
    /// The longest time between two turns.
    pub longest: Nanos,
    last: Option<Nanos>,
}

impl StallLog {
    /// What counts as a stall.
    pub const THRESHOLD: Nanos = Nanos::from_micros(100);

    /// A turn.
    #[inline]
    pub fn turn(&mut self, now: Nanos) {
        if let Some(last) = self.last {
            let gap = now - last;
            if gap > self.longest {
                self.longest = gap;
            }
            self.over_100us += (gap > Self::THRESHOLD) as u64;
        }
        self.last = Some(now);
    }

    /// Adds another loop's stalls.
    pub fn merge(&mut self, other: &StallLog) {
        self.over_100us += other.over_100us;
        self.longest = self.longest.max(other.longest);
    }

    /// The loop is about to do something long on purpose: the time until the next turn is no stall.
    pub fn pause(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_longer_than_the_threshold() {
        let mut stalls = StallLog::default();
        for us in [5, 6, 106, 207, 208] {
            stalls.turn(Nanos::from_micros(us));
        }
        stalls.pause();
        stalls.turn(Nanos::from_micros(9_000));
        assert_eq!((stalls.over_100us, stalls.longest), (1, Nanos::from_micros(101)));
    }
}
