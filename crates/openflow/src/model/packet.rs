//! Packets between switch and controller.

use flowgauge_packet::Field;
use serde::{Deserialize, Serialize};

use super::{Action, Match, PortNo};

codes! {
    /// Why a packet went to the controller.
    pub enum PacketInReason: u8 {
        /// No entry matched, or the table-miss entry did.
        NoMatch = 0 in EVERY,
        /// An action sent it.
        Action = 1 in EVERY,
        /// Its TTL was not valid.
        InvalidTtl = 2 in SINCE_1_3,
        /// The action set sent it.
        ActionSet = 3 in SINCE_1_4,
        /// A group's bucket sent it.
        Group = 4 in SINCE_1_4,
        /// A PACKET_OUT sent it.
        PacketOut = 5 in SINCE_1_4,
    }
}

/// A packet for the controller. 1.0 has no `table_id` and no `cookie`, and of the match only `in_port`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacketIn {
    /// Where the switch keeps the packet, if it does.
    pub buffer_id: Option<u32>,
    /// The packet's full length in bytes.
    pub total_len: u16,
    /// Why it came.
    pub reason: PacketInReason,
    /// The table that sent it.
    pub table_id: u8,
    /// The cookie of the entry that sent it; all ones if there is none.
    #[serde(with = "crate::json::hex_number")]
    pub cookie: u64,
    /// Pipeline fields: at least `in_port`.
    #[serde(rename = "match")]
    pub match_: Match,
    /// The packet, or its beginning.
    #[serde(with = "crate::json::hex")]
    pub data: Vec<u8>,
}

impl PacketIn {
    /// The port on which the packet arrived; [`PortNo::ANY`] if the message doesn't say.
    pub fn in_port(&self) -> PortNo {
        self.match_.get(Field::InPort).map_or(PortNo::ANY, |port| PortNo(port as u32))
    }
}

/// A packet from the controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacketOut {
    /// The buffered packet to send; `None`: `data` is the packet.
    pub buffer_id: Option<u32>,
    /// The port on which it is taken to have arrived; [`PortNo::CONTROLLER`] for none (NONE in 1.0).
    pub in_port: PortNo,
    /// Pipeline fields besides `in_port` (since 1.5).
    #[serde(rename = "match")]
    pub match_: Match,
    /// What to do with it.
    pub actions: Vec<Action>,
    /// The packet; empty if it is buffered.
    #[serde(with = "crate::json::hex")]
    pub data: Vec<u8>,
}

impl Default for PacketOut {
    /// An empty packet from the controller, to nowhere.
    fn default() -> PacketOut {
        PacketOut {
            buffer_id: None,
            in_port: PortNo::CONTROLLER,
            match_: Match::any(),
            actions: Vec::new(),
            data: Vec::new(),
        }
    }
}

impl PacketOut {
    /// Sends `data` out of `port`.
    pub fn to_port(port: PortNo, data: Vec<u8>) -> PacketOut {
        PacketOut {
            buffer_id: None,
            in_port: PortNo::CONTROLLER,
            match_: Match::any(),
            actions: vec![Action::Output { port, max_len: 0 }],
            data,
        }
    }
}
