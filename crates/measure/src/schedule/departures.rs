//! A schedule's departures one after the other: exact additions only, no division and no drift.

use flowgauge_clock::Nanos;

use super::{Rate, Recorded, Schedule};
use crate::Random;

/// The departures of a schedule in turn. It never ends.
#[derive(Clone, Debug)]
pub struct Departures {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Even(Exact),
    Poisson { at: u128, mean_ns: f64, random: Random },
    Burst { at: Exact, within: u32, frames: u32, gap: u64 },
    Recorded { times: Recorded, next: usize, round: Nanos },
    Max,
}

/// `whole + part / parts` nanoseconds, and a step to add.
#[derive(Clone, Debug)]
struct Exact {
    whole: u64,
    part: u64,
    parts: u64,
    step: (u64, u64),
}

impl Exact {
    fn new(rate: Option<Rate>) -> Exact {
        let (parts, step) = rate.map_or((1, (0, 0)), |rate| (rate.events(), rate.step()));
        Exact { whole: 0, part: 0, parts, step }
    }

    #[inline]
    fn advance(&mut self) {
        self.whole = self.whole.saturating_add(self.step.0);
        // Without the sum, which may exceed 64 bits: carry when part + step >= parts.
        let room = self.parts - self.step.1;
        if self.part >= room {
            self.part -= room;
            self.whole = self.whole.saturating_add(1);
        } else {
            self.part += self.step.1;
        }
    }
}

impl Exact {
    /// How many steps there are until the last instant at or before `limit`, which is not before this one.
    fn steps_until(&self, limit: u64) -> u64 {
        let step = u128::from(self.step.0) * u128::from(self.parts) + u128::from(self.step.1);
        let room =
            u128::from(limit - self.whole) * u128::from(self.parts) + u128::from(self.parts - self.part - 1);
        // Without a step every instant is the same, and none is the last.
        room.checked_div(step).map_or(0, |steps| u64::try_from(steps).unwrap_or(u64::MAX))
    }

    fn advance_by(&mut self, steps: u64) {
        let parts = u128::from(self.part) + u128::from(steps) * u128::from(self.step.1);
        let whole = u64::try_from(parts / u128::from(self.parts)).unwrap_or(u64::MAX);
        self.whole = self.whole.saturating_add(steps.saturating_mul(self.step.0)).saturating_add(whole);
        self.part = (parts % u128::from(self.parts)) as u64;
    }
}

/// Bits behind the point in which Poisson instants are summed: a gap is rounded to 2^-32 ns.
const POINT: u32 = 32;

impl Departures {
    pub(super) fn new(schedule: &Schedule) -> Departures {
        let kind = match schedule {
            Schedule::Cbr { rate } => Kind::Even(Exact::new(Some(*rate))),
            Schedule::Poisson { rate, seed } => {
                Kind::Poisson { at: 0, mean_ns: 1e9 / rate.as_f64(), random: Random::new(*seed) }
            }
            Schedule::Burst { frames, gap, rate } => {
                Kind::Burst { at: Exact::new(*rate), within: 0, frames: (*frames).max(1), gap: gap.0 }
            }
            Schedule::Recorded(times) => Kind::Recorded { times: times.clone(), next: 0, round: Nanos::ZERO },
            Schedule::Max => Kind::Max,
        };
        let mut departures = Departures { kind };
        if let Schedule::Poisson { .. } = schedule {
            departures.advance();
        }
        departures
    }

    /// When the next event leaves, counted from the start.
    #[inline]
    pub fn peek(&self) -> Nanos {
        match &self.kind {
            Kind::Even(at) | Kind::Burst { at, .. } => Nanos(at.whole),
            Kind::Poisson { at, .. } => Nanos((at >> POINT) as u64),
            Kind::Recorded { times, next, round } => *round + times.at(*next),
            Kind::Max => Nanos::ZERO,
        }
    }

    /// Goes on to the event after it.
    #[inline]
    pub fn advance(&mut self) {
        match &mut self.kind {
            Kind::Even(at) => at.advance(),
            Kind::Poisson { at, mean_ns, random } => {
                let gap = random.next_exponential() * *mean_ns;
                *at += (gap * (1u64 << POINT) as f64) as u128;
            }
            Kind::Burst { at, within, frames, gap } => {
                *within += 1;
                if *within == *frames {
                    *within = 0;
                    at.whole = at.whole.saturating_add(*gap);
                } else {
                    at.advance();
                }
            }
            Kind::Recorded { times, next, round } => {
                *next += 1;
                if *next as u64 == times.events() {
                    *next = 0;
                    *round += times.period();
                }
            }
            Kind::Max => {}
        }
    }

    /// Leaves out events at instants that are followed by a later one at or before `limit`, up to `most` of them; returns
    /// how many those were.
    pub fn skip_overtaken(&mut self, limit: Nanos, most: u64) -> u64 {
        if let Kind::Even(at) = &mut self.kind {
            let skipped = if at.whole < limit.0 { at.steps_until(limit.0).min(most) } else { 0 };
            at.advance_by(skipped);
            return skipped;
        }
        let mut skipped = 0;
        while let Some((next, events)) = self.next_instant() {
            if next.peek() > limit || skipped + events > most {
                break;
            }
            (*self, skipped) = (next, skipped + events);
        }
        skipped
    }

    /// The first departure at a later instant, and how many events before; `None` when there is no later one.
    fn next_instant(&self) -> Option<(Departures, u64)> {
        let mut next = self.clone();
        match &mut next.kind {
            Kind::Max => None,
            Kind::Recorded { times, .. } if times.period() == Nanos::ZERO => None,
            Kind::Burst { gap: 0, at: Exact { step: (0, 0), .. }, .. } => None,
            Kind::Burst { at: at @ Exact { step: (0, 0), .. }, within, frames, gap } => {
                let events = *frames - *within;
                at.whole = at.whole.saturating_add(*gap);
                *within = 0;
                Some((next, u64::from(events)))
            }
            Kind::Even(_) | Kind::Poisson { .. } | Kind::Burst { .. } | Kind::Recorded { .. } => {
                let mut events = 0;
                while next.peek() == self.peek() {
                    next.advance();
                    events += 1;
                }
                Some((next, events))
            }
        }
    }
}

impl Iterator for Departures {
    type Item = Nanos;
    fn next(&mut self) -> Option<Nanos> {
        let at = self.peek();
        self.advance();
        Some(at)
    }
}
