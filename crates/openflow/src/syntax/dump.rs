//! Flow statistics as `ovs-ofctl dump-flows` prints them.

use std::fmt;

use crate::{FlowMod, FlowStats};

/// An entry with its counters: `cookie=0x0, duration=1.500s, table=0, n_packets=3, n_bytes=180, priority=9,ip actions=drop`.
pub struct Dump<'a>(pub &'a FlowStats);

impl fmt::Display for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = self.0;
        let millis = stats.duration_nsec / 1_000_000;
        write!(f, "cookie={:#x}, duration={}.{millis:03}s, ", stats.cookie, stats.duration_sec)?;
        write!(f, "table={}, n_packets={}, ", stats.table_id, stats.packet_count)?;
        write!(f, "n_bytes={}, ", stats.byte_count)?;
        for (name, seconds) in [("idle_timeout", stats.idle_timeout), ("hard_timeout", stats.hard_timeout)] {
            if seconds != 0 {
                write!(f, "{name}={seconds}, ")?;
            }
        }
        let entry = FlowMod {
            flags: stats.flags,
            importance: stats.importance,
            priority: stats.priority,
            match_: stats.match_.clone(),
            instructions: stats.instructions.clone(),
            ..FlowMod::default()
        };
        entry.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse_flow;

    #[test]
    fn counters_stand_before_the_entry() {
        let entry = parse_flow("priority=9,send_flow_rem,udp,tp_dst=7 actions=output:2").unwrap();
        let stats = FlowStats {
            table_id: 3,
            duration_sec: 12,
            duration_nsec: 7_000_000,
            priority: entry.priority,
            idle_timeout: 60,
            flags: entry.flags,
            cookie: 0x2a,
            packet_count: 3,
            byte_count: 180,
            match_: entry.match_,
            instructions: entry.instructions,
            ..FlowStats::default()
        };
        let expected = "cookie=0x2a, duration=12.007s, table=3, n_packets=3, n_bytes=180, idle_timeout=60, \
                        send_flow_rem,priority=9,udp,tp_dst=7 actions=output:2";
        assert_eq!(Dump(&stats).to_string(), expected);
    }
}
