//! What came of a play, message by message.

use flowgauge_channel::ChannelError;
use flowgauge_clock::Nanos;
use flowgauge_measure::GapErrors;

/// "It never was" in the arrays of a [`PlayResult`].
pub const NEVER: i64 = -1;

/// A message that the switch refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayError {
    /// Index of the message; the number of messages requested stands for the closing barrier.
    pub index: u64,
    /// Error type, as the version in use numbers it.
    pub error_type: u16,
    /// Error code within the type.
    pub code: u16,
}

/// What came of a play. Arrays are indexed by message; times are nanoseconds on the tester's clock, -1 for "never".
#[derive(Clone, Debug)]
pub struct PlayResult {
    /// Messages that the source and the schedule asked for. (As many as were sent when neither sets a number.)
    pub requested: u64,
    /// Messages handed to the socket; the others were not offered.
    pub sent: u64,
    /// Messages that the peer's TCP had acknowledged at the end.
    pub acknowledged: u64,
    /// When the first byte of each was handed to the socket.
    pub sent_ns: Vec<i64>,
    /// When the reply with its transaction id came (the last part of a multipart reply).
    pub reply_ns: Vec<i64>,
    /// Whether the reply's payload was the request's (echoes; `true` for other replies).
    pub payload_intact: Vec<bool>,
    /// What the switch refused, in the order of arrival.
    pub errors: Vec<PlayError>,
    /// Why the channel ended during the play, if it did.
    pub closed: Option<ChannelError>,
    /// When the first message's first byte was handed to the socket.
    pub first_byte: Option<Nanos>,
    /// When the closing barrier's reply came.
    pub barrier: Option<Nanos>,
    /// How late messages left against their schedule; empty for "as fast as possible".
    pub gap_errors: GapErrors,
}

/// The arrays while they grow, and where each message ended in the stream.
pub(super) struct Record {
    pub result: PlayResult,
    positions: Vec<u64>,
    /// Messages that have been answered or refused.
    pub answered: u64,
}

impl Record {
    /// Room for `total` messages, so that the loop allocates nothing.
    pub fn new(total: Option<u64>, mean_gap: Nanos) -> Record {
        let room = total.unwrap_or(0).min(1 << 22) as usize;
        Record {
            result: PlayResult {
                requested: total.unwrap_or(0),
                sent: 0,
                acknowledged: 0,
                sent_ns: Vec::with_capacity(room),
                reply_ns: Vec::with_capacity(room),
                payload_intact: Vec::with_capacity(room),
                errors: Vec::new(),
                closed: None,
                first_byte: None,
                barrier: None,
                gap_errors: GapErrors::new(mean_gap),
            },
            positions: Vec::with_capacity(room),
            answered: 0,
        }
    }

    /// A message was handed over; it ends at `position` of the stream.
    pub fn sent(&mut self, at: Nanos, position: u64) {
        let result = &mut self.result;
        result.first_byte.get_or_insert(at);
        result.sent_ns.push(at.0 as i64);
        result.reply_ns.push(NEVER);
        result.payload_intact.push(false);
        result.sent += 1;
        self.positions.push(position);
    }

    /// The last part of message `i`'s reply has come. Only the first reply counts.
    pub fn replied(&mut self, i: u64, at: Nanos, intact: bool) {
        let i = i as usize;
        if self.result.reply_ns[i] == NEVER {
            self.result.reply_ns[i] = at.0 as i64;
            self.result.payload_intact[i] = intact;
            self.answered += 1;
        }
    }

    /// A message was refused. A peer that refuses more often than it was asked is not listened to: it must not fill memory.
    pub fn refused(&mut self, error: PlayError) {
        if self.result.errors.len() as u64 > self.result.sent {
            return;
        }
        self.result.errors.push(error);
        self.answered += 1;
    }

    /// Stream position behind the last message.
    pub fn last_position(&self) -> u64 {
        self.positions.last().copied().unwrap_or(0)
    }

    /// The final result: what was requested and never sent has its place in the arrays too.
    pub fn finish(&mut self, total: Option<u64>, acknowledged_position: u64) -> PlayResult {
        let empty = Record::new(Some(0), Nanos::ZERO).result;
        let mut result = std::mem::replace(&mut self.result, empty);
        result.requested = total.unwrap_or(result.sent);
        result.acknowledged = self.positions.partition_point(|end| *end <= acknowledged_position) as u64;
        let length = result.requested.max(result.sent) as usize;
        result.sent_ns.resize(length, NEVER);
        result.reply_ns.resize(length, NEVER);
        result.payload_intact.resize(length, false);
        result
    }
}
