//! When frames (or messages) leave: from absolute time, as exact rationals, so that nothing drifts or truncates.

mod departures;
mod rate;
mod recorded;
#[cfg(test)]
mod tests;

use flowgauge_clock::Nanos;

pub use departures::Departures;
pub use rate::{Megabit, Rate, ScheduleError};
pub use recorded::Recorded;

/// When events leave, counted from the start of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Event `k` leaves at `k / rate`.
    Cbr {
        /// Events per second.
        rate: Rate,
    },
    /// Independent exponential gaps, the first event one gap after the start. The same seed gives the same instants on
    /// every machine (see [`Random`](crate::Random)).
    Poisson {
        /// Mean events per second.
        rate: Rate,
        /// Seed of the gaps.
        seed: u64,
    },
    /// `frames` events, then a gap, and so on.
    Burst {
        /// Events per burst, at least 1.
        frames: u32,
        /// From the scheduled departure of a burst's last event to that of the next one's first.
        gap: Nanos,
        /// Rate within a burst; `None`: back to back, all at the same instant, as quickly as the port takes them.
        rate: Option<Rate>,
    },
    /// At given instants, over and over: those of a capture.
    Recorded(Recorded),
    /// As fast as possible: every event is due at once.
    Max,
}

impl Schedule {
    /// Constant rate in events per second. Finite and above zero, else an error.
    pub fn cbr_pps(pps: f64) -> Result<Schedule, ScheduleError> {
        Ok(Schedule::Cbr { rate: Rate::from_f64(pps)? })
    }

    /// The departures in turn, from the first.
    pub fn departures(&self) -> Departures {
        Departures::new(self)
    }

    /// When event `k` leaves, in whole nanoseconds (rounded down from the exact instant). At once for all schedules but
    /// Poisson, which is stepped through.
    pub fn departure(&self, k: u64) -> Nanos {
        match self {
            Schedule::Cbr { rate } => rate.instant(k as u128, 0),
            Schedule::Poisson { .. } => {
                let mut departures = self.departures();
                (0..k).for_each(|_| departures.advance());
                departures.peek()
            }
            Schedule::Burst { frames, gap, rate } => {
                let (bursts, within) = (k / *frames as u64, k % *frames as u64);
                let gaps = bursts as u128 * gap.0 as u128;
                match rate {
                    Some(rate) => rate.instant(bursts as u128 * (*frames as u128 - 1) + within as u128, gaps),
                    None => Nanos(u64::try_from(gaps).unwrap_or(u64::MAX)),
                }
            }
            Schedule::Recorded(times) => times.departure(k),
            Schedule::Max => Nanos::ZERO,
        }
    }

    /// How many events leave before `duration` is over; `None` when the schedule does not say (Max, and bursts that
    /// take no time).
    pub fn count_within(&self, duration: Nanos) -> Option<u64> {
        match self {
            Schedule::Cbr { rate } => Some(rate.events_before(duration)),
            Schedule::Poisson { .. } => {
                let mut departures = self.departures();
                let mut n = 0;
                while departures.peek() < duration {
                    departures.advance();
                    n += 1;
                }
                Some(n)
            }
            Schedule::Burst { gap: Nanos(0), rate: None, .. } | Schedule::Max => None,
            Schedule::Recorded(times) if times.period() == Nanos::ZERO => None,
            Schedule::Burst { .. } | Schedule::Recorded(_) => Some(self.first_at_or_after(duration)),
        }
    }

    /// Roughly how many events leave within `duration`, for reserving room. `None` for Max.
    pub fn estimate_within(&self, duration: Nanos) -> Option<u64> {
        match self {
            Schedule::Poisson { rate, .. } => {
                let mean = rate.as_f64() * duration.as_secs_f64();
                Some((mean + 6.0 * mean.sqrt()) as u64 + 16)
            }
            Schedule::Cbr { .. } | Schedule::Burst { .. } | Schedule::Recorded(_) | Schedule::Max => {
                self.count_within(duration)
            }
        }
    }

    /// The mean distance of two departures; zero for Max and for bursts that take no time.
    pub fn mean_gap(&self) -> Nanos {
        match self {
            Schedule::Cbr { rate } | Schedule::Poisson { rate, .. } => rate.instant(1, 0),
            Schedule::Burst { frames, .. } => Nanos(self.departure(*frames as u64).0 / *frames as u64),
            Schedule::Recorded(times) => Nanos(times.period().0 / times.events()),
            Schedule::Max => Nanos::ZERO,
        }
    }

    /// The first event that leaves at or after `t`, by bisection: departures never decrease.
    fn first_at_or_after(&self, t: Nanos) -> u64 {
        let (mut low, mut high) = (0u64, u64::MAX / 2);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.departure(middle) < t { low = middle + 1 } else { high = middle }
        }
        low
    }
}
