//! The arena log: received messages kept raw with their stamps, without an allocation per message.

use flowgauge_clock::Nanos;

const SEGMENT_BYTES: usize = 1 << 20;
const SEGMENT_MESSAGES: usize = 8192;

/// Memory that a message takes at most: its bytes and its place in the index, both allocated by the segment.
pub fn cost(frame: &[u8]) -> usize {
    frame.len().max(SEGMENT_BYTES / SEGMENT_MESSAGES) + size_of::<(u32, Nanos)>()
}

/// A received message and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// Arrival of its last byte's segment, or when it was read: see `Connection::timestamps`.
    pub stamp: Nanos,
    /// The whole message, header included.
    pub frame: &'a [u8],
}

/// How far a reader of a log has come: see [`Log::next`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    segment: usize,
    message: usize,
}

struct Segment {
    bytes: Vec<u8>,
    /// End of each message in `bytes`, and its stamp.
    index: Vec<(u32, Nanos)>,
}

impl Segment {
    fn new() -> Segment {
        Segment { bytes: Vec::with_capacity(SEGMENT_BYTES), index: Vec::with_capacity(SEGMENT_MESSAGES) }
    }

    fn has_room(&self, len: usize) -> bool {
        self.bytes.len() + len <= SEGMENT_BYTES && self.index.len() < SEGMENT_MESSAGES
    }
}

/// Messages in the order in which they came. Also serves as the queue from which a switch takes requests.
#[derive(Default)]
pub struct Log {
    segments: Vec<Segment>,
    /// Segments before this one hold messages; the rest are spare.
    used: usize,
    bytes: usize,
    memory: usize,
    messages: usize,
}

impl Log {
    /// An empty log.
    pub fn new() -> Log {
        Log::default()
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.messages
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Bytes of all messages.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory that the messages take at most, in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Adds a message of at most 64 KiB.
    pub fn push(&mut self, frame: &[u8], stamp: Nanos) {
        if self.used == 0 || !self.segments[self.used - 1].has_room(frame.len()) {
            if self.used == self.segments.len() {
                self.segments.push(Segment::new());
            }
            self.used += 1;
        }
        let segment = &mut self.segments[self.used - 1];
        segment.bytes.extend_from_slice(frame);
        segment.index.push((segment.bytes.len() as u32, stamp));
        self.bytes += frame.len();
        self.memory += cost(frame);
        self.messages += 1;
    }

    /// Forgets the messages and keeps the memory of one segment, so that two logs may be swapped for ever.
    pub fn clear(&mut self) {
        self.segments.truncate(1);
        for segment in &mut self.segments {
            segment.bytes.clear();
            segment.index.clear();
        }
        (self.used, self.bytes, self.memory, self.messages) = (0, 0, 0, 0);
    }

    /// The message at a position, which moves on: for a reader that takes a few messages at a time.
    pub fn next(&self, at: &mut Position) -> Option<Received<'_>> {
        while at.segment < self.used {
            let segment = &self.segments[at.segment];
            if let Some(&(end, stamp)) = segment.index.get(at.message) {
                let start = at.message.checked_sub(1).map_or(0, |before| segment.index[before].0);
                at.message += 1;
                return Some(Received { stamp, frame: &segment.bytes[start as usize..end as usize] });
            }
            *at = Position { segment: at.segment + 1, message: 0 };
        }
        None
    }

    /// The messages, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Received<'_>> {
        self.segments[..self.used].iter().flat_map(|segment| {
            let mut start = 0;
            segment.index.iter().map(move |&(end, stamp)| {
                let frame = &segment.bytes[start..end as usize];
                start = end as usize;
                Received { stamp, frame }
            })
        })
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Log({} messages, {} bytes)", self.messages, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_pushed(
            sizes in prop::collection::vec(8usize..65_535, 1..60), again in 0usize..20_000,
        ) {
            let mut log = Log::new();
            for round in 0..2 {
                log.clear();
                for (i, &size) in sizes.iter().enumerate() {
                    log.push(&vec![i as u8; size], Nanos(i as u64));
                }
                for _ in 0..again * round {
                    log.push(&[1; 8], Nanos(1));
                }
            }
            prop_assert_eq!(log.len(), sizes.len() + again);
            prop_assert_eq!(log.iter().count(), log.len());
            prop_assert_eq!(log.iter().map(|r| r.frame.len()).sum::<usize>(), log.bytes());
            let mut at = Position::default();
            let one_by_one: Vec<_> = std::iter::from_fn(|| log.next(&mut at)).collect();
            prop_assert!(one_by_one.iter().copied().eq(log.iter()));
            for (i, received) in log.iter().take(sizes.len()).enumerate() {
                prop_assert_eq!(received.stamp, Nanos(i as u64));
                prop_assert_eq!(received.frame.len(), sizes[i]);
                prop_assert!(received.frame.iter().all(|&b| b == i as u8));
            }
        }
    }
}
