//! What became of one stream, exactly: `sent = received + lost`, whatever the network did.

mod options;
#[cfg(test)]
mod tests;

use flowgauge_clock::Nanos;

use crate::{Distribution, SeenSet, Windows};
pub use options::AccountOptions;

/// What an arrival was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The first copy of its sequence number.
    First,
    /// A further copy.
    Duplicate,
    /// A sequence number that was never sent: the frame is damaged.
    NeverSent,
}

/// The counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that left.
    pub sent: u64,
    /// Distinct sequence numbers that arrived.
    pub received: u64,
    /// `sent - received`.
    pub lost: u64,
    /// Further copies of a sequence number.
    pub duplicated: u64,
    /// First copies that came after one with a higher sequence number (RFC 4737).
    pub reordered: u64,
    /// First copies that came after the stream's stop, within the drain. They count as received too.
    pub late: u64,
    /// Frames of the stream whose probe is damaged.
    pub corrupt: u64,
}

/// Keeps account of one stream. Nothing is allocated while frames are counted; [`Account::reserve`] does that ahead of
/// need, where the number of frames was not known.
#[derive(Debug)]
pub struct Account {
    options: AccountOptions,
    counters: Counters,
    /// Whether `sent` is known: not while somebody else sends.
    sent_known: bool,
    seen: SeenSet,
    next_expected: u64,
    stop: Nanos,
    latency: Distribution,
    windows: Windows,
    first_arrival: Vec<u64>,
    flows_missing: u32,
    departures: Vec<u64>,
    arrivals: Vec<[u64; 3]>,
}

impl Account {
    /// An empty account.
    pub fn new(options: AccountOptions) -> Account {
        Account {
            counters: Counters::default(),
            sent_known: options.sent_here,
            seen: SeenSet::with_room(options.expected),
            next_expected: 0,
            stop: Nanos::MAX,
            latency: Distribution::new(),
            windows: Windows::new(options.origin, options.window),
            first_arrival: vec![u64::MAX; options.flows.max(1) as usize],
            flows_missing: options.flows.max(1),
            departures: Vec::with_capacity(options.record.min(options.expected as usize)),
            arrivals: Vec::with_capacity(options.record),
            options,
        }
    }

    /// The stream starts at `at`: windows are counted from there. To be called before anything arrives.
    pub fn begin(&mut self, at: Nanos) {
        self.windows = Windows::new(at, self.options.window);
    }

    /// Sequence numbers below this can be told from duplicates.
    #[inline]
    pub fn room(&self) -> u64 {
        self.seen.room()
    }

    /// Makes room for `frames` sequence numbers. Allocates.
    pub fn reserve(&mut self, frames: u64) {
        self.seen.reserve(frames);
    }

    /// The next frame left, at `at`.
    #[inline]
    pub fn sent(&mut self, at: Nanos) {
        self.sent_n(at, 1);
    }

    /// The next `n` frames left, all at `at`.
    #[inline]
    pub fn sent_n(&mut self, at: Nanos, n: u64) {
        self.counters.sent += n;
        let room = self.departures.capacity() - self.departures.len();
        if room > 0 {
            self.departures.extend(std::iter::repeat_n(at.0, room.min(n as usize)));
        }
    }

    /// Says how many frames left, where somebody else sent them. Never less than what arrived proves.
    pub fn set_sent(&mut self, frames: u64) {
        self.counters.sent = frames.max(self.next_expected);
        self.sent_known = true;
    }

    /// Whether it is known how many frames left.
    pub fn sent_known(&self) -> bool {
        self.sent_known
    }

    /// The stream ended: first copies that arrive after `at` are late.
    pub fn set_stop(&mut self, at: Nanos) {
        self.stop = at;
    }

    /// A frame of this stream arrived.
    #[inline]
    pub fn arrived(&mut self, seq: u64, left: Nanos, arrived: Nanos) -> Arrival {
        let found = self.count(seq, left, arrived);
        if found == Arrival::First {
            self.delayed(left, arrived, 1);
        }
        found
    }

