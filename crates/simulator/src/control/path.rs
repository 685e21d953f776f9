//! The way of frames to or from the controller: a queue, a server, a delay behind it.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::model::PathModel;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// A queue with a server, and what has left it and is on its way.
pub struct Path<T> {
    places: usize,
    room: Room,
    buffers: Buffers,
    service: Sampler,
    per_byte: f64,
    latency: Sampler,
    latency_per_byte: f64,
    overlap: bool,
    /// When each of those in it leaves the server, in order.
    in_service: VecDeque<Picos>,
    /// When services begin that are told of, and how long they take alone; in order.
    beginnings: VecDeque<(Picos, Picos)>,
    /// When each comes out behind the delay, in order.
    under_way: VecDeque<(Picos, T)>,
}

/// Room in bytes for those that wait.
struct Room {
    bytes: u64,
    overhead: u64,
    taken: u64,
    /// When each that waits begins its service, and its bytes; in order.
    waiting: VecDeque<(Picos, u64)>,
}

impl Room {
    fn is_free(&mut self, now: Picos) -> bool {
        while let Some(&(begins, bytes)) = self.waiting.front() {
            if begins > now {
                break;
            }
            self.waiting.pop_front();
            self.taken -= bytes;
        }
        self.taken < self.bytes
    }

    fn take(&mut self, bytes: usize, begins: Picos) {
        if self.bytes < u64::MAX {
            let bytes = bytes as u64 + self.overhead;
            self.taken += bytes;
            self.waiting.push_back((begins, bytes));
        }
    }
}

/// Buffers that messages hold for a time.
struct Buffers {
    count: usize,
    hold: Picos,
    /// When each that is taken is free again, in order.
    taken: VecDeque<Picos>,
}

impl Buffers {
    fn is_free(&mut self, now: Picos) -> bool {
        while self.taken.front().is_some_and(|&until| until <= now) {
            self.taken.pop_front();
        }
        self.taken.len() < self.count
    }

    fn take(&mut self, now: Picos) {
        if self.count < usize::MAX {
            self.taken.push_back(now + self.hold);
        }
    }
}

impl<T> Path<T> {
    pub fn new(model: &PathModel, seed: u64, tag: &str) -> Path<T> {
        Path {
            places: model.messages.map_or(usize::MAX, |n| n as usize),
            room: Room {
                bytes: model.bytes.unwrap_or(u64::MAX),
                overhead: u64::from(model.bytes_overhead),
                taken: 0,
                waiting: VecDeque::new(),
            },
            buffers: Buffers {
                count: model.buffers.map_or(usize::MAX, |n| n as usize),
                hold: Picos::from_ns_f64(model.buffer_hold_ns),
                taken: VecDeque::new(),
            },
            service: Sampler::new(&model.service, element(seed, tag, 0)),
            per_byte: model.per_byte_ns * 1e3,
            latency: Sampler::new(&model.latency, element(seed, tag, 1)),
            latency_per_byte: model.latency_per_byte_ns * 1e3,
            overlap: model.overlap,
            in_service: VecDeque::new(),
            beginnings: VecDeque::new(),
            under_way: VecDeque::new(),
        }
    }

    /// Whether there is room for one more at `now`.
    pub fn has_room(&mut self, now: Picos) -> bool {
        while self.in_service.front().is_some_and(|&ends| ends <= now) {
            self.in_service.pop_front();
        }
        self.in_service.len() <= self.places && self.room.is_free(now) && self.buffers.is_free(now)
    }

    /// When room may come about, if there is none: the latest of what is lacking.
    pub fn room_at(&self) -> Picos {
        let place = self.in_service.front().filter(|_| self.in_service.len() > self.places).copied();
        let room =
            self.room.waiting.front().filter(|_| self.room.taken >= self.room.bytes).map(|&(at, _)| at);
        let buffer =
            self.buffers.taken.front().filter(|_| self.buffers.taken.len() >= self.buffers.count).copied();
        [place, room, buffer].into_iter().flatten().max().unwrap_or(Picos::ZERO)
    }

    /// One more comes, for which there is room, with a message of that length. `share`: the part of a processor that it gets at most,
    /// if it shares one; then [`begun`](Path::begun) tells of its service.
    pub fn push(&mut self, now: Picos, bytes: usize, item: T, share: Option<f64>) {
        let begins = self.in_service.back().map_or(now, |&ends| ends.max(now));
        let service = self.service.next() + per_byte(self.per_byte, bytes);
        let latency = self.latency.next() + per_byte(self.latency_per_byte, bytes);
        let occupied = share.map_or(service, |share| Picos((service.0 as f64 / share).round() as u64));
        self.in_service.push_back(begins + occupied);
        self.room.take(bytes, begins);
        self.buffers.take(now);
        if share.is_some() {
            self.beginnings.push_back((begins, service));
        }
        let out = if self.overlap { begins + latency } else { begins + service + latency };
        let last = self.under_way.back().map_or(Picos::ZERO, |&(at, _)| at);
        self.under_way.push_back((last.max(out), item));
    }

    /// When the next service begins that [`begun`](Path::begun) tells of.
    pub fn begins(&self) -> Picos {
        self.beginnings.front().map_or(Picos::MAX, |&(begins, _)| begins)
    }

    /// The length of a service that has begun by `now`.
    pub fn begun(&mut self, now: Picos) -> Option<Picos> {
        if self.begins() > now {
            return None;
        }
        self.beginnings.pop_front().map(|(_, service)| service)
    }

    /// When the next one comes out.
    pub fn next(&self) -> Picos {
        self.under_way.front().map_or(Picos::MAX, |&(at, _)| at)
    }

    /// The one that comes out at `now`.
    pub fn pop(&mut self, now: Picos) -> Option<T> {
        if self.next() > now {
            return None;
        }
        self.under_way.pop_front().map(|(_, item)| item)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.in_service.clear();
        self.beginnings.clear();
        self.room.waiting.clear();
        self.room.taken = 0;
        self.under_way.clear();
        self.buffers.taken.clear();
    }
}

fn per_byte(picos: f64, bytes: usize) -> Picos {
    Picos((picos * bytes as f64).round() as u64)
}
