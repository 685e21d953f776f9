//! The software path: one server with its own queue, behind a rate limit.

use std::collections::VecDeque;

use flowgauge_datapath::TokenBucket;

use crate::control::Punted;
use crate::flows::Out;
use crate::frame::Frame;
use crate::ledger::Cause;
use crate::model::SoftwareModel;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// A frame whose fate is decided, and what that is.
#[derive(Debug)]
pub struct Errand {
    /// Copies for ports, by OpenFlow number.
    pub outs: Vec<(u32, Frame)>,
    /// Copies for the controller.
    pub punts: Vec<Punted>,
}

impl Errand {
    /// How many copies there are.
    pub fn copies(&self) -> usize {
        self.outs.len() + self.punts.len()
    }
}

/// A frame as it leaves by `out`.
pub fn leaving(frame: &Frame, out: &Out) -> Frame {
    Frame { len: out.len, is_probed: out.is_probed, queue: out.queue, ..*frame }
}

/// The software path.
#[derive(Debug)]
pub struct Software {
    limit: Option<TokenBucket>,
    queue: VecDeque<Errand>,
    in_service: Option<Errand>,
    capacity: usize,
    service: Sampler,
    latency: Sampler,
    /// Behind the server: in order.
    line: VecDeque<(Picos, Errand)>,
    ends: Picos,
}

impl Software {
    /// Of that model.
    pub fn new(model: &SoftwareModel, seed: u64) -> Software {
        let rate = model.limit_pps.round() as u64;
        let burst = u64::from(model.limit_burst.max(1));
        Software {
            limit: (rate > 0).then(|| TokenBucket::new(rate, burst, Picos::ZERO.nanos())),
            queue: VecDeque::new(),
            in_service: None,
            capacity: model.frames.map_or(usize::MAX, |frames| frames as usize),
            service: Sampler::new(&model.service, element(seed, "software", 0)),
            latency: Sampler::new(&model.latency, element(seed, "software-latency", 0)),
            line: VecDeque::new(),
            ends: Picos::MAX,
        }
    }

    /// A frame comes.
    ///
    /// # Errors
    /// Why it can't be taken, and its errand.
    pub fn admit(&mut self, errand: Errand, now: Picos) -> Result<(), (Cause, Errand)> {
        if self.limit.as_mut().is_some_and(|limit| !limit.take(1, now.nanos())) {
            return Err((Cause::SoftwareLimit, errand));
        }
        if self.in_service.is_none() {
            self.begin(errand, now);
        } else if self.queue.len() < self.capacity {
            self.queue.push_back(errand);
        } else {
            return Err((Cause::SoftwareQueue, errand));
        }
        Ok(())
    }

    fn begin(&mut self, errand: Errand, now: Picos) {
        self.in_service = Some(errand);
        self.ends = now + self.service.next();
    }

    /// When something happens here next.
    pub fn next_event(&self) -> Picos {
        self.line.front().map_or(Picos::MAX, |(at, _)| *at).min(self.ends)
    }

    /// What happens now: at most one errand leaves.
    pub fn run(&mut self, now: Picos) -> Option<Errand> {
        if self.line.front().is_some_and(|(at, _)| *at <= now) {
            return self.line.pop_front().map(|(_, errand)| errand);
        }
        if self.ends <= now {
            self.ends = Picos::MAX;
            if let Some(errand) = self.in_service.take() {
                let last = self.line.back().map_or(Picos::ZERO, |(at, _)| *at);
                self.line.push_back(((now + self.latency.next()).max(last), errand));
            }
            if let Some(next) = self.queue.pop_front() {
                self.begin(next, now);
            }
        }
        None
    }

    /// Frames that wait, are in service or on their way out, each copy counted.
    pub fn copies(&self) -> usize {
        let line = self.line.iter().map(|(_, errand)| errand);
        self.queue.iter().chain(&self.in_service).chain(line).map(Errand::copies).sum()
    }
}
