//! Several controllers: roles, and which messages each of them gets (since 1.2).

use serde::{Deserialize, Serialize};

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
}

/// Bitmaps of the reasons for which asynchronous messages are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AsyncMasks {
    /// Of PACKET_IN.
    pub packet_in: u32,
    /// Of PORT_STATUS.
    pub port_status: u32,
    /// Of FLOW_REMOVED.
    pub flow_removed: u32,
}

/// Which asynchronous messages a controller gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AsyncConfig {
    /// While it is equal or primary.
    pub primary: AsyncMasks,
    /// While it is secondary.
    pub secondary: AsyncMasks,
}
