//! Judging probes of whoever sent them: what is missing of each stream, what came twice or out of order, and delays.
//!
//! The sender is not asked, so loss is counted between the first and the last frame that came. Delays are known where sender and receiver
//! have one clock, which is on one host; how they vary from frame to frame is known everywhere (RFC 3393).

use std::collections::BTreeMap;

use flowgauge_clock::Nanos;
use flowgauge_measure::{Account, AccountOptions, Counters, Distribution, Probe};
use flowgauge_packet::layout::{Layout, Transport};

/// A probe that claims to have left longer ago than this comes from another clock.
const OLDEST: Nanos = Nanos::from_secs(10);
/// How far before the first frame that came others may have left.
const REORDER: u64 = 1 << 16;
/// The most streams that are told apart.
const MOST_STREAMS: usize = 4096;
const UDP_HEADER: usize = 8;

/// Nonce and number of a stream.
type Key = (u16, u16);

/// What came of one stream.
pub struct ProbeStream {
    /// Nonce of its trial.
    pub nonce: u16,
    /// Its number in the trial.
    pub stream: u16,
    /// Its counters; `sent` is what must have left between the first and the last frame that came.
    pub counters: Counters,
    /// Delays, where they are known.
    pub latency: Option<Distribution>,
    /// How much the delays of one frame and the next differed.
    pub variation: Distribution,
}

struct Seen {
    /// Sequence number from which the account counts.
    base: u64,
    lowest: u64,
    account: Account,
    variation: Distribution,
    /// Time in the probe and arrival of the frame before.
    last: Option<(Nanos, Nanos)>,
    /// Whether delays are known.
    one_clock: bool,
}

/// Takes account of all probes that come.
pub struct Judge {
    streams: BTreeMap<Key, Seen>,
    /// Strange probes that came once: chance makes one of 65 536 UDP payloads look like a probe, but hardly two of one stream.
    candidates: BTreeMap<Key, (Probe, Nanos)>,
    /// Where the last probe was.
    offset: usize,
}

impl Default for Judge {
    fn default() -> Self {
        Judge::new()
    }
}

impl Judge {
    /// One that has seen nothing.
    pub fn new() -> Judge {
        Judge { streams: BTreeMap::new(), candidates: BTreeMap::new(), offset: 42 }
    }

    /// A frame that came at `at`.
    #[inline]
    pub fn frame(&mut self, frame: &[u8], at: Nanos) {
        if let Some(Ok(probe)) = frame.get(self.offset..).map(Probe::read) {
            self.probe(probe, at);
        } else {
            self.search(frame, at);
        }
    }

    #[cold]
    fn search(&mut self, frame: &[u8], at: Nanos) {
        let layout = Layout::of(frame);
        if layout.transport != Transport::Udp {
            return;
        }
        let offset = layout.l4 + UDP_HEADER;
        if let Some(Ok(probe)) = frame.get(offset..).map(Probe::read) {
            self.offset = offset;
            self.probe(probe, at);
        }
    }

    fn probe(&mut self, probe: Probe, at: Nanos) {
        let key = (probe.nonce, probe.stream);
        if let Some(seen) = self.streams.get_mut(&key) {
            return seen.arrived(probe, at);
        }
        let one_clock = probe.age(at) < OLDEST;
        let first = self.candidates.remove(&key);
        if !one_clock && first.is_none() {
            if self.candidates.len() < MOST_STREAMS {
                self.candidates.insert(key, (probe, at));
            }
            return;
        }
        if self.streams.len() < MOST_STREAMS {
            let (start, _) = first.unwrap_or((probe, at));
            let seen = self.streams.entry(key).or_insert_with(|| Seen::new(start.seq, one_clock));
            first.into_iter().chain([(probe, at)]).for_each(|(probe, at)| seen.arrived(probe, at));
        }
    }

    /// What came of each stream, in the order of their numbers.
    pub fn finish(self) -> Vec<ProbeStream> {
        let result = |(key, seen): (Key, Seen)| seen.result(key);
        self.streams.into_iter().map(result).collect()
    }
}

