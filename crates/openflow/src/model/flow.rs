//! Flow entries: changing them, hearing of their end, reading their counters.

use serde::{Deserialize, Serialize};

use super::{Action, Age, Instruction, Match, PortNo, RawOxm};

/// All tables, in requests that allow it (OFPTT_ALL).
pub const TABLE_ALL: u8 = 0xff;

codes! {
    /// What a FLOW_MOD does.
    pub enum FlowModCommand: u8 {
        /// Add an entry; one with the same match and priority is replaced.
        Add = 0 in EVERY,
        /// Change the entries that the match covers.
        Modify = 1 in EVERY,
        /// Change the entry with this match and priority.
        ModifyStrict = 2 in EVERY,
        /// Delete the entries that the match covers.
        Delete = 3 in EVERY,
        /// Delete the entry with this match and priority.
        DeleteStrict = 4 in EVERY,
    }
}

flags! {
    /// Options of a flow entry.
    pub struct FlowModFlags {
        /// Tell the controller when the entry goes.
        SEND_FLOW_REM = 1, in EVERY;
        /// Refuse an entry that overlaps one of the same priority.
        CHECK_OVERLAP = 1 << 1, in EVERY;
        /// Start the counters from 0 again.
        RESET_COUNTS = 1 << 2, in SINCE_1_3;
        /// Don't count packets.
        NO_PACKET_COUNTS = 1 << 3, in SINCE_1_3;
        /// Don't count bytes.
        NO_BYTE_COUNTS = 1 << 4, in SINCE_1_3;
        /// For use while the controller is away (1.0; its bit there is that of RESET_COUNTS).
        EMERGENCY = 1 << 31, in ONLY_1_0;
    }
}

/// Adds, changes or deletes flow entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowMod {
    /// What to do.
    pub command: FlowModCommand,
    /// The table; [`TABLE_ALL`] for deletions from all. 1.0 has one table: 0 (or [`TABLE_ALL`]).
    pub table_id: u8,
    /// The controller's mark on the entry.
    #[serde(with = "crate::json::hex_number")]
    pub cookie: u64,
    /// The bits of `cookie` that entries must have to be changed or deleted. 1.0: 0.
    #[serde(with = "crate::json::hex_number")]
    pub cookie_mask: u64,
    /// Seconds without a packet until the entry goes; 0 for never.
    pub idle_timeout: u16,
    /// Seconds until the entry goes; 0 for never.
    pub hard_timeout: u16,
    /// Higher wins.
    pub priority: u16,
    /// The buffered packet to apply the entry to.
    pub buffer_id: Option<u32>,
    /// Delete only entries with an output to this port; [`PortNo::ANY`] for all.
    pub out_port: PortNo,
    /// Delete only entries that use this group; [`GROUP_ANY`](super::GROUP_ANY) for all.
    pub out_group: u32,
    /// Options.
    pub flags: FlowModFlags,
    /// How much it matters when a full table evicts entries (since 1.4).
    pub importance: u16,
    /// The packets that it is for.
    #[serde(rename = "match")]
    pub match_: Match,
    /// What it does with them; nothing drops them.
    pub instructions: Vec<Instruction>,
}

impl Default for FlowMod {
    /// Adds an entry that drops everything, priority 32768 (as ovs-ofctl's default), no timeouts.
    fn default() -> FlowMod {
        FlowMod {
            command: FlowModCommand::Add,
            table_id: 0,
            cookie: 0,
            cookie_mask: 0,
            idle_timeout: 0,
            hard_timeout: 0,
            priority: 0x8000,
            buffer_id: None,
            out_port: PortNo::ANY,
            out_group: super::GROUP_ANY,
            flags: FlowModFlags::NONE,
            importance: 0,
            match_: Match::any(),
            instructions: Vec::new(),
        }
    }
}

impl FlowMod {
    /// Adds an entry that applies `actions`; none: drops.
    pub fn add(priority: u16, match_: Match, actions: Vec<Action>) -> FlowMod {
        let instructions = if actions.is_empty() { vec![] } else { vec![Instruction::ApplyActions(actions)] };
        FlowMod { priority, match_, instructions, ..FlowMod::default() }
    }

    /// Deletes all entries of all tables.
    pub fn delete_all() -> FlowMod {
        FlowMod { command: FlowModCommand::Delete, table_id: TABLE_ALL, ..FlowMod::default() }
    }
}

