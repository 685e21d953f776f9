//! Nicira's messages.

use serde::{Deserialize, Serialize};

use crate::model::{FlowMod, FlowRemoved, PacketIn};

codes! {
    /// How a switch writes flow entries (1.0).
    pub enum FlowFormat: u32 {
        /// With 1.0's own match.
        OpenFlow10 = 0 in EVERY,
        /// With Nicira's extensible match.
        Nxm = 2 in EVERY,
    }
}

codes! {
    /// How a switch writes PACKET_INs.
    pub enum PacketInFormat: u32 {
        /// As the version has it.
        Standard = 0 in EVERY,
        /// As NXT_PACKET_IN.
        Nxt = 1 in EVERY,
        /// As NXT_PACKET_IN2.
        Nxt2 = 2 in EVERY,
    }
}

/// One of Nicira's messages. Roles on 1.0 are [`Body::RoleRequest`](crate::model::Body::RoleRequest) and `RoleReply`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NiciraMessage {
    /// Write flow entries like this from now on.
    SetFlowFormat(FlowFormat),
    /// A FLOW_MOD whose match may have fields that 1.0's match has no room for.
    FlowMod(FlowMod),
    /// A FLOW_REMOVED with such a match.
    FlowRemoved(FlowRemoved),
    /// Whether the upper byte of a FLOW_MOD's command is a table's number from now on (1.0).
    FlowModTableId(bool),
    /// Write PACKET_INs like this from now on.
    SetPacketInFormat(PacketInFormat),
    /// A packet for the controller, with table, cookie and pipeline fields.
    PacketIn(PacketIn),
    /// The same, with what newer actions add.
    PacketIn2(Box<PacketIn2>),
    /// Tell in statistics for how long entries have been idle.
    FlowAge,
    /// The number that actions know this controller by.
    SetControllerId(u16),
}

/// A packet for the controller, with what a `controller` action had it bring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacketIn2 {
    /// The packet.
    pub packet: PacketIn,
    /// The action's bytes.
    #[serde(with = "crate::json::hex")]
    pub userdata: Vec<u8>,
    /// What resumes the pipeline, if it was paused.
    #[serde(with = "crate::json::hex")]
    pub continuation: Vec<u8>,
}
