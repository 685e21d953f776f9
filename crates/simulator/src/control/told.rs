//! Counters of flow entries as the controller is told them: as they were when last read from the hardware, and not all of them.

use std::collections::HashMap;

use flowgauge_datapath::{Cursor, Pipeline};
use flowgauge_openflow::{
    Body, FlowStatsRequest, Match, Message, MultipartReply, MultipartRequest, ReplyBody, RequestBody,
    Version, decode, encode,
};

use crate::model::{Resolution, StatisticsModel};
use crate::picos::Picos;

type Key = (u8, u16, Match);

/// What the controller is told of counters.
pub struct Told {
    resolution: Resolution,
    period: Picos,
    /// When the counters are read next.
    next: Picos,
    /// Packets and bytes when they were read last.
    read: HashMap<Key, (u64, u64)>,
    /// The counters that the request which is being handled adds up.
    sum: Option<(u64, u64)>,
}

impl Told {
    pub fn new(model: &StatisticsModel) -> Told {
        let period = Picos::from_ns_f64(model.refresh_ms * 1e6);
        let next = if period == Picos::ZERO { Picos::MAX } else { period };
        Told { resolution: model.resolution, period, next, read: HashMap::new(), sum: None }
    }

    /// Whether counters are told as they are.
    fn is_plain(&self) -> bool {
        self.period == Picos::ZERO && self.resolution == Resolution::Both
    }

    /// When counters are read from the hardware next.
    pub fn next(&self) -> Picos {
        self.next
    }

    /// Reads them, if it is time.
    pub fn read(&mut self, now: Picos, pipeline: &Pipeline) {
        if now < self.next {
            return;
        }
        self.next += self.period;
        self.read.clear();
        let Ok(query) = pipeline.flow_query(&FlowStatsRequest::default(), Version::V1_3) else { return };
        pipeline.walk(&query, Cursor::default(), u32::MAX, |visited| {
            let key = (visited.table_id, visited.priority, Match::from(visited.rule));
            self.read.insert(key, (visited.entry.packets, visited.entry.bytes));
            true
        });
    }

    /// A request is about to be handled.
    pub fn asked(&mut self, message: &[u8], pipeline: &Pipeline) {
        self.sum = None;
        if self.period == Picos::ZERO {
            return;
        }
        let Ok((version, Message { body, .. })) = decode(message) else { return };
        let Body::MultipartRequest(MultipartRequest { body: RequestBody::Aggregate(wanted), .. }) = body
        else {
            return;
        };
        let Ok(query) = pipeline.flow_query(&wanted, version) else { return };
        let mut sum = (0, 0);
        pipeline.walk(&query, Cursor::default(), u32::MAX, |visited| {
            let key = (visited.table_id, visited.priority, Match::from(visited.rule));
            let (packets, bytes) = self.read.get(&key).copied().unwrap_or_default();
            sum = (sum.0 + packets, sum.1 + bytes);
            true
        });
        self.sum = Some(sum);
    }

    /// A message as the controller gets it.
    pub fn tell(&self, message: Vec<u8>) -> Vec<u8> {
        if self.is_plain() {
            return message;
        }
        let Ok((version, mut decoded)) = decode(&message) else { return message };
        let Body::MultipartReply(MultipartReply { body, .. }) = &mut decoded.body else { return message };
        match body {
            ReplyBody::Flow(entries) => {
                for entry in entries {
                    let key = (entry.table_id, entry.priority, entry.match_.clone());
                    let counts = (entry.packet_count, entry.byte_count);
                    let read = if self.period == Picos::ZERO {
                        counts
                    } else {
                        self.read.get(&key).copied().unwrap_or_default()
                    };
                    (entry.packet_count, entry.byte_count) = self.resolved(read);
                }
            }
            ReplyBody::Aggregate(sum) => {
                let counts = self.sum.unwrap_or((sum.packet_count, sum.byte_count));
                (sum.packet_count, sum.byte_count) = self.resolved(counts);
            }
            _ => return message,
        }
        let mut bytes = Vec::new();
        if encode(&decoded, version, &mut bytes).is_ok() { bytes } else { message }
    }

    fn resolved(&self, (packets, bytes): (u64, u64)) -> (u64, u64) {
        match self.resolution {
            Resolution::Both => (packets, bytes),
            Resolution::Bytes => (0, bytes),
            Resolution::Packets => (packets, 0),
        }
    }
}
