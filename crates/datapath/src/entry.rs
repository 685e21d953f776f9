//! Flow entries, and which of them a request means.

use crate::program::Program;
use crate::rule::Rule;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{FlowModFlags, FlowRemovedReason, PortNo};
use std::sync::Arc;

/// Flags of entries that don't count everything.
pub const UNCOUNTED: u32 = FlowModFlags::NO_PACKET_COUNTS.0 | FlowModFlags::NO_BYTE_COUNTS.0;

/// A flow entry, but for its match and priority, which the classifier keeps.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it does with frames.
    pub program: Arc<Program>,
    /// The controller's own mark.
    pub cookie: u64,
    /// Frames that matched.
    pub packets: u64,
    /// Bytes of those frames, without FCS.
    pub bytes: u64,
    /// When it was added.
    pub created: Nanos,
    /// When a frame last matched; at first when it was added.
    pub used: Nanos,
    /// Seconds without a frame after which it goes; 0: never.
    pub idle_timeout: u16,
    /// Seconds after which it goes; 0: never.
    pub hard_timeout: u16,
    /// Whether it is the table-miss entry of 1.3: what it sends to the controller matched nothing else.
    pub is_miss: bool,
    /// The flags it was added with.
    pub flags: FlowModFlags,
    /// How much it matters when a full table evicts entries (1.4).
    pub importance: u16,
    /// Tells it from others that have had its number.
    pub(crate) serial: u32,
}

impl Entry {
    /// A new entry without counts.
    pub fn new(program: Arc<Program>, cookie: u64, now: Nanos) -> Entry {
        Entry {
            program,
            cookie,
            packets: 0,
            bytes: 0,
            created: now,
            used: now,
            idle_timeout: 0,
            hard_timeout: 0,
            is_miss: false,
            flags: FlowModFlags::NONE,
            importance: 0,
            serial: 0,
        }
    }

    /// Frames that matched; all ones if they aren't counted.
    pub fn told_packets(&self) -> u64 {
        if self.flags.contains(FlowModFlags::NO_PACKET_COUNTS) { u64::MAX } else { self.packets }
    }

    /// Bytes of frames that matched; all ones if they aren't counted.
    pub fn told_bytes(&self) -> u64 {
        if self.flags.contains(FlowModFlags::NO_BYTE_COUNTS) { u64::MAX } else { self.bytes }
    }

    /// What a frame adds to the counters, some of which are to stay.
    #[cold]
    pub fn counted(&self, bytes: usize) -> (u64, u64) {
        let is_counted = |without| !self.flags.contains(without);
        let packets = u64::from(is_counted(FlowModFlags::NO_PACKET_COUNTS));
        (packets, if is_counted(FlowModFlags::NO_BYTE_COUNTS) { bytes as u64 } else { 0 })
    }

    /// Why it goes, given that it has timed out.
    pub fn overdue(&self, now: Nanos) -> FlowRemovedReason {
        let is_hard =
            self.hard_timeout != 0 && self.created + Nanos::from_secs(self.hard_timeout.into()) <= now;
        if is_hard { FlowRemovedReason::HardTimeout } else { FlowRemovedReason::IdleTimeout }
    }

    /// When it goes unless a frame comes, and why.
    pub(crate) fn deadline(&self) -> Option<(Nanos, FlowRemovedReason)> {
        let after = |start: Nanos, seconds: u16, reason| {
            (seconds != 0).then(|| (start + Nanos::from_secs(seconds.into()), reason))
        };
        let hard = after(self.created, self.hard_timeout, FlowRemovedReason::HardTimeout);
        let idle = after(self.used, self.idle_timeout, FlowRemovedReason::IdleTimeout);
        [hard, idle].into_iter().flatten().min_by_key(|&(at, _)| at)
    }
}

/// Which entries a request means.
#[derive(Clone, Debug)]
pub struct Selection {
    /// With `strict` the very match, otherwise all that it covers.
    pub rule: Rule,
    /// The priority of the one entry that is meant; `None` for all that `rule` covers.
    pub strict: Option<u16>,
    /// Only entries whose cookie equals this in the bits of the mask.
    pub cookie: u64,
    /// Which bits of the cookie count.
    pub cookie_mask: u64,
    /// Only entries that send to this port, unless it is ANY.
    pub out_port: PortNo,
    /// Only entries that send to this group, unless it is OFPG_ANY.
    pub out_group: u32,
}

impl Selection {
    /// Whether the entry passes the filters besides the match.
    pub fn accepts(&self, entry: &Entry) -> bool {
        (entry.cookie ^ self.cookie) & self.cookie_mask == 0
            && entry.program.sends_to(self.out_port, self.out_group)
    }
}

/// An entry that left its table.
#[derive(Clone, Debug)]
pub struct Removed {
    /// What it matched.
    pub rule: Rule,
    /// Its priority.
    pub priority: u16,
    /// The rest of it, with its final counts.
    pub entry: Entry,
}
