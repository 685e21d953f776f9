//! The control path: its channel, entries, barriers, PACKET_INs and PACKET_OUTs.

use serde::{Deserialize, Serialize};

use super::{Distribution, ModelError, check};

/// When a switch answers a BARRIER_REQUEST.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Barrier {
    /// When all messages before it have taken effect in the tables.
    #[default]
    Honest,
    /// When it has read it.
    Premature,
}

/// The control path: its channel, barriers, PACKET_INs and PACKET_OUTs. What entries cost is in [`TableModel`](super::TableModel).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlModel {
    /// Time of a message from one end of the channel to the other, each way.
    pub channel: Distribution,
    /// Time from an ECHO_REQUEST at the switch to its reply; nothing holds it up.
    pub echo: Distribution,
    /// When barriers are answered.
    pub barrier: Barrier,
    /// The way of frames to the controller.
    pub packet_in: PacketPath,
    /// PACKET_INs that may wait for the controller to use their buffer. None: the switch buffers none. A frame that finds no
    /// buffer is dropped.
    pub packet_in_buffers: Option<u32>,
    /// How long a PACKET_IN holds its buffer.
    pub packet_in_buffer_hold_ns: f64,
    /// Share of the processor that PACKET_INs get at most while entries are installed, 0 to 1; 0: they have one of their own. A
    /// PACKET_IN whose service begins while an entry is in work makes the entry's end later by its service time `s`, and the next
    /// PACKET_IN's service begins `s / share` after its own did at the earliest.
    pub packet_in_share: f64,
    /// The way of PACKET_OUTs from the channel to the output queue (or the tables).
    pub packet_out: PacketPath,
}

/// A server with a queue: it is occupied by a frame for `service + service_per_byte_ns * size`; the frame leaves `latency +
/// latency_per_byte_ns * size` after its service began, whether that is sooner or later than the service's end. The size counts the FCS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacketPath {
    /// Time of the server for a frame.
    pub service: Distribution,
    /// Time of the server for each byte.
    pub service_per_byte_ns: f64,
    /// Time from the beginning of its service until a frame leaves.
    pub latency: Distribution,
    /// The same for each byte.
    pub latency_per_byte_ns: f64,
    /// Waiting places, the frame in service not included. None: any number.
    pub frames: Option<u32>,
    /// Bytes that may wait, each frame with its overhead, the frame in service not included. None: any number.
    pub bytes: Option<u64>,
    /// Bytes that a waiting frame takes besides its own.
    pub bytes_overhead: u32,
}

impl ControlModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        check::distribution("control.channel", &self.channel)?;
        check::distribution("control.echo", &self.echo)?;
        self.packet_in.check("control.packet_in")?;
        check::positive("control.packet_in_buffer_hold_ns", self.packet_in_buffer_hold_ns)?;
        check::within("control.packet_in_share", self.packet_in_share, 1.0)?;
        self.packet_out.check("control.packet_out")
    }
}

impl PacketPath {
    fn check(&self, key: &str) -> Result<(), ModelError> {
        check::distribution(&format!("{key}.service"), &self.service)?;
        check::positive(&format!("{key}.service_per_byte_ns"), self.service_per_byte_ns)?;
        check::distribution(&format!("{key}.latency"), &self.latency)?;
        check::positive(&format!("{key}.latency_per_byte_ns"), self.latency_per_byte_ns)
    }
}
