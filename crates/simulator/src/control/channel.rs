//! The control channel: messages in order, at a speed, with a delay, in both directions.

use std::collections::VecDeque;

use super::Delivered;
use crate::model::ControlModel;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// The channel between the controller and the switch.
pub struct Channel {
    up: Direction,
    down: Direction,
    delivered: Vec<Delivered>,
    /// Bytes that the switch's TCP takes before they are handled.
    room: u64,
    /// Bytes that the controller has written.
    written: u64,
    /// Of those, the bytes that have come to the switch.
    arrived: u64,
    /// Of those, the bytes that it has handled.
    handled: u64,
}

impl Channel {
    pub fn new(model: &ControlModel, seed: u64) -> Channel {
        Channel {
            up: Direction::new(model, seed, 0),
            down: Direction::new(model, seed, 1),
            delivered: Vec::new(),
            room: u64::from(model.window_bytes),
            written: 0,
            arrived: 0,
            handled: 0,
        }
    }

    /// The controller writes a message.
    pub fn write(&mut self, now: Picos, message: Vec<u8>) {
        self.written += message.len() as u64;
        self.up.send(now, message);
    }

    /// The next message that has come to the switch.
    pub fn arrive(&mut self, now: Picos) -> Option<Vec<u8>> {
        let (_, message) = self.up.arrive(now)?;
        self.arrived += message.len() as u64;
        Some(message)
    }

    /// The switch has handled a message.
    pub fn handled(&mut self, message: &[u8]) {
        self.handled += message.len() as u64;
    }

    /// The switch writes a message.
    pub fn send(&mut self, now: Picos, message: Vec<u8>) {
        self.down.send(now, message);
    }

    /// What has come to the controller's end waits to be taken there.
    pub fn deliver(&mut self, now: Picos) {
        while let Some((at, bytes)) = self.down.arrive(now) {
            self.delivered.push(Delivered { at, bytes });
        }
    }

    /// Messages that have come to the controller's end.
    pub fn take_delivered(&mut self) -> Vec<Delivered> {
        std::mem::take(&mut self.delivered)
    }

    /// Bytes that the switch's TCP takes now, before it stops taking more.
    pub fn window(&self) -> u64 {
        self.room.saturating_sub(self.written - self.handled)
    }

    /// Bytes that the controller has written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Bytes that have come to the switch.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// When the next message comes to either end.
    pub fn next(&self) -> Picos {
        self.up.next().min(self.down.next())
    }

    /// It ended: what was on its way is lost, and bytes are counted anew.
    pub fn clear(&mut self) {
        self.up.under_way.clear();
        self.down.under_way.clear();
        (self.written, self.arrived, self.handled) = (0, 0, 0);
    }
}

/// One direction of the channel.
struct Direction {
    /// Picoseconds for a byte.
    per_byte: f64,
    delay: Sampler,
    /// When the last byte so far has left.
    free: Picos,
    /// When the last message so far arrives.
    last: Picos,
    /// When each message arrives, in order.
    under_way: VecDeque<(Picos, Vec<u8>)>,
}

impl Direction {
    fn new(model: &ControlModel, seed: u64, number: u64) -> Direction {
        let per_byte = if model.rate_mbps > 0.0 { 8e6 / model.rate_mbps } else { 0.0 };
        let delay = Sampler::new(&model.delay, element(seed, "channel", number));
        Direction { per_byte, delay, free: Picos::ZERO, last: Picos::ZERO, under_way: VecDeque::new() }
    }

    fn send(&mut self, now: Picos, message: Vec<u8>) {
        let length = message.len();
        self.free = self.free.max(now) + Picos((self.per_byte * length as f64).round() as u64);
        self.last = self.last.max(self.free + self.delay.next());
        self.under_way.push_back((self.last, message));
    }

    fn next(&self) -> Picos {
        self.under_way.front().map_or(Picos::MAX, |&(at, _)| at)
    }

    /// The next message that has arrived by `now`, and when it did.
    fn arrive(&mut self, now: Picos) -> Option<(Picos, Vec<u8>)> {
        if self.next() > now {
            return None;
        }
        self.under_way.pop_front()
    }
}
