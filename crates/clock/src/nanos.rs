//! A count of nanoseconds: an instant on the tester's clock, or a duration.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Nanoseconds: an instant since the clock's epoch, or the distance between two instants.
///
/// Subtraction saturates at zero: a stamp that lies before its origin by clock error is "no time at all",
/// never an enormous duration. Use [`Nanos::signed_since`] where the sign matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time.
    pub const ZERO: Nanos = Nanos(0);
    /// Later than any stamp.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Nanos {
        Nanos(n * 1_000)
    }

    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Nanos {
        Nanos(n * 1_000_000)
    }

    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Nanos {
        Nanos(n * 1_000_000_000)
    }

    /// `seconds` rounded to the nearest nanosecond; negative and NaN give zero.
    pub fn from_secs_f64(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as u64)
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In microseconds.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// `self - earlier`, with its sign.
    pub const fn signed_since(self, earlier: Nanos) -> i64 {
        self.0.wrapping_sub(earlier.0) as i64
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Nanos {
    /// With the unit a reader would choose: `850 ns`, `12.4 us`, `3.0 ms`, `1.20 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n < 1_000 => write!(f, "{n} ns"),
            n if n < 1_000_000 => write!(f, "{:.1} us", n as f64 / 1e3),
            n if n < 1_000_000_000 => write!(f, "{:.1} ms", n as f64 / 1e6),
            n => write!(f, "{:.2} s", n as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtraction_saturates_and_signed_since_keeps_the_sign() {
        assert_eq!(Nanos(3) - Nanos(5), Nanos::ZERO);
        assert_eq!(Nanos(3).signed_since(Nanos(5)), -2);
    }

    #[test]
    fn prints_the_unit_a_reader_would_choose() {
        let texts: Vec<_> = [850, 12_400, 3_000_000, 1_200_000_000].map(|n| Nanos(n).to_string()).into();
        assert_eq!(texts, ["850 ns", "12.4 us", "3.0 ms", "1.20 s"]);
    }
}
