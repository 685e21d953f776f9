//! A card's clock, translated into the tester's.

use flowgauge_clock::Nanos;

/// Readings closer to each other than this say nothing of the card's frequency.
const NEAR: Nanos = Nanos::from_millis(5);

/// The relation of a card's clock to the tester's, by readings of both at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceClock {
    ticks: u64,
    at: Nanos,
    ns_per_tick: f64,
}

impl DeviceClock {
    /// From two readings, some milliseconds apart. `None` when the card's clock stands still.
    pub fn new(first: (u64, Nanos), second: (u64, Nanos)) -> Option<DeviceClock> {
        let ticks = second.0.wrapping_sub(first.0) as i64;
        let ns_per_tick = (second.1 - first.1).0 as f64 / ticks as f64;
        (ticks > 0).then_some(DeviceClock { ticks: second.0, at: second.1, ns_per_tick })
    }

    /// A later reading: follows the card's drift.
    pub fn observe(&mut self, ticks: u64, at: Nanos) {
        if at - self.at > NEAR {
            *self = DeviceClock::new((self.ticks, self.at), (ticks, at)).unwrap_or(*self);
        }
    }

    /// A stamp of the card's, on the tester's clock.
    #[inline]
    pub fn to_tester(self, ticks: u64) -> Nanos {
        let distance = ticks.wrapping_sub(self.ticks) as i64 as f64 * self.ns_per_tick;
        Nanos(self.at.0.wrapping_add_signed(distance as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translates_and_follows_a_drift() {
        // A clock of 8 ns per tick that started at 1000.
        let ticks = |ns: u64| 1000 + ns / 8;
        let reading = |ms| (ticks(ms * 1_000_000), Nanos::from_millis(ms));
        let mut clock = DeviceClock::new(reading(10), reading(20)).unwrap();
        assert_eq!(clock.to_tester(ticks(15_000_000)), Nanos::from_millis(15), "before the last reading");
        assert_eq!(clock.to_tester(ticks(25_000_000)), Nanos::from_millis(25));
        // From here on it runs 1 % fast.
        let (drifted, at) = (ticks(20_000_000) + ticks(10_100_000) - 1000, Nanos::from_millis(30));
        clock.observe(drifted, at);
        assert_eq!(clock.to_tester(drifted), at);
        let later = clock.to_tester(drifted + 12_625);
        assert!(later.signed_since(Nanos::from_micros(30_100)).abs() < 2, "{later}");
        assert!(DeviceClock::new((5, Nanos(0)), (5, Nanos(100))).is_none());
    }
}
