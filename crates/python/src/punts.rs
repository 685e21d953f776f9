//! PACKET_INs as part of what a transmission received.

use flowgauge_channel::wire;
use flowgauge_openflow::{Body, decode};
use flowgauge_traffic::{Outcome, PacketIn};

use crate::line::Line;

/// The channel whose PACKET_INs are accounted for, and what it had counted before the start.
pub struct Punts {
    connection: Line,
    received_before: u64,
    dropped_before: u64,
}

impl Punts {
    /// Of a transmission that starts now.
    pub fn begin(connection: Line) -> Punts {
        // What came before is of no trial of ours.
        drop(connection.take_log());
        let received_before = connection.received(wire::PACKET_IN);
        let dropped_before = connection.log_dropped();
        Punts { connection, received_before, dropped_before }
    }

    /// PACKET_INs since then.
    pub fn received(&self) -> u64 {
        self.connection.received(wire::PACKET_IN) - self.received_before
    }

    /// Accounts for what came; gives the number of messages that the log had no room for.
    pub fn account(&self, outcome: &mut Outcome) -> u64 {
        for message in self.connection.take_log().iter() {
            if message.frame.get(1) != Some(&wire::PACKET_IN) {
                continue;
            }
            if let Ok((_, decoded)) = decode(message.frame) {
                if let Body::PacketIn(punt) = decoded.body {
                    let buffered = punt.buffer_id.is_some();
                    outcome.account_packet_ins([PacketIn { frame: &punt.data, at: message.stamp, buffered }]);
                }
            }
        }
        self.connection.log_dropped() - self.dropped_before
    }
}
