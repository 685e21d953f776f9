//! What a queue counts.

/// A queue's counters since it was opened, in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that left.
    pub tx_frames: u64,
    /// Frames that the driver dropped, or that the kernel refused.
    pub tx_errors: u64,
    /// Frames that wait in the transmit ring.
    pub tx_pending: u64,
    /// Frames handed to the user.
    pub rx_frames: u64,
    /// Frames lost because no free frame was in the fill ring (in copy mode), or because they were too long.
    pub rx_dropped: u64,
    /// Frames lost because the receive ring was full.
    pub rx_ring_full: u64,
    /// How often the kernel or the driver wanted a free frame and found none. In copy mode each time is one of
    /// `rx_dropped`; without copying the card waits, and loses frames on its own account when its buffers are full.
    pub fill_ring_empty: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.tx_frames += other.tx_frames;
        self.tx_errors += other.tx_errors;
        self.tx_pending += other.tx_pending;
        self.rx_frames += other.rx_frames;
        self.rx_dropped += other.rx_dropped;
        self.rx_ring_full += other.rx_ring_full;
        self.fill_ring_empty += other.fill_ring_empty;
    }
}
