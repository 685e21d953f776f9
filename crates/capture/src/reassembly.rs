//! One direction of a TCP connection: segments in any order become bytes in theirs.

use std::collections::BTreeMap;

/// How many bytes wait for a missing segment, at most; then it is taken as lost.
const MOST_HELD: usize = 8 << 20;
/// A segment further ahead than that belongs to another connection of the same addresses.
const FURTHEST: u32 = 1 << 30;

/// What the reassembly hands on, in the order of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The connection begins here.
    Start,
    /// The capture began when the connection was under way.
    MidStream,
    /// Bytes.
    Bytes(&'a [u8]),
    /// So many bytes are not in the capture.
    Gap(u64),
    /// The sender has closed the connection.
    End,
}

/// A segment that came too early.
#[derive(Debug)]
struct Held {
    time_ns: u64,
    payload: Vec<u8>,
    /// Bytes of it that are not in the capture, behind the payload.
    cut: u32,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub struct Direction {
    /// Sequence number of the next byte; `None` before the first segment.
    next: Option<u32>,
    /// Sequence number of the first byte, if the capture has the connection's beginning.
    origin: Option<u32>,
    /// Bytes before that one.
    position: u64,
    /// By position.
    held: BTreeMap<u64, Held>,
    held_bytes: usize,
    /// Position of the end, if the sender has told it.
    end: Option<u64>,
    ended: bool,
}

/// A segment of that direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival<'a> {
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// Sequence number.
    pub seq: u32,
    /// Whether it opens the connection.
    pub syn: bool,
    /// Whether the sender sends no more.
    pub fin: bool,
    /// Its bytes.
    pub payload: &'a [u8],
    /// How many more bytes it had, which the capture has not.
    pub cut: u32,
}

impl Direction {
    /// A direction of which the first segment is known to begin a stream.
    pub fn fresh(seq: u32) -> Direction {
        Direction { next: Some(seq), ..Direction::default() }
    }

    /// Bytes handed on so far, gaps included.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether the sender has closed the connection, and all came before that is told.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Takes a segment; hands on what it makes complete, with the time of the segment that it came in.
    pub fn push(&mut self, arrival: Arrival<'_>, mut sink: impl FnMut(u64, Piece<'_>)) {
        let first = if arrival.syn { arrival.seq.wrapping_add(1) } else { arrival.seq };
        let next = match self.next {
            Some(next) if !self.is_another(next, first, arrival.syn) => next,
            Some(_) => {
                self.flush(&mut sink);
                *self = Direction::default();
                self.begin(&arrival, first, &mut sink)
            }
            None => self.begin(&arrival, first, &mut sink),
        };
        let ahead = first.wrapping_sub(next) as i32;
        let Arrival { time_ns, payload, cut, .. } = arrival;
        if arrival.fin {
            let length = payload.len() as i64 + i64::from(cut);
            self.end = self.position.checked_add_signed(i64::from(ahead) + length);
        }
        if ahead <= 0 {
            self.deliver(time_ns, payload, cut, u64::from(ahead.unsigned_abs()), &mut sink);
        } else if !payload.is_empty() || cut > 0 {
            self.hold(u64::from(ahead.unsigned_abs()), Held { time_ns, payload: payload.to_vec(), cut });
        }
        self.release(&mut sink);
        while self.held_bytes > MOST_HELD {
            self.skip_gap(&mut sink);
        }
        self.close(time_ns, &mut sink);
    }

    /// The capture is over: hands on what waits, gaps before it included.
    pub fn flush(&mut self, mut sink: impl FnMut(u64, Piece<'_>)) {
        while !self.held.is_empty() {
            self.skip_gap(&mut sink);
        }
    }

    /// Whether a segment is of another connection between the same addresses.
    fn is_another(&self, next: u32, first: u32, syn: bool) -> bool {
        let ahead = first.wrapping_sub(next) as i32;
        let opens = syn && self.origin != Some(first);
        opens || ahead.unsigned_abs() > FURTHEST
    }

    fn begin(&mut self, arrival: &Arrival<'_>, first: u32, sink: &mut impl FnMut(u64, Piece<'_>)) -> u32 {
        self.next = Some(first);
        self.origin = arrival.syn.then_some(first);
        sink(arrival.time_ns, if arrival.syn { Piece::Start } else { Piece::MidStream });
        first
    }

    /// Hands on a segment of which the first `known` bytes have been handed on before.
    fn deliver(
        &mut self,
        time_ns: u64,
        payload: &[u8],
        cut: u32,
        known: u64,
        sink: &mut impl FnMut(u64, Piece<'_>),
    ) {
        let length = payload.len() as u64;
        if let Some(new) = payload.get(known.min(length) as usize..).filter(|new| !new.is_empty()) {
            sink(time_ns, Piece::Bytes(new));
            self.advance(new.len() as u64);
        }
        let missing = (length + u64::from(cut)).saturating_sub(known.max(length));
        if missing > 0 {
            sink(time_ns, Piece::Gap(missing));
            self.advance(missing);
        }
    }

    fn advance(&mut self, bytes: u64) {
        self.position += bytes;
        self.next = self.next.map(|next| next.wrapping_add(bytes as u32));
    }

    /// Keeps a segment that begins `ahead` bytes further on; of two at one place, the longer.
    fn hold(&mut self, ahead: u64, held: Held) {
        let place = self.position + ahead;
        let longer = self.held.get(&place).is_none_or(|known| known.payload.len() < held.payload.len());
        if longer {
            self.held_bytes += held.payload.len() + size_of::<Held>();
            if let Some(shorter) = self.held.insert(place, held) {
                self.held_bytes -= shorter.payload.len() + size_of::<Held>();
            }
        }
    }

    /// Hands on what no gap keeps back any more.
    fn release(&mut self, sink: &mut impl FnMut(u64, Piece<'_>)) {
        while let Some(entry) = self.held.first_entry().filter(|entry| *entry.key() <= self.position) {
            let (place, held) = entry.remove_entry();
            self.held_bytes -= held.payload.len() + size_of::<Held>();
            self.deliver(held.time_ns, &held.payload, held.cut, self.position - place, sink);
        }
    }

    /// Takes the bytes before the first segment that waits as lost.
    fn skip_gap(&mut self, sink: &mut impl FnMut(u64, Piece<'_>)) {
        if let Some((place, held)) = self.held.first_key_value() {
            let missing = place - self.position;
            sink(held.time_ns, Piece::Gap(missing));
            self.advance(missing);
            self.release(sink);
        }
    }

    fn close(&mut self, time_ns: u64, sink: &mut impl FnMut(u64, Piece<'_>)) {
        if self.end.is_some_and(|end| end <= self.position) && !self.ended {
            self.ended = true;
            sink(time_ns, Piece::End);
        }
    }
}
