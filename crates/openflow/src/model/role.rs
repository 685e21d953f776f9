//! Several controllers: roles, which messages each of them gets (since 1.2), and how they fare (1.4, 1.5).

use serde::{Deserialize, Serialize};

use super::Property;

codes! {
    /// What a controller is to a switch. The specification's words are master and slave.
    pub enum ControllerRole: u32 {
        /// Asks for the role without changing it.
        NoChange = 0 in SINCE_1_3,
        /// Full access, as others have.
        Equal = 1 in SINCE_1_3,
        /// Full access, as nobody else has.
        Primary = 2 in SINCE_1_3,
        /// May only read.
        Secondary = 3 in SINCE_1_3,
    }
}

/// Asks for a role, or says which it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Role {
    /// The role.
    pub role: ControllerRole,
    /// The election that it comes from, so that late requests are found out.
    #[serde(with = "crate::json::hex_number")]
    pub generation_id: u64,
    /// The controller's short number (since 1.5); 0 for none.
    pub short_id: u16,
}

codes! {
    /// Why a controller's role changed.
    pub enum RoleReason: u8 {
        /// Another controller asked to be primary.
        PrimaryRequest = 0 in SINCE_1_4,
        /// The switch's configuration changed.
        Config = 1 in SINCE_1_4,
        /// An experimenter's reason.
        Experimenter = 2 in SINCE_1_4,
    }
}

/// A controller's role changed (since 1.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleStatus {
    /// The new role.
    pub role: ControllerRole,
    /// Why.
    pub reason: RoleReason,
    /// The election that it comes from.
    #[serde(with = "crate::json::hex_number")]
    pub generation_id: u64,
    /// Properties.
    pub properties: Vec<Property>,
}

/// Bitmaps of the reasons for which asynchronous messages are sent. `None` in a request leaves a bitmap as it is
/// (since 1.4; 1.3 has the first three, always, and no other).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AsyncMasks {
    /// Of PACKET_IN.
    pub packet_in: Option<u32>,
    /// Of PORT_STATUS.
    pub port_status: Option<u32>,
    /// Of FLOW_REMOVED.
    pub flow_removed: Option<u32>,
    /// Of ROLE_STATUS (since 1.4).
    pub role_status: Option<u32>,
    /// Of TABLE_STATUS (since 1.4).
    pub table_status: Option<u32>,
    /// Of REQUESTFORWARD (since 1.4).
    pub request_forward: Option<u32>,
    /// Of flow statistics that a threshold triggers (since 1.5).
    pub flow_stats: Option<u32>,
    /// Of CONTROLLER_STATUS (since 1.5).
    pub controller_status: Option<u32>,
}

impl AsyncMasks {
    /// These bitmaps, changed by those that `request` has.
    #[must_use]
    pub fn changed_by(self, request: AsyncMasks) -> AsyncMasks {
        AsyncMasks {
            packet_in: request.packet_in.or(self.packet_in),
            port_status: request.port_status.or(self.port_status),
            flow_removed: request.flow_removed.or(self.flow_removed),
            role_status: request.role_status.or(self.role_status),
            table_status: request.table_status.or(self.table_status),
            request_forward: request.request_forward.or(self.request_forward),
            flow_stats: request.flow_stats.or(self.flow_stats),
            controller_status: request.controller_status.or(self.controller_status),
        }
    }
}

/// Which asynchronous messages a controller gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AsyncConfig {
    /// While it is equal or primary.
    pub primary: AsyncMasks,
    /// While it is secondary.
    pub secondary: AsyncMasks,
    /// Other properties (since 1.4). Of an experimenter's two kinds, that for primary controllers is
    /// [`Property::Experimenter`] and that for secondary ones [`Property::Unknown`].
    pub properties: Vec<Property>,
}

codes! {
    /// Why a controller's status is told.
    pub enum ControllerStatusReason: u8 {
        /// It was asked for.
        Request = 0 in SINCE_1_5,
        /// Its connection came or went.
        ChannelStatus = 1 in SINCE_1_5,
        /// Its role changed.
        Role = 2 in SINCE_1_5,
        /// The controller is new.
        ControllerAdded = 3 in SINCE_1_5,
        /// The controller was removed.
        ControllerRemoved = 4 in SINCE_1_5,
        /// Its short number changed.
        ShortId = 5 in SINCE_1_5,
        /// An experimenter's reason.
        Experimenter = 6 in SINCE_1_5,
    }
}

codes! {
    /// Whether a controller is connected.
    pub enum ChannelStatus: u8 {
        /// It is.
        Up = 0 in SINCE_1_5,
        /// It is not.
        Down = 1 in SINCE_1_5,
    }
}

/// How a controller of the switch fares (since 1.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControllerStatus {
    /// Its short number; 0 for none.
    pub short_id: u16,
    /// Its role.
    pub role: ControllerRole,
    /// Why its status is told.
    pub reason: ControllerStatusReason,
    /// Whether it is connected.
    pub channel_status: ChannelStatus,
    /// Its connection, such as `tcp:198.51.100.1:6653`.
    pub uri: Option<String>,
    /// Other properties.
    pub properties: Vec<Property>,
}
