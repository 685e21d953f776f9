//! When the frames of a stream are due, how many are left, and when it ends.

use flowgauge_clock::Nanos;
use flowgauge_measure::{Departures, Schedule};

use crate::stream::{LatePolicy, Stop, Stream};

/// When the frames of a stream are due, one after the other, from its start to its end.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// When the next frame is due; [`Nanos::MAX`] when there is none.
    pub next_due: Nanos,
    /// Whether frames are always due.
    pub greedy: bool,
    /// Frames that were due and left out.
    pub skipped: u64,
    /// Frames that were taken.
    taken: u64,
    late: LatePolicy,
    departures: Departures,
    stop: Stop,
    start_after: Nanos,
    start: Nanos,
    /// Departures from here on are not the stream's.
    end: Nanos,
    left: u64,
}

impl Timetable {
    /// Of a stream that has not begun: nothing is due.
    pub fn new(stream: &Stream) -> Timetable {
        Timetable {
            next_due: Nanos::MAX,
            greedy: stream.schedule == Schedule::Max,
            skipped: 0,
            taken: 0,
            late: stream.late,
            departures: stream.schedule.departures(),
            stop: stream.stop,
            start_after: stream.start_after,
            start: Nanos::MAX,
            end: Nanos::MAX,
            left: u64::MAX,
        }
    }

    /// The transmission starts.
    pub fn begin(&mut self, at: Nanos) {
        self.start = at + self.start_after;
        match self.stop {
            Stop::After(duration) => self.end = self.start + duration,
            Stop::Count(n) => self.left = n,
            Stop::UntilStopped => {}
        }
        self.find_due();
    }

    #[inline]
    fn find_due(&mut self) {
        let due = self.start + self.departures.peek();
        self.next_due = if self.left == 0 || due >= self.end { Nanos::MAX } else { due };
    }

