//! How an interface is opened.

use std::time::Duration;

/// How an interface is opened. The defaults suit measuring: every frame of every queue is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfXdpOptions {
    /// Which arriving frames are ours; the others go on to the kernel as if nothing was there.
    pub steer: Steer,
    /// Whether frames are received at all. A port that only sends attaches no program to the interface.
    pub receive: bool,
    /// The first receive queue that is opened. Transmission uses the transmit queue of the same number.
    pub first_queue: u32,
    /// How many queues are opened; `None`: all that the interface has from the first one on.
    pub queues: Option<u32>,
    /// Whether the card reads and writes our memory itself.
    pub copy: CopyMode,
    /// Where in the kernel frames are taken off.
    pub attach: Attach,
    /// Frames per queue that wait to be received or are on loan, at least 64; rounded up to a power of two. A frame that
    /// arrives while all are taken is lost and counted as `rx_dropped`. Each takes 2 KiB (4 KiB when the MTU needs it).
    pub rx_frames: u32,
    /// Frames per queue that are being written or sent, at least 128; rounded up to a power of two.
    pub tx_frames: u32,
    /// Whether frames for other machines are received too.
    pub promiscuous: bool,
    /// Whether and how [`rx`](crate::Port::rx) runs the driver itself instead of waiting for its interrupt.
    pub busy_poll: Option<BusyPoll>,
    /// How long to wait for a carrier.
    pub carrier_wait: Duration,
}

impl Default for AfXdpOptions {
    /// 32 768 frames to receive, of 64 MiB in all: 6 ms of the most that a veth delivers, 5.2 million frames per second. With
    /// 4096 it delivers 8.3 million, but each time that the receiver's core is taken away for half a millisecond frames are lost.
    fn default() -> Self {
        AfXdpOptions {
            steer: Steer::All,
            receive: true,
            first_queue: 0,
            queues: None,
            copy: CopyMode::Auto,
            attach: Attach::Auto,
            rx_frames: 1 << 15,
            tx_frames: 1 << 11,
            promiscuous: true,
            busy_poll: None,
            carrier_wait: Duration::from_secs(1),
        }
    }
}

/// Which arriving frames are ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steer {
    /// All: the interface belongs to the tester.
    #[default]
    All,
    /// UDP over IPv4 or IPv6 with this destination port, behind up to two VLAN tags. Fragments and IPv6 extension headers
    /// are not looked into; such frames are the kernel's.
    UdpPort(u16),
}

/// Whether the card reads and writes our memory itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyMode {
    /// Where the driver can; else the kernel copies.
    #[default]
    Auto,
    /// It must; opening fails where the driver can't.
    ZeroCopy,
    /// The kernel copies.
    Copy,
}

/// Where in the kernel frames are taken off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attach {
    /// In the driver where it can; else generic.
    #[default]
    Auto,
    /// In the driver; opening fails where it can't.
    Native,
    /// Behind the driver: any interface, more slowly.
    Generic,
}

/// Busy polling: the polling thread runs the driver. On a card this wants `napi_defer_hard_irqs` and
/// `gro_flush_timeout` set too (`/sys/class/net/*/`), so that interrupts stay away meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyPoll {
    /// Microseconds that the kernel may poll in one call, at least 1.
    pub microseconds: u32,
    /// Frames that it handles in one call, at least 1. More than 64 needs CAP_NET_ADMIN.
    pub budget: u16,
}

impl Default for BusyPoll {
    /// 20 us, 64 frames.
    fn default() -> Self {
        BusyPoll { microseconds: 20, budget: 64 }
    }
}
