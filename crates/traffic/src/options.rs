//! How a transmission is run.

use flowgauge_clock::Nanos;

use crate::stream::Stream;

/// What the loop does when it has nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpinPolicy {
    /// Ask again at once. For a core of its own.
    Spin,
    /// Spin for 50 us, then offer the core to others between one look and the next.
    #[default]
    SpinThenYield,
}

/// How a transmission is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How long to wait for frames after the last one was sent. `None`: 1 s or 10 times the largest delay seen, at most 5
    /// s; less when everything that was sent has arrived.
    pub drain: Option<Nanos>,
    /// The trial's number in the probes: a frame with another is one of an earlier trial.
    pub nonce: u16,
    /// What to do when idle.
    pub spin: SpinPolicy,
    /// The core to run on.
    pub core: Option<usize>,
    /// The most frames that leave together; `None`: [`BURST`](flowgauge_ports::BURST). Frames of a stream with a pace leave one
    /// by one unless they are late.
    pub burst: Option<usize>,
    /// Length of the slices in which delays are averaged over time; `None`: a hundredth of the longest stream, or 10 ms
    /// where that is unknown.
    pub window: Option<Nanos>,
}

impl Options {
    /// The length of the slices in which the delays of those streams are averaged over time.
    pub fn window_of(&self, streams: &[Stream]) -> Nanos {
        self.window.unwrap_or_else(|| match streams.iter().map(Stream::length).max() {
            Some(Nanos(ns)) if ns >= 100_000 => Nanos(ns / 100),
            Some(_) | None => Nanos::from_millis(10),
        })
    }
}
