//! Distributions of times: exact count, minimum, maximum, mean and deviation, and percentiles to 3 digits.

use flowgauge_clock::Nanos;
use hdrhistogram::Histogram;

/// The longest time that keeps its place in the histogram: 137 s. Longer ones count as this.
const HIGHEST: u64 = 1 << 37;

/// A distribution of times in nanoseconds. Percentiles come from an HDR histogram with 3 significant digits.
///
/// Nothing is allocated after it was made.
#[derive(Clone, Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
    count: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        Self::new()
    }
}

impl Distribution {
    /// An empty one.
    pub fn new() -> Distribution {
        let histogram = Histogram::new_with_bounds(1, HIGHEST, 3).expect("bounds and digits are in range");
        Distribution { histogram, sum: 0, squares: 0, min: u64::MAX, max: 0, count: 0 }
    }

    /// Adds a time.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        self.record_n(time, 1);
    }

    /// Adds a time that was found `n` times.
    #[inline]
    pub fn record_n(&mut self, time: Nanos, n: u64) {
        let ns = time.0.min(HIGHEST);
        self.histogram.saturating_record_n(ns, n);
        self.sum += ns as u128 * n as u128;
        self.squares += ns as u128 * ns as u128 * n as u128;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.count += n;
    }

    /// Adds everything in `other`.
    pub fn merge(&mut self, other: &Distribution) {
        self.histogram.add(&other.histogram).expect("all have the same bounds");
        self.sum += other.sum;
        self.squares += other.squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
    }

    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The shortest; `None` when there are none.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The longest, exactly.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The mean, exactly.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The standard deviation of the recorded times (n - 1 in the denominator); `None` below two.
    pub fn std_ns(&self) -> Option<f64> {
        let n = self.count as u128;
        // n * squares - sum^2 in integers: no cancellation. 2^74 * n^2 fits for fewer than 2^27 frames at the longest
        // delay; beyond that, in floating point.
        let spread = match (n.checked_mul(self.squares), self.sum.checked_mul(self.sum)) {
            (Some(a), Some(b)) => a.saturating_sub(b) as f64,
            _ => (n as f64 * self.squares as f64 - self.sum as f64 * self.sum as f64).max(0.0),
        };
        (n > 1).then(|| (spread / n as f64 / (n - 1) as f64).sqrt())
    }

    /// The `p`-th percentile (0..=100) to 3 digits: the upper end of its bucket.
    pub fn percentile_ns(&self, p: f64) -> Option<u64> {
        let upper = || self.histogram.highest_equivalent(self.histogram.value_at_percentile(p));
        (self.count > 0).then(upper)
    }

    /// The filled buckets, ascending: their upper ends, and how many times fell into each.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram.iter_recorded().map(|v| (v.value_iterated_to(), v.count_since_last_iteration()))
    }
}

/// How far departures missed their schedule. A frame never leaves early.
#[derive(Clone, Debug, Default)]
pub struct GapErrors {
    /// Departure minus schedule.
    pub errors: Distribution,
    /// Frames that left more than one mean gap (and at least 1 us) after their schedule.
    pub late_frames: u64,
    threshold: Nanos,
}

impl GapErrors {
    /// For a schedule with that mean gap.
    pub fn new(mean_gap: Nanos) -> GapErrors {
        GapErrors { threshold: mean_gap.max(Nanos::from_micros(1)), ..Default::default() }
    }

    /// Notes a departure.
    #[inline]
    pub fn record(&mut self, scheduled: Nanos, left: Nanos) {
        let error = left - scheduled;
        self.errors.record(error);
        self.late_frames += (error > self.threshold) as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_sorting(times in prop::collection::vec(0..1u64 << 36, 2..200), p in 0..=100u32) {
            let mut found = Distribution::new();
            times.iter().for_each(|&t| found.record(Nanos(t)));
            let mut sorted = times.clone();
            sorted.sort();
            let n = sorted.len();
            let mean = sorted.iter().sum::<u64>() as f64 / n as f64;
            let std = (sorted.iter().map(|&t| (t as f64 - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt();
            prop_assert_eq!((found.min_ns(), found.max_ns()), (Some(sorted[0]), Some(sorted[n - 1])));
            prop_assert!((found.mean_ns().unwrap() - mean).abs() <= 1e-9 * mean);
            prop_assert!((found.std_ns().unwrap() - std).abs() <= 1e-6 * std + 1e-6);
            let rank = ((p as f64 / 100.0 * n as f64).ceil() as usize).max(1);
            let exact = sorted[rank - 1];
            let percentile = found.percentile_ns(p as f64).unwrap();
            prop_assert!(percentile >= exact && percentile as f64 <= exact as f64 * 1.001 + 1.0);
            prop_assert_eq!(found.buckets().map(|b| b.1).sum::<u64>(), n as u64);
            prop_assert!(found.buckets().is_sorted_by(|a, b| a.0 < b.0));
        }
    }

    #[test]
    fn nothing_is_not_zero() {
        let empty = Distribution::new();
        assert_eq!(
            (empty.min_ns(), empty.mean_ns(), empty.std_ns(), empty.percentile_ns(50.0)),
            (None, None, None, None)
        );
    }

    #[test]
    fn merging_is_recording_both() {
        let (mut a, mut b, mut both) = (Distribution::new(), Distribution::new(), Distribution::new());
        for t in 1..1000 {
            if t % 3 == 0 { &mut a } else { &mut b }.record(Nanos(t * 37));
            both.record(Nanos(t * 37));
        }
        a.merge(&b);
        assert_eq!(
            (a.mean_ns(), a.std_ns(), a.percentile_ns(99.0)),
            (both.mean_ns(), both.std_ns(), both.percentile_ns(99.0))
        );
    }

    #[test]
    fn many_at_once_are_many_one_by_one() {
        let (mut a, mut b) = (Distribution::new(), Distribution::new());
        for (t, n) in [(70, 3), (1 << 40, 2), (5, 1), (70, 0)] {
            a.record_n(Nanos(t), n);
            (0..n).for_each(|_| b.record(Nanos(t)));
        }
        assert_eq!((a.count(), a.min_ns(), a.max_ns()), (b.count(), b.min_ns(), b.max_ns()));
        assert_eq!((a.mean_ns(), a.std_ns()), (b.mean_ns(), b.std_ns()));
        assert!(a.buckets().eq(b.buckets()));
    }

    #[test]
    fn late_is_more_than_a_gap() {
        let mut gaps = GapErrors::new(Nanos(10_000));
        gaps.record(Nanos(100), Nanos(110));
        gaps.record(Nanos(100), Nanos(10_101));
        assert_eq!((gaps.late_frames, gaps.errors.max_ns()), (1, Some(10_001)));
    }
}
