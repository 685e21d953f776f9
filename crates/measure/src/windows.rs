//! Consecutive equal slices of a trial, each with its count and mean delay: where the delay grows with time, a mean over
//! the whole trial depends on the trial's length.

use flowgauge_clock::Nanos;

/// The most slices. When a trial outlasts them, pairs are merged and the slices become twice as long.
const MOST: usize = 256;

/// One slice, by time of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Frames that arrived in it.
    pub count: u64,
    /// Sum of their delays in ns.
    pub delay_sum: u64,
}

impl Window {
    /// Mean delay in ns; `None` when nothing arrived.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.delay_sum as f64 / self.count as f64)
    }
}

/// The slices of a trial. Never allocates after it was made.
#[derive(Clone, Debug)]
pub struct Windows {
    slices: Vec<Window>,
    width: u64,
    origin: u64,
    current: usize,
    /// Bounds of the current slice, so that most arrivals need no division.
    low: u64,
    high: u64,
}

impl Windows {
    /// Slices of `width` (at least 1 ns) from `origin` on.
    pub fn new(origin: Nanos, width: Nanos) -> Windows {
        let mut windows = Windows {
            slices: Vec::with_capacity(MOST),
            width: width.0.max(1),
            origin: origin.0,
            current: 0,
            low: 0,
            high: 0,
        };
        windows.slices.push(Window::default());
        windows.enter(0);
        windows
    }

    fn enter(&mut self, slice: usize) {
        self.current = slice;
        self.low = self.origin + slice as u64 * self.width;
        self.high = self.low.saturating_add(self.width);
    }

    /// `n` frames arrived, each after that delay; before the origin counts as in the first slice.
    #[inline]
    pub fn record(&mut self, arrived: Nanos, delay: Nanos, n: u64) {
        if arrived.0 < self.low || arrived.0 >= self.high {
            self.seek(arrived.0);
        }
        let slice = &mut self.slices[self.current];
        slice.count += n;
        slice.delay_sum = slice.delay_sum.saturating_add(delay.0.saturating_mul(n));
    }

    /// Adds slices from the same origin, of the same width when both were new.
    pub fn merge(&mut self, other: &Windows) {
        let mut other = other.clone();
        while self.width < other.width {
            self.double();
        }
        while other.width < self.width {
            other.double();
        }
        if self.slices.len() < other.slices.len() {
            self.slices.resize(other.slices.len(), Window::default());
        }
        for (slice, more) in self.slices.iter_mut().zip(&other.slices) {
            slice.count += more.count;
            slice.delay_sum = slice.delay_sum.saturating_add(more.delay_sum);
        }
        self.enter(0);
    }

    #[cold]
    fn seek(&mut self, arrived: u64) {
        let since = arrived.saturating_sub(self.origin);
        while since / self.width >= MOST as u64 {
            self.double();
        }
        let slice = (since / self.width) as usize;
        if slice >= self.slices.len() {
            self.slices.resize(slice + 1, Window::default());
        }
        self.enter(slice);
    }

    fn double(&mut self) {
        for i in 0..self.slices.len().div_ceil(2) {
            let second = self.slices.get(2 * i + 1).copied().unwrap_or_default();
            let first = self.slices[2 * i];
            self.slices[i] = Window {
                count: first.count + second.count,
                delay_sum: first.delay_sum.saturating_add(second.delay_sum),
            };
        }
        self.slices.truncate(self.slices.len().div_ceil(2));
        self.width = self.width.saturating_mul(2);
    }

    /// The length of a slice.
    pub fn width(&self) -> Nanos {
        Nanos(self.width)
    }

    /// The slices up to the last arrival.
    pub fn slices(&self) -> &[Window] {
        &self.slices
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_sorting_into_slices_afterwards(arrivals in prop::collection::vec((0..2_000_000u64, 0..100u64), 1..200)) {
            let mut windows = Windows::new(Nanos(1000), Nanos(100));
            arrivals.iter().for_each(|&(at, delay)| windows.record(Nanos(at), Nanos(delay), 1));
            let width = windows.width().0;
            for (i, slice) in windows.slices().iter().enumerate() {
                let inside = |at: u64| at.saturating_sub(1000) / width == i as u64;
                let expected = arrivals.iter().filter(|a| inside(a.0));
                let (count, delay_sum) = expected.fold((0, 0), |(n, sum), a| (n + 1, sum + a.1));
                prop_assert_eq!(*slice, Window { count, delay_sum });
            }
            prop_assert!(windows.slices().len() <= MOST);
            prop_assert_eq!(windows.slices().iter().map(|s| s.count).sum::<u64>(), arrivals.len() as u64);
        }

        #[test]
        fn merging_is_recording_both(arrivals in prop::collection::vec((0..200_000u64, 0..100u64, any::<bool>()), 1..200)) {
            let new = || Windows::new(Nanos(1000), Nanos(100));
            let (mut a, mut b, mut both) = (new(), new(), new());
            for &(at, delay, first) in &arrivals {
                if first { &mut a } else { &mut b }.record(Nanos(at), Nanos(delay), 1);
                both.record(Nanos(at), Nanos(delay), 1);
            }
            a.merge(&b);
            prop_assert_eq!((a.width(), a.slices()), (both.width(), both.slices()));
            a.record(Nanos(50_000), Nanos(1), 2);
            both.record(Nanos(50_000), Nanos(1), 2);
            prop_assert_eq!((a.width(), a.slices()), (both.width(), both.slices()));
        }
    }
}