codes! {
    /// Why a flow entry went.
    pub enum FlowRemovedReason: u8 {
        /// Idle for too long.
        IdleTimeout = 0 in EVERY,
        /// Its time was over.
        HardTimeout = 1 in EVERY,
        /// Deleted by a FLOW_MOD.
        Delete = 2 in EVERY,
        /// Its group was deleted.
        GroupDelete = 3 in SINCE_1_3,
        /// Its meter was deleted.
        MeterDelete = 4 in SINCE_1_4,
        /// Evicted from a full table.
        Eviction = 5 in SINCE_1_4,
    }
}

/// A flow entry went. 1.0 has no `table_id` and no `hard_timeout`. What the switch doesn't count is all ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowRemoved {
    /// The entry's cookie.
    #[serde(with = "crate::json::hex_number")]
    pub cookie: u64,
    /// The entry's priority.
    pub priority: u16,
    /// Why it went.
    pub reason: FlowRemovedReason,
    /// Its table.
    pub table_id: u8,
    /// Whole seconds that it lived.
    pub duration_sec: u32,
    /// Nanoseconds beyond those.
    pub duration_nsec: u32,
    /// Its idle timeout, in seconds.
    pub idle_timeout: u16,
    /// Its hard timeout, in seconds.
    pub hard_timeout: u16,
    /// Packets matched.
    pub packet_count: u64,
    /// Bytes matched.
    pub byte_count: u64,
    /// How long it had not matched a packet (since 1.5).
    pub idle_time: Option<Age>,
    /// Its match.
    #[serde(rename = "match")]
    pub match_: Match,
    /// Statistics that are not known here (since 1.5).
    pub unknown_stats: Vec<RawOxm>,
}

/// Which flow entries to report on, one by one or added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowStatsRequest {
    /// The table; [`TABLE_ALL`] for all.
    pub table_id: u8,
    /// Only entries with an output to this port; [`PortNo::ANY`] for all.
    pub out_port: PortNo,
    /// Only entries that use this group; [`GROUP_ANY`](super::GROUP_ANY) for all. 1.0: that.
    pub out_group: u32,
    /// The cookie that entries must have in the bits of the mask. 1.0: 0.
    #[serde(with = "crate::json::hex_number")]
    pub cookie: u64,
    /// See `cookie`.
    #[serde(with = "crate::json::hex_number")]
    pub cookie_mask: u64,
    /// Only entries that this match covers.
    #[serde(rename = "match")]
    pub match_: Match,
}

impl Default for FlowStatsRequest {
    /// All entries of all tables.
    fn default() -> FlowStatsRequest {
        FlowStatsRequest {
            table_id: TABLE_ALL,
            out_port: PortNo::ANY,
            out_group: super::GROUP_ANY,
            cookie: 0,
            cookie_mask: 0,
            match_: Match::any(),
        }
    }
}

/// A flow entry and its counters. 1.0 has no `flags`. What the switch doesn't count is all ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlowStats {
    /// Its table.
    pub table_id: u8,
    /// Whole seconds that it has lived.
    pub duration_sec: u32,
    /// Nanoseconds beyond those.
    pub duration_nsec: u32,
    /// Its priority.
    pub priority: u16,
    /// Its idle timeout, in seconds.
    pub idle_timeout: u16,
    /// Its hard timeout, in seconds.
    pub hard_timeout: u16,
    /// Its options.
    pub flags: FlowModFlags,
    /// Its importance (since 1.4).
    pub importance: u16,
    /// Its cookie.
    #[serde(with = "crate::json::hex_number")]
    pub cookie: u64,
    /// Packets matched.
    pub packet_count: u64,
    /// Bytes matched.
    pub byte_count: u64,
    /// How long it has not matched a packet (since 1.5).
    pub idle_time: Option<Age>,
    /// Its match.
    #[serde(rename = "match")]
    pub match_: Match,
    /// What it does.
    pub instructions: Vec<Instruction>,
    /// Statistics that are not known here (since 1.5).
    pub unknown_stats: Vec<RawOxm>,
}

/// The counters of several flow entries, added up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AggregateStats {
    /// Packets matched.
    pub packet_count: u64,
    /// Bytes matched.
    pub byte_count: u64,
    /// Number of entries.
    pub flow_count: u32,
    /// Statistics that are not known here (since 1.5).
    pub unknown_stats: Vec<RawOxm>,
}
