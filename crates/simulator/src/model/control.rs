//! The control path: its channel, the switch's processor, barriers, PACKET_INs and PACKET_OUTs.

use serde::{Deserialize, Serialize};

use super::{Distribution, ModelError, check};

/// What a BARRIER_REPLY says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Barrier {
    /// That frames meet all changes that came before.
    #[default]
    Honest,
    /// That all messages before it were read, whatever the tables hold yet.
    Premature,
}

/// The control path: a channel to the switch and back; one processor that handles messages in order; beside it a path for
/// PACKET_INs and one for PACKET_OUTs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlModel {
    /// Time of the channel in either direction. Messages stay in order.
    pub delay: Distribution,
    /// Speed of the channel in either direction in Mbit/s; 0: infinite.
    pub rate_mbps: f64,
    /// Bytes of unhandled messages that the switch takes in before its TCP stops taking more.
    pub window_bytes: u32,
    /// Time of the processor for any message.
    pub message: Distribution,
    /// Further time for an ECHO_REQUEST.
    pub echo: Distribution,
    /// Further time for each FLOW_MOD, before the table is written.
    pub flow_mod: Distribution,
    /// What a BARRIER_REPLY says.
    pub barrier: Barrier,
    /// The way of PACKET_INs.
    pub packet_in: PathModel,
    /// Share of the processor that PACKET_INs get at most while tables are written, 0 to 1; 0: they have one of their own. A
    /// PACKET_IN whose service begins while a change is written holds up the change for its service time `s`, and occupies its path
    /// for `s / share`.
    pub packet_in_share: f64,
    /// The way of PACKET_OUTs.
    pub packet_out: PathModel,
    /// Seconds after its start at which the switch restarts once: the channel is reset, the tables are empty. 0: never.
    pub restart_s: f64,
}

/// The way of frames to or from the controller: a queue, a server, a delay behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathModel {
    /// Waiting places, the message in service not included. None: any number. When there is none, PACKET_INs are lost, and
    /// PACKET_OUTs hold up the channel.
    pub messages: Option<u32>,
    /// Time of the server for a message, whatever its size.
    pub service: Distribution,
    /// Time of the server for each byte of the message.
    pub per_byte_ns: f64,
    /// Time behind the server, during which it is free. Messages stay in order.
    pub latency: Distribution,
    /// The same for each byte of the message.
    pub latency_per_byte_ns: f64,
    /// Whether the latency counts from the beginning of the service instead of its end: the server may be occupied for longer than a
    /// message needs.
    pub overlap: bool,
    /// Bytes that may wait before the next message finds no place, each message with its overhead. None: any number.
    pub bytes: Option<u64>,
    /// Bytes that a waiting message takes besides its own.
    pub bytes_overhead: u32,
    /// Buffers, of which each message takes one for `buffer_hold_ns`; without one there is no place. None: none are needed.
    pub buffers: Option<u32>,
    /// How long a message holds its buffer.
    pub buffer_hold_ns: f64,
    /// Whether PACKET_OUTs are lost when there is no waiting place, instead of holding up the channel.
    pub lossy: bool,
}

impl Default for ControlModel {
    fn default() -> Self {
        ControlModel {
            delay: Distribution::default(),
            rate_mbps: 0.0,
            window_bytes: 256 << 10,
            message: Distribution::default(),
            echo: Distribution::default(),
            flow_mod: Distribution::default(),
            barrier: Barrier::default(),
            packet_in: PathModel::default(),
            packet_in_share: 0.0,
            packet_out: PathModel::default(),
            restart_s: 0.0,
        }
    }
}

impl ControlModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        check::distribution("control.delay", &self.delay)?;
        check::positive("control.rate_mbps", self.rate_mbps)?;
        check::at_least_one("control.window_bytes", self.window_bytes)?;
        check::distribution("control.message", &self.message)?;
        check::distribution("control.echo", &self.echo)?;
        check::distribution("control.flow_mod", &self.flow_mod)?;
        self.packet_in.check("control.packet_in")?;
        check::within("control.packet_in_share", self.packet_in_share, 1.0)?;
        self.packet_out.check("control.packet_out")?;
        check::positive("control.restart_s", self.restart_s)
    }
}

impl PathModel {
    fn check(&self, key: &str) -> Result<(), ModelError> {
        check::at_least_one(&format!("{key}.bytes"), self.bytes.unwrap_or(1))?;
        check::at_least_one(&format!("{key}.buffers"), self.buffers.unwrap_or(1))?;
        check::distribution(&format!("{key}.service"), &self.service)?;
        check::positive(&format!("{key}.per_byte_ns"), self.per_byte_ns)?;
        check::distribution(&format!("{key}.latency"), &self.latency)?;
        check::positive(&format!("{key}.latency_per_byte_ns"), self.latency_per_byte_ns)?;
        check::positive(&format!("{key}.buffer_hold_ns"), self.buffer_hold_ns)
    }
}
