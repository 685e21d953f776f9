//! Rates as exact fractions.

use flowgauge_clock::Nanos;

const NANOS: u128 = 1_000_000_000;

/// Why a rate or a schedule can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// A rate of zero, below zero, or not a number.
    #[error("a rate must be above zero, not {found}")]
    NotPositive {
        /// What was given.
        found: String,
    },
    /// A list of instants without any.
    #[error("a recorded schedule has at least one instant")]
    NoInstants,
    /// A fraction whose terms exceed 64 bits when reduced.
    #[error("the rate {events}/{seconds} per second is too fine: its terms exceed 64 bits")]
    TooFine {
        /// Numerator.
        events: u128,
        /// Denominator.
        seconds: u128,
    },
}

impl ScheduleError {
    /// The error's stable name.
    pub fn name(&self) -> &'static str {
        match self {
            ScheduleError::NotPositive { .. } => "rate-not-positive",
            ScheduleError::NoInstants => "no-instants",
            ScheduleError::TooFine { .. } => "rate-too-fine",
        }
    }
}

/// What "Mbit" means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Megabit {
    /// 10^6 bit: the default everywhere.
    #[default]
    Decimal,
    /// 1024 * 1024 bit, as ALIEN's interval formula takes it; for comparison only.
    Binary,
}

/// A rate: exactly `events` in `seconds`, reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    events: u64,
    seconds: u64,
}

impl Rate {
    /// `events` in `seconds`; both above zero, and within 64 bits when reduced.
    pub fn new(events: u128, seconds: u128) -> Result<Rate, ScheduleError> {
        if events == 0 || seconds == 0 {
            return Err(ScheduleError::NotPositive { found: format!("{events}/{seconds}") });
        }
        let divisor = gcd(events, seconds);
        match (u64::try_from(events / divisor), u64::try_from(seconds / divisor)) {
            (Ok(events), Ok(seconds)) => Ok(Rate { events, seconds }),
            _ => Err(ScheduleError::TooFine { events, seconds }),
        }
    }

    /// The fraction with a denominator of at most 10^9 that is `pps`, rounded.
    pub fn from_f64(pps: f64) -> Result<Rate, ScheduleError> {
        if !(pps.is_finite() && pps > 0.0) {
            return Err(ScheduleError::NotPositive { found: pps.to_string() });
        }
        if pps >= 1e9 {
            return Rate::new(pps.round() as u128, 1);
        }
        // Shared by ten digits behind the point, which no rate of a tester needs more of.
        Rate::new((pps * 1e9).round().max(1.0) as u128, NANOS)
    }

    /// A layer-2 bit rate, exactly: `mbps.0 / mbps.1` Mbit/s in frames of `frame_size` bytes, FCS counted.
    pub fn l2_mbps(mbps: (u64, u64), frame_size: u32, megabit: Megabit) -> Result<Rate, ScheduleError> {
        let bits = match megabit {
            Megabit::Decimal => 1_000_000,
            Megabit::Binary => 1024 * 1024,
        };
        Rate::new(mbps.0 as u128 * bits, mbps.1 as u128 * 8 * frame_size as u128)
    }

    /// Numerator: events.
    pub const fn events(self) -> u64 {
        self.events
    }

    /// Denominator: seconds.
    pub const fn seconds(self) -> u64 {
        self.seconds
    }

    /// Events per second.
    pub fn as_f64(self) -> f64 {
        self.events as f64 / self.seconds as f64
    }

    /// `n / rate + extra` nanoseconds, rounded down; [`Nanos::MAX`] when that is later.
    pub(super) fn instant(self, n: u128, extra: u128) -> Nanos {
        let per = self.seconds as u128 * NANOS;
        let (whole, rest) = (per / self.events as u128, per % self.events as u128);
        // rest < events < 2^64, so n * rest fits for every n below 2^64.
        let ns = n.checked_mul(whole).and_then(|w| w.checked_add(n.checked_mul(rest)? / self.events as u128));
        let ns = ns.and_then(|ns| ns.checked_add(extra));
        Nanos(ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(u64::MAX))
    }

    /// How many `k >= 0` have `k / rate < duration`.
    pub(super) fn events_before(self, duration: Nanos) -> u64 {
        let product = duration.0 as u128 * self.events as u128;
        let per = self.seconds as u128 * NANOS;
        u64::try_from(product.div_ceil(per)).unwrap_or(u64::MAX)
    }

    /// The step of one event in nanoseconds: whole part, and the rest as a fraction of `events`.
    pub(super) fn step(self) -> (u64, u64) {
        let per = self.seconds as u128 * NANOS;
        let whole = u64::try_from(per / self.events as u128).unwrap_or(u64::MAX);
        (whole, (per % self.events as u128) as u64)
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
