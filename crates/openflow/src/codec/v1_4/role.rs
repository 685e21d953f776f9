//! Roles that change, and asynchronous messages by property.

use crate::codec::property::{Optional, WithProperties};
use crate::codec::v1_3;
use crate::codec::wire::{Before, Blank, Coded, From1_4, U32, U64};
use crate::model::{AsyncConfig, RoleStatus};

layout!(RoleStatusBody: RoleStatus {
    role: Coded<_, u32>,
    reason: Before<3, Coded<_, u8>>,
    generation_id: U64,
} lost { properties: Vec::new() });

/// A role, why it changed, properties.
pub(crate) type RoleStatusWire = WithProperties<RoleStatusBody>;

properties!(status: RoleStatus, since V1_4, others in properties {});

/// Since 1.4 a list of masks, of which any may be missing.
pub(crate) type AsyncWire = WithProperties<From1_4<v1_3::AsyncWire, Blank<AsyncConfig>>>;

properties!(config: AsyncConfig, since V1_4, others in properties {
    0 EVERY "packet_in" in config.secondary.packet_in => Optional<U32>,
    1 EVERY "packet_in" in config.primary.packet_in => Optional<U32>,
    2 EVERY "port_status" in config.secondary.port_status => Optional<U32>,
    3 EVERY "port_status" in config.primary.port_status => Optional<U32>,
    4 EVERY "flow_removed" in config.secondary.flow_removed => Optional<U32>,
    5 EVERY "flow_removed" in config.primary.flow_removed => Optional<U32>,
    6 SINCE_1_4 "role_status" in config.secondary.role_status => Optional<U32>,
    7 SINCE_1_4 "role_status" in config.primary.role_status => Optional<U32>,
    8 SINCE_1_4 "table_status" in config.secondary.table_status => Optional<U32>,
    9 SINCE_1_4 "table_status" in config.primary.table_status => Optional<U32>,
    10 SINCE_1_4 "request_forward" in config.secondary.request_forward => Optional<U32>,
    11 SINCE_1_4 "request_forward" in config.primary.request_forward => Optional<U32>,
    12 SINCE_1_5 "flow_stats" in config.secondary.flow_stats => Optional<U32>,
    13 SINCE_1_5 "flow_stats" in config.primary.flow_stats => Optional<U32>,
    14 SINCE_1_5 "controller_status" in config.secondary.controller_status => Optional<U32>,
    15 SINCE_1_5 "controller_status" in config.primary.controller_status => Optional<U32>,
});
