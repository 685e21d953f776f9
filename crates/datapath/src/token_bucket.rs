//! A token bucket in exact integers: what meters and queues measure rates with.

use flowgauge_clock::Nanos;

/// Tokens come at a steady rate up to a burst; what is let through takes some.
///
/// Rates are in units per second. Inside, tokens are billionths of a unit, so that each nanosecond brings a
/// whole number of them: nothing is ever rounded, whatever the times between calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Units per second: billionths per nanosecond.
    rate: u64,
    /// The most tokens held.
    depth: u64,
    tokens: u64,
    /// When `tokens` was right.
    at: Nanos,
}

/// Tokens per unit.
const UNIT: u64 = 1_000_000_000;

impl TokenBucket {
    /// The largest burst that can be counted, in units.
    pub const MOST: u64 = u64::MAX / UNIT / 2;

    /// A full bucket of `burst` units (at most [`TokenBucket::MOST`]) that refills at `rate` units per second.
    pub fn new(rate: u64, burst: u64, now: Nanos) -> TokenBucket {
        let depth = burst.min(TokenBucket::MOST) * UNIT;
        TokenBucket { rate, depth, tokens: depth, at: now }
    }

    /// Takes `units` if they are there.
    #[inline]
    pub fn take(&mut self, units: u64, now: Nanos) -> bool {
        self.refill(now);
        let cost = units.saturating_mul(UNIT);
        let is_there = cost <= self.tokens;
        if is_there {
            self.tokens -= cost;
        }
        is_there
    }

    /// Takes up to `units`, as many as are there.
    #[inline]
    pub fn drain(&mut self, units: u64, now: Nanos) {
        self.refill(now);
        self.tokens = self.tokens.saturating_sub(units.saturating_mul(UNIT));
    }

    /// Whether `units` are there.
    #[inline]
    pub fn has(&mut self, units: u64, now: Nanos) -> bool {
        self.refill(now);
        units.saturating_mul(UNIT) <= self.tokens
    }

    /// When `units` will be there if nothing is taken; `None`: never.
    pub fn ready_at(&mut self, units: u64, now: Nanos) -> Option<Nanos> {
        self.refill(now);
        let cost = units.saturating_mul(UNIT);
        match cost.checked_sub(self.tokens) {
            None | Some(0) => Some(self.at),
            Some(_) if cost > self.depth || self.rate == 0 => None,
            Some(missing) => Some(self.at + Nanos(missing.div_ceil(self.rate))),
        }
    }

    /// Time that runs backwards brings nothing.
    #[inline]
    fn refill(&mut self, now: Nanos) {
        let Some(elapsed) = now.0.checked_sub(self.at.0) else { return };
        // Saturation is above any depth.
        self.tokens = self.tokens.saturating_add(self.rate.saturating_mul(elapsed)).min(self.depth);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The definition: what was let through up to any time is at most burst + rate * time, and something
        /// is refused only if it would exceed that from some time on.
        #[test]
        fn agrees_with_exact_rationals(
            rate in prop_oneof![1u64..50, 1_000_000u64..4_000_000_000],
            burst in 1u64..100_000,
            steps in prop::collection::vec((0u64..3_000_000_000, 0u64..2000), 1..100),
        ) {
            let mut bucket = TokenBucket::new(rate, burst, Nanos(5));
            let (mut tokens, mut now) = (i128::from(burst) * 1_000_000_000, 5u64);
            for (pause, units) in steps {
                now += pause;
                let full = i128::from(burst) * 1_000_000_000;
                tokens = (tokens + i128::from(rate) * i128::from(pause)).min(full);
                let cost = i128::from(units) * 1_000_000_000;
                let ready = bucket.ready_at(units, Nanos(now));
                prop_assert_eq!(bucket.take(units, Nanos(now)), cost <= tokens);
                if cost <= tokens {
                    tokens -= cost;
                    prop_assert!(ready.is_some_and(|at| at <= Nanos(now)));
                } else {
                    prop_assert!(ready.is_none_or(|at| at > Nanos(now)));
                }
            }
        }
    }

    #[test]
    fn waiting_until_ready_is_just_enough() {
        let mut bucket = TokenBucket::new(3, 10, Nanos::ZERO);
        assert!(bucket.take(10, Nanos::ZERO));
        let at = bucket.ready_at(1, Nanos::ZERO).unwrap();
        assert_eq!(at, Nanos(333_333_334));
        assert!(!bucket.has(1, Nanos(at.0 - 1)) && bucket.has(1, at));
        assert_eq!(bucket.ready_at(11, at), None);
    }
}
