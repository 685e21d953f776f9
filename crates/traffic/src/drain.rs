//! How long to wait for frames after the last one was sent (METHODS, section 1).

use flowgauge_clock::Nanos;

const SHORTEST: Nanos = Nanos::from_secs(1);
const LONGEST: Nanos = Nanos::from_secs(5);
/// How long to look for further copies once everything has arrived, at the least.
const QUIET: Nanos = Nanos::from_millis(5);

/// The waiting at the end of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drain {
    asked: Option<Nanos>,
    began: Nanos,
    complete_since: Option<Nanos>,
}

impl Drain {
    /// Begins at `now`; `asked`: exactly that long.
    pub fn new(asked: Option<Nanos>, now: Nanos) -> Drain {
        Drain { asked, began: now, complete_since: None }
    }

    /// Whether it is over. `largest_delay`: of all frames so far; `complete`: it is known how many frames were sent, and
    /// all have arrived.
    pub fn over(&mut self, now: Nanos, largest_delay: Nanos, complete: bool) -> bool {
        let waited = now - self.began;
        if let Some(asked) = self.asked {
            return waited >= asked;
        }
        if complete {
            let since = *self.complete_since.get_or_insert(now);
            if now - since >= QUIET.max(Nanos(largest_delay.0.saturating_mul(2))) {
                return true;
            }
        }
        waited >= Nanos(largest_delay.0.saturating_mul(10)).clamp(SHORTEST, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    #[test]
    fn waits_a_second_or_ten_delays_but_no_more_than_five() {
        for (delay, expected) in [(1, 1000), (100, 1000), (200, 2000), (2000, 5000)] {
            let mut drain = Drain::new(None, MS(50));
            assert!(!drain.over(MS(50 + expected - 1), MS(delay), false), "{delay}");
            assert!(drain.over(MS(50 + expected), MS(delay), false), "{delay}");
        }
    }

    #[test]
    fn ends_early_when_everything_has_arrived_and_no_copies_follow() {
        let mut drain = Drain::new(None, MS(0));
        assert!(!drain.over(MS(3), MS(1), true));
        assert!(!drain.over(MS(7), MS(1), true));
        assert!(drain.over(MS(8), MS(1), true));
        let mut drain = Drain::new(None, MS(0));
        assert!(!drain.over(MS(3), MS(30), true));
        assert!(!drain.over(MS(62), MS(30), true));
        assert!(drain.over(MS(63), MS(30), true));
    }

    #[test]
    fn takes_as_long_as_asked() {
        let mut drain = Drain::new(Some(MS(2000)), MS(0));
        assert!(!drain.over(MS(1999), MS(1), true));
        assert!(drain.over(MS(2000), MS(900), false));
    }
}
