//! How an interface is opened.

use std::time::Duration;

/// How an interface is opened. The defaults suit measuring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfPacketOptions {
    /// Whether frames are received at all. A port that only sends costs the kernel less without.
    pub receive: bool,
    /// Bytes of a block of the receive ring: a power of two, at least 64 KiB.
    pub block_size: usize,
    /// Blocks of the receive ring, at least 2.
    pub blocks: usize,
    /// After how many milliseconds the kernel hands over a block that is not full, at least 1.
    pub retire_ms: u32,
    /// Whether frames for other machines are received too.
    pub promiscuous: bool,
    /// Whether transmission goes around the queueing discipline.
    pub qdisc_bypass: bool,
    /// Buffers for transmission, at least 64.
    pub tx_slots: usize,
    /// Whether the card stamps frames, where it can: all that arrive, and departures that are sampled. This switches stamping
    /// on in the card, until the port is dropped.
    pub hardware_stamps: bool,
    /// How long to wait for a carrier.
    pub carrier_wait: Duration,
}

impl Default for AfPacketOptions {
    /// 64 blocks of 1 MiB: 0.3 s of the highest rate that the kernel delivers.
    fn default() -> Self {
        AfPacketOptions {
            receive: true,
            block_size: 1 << 20,
            blocks: 64,
            retire_ms: 1,
            promiscuous: true,
            qdisc_bypass: false,
            tx_slots: 256,
            hardware_stamps: true,
            carrier_wait: Duration::from_secs(1),
        }
    }
}
