//! Flow statistics as a list of fields that may be there or not (OXS, since 1.5).

use serde::{Deserialize, Serialize};

use super::{Match, RawOxm};

/// A time that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Age {
    /// Whole seconds.
    pub sec: u32,
    /// Nanoseconds beyond those.
    pub nsec: u32,
}

/// What is known of one flow entry or of several: counters in a report, thresholds in a
/// [`StatTrigger`](super::Instruction::StatTrigger).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowCounters {
    /// How long the entry has lived.
    pub duration: Option<Age>,
    /// How long it has not matched a packet.
    pub idle_time: Option<Age>,
    /// Number of entries, in sums.
    pub flow_count: Option<u32>,
    /// Packets matched.
    pub packet_count: Option<u64>,
    /// Bytes matched.
    pub byte_count: Option<u64>,
    /// Fields that are not known here.
    pub unknown: Vec<RawOxm>,
}

flags! {
    /// How often thresholds trigger.
    pub struct StatTriggerFlags {
        /// At each multiple of a threshold.
        PERIODIC = 1, in SINCE_1_5;
        /// Only when the first threshold is reached.
        ONLY_FIRST = 1 << 1, in SINCE_1_5;
    }
}

codes! {
    /// Why a flow entry's counters are told.
    pub enum FlowCountersReason: u8 {
        /// They were asked for.
        Request = 0 in SINCE_1_5,
        /// A threshold was reached.
        Trigger = 1 in SINCE_1_5,
    }
}

/// A flow entry's counters, without what the entry does (since 1.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowCountersReport {
    /// Its table.
    pub table_id: u8,
    /// Why it is told.
    pub reason: FlowCountersReason,
    /// Its priority.
    pub priority: u16,
    /// Its match.
    #[serde(rename = "match")]
    pub match_: Match,
    /// Its counters.
    pub counters: FlowCounters,
}
