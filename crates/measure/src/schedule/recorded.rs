//! Instants that were recorded, such as those of a capture.

use std::sync::Arc;

use flowgauge_clock::Nanos;

use super::ScheduleError;

/// Instants, counted from the start; after `period` they come again. Clones share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    times: Arc<[Nanos]>,
    period: Nanos,
}

impl Recorded {
    /// The instants in their order, and when the first comes again. An instant before its predecessor (captures have some)
    /// is taken for the same, and the period lasts at least until the last one.
    ///
    /// # Errors
    /// [`ScheduleError::NoInstants`].
    pub fn new(times: impl IntoIterator<Item = Nanos>, period: Nanos) -> Result<Recorded, ScheduleError> {
        let mut last = Nanos::ZERO;
        let in_order = |at: Nanos| {
            last = last.max(at);
            last
        };
        let times: Arc<[Nanos]> = times.into_iter().map(in_order).collect();
        let last = *times.last().ok_or(ScheduleError::NoInstants)?;
        Ok(Recorded { times, period: period.max(last) })
    }

    /// Events in a period, at least 1.
    pub fn events(&self) -> u64 {
        self.times.len() as u64
    }

    /// From the start to its repetition.
    pub fn period(&self) -> Nanos {
        self.period
    }

    pub(super) fn departure(&self, k: u64) -> Nanos {
        let (rounds, i) = (k / self.events(), k % self.events());
        Nanos(rounds.saturating_mul(self.period.0)) + self.times[i as usize]
    }

    pub(super) fn at(&self, i: usize) -> Nanos {
        self.times[i]
    }
}
