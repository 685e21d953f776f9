//! A connection to a controller: what it is to the switch, what it wants to hear, and what waits to be sent.

use crate::bundles::Bundles;
use crate::hearing;
use crate::monitors::Monitors;
use flowgauge_channel::Connection;
use flowgauge_datapath::{Punt, removed_reason_in};
use flowgauge_openflow::{
    Action, AsyncConfig, AsyncMasks, Body, ControllerRole, FlowRemoved, Message, MultipartReply,
    PacketInReason, ReplyBody, Version, encode,
};

/// Bytes that may wait for a controller before PACKET_INs to it are dropped: a controller that doesn't read
/// must not make us hold what it will never get.
const BACKLOG: u64 = 4 << 20;
/// Bytes of a packet that a controller gets where no action says how many (1.3.5, 7.3.2).
const MISS_SEND_LEN: u16 = 128;

/// The sending side of a connection to a controller, and what the switch knows of it.
pub struct Controller {
    /// What carries messages; without one, whoever drives the switch takes them out of `out`.
    connection: Option<Connection>,
    pub version: Version,
    /// Its address, for people.
    pub name: String,
    /// Messages that leave at the end of the turn.
    pub out: Vec<u8>,
    pub miss_send_len: u16,
    pub role: ControllerRole,
    pub asked_for: AsyncConfig,
    pub short_id: u16,
    pub bundles: Bundles,
    pub monitors: Monitors,
    next_xid: u32,
}

impl Controller {
    pub fn new(connection: Option<Connection>, version: Version, name: String) -> Controller {
        Controller {
            connection,
            version,
            name,
            out: Vec::with_capacity(64 << 10),
            miss_send_len: MISS_SEND_LEN,
            role: ControllerRole::Equal,
            asked_for: hearing::defaults(version),
            short_id: 0,
            bundles: Bundles::default(),
            monitors: Monitors::default(),
            next_xid: 0,
        }
    }

    /// Queues a message. Flow entries that the version can't say (another version's controller made them) are left out.
    /// Whether there was a way to say it.
    pub fn send(&mut self, xid: u32, body: Body) -> bool {
        let message = Message { xid, body };
        if encode(&message, self.version, &mut self.out).is_ok() {
            return true;
        }
        let Body::MultipartReply(reply) = message.body else { return false };
        let body = Body::MultipartReply(self.expressible(reply));
        encode(&Message { xid, body }, self.version, &mut self.out).is_ok()
    }

    /// The reply without the flow entries that the version has no words for.
    fn expressible(&self, reply: MultipartReply) -> MultipartReply {
        let ReplyBody::Flow(entries) = reply.body else { return reply };
        let mut scratch = Vec::new();
        let mut can_say = |entry: &_| {
            scratch.clear();
            let body = ReplyBody::Flow(vec![Clone::clone(entry)]);
            let alone = Message { xid: 0, body: Body::MultipartReply(MultipartReply { more: false, body }) };
            encode(&alone, self.version, &mut scratch).is_ok()
        };
        let entries = entries.into_iter().filter(|entry| can_say(entry)).collect();
        MultipartReply { body: ReplyBody::Flow(entries), ..reply }
    }

    /// Queues a message that nobody asked for.
    pub fn tell(&mut self, body: Body) {
        self.next_xid = self.next_xid.wrapping_add(1);
        self.send(self.next_xid, body);
    }

    /// Whether it has read little of what it was sent.
    pub fn is_behind(&self) -> bool {
        let queued = self.connection.as_ref().map_or(0, Connection::queued_bytes);
        queued + self.out.len() as u64 > BACKLOG
    }

    /// Hands the messages of this turn to the connection.
    pub fn flush(&mut self) {
        if let (Some(connection), false) = (&self.connection, self.out.is_empty()) {
            // A connection that has ended is noticed and dropped by the loop.
            let _ = connection.send_raw(&self.out);
            self.out.clear();
        }
    }

    /// Whether it wants asynchronous messages of this reason, out of the bits that `reasons` picks.
    pub fn wants(&self, reasons: impl Fn(&AsyncMasks) -> Option<u32>, reason: u8) -> bool {
        let masks = match self.role {
            ControllerRole::Secondary => &self.asked_for.secondary,
            ControllerRole::NoChange
            | ControllerRole::Equal
            | ControllerRole::Primary
            | ControllerRole::Unknown(_) => &self.asked_for.primary,
        };
        reasons(masks).and_then(|bits| bits.checked_shr(reason.into())).unwrap_or(0) & 1 == 1
    }

    /// How many bytes of a packet it wants, and for which reason it is told to get them; `None` for none.
    pub fn wants_packet(&self, punt: &Punt<'_>) -> Option<(u16, PacketInReason)> {
        // Without an entry there was a miss that only 1.0 sends to its controller.
        let is_plain_miss = punt.reason == PacketInReason::NoMatch && punt.cookie == u64::MAX;
        if is_plain_miss && self.version != Version::V1_0 {
            return None;
        }
        let reason = hearing::packet_in_reason(punt.reason, self.version);
        if !self.wants(|m| m.packet_in, reason.code()) {
            return None;
        }
        let bytes = punt.max_len.unwrap_or(self.miss_send_len);
        Some((bytes, hearing::sayable(reason, self.version)))
    }

    /// Tells it that an entry is gone, if it wants to know.
    pub fn tell_removed(&mut self, removed: &FlowRemoved) {
        let reason = removed_reason_in(removed.reason, self.version);
        if self.wants(|m| m.flow_removed, reason.code()) {
            self.tell(Body::FlowRemoved(FlowRemoved { reason, ..removed.clone() }));
        }
    }
}

/// Whether so many bytes mean the whole packet, and that it isn't kept.
pub fn is_whole(bytes: u16) -> bool {
    bytes == Action::NO_BUFFER
}