impl Seen {
    fn new(first: u64, one_clock: bool) -> Seen {
        let options = AccountOptions { expected: 1 << 20, sent_here: false, ..AccountOptions::default() };
        Seen {
            base: first.saturating_sub(REORDER),
            lowest: u64::MAX,
            account: Account::new(options),
            variation: Distribution::new(),
            last: None,
            one_clock,
        }
    }

    #[inline]
    fn arrived(&mut self, probe: Probe, at: Nanos) {
        let Some(seq) = probe.seq.checked_sub(self.base) else { return self.account.corrupt() };
        self.lowest = self.lowest.min(seq);
        let left = if self.one_clock { at - probe.age(at) } else { at };
        self.account.arrived(seq, left, at);
        if let Some((time, before)) = self.last.replace((probe.time, at)) {
            let (gap, apart) = (probe.time.signed_since(time), at.signed_since(before));
            self.variation.record(Nanos((apart - gap).unsigned_abs()));
        }
    }

    fn result(mut self, (nonce, stream): Key) -> ProbeStream {
        self.account.set_sent(0);
        let counters = self.account.counters();
        let before = self.lowest.min(counters.sent);
        let sent = counters.sent - before;
        let counters = Counters { sent, lost: sent.saturating_sub(counters.received), ..counters };
        let latency = self.one_clock.then(|| self.account.latency().clone());
        ProbeStream { nonce, stream, counters, latency, variation: self.variation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet, IPv4 and UDP in front of a probe, and `more` bytes in front of all that.
    fn frame(probe: Probe, tagged: bool) -> Vec<u8> {
        let mut frame = vec![0; 12];
        if tagged {
            frame.extend([0x81, 0, 0, 5]);
        }
        frame.extend([8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0, 9, 0, 9, 0, 26, 0, 0]);
        let at = frame.len();
        frame.resize(at + 18, 0);
        probe.write(&mut frame[at..]);
        frame
    }

    fn probe(seq: u64, time: u64) -> Probe {
        Probe { nonce: 7, stream: 1, seq, time: Nanos(time) }
    }

    #[test]
    fn loss_and_order_count_from_the_first_frame_that_came() {
        let mut judge = Judge::new();
        for (seq, ns) in [(1_000_000_000, 0), (1_000_000_003, 10), (1_000_000_001, 20), (1_000_000_001, 30)] {
            judge.frame(&frame(probe(seq, 1_000_000 + ns), ns == 20), Nanos(1_000_250 + ns));
        }
        let streams = judge.finish();
        let found = &streams[0];
        let c = found.counters;
        assert_eq!(
            (streams.len(), c.sent, c.received, c.lost, c.reordered, c.duplicated),
            (1, 4, 3, 1, 1, 1)
        );
        let latency = found.latency.as_ref().unwrap();
        assert_eq!((latency.min_ns(), latency.max_ns(), latency.count()), (Some(250), Some(250), 3));
        assert_eq!(found.variation.max_ns(), Some(0));
    }

    #[test]
    fn another_hosts_probes_have_variation_only() {
        let mut judge = Judge::new();
        let far = 60_000_000_000_000;
        for (seq, delay) in [(0, 100), (1, 130), (2, 90)] {
            judge.frame(&frame(probe(seq, seq * 1000), false), Nanos(far + seq * 1000 + delay));
        }
        let found = &judge.finish()[0];
        assert!(found.latency.is_none());
        assert_eq!((found.counters.received, found.counters.lost), (3, 0));
        assert_eq!((found.variation.min_ns(), found.variation.max_ns()), (Some(30), Some(40)));
    }

    #[test]
    fn chance_makes_no_stream() {
        let mut judge = Judge::new();
        for stream in 0..100 {
            let strange = Probe { nonce: stream * 3, stream, seq: 5, time: Nanos(0) };
            judge.frame(&frame(strange, false), Nanos(60_000_000_000_000));
        }
        judge.frame(&[0xff; 60], Nanos(5));
        judge.frame(&[], Nanos(5));
        assert!(judge.finish().is_empty());
    }
}
