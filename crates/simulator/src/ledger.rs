//! Where every frame is.

/// Why a frame is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// Lost on a cable.
    Link,
    /// No waiting place before the server.
    ServiceQueue,
    /// Lost by the switch for no reason.
    Loss,
    /// The pipeline has no output for it: no entry, a drop entry, a meter.
    Pipeline,
    /// Beyond the software path's rate limit.
    SoftwareLimit,
    /// No waiting place in the software path.
    SoftwareQueue,
    /// No waiting place before a port.
    OutputQueue,
    /// Sent to a port that has no cable.
    NoPort,
    /// No waiting place on its way to the controller.
    PacketInQueue,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 9] = [
        Cause::Link,
        Cause::ServiceQueue,
        Cause::Loss,
        Cause::Pipeline,
        Cause::SoftwareLimit,
        Cause::SoftwareQueue,
        Cause::OutputQueue,
        Cause::NoPort,
        Cause::PacketInQueue,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Link => "link",
            Cause::ServiceQueue => "service_queue",
            Cause::Loss => "loss",
            Cause::Pipeline => "pipeline",
            Cause::SoftwareLimit => "software_limit",
            Cause::SoftwareQueue => "software_queue",
            Cause::OutputQueue => "output_queue",
            Cause::NoPort => "no_port",
            Cause::PacketInQueue => "packet_in_queue",
        }
    }
}

/// Counts of frames since the simulation's start. Copies that the switch makes count as frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Left a tester port.
    pub sent: u64,
    /// Came out of the control plane (PACKET_OUT).
    pub from_controller: u64,
    /// Further copies that the switch made of frames.
    pub copied: u64,
    /// Arrived at a tester port.
    pub received: u64,
    /// Handed to the control plane (PACKET_IN).
    pub to_controller: u64,
    /// Are no more, by [`Cause`].
    pub dropped: [u64; Cause::ALL.len()],
    /// On a cable, waiting or being worked on.
    pub queued: u64,
}

impl Ledger {
    /// Frames that are no more for that reason.
    pub fn dropped_by(&self, cause: Cause) -> u64 {
        self.dropped[cause as usize]
    }

    /// Whether every frame is accounted for.
    pub fn balances(&self) -> bool {
        let entered = self.sent + self.from_controller + self.copied;
        entered == self.received + self.to_controller + self.dropped.iter().sum::<u64>() + self.queued
    }
}
