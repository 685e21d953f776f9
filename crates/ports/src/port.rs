//! The trait that every backend implements.

use flowgauge_clock::Nanos;

use crate::{Burst, PortError, forward};

/// Where a backend takes the times of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampSource {
    /// Nowhere: whoever polls the port stamps, when a burst comes out of it or goes into it.
    User,
    /// The kernel, when the frame passes its receive path.
    KernelSoftware,
    /// The network card.
    Hardware,
    /// A simulation: the time at which it happened, exactly.
    Virtual,
}

impl StampSource {
    /// As results print it.
    pub const fn name(self) -> &'static str {
        match self {
            StampSource::User => "user",
            StampSource::KernelSoftware => "kernel",
            StampSource::Hardware => "hardware",
            StampSource::Virtual => "virtual",
        }
    }
}

/// How much a port's receive side holds while nobody polls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxCapacity {
    /// That many frames, of any size.
    Frames(u64),
    /// That many bytes, of which each frame takes its length and `overhead`.
    Bytes {
        /// Bytes in all.
        bytes: u64,
        /// Bytes that each frame takes besides its own.
        overhead: u64,
    },
}

impl RxCapacity {
    /// In frames of `len` bytes.
    pub fn frames(self, len: u64) -> u64 {
        match self {
            RxCapacity::Frames(n) => n,
            RxCapacity::Bytes { bytes, overhead } => bytes / (len + overhead).max(1),
        }
    }
}

/// A departure that a backend sampled below the port: the kernel's or the card's own stamp of it.
///
/// The time in a probe is taken before its burst is handed over; samples tell how much later frames really leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxStamp {
    /// When the frame was handed to the backend.
    pub handed: Nanos,
    /// When it left, as [`Capabilities::tx_stamps`] saw it.
    pub left: Nanos,
}

/// What a port can do. It does not change while the port is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Where received frames are stamped.
    pub rx_stamps: StampSource,
    /// Where departures are sampled ([`Port::tx_stamps`]); `User` where nobody does.
    pub tx_stamps: StampSource,
    /// Speed of the link in Mbit/s; `None` for one that has none (veth, ring).
    pub link_mbps: Option<u64>,
    /// The longest frame it takes, in bytes without FCS.
    pub longest_frame: usize,
    /// What its receive side holds while nobody polls it.
    pub rx_capacity: RxCapacity,
    /// Its hardware address, where it has one.
    pub mac: Option<[u8; 6]>,
}

impl Capabilities {
    /// Of a port that leaves stamps to its user, on a link without a speed or an address.
    pub const fn plain(longest_frame: usize, rx_capacity: RxCapacity) -> Capabilities {
        let (rx_stamps, tx_stamps) = (StampSource::User, StampSource::User);
        Capabilities { rx_stamps, tx_stamps, link_mbps: None, longest_frame, rx_capacity, mac: None }
    }

    /// Where frames are stamped, as results print it: `user transmit (kernel samples), kernel receive`.
    pub fn timestamps(&self) -> String {
        let samples = match self.tx_stamps {
            StampSource::Virtual => return "virtual transmit, virtual receive".into(),
            StampSource::User => String::new(),
            StampSource::KernelSoftware | StampSource::Hardware => {
                format!(" ({} samples)", self.tx_stamps.name())
            }
        };
        format!("user transmit{samples}, {} receive", self.rx_stamps.name())
    }
}

/// A port's own counters since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Frames that left.
    pub tx_frames: u64,
    /// Frames that the backend refused and that did not leave.
    pub tx_errors: u64,
    /// Frames handed to the user.
    pub rx_frames: u64,
    /// Frames that arrived and were lost on our side: ring, socket, or card.
    pub rx_dropped: u64,
    /// Whether the link is up.
    pub link_up: bool,
}

impl PortStats {
    /// Those of two queues of a port together.
    pub fn and(self, other: PortStats) -> PortStats {
        PortStats {
            tx_frames: self.tx_frames + other.tx_frames,
            tx_errors: self.tx_errors + other.tx_errors,
            rx_frames: self.rx_frames + other.rx_frames,
            rx_dropped: self.rx_dropped + other.rx_dropped,
            link_up: self.link_up && other.link_up,
        }
    }

    /// What happened since `earlier`.
    pub fn since(self, earlier: PortStats) -> PortStats {
        PortStats {
            tx_frames: self.tx_frames - earlier.tx_frames,
            tx_errors: self.tx_errors - earlier.tx_errors,
            rx_frames: self.rx_frames - earlier.rx_frames,
            rx_dropped: self.rx_dropped - earlier.rx_dropped,
            link_up: self.link_up,
        }
    }
}

/// A port: bursts of frames in and out, in slots of its own memory, without copies or allocation.
///
/// Transmit: [`alloc`](Port::alloc) slots, write frames and set their lengths, [`tx`](Port::tx), and
/// [`free`](Port::free) what was not taken (or keep it and try again). Receive: [`rx`](Port::rx), read,
/// [`free`](Port::free). One thread uses a port at a time. No call blocks.
pub trait Port: Send {
    /// What it is, for people: `ring`, `af_packet veth1`.
    fn describe(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Adds up to `n` empty slots for transmission to `burst`; returns how many there were. A slot's bytes are
    /// whatever was in it before; its length is 0.
    fn alloc(&mut self, burst: &mut Burst, n: usize) -> usize;

    /// Transmits from the front of `burst`, in order; returns how many were taken out of it. The others stay.
    ///
    /// Taken means gone to the link, as far as the backend can tell. Fewer than offered means that the port is full for
    /// now. Slots must come from this port's [`alloc`](Port::alloc).
    fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError>;

    /// Adds up to `max` received frames to `burst`, in order of arrival; returns how many.
    fn rx(&mut self, burst: &mut Burst, max: usize) -> Result<usize, PortError>;

    /// Takes all slots in `burst` back, received ones and unused ones for transmission alike.
    fn free(&mut self, burst: &mut Burst);

    /// The counters. May cost a system call.
    fn stats(&mut self) -> PortStats;

    /// Counters of the backend's own beyond [`stats`](Port::stats), by name, since it was opened. May cost a system call.
    fn details(&mut self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Starts whatever `tx` left queued. Called once per turn of a loop, after its transmissions.
    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// Whether the port still works, for a loop that would not notice: an interface that went down is silent on
    /// receipt. Costs a system call or two; called every few milliseconds.
    fn check(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// Adds the departures that were sampled and not told yet, oldest first. A port that samples does so rarely enough to
    /// cost nothing. May cost a system call; called every few milliseconds.
    fn tx_stamps(&mut self, _stamps: &mut Vec<TxStamp>) {}

    /// The next time at which the port will have something without anything else happening (a delay line), so that a
    /// loop that waits does not oversleep.
    fn next_event(&self) -> Option<Nanos> {
        None
    }
}

impl Port for Box<dyn Port> {
    forward!(self, (**self); describe capabilities alloc tx rx free stats);
    forward!(self, (**self); details flush check tx_stamps next_event);
}
