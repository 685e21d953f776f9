//! Queues: configuration and counters.

use serde::{Deserialize, Serialize};

use super::{PortNo, Property};

/// All queues, in requests that allow it (OFPQ_ALL).
pub const QUEUE_ALL: u32 = 0xffff_ffff;

/// What a queue guarantees or allows. Rates are in tenths of a percent of the link; above 1000: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueProperty {
    /// At least this rate.
    MinRate(u16),
    /// At most this rate (since 1.1).
    MaxRate(u16),
    /// An experimenter's property.
    Experimenter {
        /// Whose.
        #[serde(with = "crate::json::hex_number")]
        experimenter: u32,
        /// Which of the experimenter's types (since 1.4; 0 before).
        experimenter_type: u32,
        /// The content.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
    /// A property that is not known here.
    Unknown {
        /// Its type.
        property_type: u16,
        /// What follows type, length and padding.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

/// A queue of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// Its number.
    pub queue_id: u32,
    /// Its port. 1.0 says it for all queues of a reply.
    pub port: PortNo,
    /// What it guarantees or allows.
    pub properties: Vec<QueueProperty>,
}

/// The queues of a port (to 1.3; see [`ReplyBody::QueueDesc`](super::ReplyBody::QueueDesc)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueueConfig {
    /// The port that was asked for.
    pub port: PortNo,
    /// Its queues.
    pub queues: Vec<Queue>,
}

/// A queue's counters. 1.0 has no duration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueueStats {
    /// Its port.
    pub port_no: PortNo,
    /// Its number.
    pub queue_id: u32,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Frames lost because the queue was full.
    pub tx_errors: u64,
    /// Whole seconds that it has lived.
    pub duration_sec: u32,
    /// Nanoseconds beyond those.
    pub duration_nsec: u32,
    /// Properties (since 1.4).
    pub properties: Vec<Property>,
}
