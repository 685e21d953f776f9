//! Bundles: several requests that take effect together (since 1.4).

use serde::{Deserialize, Serialize};

use super::{Message, Property};

codes! {
    /// What a BUNDLE_CONTROL asks for or answers.
    pub enum BundleControlType: u16 {
        /// Open a bundle.
        OpenRequest = 0 in SINCE_1_4,
        /// It is open.
        OpenReply = 1 in SINCE_1_4,
        /// Add no more messages to it.
        CloseRequest = 2 in SINCE_1_4,
        /// It is closed.
        CloseReply = 3 in SINCE_1_4,
        /// Do what it says.
        CommitRequest = 4 in SINCE_1_4,
        /// That is done.
        CommitReply = 5 in SINCE_1_4,
        /// Forget it.
        DiscardRequest = 6 in SINCE_1_4,
        /// It is forgotten.
        DiscardReply = 7 in SINCE_1_4,
    }
}

flags! {
    /// How a bundle's messages are carried out.
    pub struct BundleFlags {
        /// At once, for packets and for other controllers.
        ATOMIC = 1, in SINCE_1_4;
        /// In their order.
        ORDERED = 1 << 1, in SINCE_1_4;
        /// At a given time.
        TIME = 1 << 2, in SINCE_1_5;
    }
}

/// A moment, as IEEE 1588 counts time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BundleTime {
    /// Whole seconds.
    pub seconds: u64,
    /// Nanoseconds beyond those.
    pub nanoseconds: u32,
}

/// Opens, closes, commits or discards a bundle, or says that this is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BundleControl {
    /// The bundle's number.
    pub bundle_id: u32,
    /// What to do.
    pub control_type: BundleControlType,
    /// How its messages are carried out.
    pub flags: BundleFlags,
    /// When to commit (since 1.5, with [`BundleFlags::TIME`]).
    pub scheduled_time: Option<BundleTime>,
    /// Other properties.
    pub properties: Vec<Property>,
}

impl BundleControl {
    /// A message without properties.
    pub const fn new(bundle_id: u32, control_type: BundleControlType, flags: BundleFlags) -> BundleControl {
        BundleControl { bundle_id, control_type, flags, scheduled_time: None, properties: Vec::new() }
    }
}

/// Adds a message to a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleAdd {
    /// The bundle's number.
    pub bundle_id: u32,
    /// How its messages are carried out.
    #[serde(default)]
    pub flags: BundleFlags,
    /// The message. Messages that hold messages themselves are [`Body::Unknown`](super::Body::Unknown) here.
    pub message: Box<Message>,
    /// Properties.
    #[serde(default)]
    pub properties: Vec<Property>,
}

impl BundleAdd {
    /// A message without properties.
    pub fn new(bundle_id: u32, flags: BundleFlags, message: Message) -> BundleAdd {
        BundleAdd { bundle_id, flags, message: Box::new(message), properties: Vec::new() }
    }
}

flags! {
    /// What a request for bundle features says or asks.
    pub struct BundleFeatureFlags {
        /// It has a timestamp.
        TIMESTAMP = 1, in SINCE_1_5;
        /// Its limits of scheduling shall hold.
        TIME_SET_SCHED = 1 << 1, in SINCE_1_5;
    }
}

/// What scheduling can do (since 1.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BundleScheduling {
    /// How exactly schedules are kept.
    pub accuracy: BundleTime,
    /// How far ahead a schedule may be.
    pub max_future: BundleTime,
    /// How far back a schedule may be.
    pub max_past: BundleTime,
    /// The sender's time.
    pub timestamp: BundleTime,
}

/// Asks for what bundles can do, or sets limits of their scheduling (since 1.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BundleFeaturesRequest {
    /// What the request says.
    pub flags: BundleFeatureFlags,
    /// Scheduling.
    pub scheduling: Option<BundleScheduling>,
    /// Other properties.
    pub properties: Vec<Property>,
}

/// What bundles can do (since 1.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BundleFeatures {
    /// Which flags bundles may have.
    pub capabilities: BundleFlags,
    /// Scheduling.
    pub scheduling: Option<BundleScheduling>,
    /// Other properties.
    pub properties: Vec<Property>,
}
