//! A port with a known delay and a known loss on receipt: the truth that measurements are held against.

use std::collections::VecDeque;

use flowgauge_clock::{Clock, Nanos};

use crate::pool::Pool;
use crate::{BURST, Burst, Port, PortError, PortStats, Slot, forward};

/// What happens to received frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impairment {
    /// Each frame becomes visible exactly that long after the inner port had it.
    pub delay: Nanos,
    /// Exactly every so many-th frame is lost, counted from the first; 0: none.
    pub loss_one_in: u64,
    /// Frames that the delay line holds; one more is dropped and counted as `rx_dropped`.
    pub capacity: usize,
}

impl Impairment {
    /// A delay and a loss, with room for 16 384 frames on the line.
    pub fn new(delay: Nanos, loss_one_in: u64) -> Impairment {
        Impairment { delay, loss_one_in, capacity: 1 << 14 }
    }
}

/// Any port, impaired on receipt. Frames are copied on their way; transmission is the inner port's.
///
/// "Had it" is the stamp where the inner port stamps, and otherwise the time at which it was polled. So a port that does
/// not stamp must be polled all the time for its delay to be exact, as the tester's loop does.
pub struct Impaired<P> {
    inner: P,
    impairment: Impairment,
    name: String,
    clock: Clock,
    line: Line,
    incoming: Burst,
    seen: u64,
    lost: u64,
    overflowed: u64,
    delivered: u64,
}

impl<P: Port> Impaired<P> {
    /// Impairs `inner`.
    pub fn new(inner: P, impairment: Impairment) -> Impaired<P> {
        let longest = inner.capabilities().longest_frame;
        // A burst more than the line holds, for the frames that are being read.
        let pool = Pool::new(impairment.capacity + BURST, longest);
        let name =
            format!("{} + {} + loss 1 in {}", inner.describe(), impairment.delay, impairment.loss_one_in);
        Impaired {
            inner,
            impairment,
            name,
            clock: Clock,
            line: Line { pool, frames: VecDeque::with_capacity(impairment.capacity) },
            incoming: Burst::new(),
            seen: 0,
            lost: 0,
            overflowed: 0,
            delivered: 0,
        }
    }

    /// Frames lost on purpose so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The inner port; what is on the line is lost.
    pub fn into_inner(self) -> P {
        self.inner
    }

    fn pull(&mut self) -> Result<(), PortError> {
        // A bounded number of bursts, so that frames that are due get out in between.
        for _ in 0..4 {
            if self.inner.rx(&mut self.incoming, BURST)? == 0 {
                break;
            }
            let now = self.clock.now();
            for i in 0..self.incoming.len() {
                self.hold(i, now);
            }
            self.inner.free(&mut self.incoming);
        }
        Ok(())
    }

    fn hold(&mut self, i: usize, now: Nanos) {
        self.seen += 1;
        if self.impairment.loss_one_in > 0 && self.seen % self.impairment.loss_one_in == 0 {
            self.lost += 1;
            return;
        }
        let frame = &self.incoming[i];
        let slot =
            if self.line.frames.len() < self.impairment.capacity { self.line.pool.get() } else { None };
        let Some(mut slot) = slot else {
            self.overflowed += 1;
            return;
        };
        slot.set_len(frame.len());
        slot.bytes_mut().copy_from_slice(frame.bytes());
        let due = frame.stamp().unwrap_or(now) + self.impairment.delay;
        slot.set_stamp(frame.stamp().map(|_| due));
        self.line.frames.push_back((due, slot));
    }
}

impl<P: Port> Port for Impaired<P> {
    forward!(self, self.inner; capabilities alloc tx details flush check tx_stamps);

    fn describe(&self) -> &str {
        &self.name
    }

    fn rx(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError> {
        self.pull()?;
        let max = max.min(burst.room());
        let now = self.clock.now();
        let mut n = 0;
        while n < max && self.line.frames.front().is_some_and(|(due, _)| *due <= now) {
            burst.push(self.line.frames.pop_front().expect("there is a front").1);
            n += 1;
        }
        self.delivered += n as u64;
        Ok(n)
    }

    fn free(&mut self, burst: &mut Burst) {
        let mut others = 0;
        for _ in 0..burst.len() {
            if burst[others].owner() == self.line.pool.owner() {
                self.line.pool.put(burst.take_at(others));
            } else {
                others += 1;
            }
        }
        if others > 0 {
            self.inner.free(burst);
        }
    }

    fn stats(&mut self) -> PortStats {
        let inner = self.inner.stats();
        PortStats { rx_frames: self.delivered, rx_dropped: inner.rx_dropped + self.overflowed, ..inner }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.line.frames.front().map(|(due, _)| *due)
    }
}

/// Copies of frames, in order, each with the time at which it is due.
struct Line {
    pool: Pool,
    frames: VecDeque<(Nanos, Slot)>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.frames.drain(..).for_each(|(_, slot)| self.pool.put(slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring;

    fn send(port: &mut impl Port, n: usize) {
        let mut burst = Burst::new();
        assert_eq!(port.alloc(&mut burst, n), n);
        for (i, slot) in burst.iter_mut().enumerate() {
            slot.set_len(60);
            slot.bytes_mut().fill(i as u8);
        }
        assert_eq!(port.tx(&mut burst).unwrap(), n);
    }

    #[test]
    fn frames_come_after_the_delay_and_every_third_is_lost() {
        let (mut a, b) = ring::pair(64);
        let delay = Nanos::from_millis(2);
        let mut b = Impaired::new(b, Impairment::new(delay, 3));
        let mut burst = Burst::new();
        send(&mut a, 10);
        let started = Clock.now();
        assert_eq!(b.rx(&mut burst, 64).unwrap(), 0);
        while b.rx(&mut burst, 64).unwrap() == 0 {}
        let waited = Clock.now() - started;
        assert!(waited >= delay && waited < delay + Nanos::from_millis(50), "{waited}");
        while burst.len() < 7 {
            b.rx(&mut burst, 64).unwrap();
        }
        assert_eq!(burst.iter().map(|s| s.bytes()[0]).collect::<Vec<_>>(), [0, 1, 3, 4, 6, 7, 9]);
        assert_eq!(b.alloc(&mut burst, 5), 5, "slots for transmission beside received ones");
        b.free(&mut burst);
        assert_eq!((b.lost(), b.stats().rx_frames, b.stats().rx_dropped), (3, 7, 0));
        assert!(burst.is_empty() && b.next_event().is_none());
    }

    #[test]
    fn a_full_line_drops_and_says_so() {
        let (mut a, b) = ring::pair(64);
        let mut b = Impaired::new(b, Impairment { delay: Nanos::from_secs(9), loss_one_in: 0, capacity: 4 });
        send(&mut a, 10);
        assert_eq!(b.rx(&mut Burst::new(), 64).unwrap(), 0);
        assert_eq!(b.stats().rx_dropped, 6);
        drop(b.into_inner());
    }
}
