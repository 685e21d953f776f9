//! What bundles can do, and when they shall do it.

use crate::codec::property::{Optional, WithProperties};
use crate::codec::wire::{After, Before, Bits, U32, U64};
use crate::model::{BundleFeatures, BundleFeaturesRequest, BundleScheduling, BundleTime};

layout!(TimeWire: BundleTime { seconds: U64, nanoseconds: Before<4, U32> });

layout!(SchedulingWire: BundleScheduling {
    accuracy: After<4, TimeWire>,
    max_future: TimeWire,
    max_past: TimeWire,
    timestamp: TimeWire,
});

layout!(RequestBody: BundleFeaturesRequest { flags: Before<4, Bits<_, u32>> } lost default);

/// Flags, properties.
pub(crate) type BundleFeaturesRequestWire = WithProperties<RequestBody>;

properties!(request: BundleFeaturesRequest, since V1_5, others in properties {
    1 SINCE_1_5 "scheduling" in request.scheduling => Optional<SchedulingWire>,
});

layout!(FeaturesBody: BundleFeatures { capabilities: Before<6, Bits<_, u16>> } lost default);

/// The flags that bundles may have, properties.
pub(crate) type BundleFeaturesWire = WithProperties<FeaturesBody>;

properties!(features: BundleFeatures, since V1_5, others in properties {
    1 SINCE_1_5 "scheduling" in features.scheduling => Optional<SchedulingWire>,
});