    /// Whether no frame is left.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.next_due == Nanos::MAX
    }

    #[inline]
    fn advance(&mut self) {
        self.left -= 1;
        self.departures.advance();
        self.find_due();
    }

    /// With [`LatePolicy::Within`], leaves out what a later frame has overtaken by more than the limit.
    #[inline]
    pub fn skip_late(&mut self, now: Nanos) {
        let LatePolicy::Within(limit) = self.late else { return };
        let overdue = now - limit;
        if self.next_due < overdue {
            let limit = overdue.min(self.end - Nanos(1)) - self.start;
            let skipped = self.departures.skip_overtaken(limit, self.left - 1);
            self.skipped += skipped;
            self.left -= skipped;
            self.find_due();
        }
    }

    /// Takes the next frame, of which there must be one; returns its sequence number and when it was due.
    #[inline]
    pub fn take_next(&mut self) -> (u64, Nanos) {
        let next = (self.taken, self.next_due);
        self.taken += 1;
        self.advance();
        next
    }

    /// Takes the next frames, up to `most`, that are due at `until`; returns the first one's sequence number and how many
    /// there are. `dues`: when each of them is due, of streams with a pace.
    #[inline]
    pub fn take(&mut self, until: Nanos, most: usize, dues: &mut Vec<Nanos>) -> (u64, usize) {
        let first = self.taken;
        let mut frames = 0;
        if self.greedy {
            frames = self.left.min(most as u64) as usize;
            self.left -= frames as u64;
            self.find_due();
        } else {
            while frames < most && self.next_due <= until {
                dues.push(self.next_due);
                frames += 1;
                self.advance();
            }
        }
        self.taken += frames as u64;
        (first, frames)
    }

    /// How many frames its schedule has asked for so far: those that were taken, and those that were left out.
    pub fn requested(&self) -> u64 {
        self.taken + self.skipped
    }

    /// Ends the stream at `at`, unless it has ended before. What was due before and was not taken is skipped.
    pub fn cut(&mut self, at: Nanos) {
        if self.exhausted() && self.scheduled_stop().is_none_or(|stop| stop <= at) {
            return;
        }
        while !self.greedy && self.next_due < at {
            self.skipped += 1;
            self.advance();
        }
        self.next_due = Nanos::MAX;
        self.end = self.end.min(at);
    }

    /// From when on nothing is due by its schedule, or since it was cut; [`Nanos::MAX`] when that is not known.
    #[inline]
    pub fn end(&self) -> Nanos {
        self.end
    }

    /// When the stream ends by its schedule, or was ended: at the end of its last interval. `None` when that is as soon
    /// as its last frame has left.
    pub fn scheduled_stop(&self) -> Option<Nanos> {
        if self.end != Nanos::MAX {
            return Some(self.end);
        }
        match self.stop {
            Stop::Count(_) if !self.greedy => Some(self.start + self.departures.peek()),
            Stop::Count(_) | Stop::After(_) | Stop::UntilStopped => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use flowgauge_packet::{FlowSet, FrameTemplate, Payload};

    use super::*;

    const US: fn(u64) -> Nanos = Nanos::from_micros;

    /// Of a stream that starts at 100 us.
    fn begun(schedule: Schedule, stop: Stop, late: LatePolicy) -> Timetable {
        let template = FrameTemplate::new(&FlowSet::new(1, vec![]).unwrap(), 64, Payload::Zero).unwrap();
        let stream = Stream::new(1, Some(0), Arc::new(template), schedule, stop);
        let mut timetable = Timetable::new(&Stream { start_after: US(60), late, ..stream });
        assert!(timetable.exhausted(), "nothing is due before the start");
        timetable.begin(US(40));
        timetable
    }

    /// A frame every 10 us.
    fn paced(stop: Stop, late: LatePolicy) -> Timetable {
        begun(Schedule::cbr_pps(1e5).unwrap(), stop, late)
    }

    #[test]
    fn frames_are_taken_as_they_are_due_alone_or_together() {
        let mut timetable = paced(Stop::Count(5), LatePolicy::CatchUp);
        assert_eq!(timetable.take_next(), (0, US(100)));
        let mut dues = Vec::new();
        assert_eq!(timetable.take(US(109), 64, &mut dues), (1, 0));
        assert_eq!(timetable.take(US(900), 3, &mut dues), (1, 3));
        assert_eq!(dues, [US(110), US(120), US(130)]);
        assert_eq!((timetable.next_due, timetable.exhausted()), (US(140), false));
        assert_eq!(timetable.take(US(900), 64, &mut dues), (4, 1));
        assert!(timetable.exhausted());
        assert_eq!(timetable.scheduled_stop(), Some(US(150)), "at the end of the last interval");
        assert_eq!((timetable.requested(), timetable.end()), (5, Nanos::MAX));
    }

    #[test]
    fn what_is_due_from_the_end_on_is_not_the_streams() {
        let mut timetable = paced(Stop::After(US(30)), LatePolicy::CatchUp);
        assert_eq!(timetable.take(US(900), 64, &mut Vec::new()), (0, 3));
        assert_eq!((timetable.end(), timetable.scheduled_stop()), (US(130), Some(US(130))));
        timetable.cut(US(200));
        assert_eq!((timetable.end(), timetable.skipped), (US(130), 0), "it had ended before");
    }

    #[test]
    fn late_frames_are_left_out_if_asked_for() {
        for (late, skipped) in
            [(LatePolicy::CatchUp, 0), (LatePolicy::SKIP, 3), (LatePolicy::Within(US(15)), 2)]
        {
            let mut timetable = paced(Stop::Count(5), late);
            timetable.skip_late(US(139));
            assert_eq!((timetable.skipped, timetable.next_due), (skipped, US(100 + 10 * skipped)));
            let (first, frames) = timetable.take(US(900), 64, &mut Vec::new());
            assert_eq!((first, frames as u64 + skipped, timetable.requested()), (0, 5, 5));
        }
    }

    #[test]
    fn a_cut_skips_what_was_due() {
        let mut timetable = paced(Stop::UntilStopped, LatePolicy::CatchUp);
        timetable.take_next();
        timetable.cut(US(135));
        assert!(timetable.exhausted());
        assert_eq!((timetable.skipped, timetable.requested()), (3, 4));
        assert_eq!(timetable.scheduled_stop(), Some(US(135)));
    }

    #[test]
    fn greedy_streams_are_always_due() {
        let mut timetable = begun(Schedule::Max, Stop::Count(100), LatePolicy::SKIP);
        timetable.skip_late(US(500));
        let mut dues = Vec::new();
        assert_eq!(timetable.take(US(500), 64, &mut dues), (0, 64));
        assert_eq!(timetable.take_next(), (64, US(100)));
        assert_eq!(timetable.scheduled_stop(), None, "as soon as the last one has left");
        timetable.cut(US(600));
        assert_eq!((timetable.skipped, timetable.requested(), dues.len()), (0, 65, 0));
        assert_eq!(timetable.scheduled_stop(), Some(US(600)));
    }
}
