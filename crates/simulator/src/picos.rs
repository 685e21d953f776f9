//! Picoseconds: virtual time, fine enough for a bit at 400 Gbit/s.

use std::ops::{Add, AddAssign, Sub};

use flowgauge_clock::Nanos;

/// Picoseconds: an instant since the simulation's start, or the distance between two instants. 2^64 ps are 213 days.
///
/// Like [`Nanos`], subtraction and addition saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Picos(pub u64);

impl Picos {
    /// No time; the start.
    pub const ZERO: Picos = Picos(0);
    /// Never.
    pub const MAX: Picos = Picos(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Picos {
        Picos(n.saturating_mul(1_000))
    }

    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Picos {
        Picos(n.saturating_mul(1_000_000))
    }

    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Picos {
        Picos(n.saturating_mul(1_000_000_000))
    }

    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Picos {
        Picos(n.saturating_mul(1_000_000_000_000))
    }

    /// `ns` nanoseconds, rounded to a picosecond; what is negative or no number gives zero.
    pub fn from_ns_f64(ns: f64) -> Picos {
        Picos((ns * 1e3).round() as u64)
    }

    /// What a clock that shows nanoseconds shows.
    pub const fn nanos(self) -> Nanos {
        if self.0 == u64::MAX { Nanos::MAX } else { Nanos(self.0 / 1_000) }
    }
}

impl From<Nanos> for Picos {
    fn from(at: Nanos) -> Picos {
        Picos::from_nanos(at.0)
    }
}

impl Add for Picos {
    type Output = Picos;
    #[inline]
    fn add(self, other: Picos) -> Picos {
        Picos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Picos {
    #[inline]
    fn add_assign(&mut self, other: Picos) {
        *self = *self + other;
    }
}

impl Sub for Picos {
    type Output = Picos;
    #[inline]
    fn sub(self, other: Picos) -> Picos {
        Picos(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_round_down_and_fractions_to_the_nearest() {
        assert_eq!(Picos(67_200).nanos(), Nanos(67));
        assert_eq!(Picos::from_ns_f64(67.2), Picos(67_200));
        assert_eq!(Picos::from_ns_f64(-1.0), Picos::ZERO);
        assert_eq!((Picos::MAX.nanos(), Picos::from(Nanos::MAX)), (Nanos::MAX, Picos::MAX));
    }
}
