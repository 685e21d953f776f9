//! Queues: which of the frames that wait for a port leaves next.
//!
//! ```text
//!  frames ──► queue 0 ─┐            among queues of one priority:
//!         ──► queue 1 ─┤ highest    1. those below their minimum rate
//!         ──► queue 2 ─┘ priority   2. then whichever was served least
//!             │ each at most        of these for its weight
//!             ▼ at its maximum rate
//!           link, at its own rate if that is to be kept here
//! ```
//!
//! A scheduler holds frames of any kind (`F`), does no I/O and reads no clock. It is work conserving: as long as a
//! frame waits whose queue is below its maximum rate and the link has room, one leaves.

mod scheduler;
#[cfg(test)]
mod tests;

pub use scheduler::Scheduler;

/// How a queue is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSetup {
    /// Its number. Frames for no queue in particular take number 0 if the port has it.
    pub id: u32,
    /// What it gets, in bits per second, as long as it has frames and no queue of higher priority takes it; 0:
    /// nothing is promised.
    pub min_rate: u64,
    /// What it gets at most, in bits per second; `None`: as much as there is.
    pub max_rate: Option<u64>,
    /// Queues of higher priority go first. Frames without a queue have priority 0.
    pub priority: u32,
    /// Its share of what queues of its priority get beyond their minimum rates; 0 counts as 1.
    pub weight: u32,
}

impl QueueSetup {
    /// A queue of priority 0 and weight 1 without rates.
    pub const fn new(id: u32) -> QueueSetup {
        QueueSetup { id, min_rate: 0, max_rate: None, priority: 0, weight: 1 }
    }
}
