//! What an account has to make room for.

use flowgauge_clock::Nanos;

use crate::FlowOrder;

/// What an [`Account`](crate::Account) has to make room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountOptions {
    /// Frames to make room for at once. More need [`Account::reserve`](crate::Account::reserve).
    pub expected: u64,
    /// Whether each frame's departure is reported to the account; otherwise somebody else sends, and says at the end how
    /// many there were.
    pub sent_here: bool,
    /// Flows of the set, at least 1.
    pub flows: u32,
    /// In which order they are walked.
    pub order: FlowOrder,
    /// How many departures and arrivals to keep.
    pub record: usize,
    /// The trial's start, from which windows are counted.
    pub origin: Nanos,
    /// Length of a window.
    pub window: Nanos,
}

impl AccountOptions {
    /// A sequence number this far ahead of all that arrived, of a stream that somebody else sends, is damaged rather than
    /// real.
    pub const FARTHEST_AHEAD: u64 = 1 << 24;
}

impl Default for AccountOptions {
    fn default() -> Self {
        AccountOptions {
            expected: 0,
            sent_here: true,
            flows: 1,
            order: FlowOrder::Sequential,
            record: 0,
            origin: Nanos::ZERO,
            window: Nanos::from_millis(10),
        }
    }
}