    /// [`Account::arrived`] but for the delay: frames that left and arrived together share one, which
    /// [`Account::delayed`] takes for all of them that were the first copies.
    #[inline]
    pub fn count(&mut self, seq: u64, left: Nanos, arrived: Nanos) -> Arrival {
        if self.sent_known && seq >= self.counters.sent {
            self.counters.corrupt += 1;
            return Arrival::NeverSent;
        }
        match self.insert(seq) {
            Some(true) => {}
            Some(false) => {
                self.counters.duplicated += 1;
                return Arrival::Duplicate;
            }
            None => {
                self.counters.corrupt += 1;
                return Arrival::NeverSent;
            }
        }
        self.counters.received += 1;
        self.counters.late += (arrived > self.stop) as u64;
        if seq >= self.next_expected {
            self.next_expected = seq + 1;
        } else {
            self.counters.reordered += 1;
        }
        if self.flows_missing > 0 {
            self.note_flow(seq, arrived);
        }
        if self.arrivals.len() < self.arrivals.capacity() {
            self.arrivals.push([seq, left.0, arrived.0]);
        }
        Arrival::First
    }

    /// `n` first copies left at `left` and arrived at `arrived`.
    #[inline]
    pub fn delayed(&mut self, left: Nanos, arrived: Nanos, n: u64) {
        let delay = arrived - left;
        self.latency.record_n(delay, n);
        self.windows.record(arrived, delay, n);
    }

    #[inline]
    fn insert(&mut self, seq: u64) -> Option<bool> {
        let inserted = self.seen.insert(seq);
        if inserted.is_some() || self.sent_known || seq > self.next_expected + AccountOptions::FARTHEST_AHEAD
        {
            return inserted;
        }
        // Somebody else sends, at rates of a control channel: room is made when it is needed.
        self.seen.reserve(seq + 1);
        self.seen.insert(seq)
    }

    fn note_flow(&mut self, seq: u64, arrived: Nanos) {
        let flow = self.options.order.flow(seq, self.options.flows.max(1));
        let first = &mut self.first_arrival[flow as usize];
        if *first == u64::MAX {
            self.flows_missing -= 1;
        }
        *first = (*first).min(arrived.0);
    }

    /// A damaged frame of this stream arrived.
    pub fn corrupt(&mut self) {
        self.counters.corrupt += 1;
    }

    /// Adds what arrived of the same stream by another account's count; what left stays as it is here.
    ///
    /// Each sequence number counts once. The delays of a frame of which a copy came to each account are all counted, and so
    /// is each that was late; what is reordered is judged within each account.
    pub fn merge(&mut self, other: &Account) {
        let copies = self.seen.merge(&other.seen);
        let (mine, theirs) = (&mut self.counters, &other.counters);
        mine.received += theirs.received - copies;
        mine.duplicated += theirs.duplicated + copies;
        mine.reordered += theirs.reordered;
        mine.late += theirs.late;
        mine.corrupt += theirs.corrupt;
        if !self.options.sent_here {
            mine.sent = mine.sent.max(theirs.sent);
        }
        self.next_expected = self.next_expected.max(other.next_expected);
        self.latency.merge(&other.latency);
        self.windows.merge(&other.windows);
        for (first, theirs) in self.first_arrival.iter_mut().zip(&other.first_arrival) {
            *first = (*first).min(*theirs);
        }
        self.flows_missing = self.first_arrival.iter().filter(|&&at| at == u64::MAX).count() as u32;
        self.arrivals.extend_from_slice(&other.arrivals);
        self.arrivals.sort_by_key(|&[_, _, arrived]| arrived);
        self.arrivals.truncate(self.options.record);
    }

    /// The counts so far.
    pub fn counters(&self) -> Counters {
        Counters { lost: self.counters.sent.saturating_sub(self.counters.received), ..self.counters }
    }

    /// Frames that arrived, each counted once.
    #[inline]
    pub fn received(&self) -> u64 {
        self.counters.received
    }

    /// Frames that left.
    #[inline]
    pub fn sent_count(&self) -> u64 {
        self.counters.sent
    }

    /// Delays of the first copies.
    pub fn latency(&self) -> &Distribution {
        &self.latency
    }

    /// Count and mean delay over time, by time of arrival.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    /// Per flow of the set: when its first frame arrived.
    pub fn first_arrivals(&self) -> impl ExactSizeIterator<Item = Option<Nanos>> + '_ {
        self.first_arrival.iter().map(|&at| (at != u64::MAX).then_some(Nanos(at)))
    }

    /// Departure times of the first frames, by sequence number, as many as were asked for.
    pub fn departures(&self) -> &[u64] {
        &self.departures
    }

    /// The first arrivals, as many as were asked for: sequence number, departure, arrival.
    pub fn arrivals(&self) -> &[[u64; 3]] {
        &self.arrivals
    }
}
