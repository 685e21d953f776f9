//! The way of frames to or from the controller: a queue, a server, a delay behind it.

use std::collections::VecDeque;

use crate::model::PathModel;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// A queue with a server, and what has left it and is on its way.
pub struct Path<T> {
    places: usize,
    service: Sampler,
    per_byte: f64,
    latency: Sampler,
    /// When each of those in it leaves the server, in order.
    in_service: VecDeque<Picos>,
    /// When each comes out behind the delay, in order.
    under_way: VecDeque<(Picos, T)>,
}

impl<T> Path<T> {
    pub fn new(model: &PathModel, seed: u64, tag: &str) -> Path<T> {
        Path {
            places: model.messages.map_or(usize::MAX, |n| n as usize),
            service: Sampler::new(&model.service, element(seed, tag, 0)),
            per_byte: model.per_byte_ns * 1e3,
            latency: Sampler::new(&model.latency, element(seed, tag, 1)),
            in_service: VecDeque::new(),
            under_way: VecDeque::new(),
        }
    }

    /// Whether there is room for one more at `now`.
    pub fn has_room(&mut self, now: Picos) -> bool {
        while self.in_service.front().is_some_and(|&done| done <= now) {
            self.in_service.pop_front();
        }
        self.in_service.len() <= self.places
    }

    /// When room comes about, if there is none.
    pub fn room_at(&self) -> Picos {
        self.in_service.front().copied().unwrap_or(Picos::ZERO)
    }

    /// One more comes, for which there is room, with a frame of that length.
    pub fn push(&mut self, now: Picos, bytes: usize, item: T) {
        let free = self.in_service.back().map_or(now, |&done| done.max(now));
        let done = free + self.service.next() + Picos((self.per_byte * bytes as f64).round() as u64);
        self.in_service.push_back(done);
        let last = self.under_way.back().map_or(Picos::ZERO, |&(at, _)| at);
        self.under_way.push_back((last.max(done + self.latency.next()), item));
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
        self.under_way.clear();
    }
}
