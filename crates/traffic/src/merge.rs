//! Which of a port's streams goes next: the one that is due first; of those that are always due, each by its share.

use flowgauge_clock::Nanos;

use crate::source::Source;
use crate::timetable::Timetable;

/// A stream's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Position of the stream among the port's.
    pub source: usize,
    /// Its frames go as long as they are due at that time...
    pub until: Nanos,
    /// ... and there are no more than that many.
    pub most: usize,
}

/// Merges the streams of a port.
pub(crate) struct Merge {
    /// Frames of each stream in the present round, of those that are always due. In a round each has as many as its weight.
    shares: Vec<u32>,
}

impl Merge {
    pub fn new(sources: usize) -> Merge {
        Merge { shares: vec![0; sources] }
    }

    /// Whose turn it is at `now`.
    #[inline]
    pub fn turn(&mut self, sources: &mut [Source], now: Nanos) -> Option<Turn> {
        if let [only] = sources {
            let timetable = &mut only.timetable;
            timetable.skip_late(now);
            return (timetable.next_due <= now).then_some(Turn { source: 0, until: now, most: usize::MAX });
        }
        first_due(sources, now).or_else(|| self.by_share(sources, now))
    }

    /// The stream whose share is the least used, so that frames of all are spread as evenly as can be.
    fn by_share(&mut self, sources: &[Source], now: Nanos) -> Option<Turn> {
        let is_ready = |source: &Source| source.timetable.greedy && source.timetable.next_due <= now;
        let ready = || sources.iter().enumerate().filter(|(_, source)| is_ready(source));
        let used = |shares: &[u32], i: usize| u64::from(shares[i]) + 1;
        let less = |shares: &[u32], i: usize, j: usize| {
            used(shares, i) * u64::from(sources[j].weight) < used(shares, j) * u64::from(sources[i].weight)
        };
        let (first, _) = ready().next()?;
        let least = ready().fold(first, |least, (i, _)| if less(&self.shares, i, least) { i } else { least });
        if ready().nth(1).is_none() {
            return Some(Turn { source: first, until: now, most: usize::MAX });
        }
        if self.shares[least] >= sources[least].weight {
            self.shares.fill(0);
            return self.by_share(sources, now);
        }
        self.shares[least] += 1;
        Some(Turn { source: least, until: now, most: 1 })
    }
}

/// The stream with a pace that is due first, and until when it stays the first: of those due at once, the one that was
/// given first.
fn first_due(sources: &mut [Source], now: Nanos) -> Option<Turn> {
    let mut first: Option<(Nanos, usize)> = None;
    for (i, source) in sources.iter_mut().enumerate().filter(|(_, source)| !source.timetable.greedy) {
        source.timetable.skip_late(now);
        let next_due = source.timetable.next_due;
        if next_due <= now && first.is_none_or(|(due, _)| next_due < due) {
            first = Some((next_due, i));
        }
    }
    let (_, source) = first?;
    let timetables = sources.iter().map(|source| &source.timetable).enumerate();
    let others = timetables.filter(|(i, other)| !other.greedy && *i != source);
    let before =
        |(i, other): (usize, &Timetable)| if i > source { other.next_due } else { other.next_due - Nanos(1) };
    Some(Turn { source, until: others.map(before).fold(now, Nanos::min), most: usize::MAX })
}
