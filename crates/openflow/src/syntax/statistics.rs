//! Prints entries of statistics as `ovs-ofctl dump-flows`, `group-stats` and `meter-stats` do, each in one line.

use std::fmt;

use super::meter::MeterId;
use super::print::flag_names;
use super::print_old::InstructionsOf;
use crate::{FlowStats, GroupStats, MeterStats, Version};

/// Seconds and nanoseconds: `5.250s`.
pub(super) struct Duration {
    pub sec: u32,
    pub nsec: u32,
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As many decimals as it takes, in threes.
        match self.nsec {
            0 => write!(f, "{}s", self.sec),
            nsec if nsec % 1_000_000 == 0 => write!(f, "{}.{:03}s", self.sec, nsec / 1_000_000),
            nsec if nsec % 1_000 == 0 => write!(f, "{}.{:06}s", self.sec, nsec / 1_000),
            nsec => write!(f, "{}.{nsec:09}s", self.sec),
        }
    }
}

impl fmt::Display for FlowStats {
    /// As `ovs-ofctl dump-flows` prints it, without the space before it. [`parse_flow`](super::parse_flow) reads it, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FlowOf(Version::V1_3, self).fmt(f)
    }
}

/// A flow entry as the version's switches tell of it.
pub(super) struct FlowOf<'a>(pub Version, pub &'a FlowStats);

impl fmt::Display for FlowOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlowOf(version, flow) = *self;
        let duration = Duration { sec: flow.duration_sec, nsec: flow.duration_nsec };
        write!(f, "cookie={:#x}, duration={duration}, table={}, ", flow.cookie, flow.table_id)?;
        write!(f, "n_packets={}, n_bytes={}, ", flow.packet_count, flow.byte_count)?;
        for (name, value) in [("idle_timeout", flow.idle_timeout), ("hard_timeout", flow.hard_timeout)] {
            if value != 0 {
                write!(f, "{name}={value}, ")?;
            }
        }
        flag_names(flow.flags).try_for_each(|name| write!(f, "{name} "))?;
        if flow.importance != 0 {
            write!(f, "importance={}, ", flow.importance)?;
        }
        let match_ =
            super::print::MatchAndPriority { match_: &flow.match_, priority: flow.priority }.to_string();
        let space = if match_.is_empty() { "" } else { " " };
        write!(f, "{match_}{space}actions={}", InstructionsOf(version, &flow.instructions))
    }
}

impl fmt::Display for GroupStats {
    /// As `ovs-ofctl dump-group-stats` prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let duration = Duration { sec: self.duration_sec, nsec: self.duration_nsec };
        write!(f, "group_id={},duration={duration},ref_count={},", self.group_id, self.ref_count)?;
        write!(f, "packet_count={},byte_count={}", self.packet_count, self.byte_count)?;
        for (number, bucket) in self.buckets.iter().enumerate() {
            write!(
                f,
                ",bucket{number}:packet_count={},byte_count={}",
                bucket.packet_count, bucket.byte_count
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for MeterStats {
    /// As `ovs-ofctl meter-stats` prints it, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let duration = Duration { sec: self.duration_sec, nsec: self.duration_nsec };
        write!(f, "meter:{} flow_count:{} ", MeterId(self.meter_id), self.flow_count)?;
        write!(f, "packet_in_count:{} byte_in_count:{} ", self.packet_in_count, self.byte_in_count)?;
        write!(f, "duration:{duration} bands:")?;
        for (number, band) in self.bands.iter().enumerate() {
            let (packets, bytes) = (band.packet_count, band.byte_count);
            write!(f, " {number}: packet_count:{packets} byte_count:{bytes}")?;
        }
        Ok(())
    }
}
