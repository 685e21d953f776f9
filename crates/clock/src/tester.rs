//! The tester's clock: CLOCK_MONOTONIC_RAW through the vDSO, without a system call.

use crate::Nanos;

/// The tester's clock. All copies in one process share an epoch, so their stamps may be compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock;

impl Clock {
    /// The time now, in nanoseconds since an arbitrary epoch (the machine's start).
    #[inline]
    pub fn now(self) -> Nanos {
        read(libc::CLOCK_MONOTONIC_RAW)
    }

    /// Converts stamps of the kernel's wall clock (CLOCK_REALTIME, as packet and socket stamps are) to this
    /// clock: `tester = wall + offset`. Measure it again every few milliseconds: the wall clock is slewed.
    ///
    /// The offset is taken from the tightest of five brackets, so an interrupt in one does no harm.
    pub fn offset_from_wall(self) -> WallOffset {
        let bracket = || {
            let before = self.now();
            let wall = read(libc::CLOCK_REALTIME);
            let after = self.now();
            (after - before, before.0 / 2 + after.0 / 2, wall)
        };
        let (width, middle, wall) = (0..5).map(|_| bracket()).min_by_key(|b| b.0).expect("five brackets");
        WallOffset { offset_ns: middle as i64 - wall.0 as i64, error: width }
    }
}

/// What to add to a wall-clock stamp to get a stamp of the tester's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallOffset {
    offset_ns: i64,
    /// The width of the bracket in which the two clocks were read: the offset is at most this wrong.
    pub error: Nanos,
}

impl WallOffset {
    /// A wall-clock stamp (nanoseconds since 1970) on the tester's clock.
    pub fn to_tester(self, wall_ns: u64) -> Nanos {
        Nanos((wall_ns as i64 + self.offset_ns).max(0) as u64)
    }

    /// A stamp of the tester's clock as nanoseconds since 1970.
    #[inline]
    pub fn to_wall(self, at: Nanos) -> u64 {
        (at.0 as i64).saturating_sub(self.offset_ns).max(0) as u64
    }
}

#[inline]
fn read(clock: libc::clockid_t) -> Nanos {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec, and both clocks that we read exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut t) };
    Nanos(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_runs_backwards() {
        let mut last = Clock.now();
        for _ in 0..100_000 {
            let now = Clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn wall_stamps_land_between_the_tester_stamps_around_them() {
        let offset = Clock.offset_from_wall();
        let before = Clock.now();
        let wall = read(libc::CLOCK_REALTIME);
        let after = Clock.now();
        let stamp = offset.to_tester(wall.0);
        let slack = offset.error + Nanos::from_micros(50);
        assert!(stamp + slack >= before && stamp <= after + slack);
        assert_eq!(offset.to_wall(stamp), wall.0);
    }
}
