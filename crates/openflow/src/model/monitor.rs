//! Flow monitors: a controller hears how flow entries change (since 1.4).

use serde::{Deserialize, Serialize};

use super::{FlowRemovedReason, Instruction, Match, PortNo};

codes! {
    /// What a request does to a monitor.
    pub enum FlowMonitorCommand: u8 {
        /// Adds one.
        Add = 0 in SINCE_1_4,
        /// Changes one.
        Modify = 1 in SINCE_1_4,
        /// Deletes one.
        Delete = 2 in SINCE_1_4,
    }
}

flags! {
    /// When a monitor tells something, and what.
    pub struct FlowMonitorFlags {
        /// Entries that are there when the monitor is added.
        INITIAL = 1, in SINCE_1_4;
        /// New entries.
        ADD = 1 << 1, in SINCE_1_4;
        /// Entries that go.
        REMOVED = 1 << 2, in SINCE_1_4;
        /// Entries that change.
        MODIFY = 1 << 3, in SINCE_1_4;
        /// With the entries' instructions.
        INSTRUCTIONS = 1 << 4, in SINCE_1_4;
        /// The controller's own changes in full.
        NO_ABBREV = 1 << 5, in SINCE_1_4;
        /// Only the controller's own changes.
        ONLY_OWN = 1 << 6, in SINCE_1_4;
    }
}

/// Adds, changes or deletes a flow monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowMonitorRequest {
    /// The monitor's number.
    pub monitor_id: u32,
    /// Only entries with an output to this port; [`PortNo::ANY`] for all.
    pub out_port: PortNo,
    /// Only entries that use this group; [`GROUP_ANY`](super::GROUP_ANY) for all.
    pub out_group: u32,
    /// When it tells something, and what.
    pub flags: FlowMonitorFlags,
    /// The table; [`TABLE_ALL`](super::TABLE_ALL) for all.
    pub table_id: u8,
    /// What to do.
    pub command: FlowMonitorCommand,
    /// Only entries that this match covers.
    #[serde(rename = "match")]
    pub match_: Match,
}

codes! {
    /// What happened to a monitored entry.
    pub enum FlowEvent: u16 {
        /// It was there when the monitor was added.
        Initial = 0 in SINCE_1_4,
        /// It was added.
        Added = 1 in SINCE_1_4,
        /// It went.
        Removed = 2 in SINCE_1_4,
        /// Its instructions changed.
        Modified = 3 in SINCE_1_4,
        /// The controller's own request was done.
        Abbreviated = 4 in SINCE_1_4,
        /// The monitor has paused for want of buffers.
        Paused = 5 in SINCE_1_4,
        /// The monitor goes on.
        Resumed = 6 in SINCE_1_4,
    }
}

/// What a flow monitor tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowUpdate {
    /// What happened to an entry.
    Full(FlowUpdateFull),
    /// The request of that transaction id was done.
    Abbreviated {
        /// The request's transaction id.
        xid: u32,
    },
    /// The monitor has paused for want of buffers.
    Paused,
    /// The monitor goes on.
    Resumed,
    /// An event that is not known here.
    Unknown {
        /// Its number.
        event: u16,
        /// What follows length and event.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

/// What happened to an entry, and what it is like now, or was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowUpdateFull {
    /// `Initial`, `Added`, `Removed` or `Modified`.
    pub event: FlowEvent,
    /// Its table.
    pub table_id: u8,
    /// Why it went, if it did.
    pub reason: FlowRemovedReason,
    /// Its idle timeout, in seconds.
    pub idle_timeout: u16,
    /// Its hard timeout, in seconds.
    pub hard_timeout: u16,
    /// Its priority.
    pub priority: u16,
    /// Its cookie.
    #[serde(with = "crate::json::hex_number")]
    pub cookie: u64,
    /// Its match.
    #[serde(rename = "match")]
    pub match_: Match,
    /// What it does, if the monitor was to tell.
    pub instructions: Vec<Instruction>,
}
