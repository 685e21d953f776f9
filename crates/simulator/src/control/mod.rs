//! The control plane of the simulated switch: what OpenFlow messages make it do, and when.
//!
//! The data path asks it for the [`pipeline`](ControlPlane::pipeline) that frames are looked up in, hands it the frames for
//! the controller, and runs it when [`next_event`](ControlPlane::next_event) has come. Before it calls anything here, it
//! has brought the counters of the pipeline up to date.

mod agent;
mod census;
mod channel;
mod path;
mod plane;
mod processor;
#[cfg(test)]
mod tests;
mod told;
mod writer;

use flowgauge_openflow::{PacketInReason, QueueStats};
use flowgauge_packet::FlowKey;

use crate::counters::PortCounters;
use crate::picos::Picos;

pub use plane::ControlPlane;

/// What the control plane sees of the rest of the switch, and where it puts frames.
pub struct Surroundings<'a> {
    /// The time.
    pub now: Picos,
    /// Counters of the ports; the first is of port 1.
    pub ports: &'a [PortCounters],
    /// Counters of the queues of a port, by its OpenFlow number; none where queues have no numbers.
    pub queues: &'a dyn Fn(u32, Picos) -> Vec<QueueStats>,
    /// Frames to send: they go to the output queues.
    pub emissions: &'a mut Vec<Emission>,
}

/// A frame that the control plane sends out of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emission {
    /// OpenFlow number of the port.
    pub port: u32,
    /// Its queue.
    pub queue: Option<u32>,
    /// The frame without FCS.
    pub bytes: Vec<u8>,
}

/// A frame on its way to the controller, as the pipeline left it.
#[derive(Clone, Debug)]
pub struct Punted {
    /// The frame without FCS.
    pub bytes: Vec<u8>,
    /// As [`flowgauge_datapath::Punt`] has them.
    pub max_len: Option<u16>,
    /// Why.
    pub reason: PacketInReason,
    /// Whose entry, or lack of one, sent it.
    pub table_id: u8,
    /// The entry's cookie.
    pub cookie: u64,
    /// Its key: ingress port and metadata are told to the controller.
    pub key: FlowKey,
}

/// A message on the tester's end of the control channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// When it came.
    pub at: Picos,
    /// The message.
    pub bytes: Vec<u8>,
}
