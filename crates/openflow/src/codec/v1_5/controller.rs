//! The status of controllers.

use crate::codec::property::{Optional, WithProperties};
use crate::codec::wire::{Before, Coded, RestText, Sized16, U16};
use crate::model::ControllerStatus;

layout!(ControllerStatusBody: ControllerStatus {
    short_id: U16,
    role: Coded<_, u32>,
    reason: Coded<_, u8>,
    channel_status: Before<6, Coded<_, u8>>,
} lost { uri: None, properties: Vec::new() });

/// A controller's status, length first.
pub(crate) type ControllerStatusWire = Sized16<WithProperties<ControllerStatusBody>>;

properties!(status: ControllerStatus, since V1_5, others in properties {
    0 SINCE_1_5 "uri" in status.uri => Optional<RestText>,
});
