//! Prints entries of statistics as `ovs-ofctl dump-flows`, `group-stats` and `meter-stats` do, each in one line.

use std::fmt;

use super::meter::MeterId;
use super::print::flag_names;
use super::print_action::Instructions;
use crate::{FlowStats, GroupStats, MeterStats};

/// Seconds and nanoseconds: `5.25s`.
pub(super) struct Duration {
    pub sec: u32,
    pub nsec: u32,
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nsec == 0 {
            return write!(f, "{}s", self.sec);
        }
        let fraction = format!("{:09}", self.nsec);
        write!(f, "{}.{}s", self.sec, fraction.trim_end_matches('0'))
    }
}

impl fmt::Display for FlowStats {
    /// As `ovs-ofctl dump-flows` prints it, without the space before it. [`parse_flow`](super::parse_flow) reads it, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let duration = Duration { sec: self.duration_sec, nsec: self.duration_nsec };
        write!(f, "cookie={:#x}, duration={duration}, table={}, ", self.cookie, self.table_id)?;
        write!(f, "n_packets={}, n_bytes={}, ", self.packet_count, self.byte_count)?;
        for (name, value) in [("idle_timeout", self.idle_timeout), ("hard_timeout", self.hard_timeout)] {
            if value != 0 {
                write!(f, "{name}={value}, ")?;
            }
        }
        flag_names(self.flags).try_for_each(|name| write!(f, "{name} "))?;
        if self.importance != 0 {
            write!(f, "importance={}, ", self.importance)?;
        }
        let match_ =
            super::print::MatchAndPriority { match_: &self.match_, priority: self.priority }.to_string();
        let space = if match_.is_empty() { "" } else { " " };
        write!(f, "{match_}{space}actions={}", Instructions(&self.instructions))
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
