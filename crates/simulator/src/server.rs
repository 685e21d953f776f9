//! The servers: each takes one frame (or batch) after the other out of its queue.

use std::collections::VecDeque;

use crate::frame::{Frame, Kind};
use crate::model::{ForwardingModel, Model, QueuesModel, Spread};
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// What a server does when a frame comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It was idle: it may begin.
    Begin,
    /// It was idle and waits for more until then.
    Fill(Picos),
    /// The frame waits.
    Waits,
    /// There is no waiting place.
    Full,
}

/// A server and its queue.
#[derive(Debug)]
pub struct Server {
    queue: VecDeque<Frame>,
    /// Frames that it works on.
    in_service: Vec<Frame>,
    is_busy: bool,
    /// Whether it waits for a batch to fill.
    is_filling: bool,
    capacity: usize,
    batch: usize,
    patience: Picos,
    per_batch: Picos,
    cost: Cost,
}

impl Server {
    /// One of that model's.
    pub fn new(model: &Model, number: u64, seed: u64) -> Server {
        let forwarding = &model.forwarding;
        Server {
            queue: VecDeque::new(),
            in_service: Vec::new(),
            is_busy: false,
            is_filling: false,
            capacity: model.queues.service_frames.map_or(usize::MAX, |frames| frames as usize),
            batch: forwarding.batch_frames as usize,
            patience: Picos::from_ns_f64(forwarding.batch_wait_ns),
            per_batch: Picos::from_ns_f64(forwarding.batch_ns),
            cost: Cost::new(forwarding, element(seed, "service", number)),
        }
    }

    /// A frame comes.
    #[inline]
    pub fn admit(&mut self, frame: Frame, now: Picos) -> Admission {
        if self.is_busy {
            if self.queue.len() >= self.capacity {
                return Admission::Full;
            }
            self.queue.push_back(frame);
            return Admission::Waits;
        }
        if self.batch == 1 || self.patience == Picos::ZERO {
            // Nobody waits before an idle server: the frame needs no waiting place.
            self.queue.push_back(frame);
            return Admission::Begin;
        }
        self.admit_to_batch(frame, now)
    }

    fn admit_to_batch(&mut self, frame: Frame, now: Picos) -> Admission {
        // A batch that fills is not in service: its frames take waiting places.
        if self.queue.len() >= self.capacity.max(1) {
            return Admission::Full;
        }
        self.queue.push_back(frame);
        if self.queue.len() >= self.batch.min(self.capacity.max(1)) {
            self.is_filling = false;
            return Admission::Begin;
        }
        if self.is_filling {
            return Admission::Waits;
        }
        self.is_filling = true;
        Admission::Fill(now + self.patience)
    }

    /// Takes what is next into service; returns how long that takes. `tables`: how many tables a frame is looked up in.
    #[inline]
    pub fn begin(&mut self, tables: impl Fn(&Frame) -> u32) -> Picos {
        self.is_busy = true;
        self.is_filling = false;
        let mut time = self.per_batch;
        for _ in 0..self.batch {
            let Some(frame) = self.queue.pop_front() else { break };
            time += self.cost.of(&frame, &tables);
            self.in_service.push(frame);
        }
        time
    }

    /// The service is over; gives the frames, to be given back as [`Server::done`] for their room.
    #[inline]
    pub fn end(&mut self) -> Vec<Frame> {
        self.is_busy = false;
        std::mem::take(&mut self.in_service)
    }

    /// Takes the room of frames back. Whether others wait.
    #[inline]
    pub fn done(&mut self, mut room: Vec<Frame>) -> bool {
        room.clear();
        self.in_service = room;
        !self.queue.is_empty()
    }

    /// Whether it works on something: the timer that came up is the end of that, not of a batch's filling.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Frames that wait or are in service.
    pub fn len(&self) -> usize {
        self.queue.len() + self.in_service.len()
    }
}

/// How long a server works on a frame.
#[derive(Debug)]
struct Cost {
    per_frame: Sampler,
    per_byte: f64,
    per_word: f64,
    word: u64,
    per_line: f64,
    line: u64,
    per_table: f64,
    least: Picos,
    /// The last length, and what it costs.
    known: (u32, Picos),
}

impl Cost {
    fn new(model: &ForwardingModel, seed: u64) -> Cost {
        let least =
            if model.pipeline_pps > 0.0 { Picos::from_ns_f64(1e9 / model.pipeline_pps) } else { Picos::ZERO };
        Cost {
            per_frame: Sampler::new(&model.service, seed),
            per_byte: model.per_byte_ns,
            per_word: model.per_word_ns,
            word: model.word_bytes.into(),
            per_line: model.per_cache_line_ns,
            line: model.cache_line_bytes.into(),
            per_table: model.per_table_ns,
            least,
            known: (u32::MAX, Picos::ZERO),
        }
    }

    #[inline]
    fn of(&mut self, frame: &Frame, tables: impl Fn(&Frame) -> u32) -> Picos {
        if self.known.0 != frame.len {
            self.known = (frame.len, self.of_length(frame.len));
        }
        let mut time = self.per_frame.next() + self.known.1;
        if self.per_table > 0.0 {
            time += Picos::from_ns_f64(self.per_table * f64::from(tables(frame).saturating_sub(1)));
        }
        time.max(self.least)
    }

    fn of_length(&self, len: u32) -> Picos {
        let size = u64::from(len) + 4;
        let (words, lines) = (size.div_ceil(self.word), size.div_ceil(self.line));
        Picos::from_ns_f64(
            self.per_byte * size as f64 + self.per_word * words as f64 + self.per_line * lines as f64,
        )
    }
}

/// Which server a frame goes to.
#[derive(Debug)]
pub struct Spreader {
    servers: u32,
    by: Spread,
    turn: u32,
}

impl Spreader {
    /// Of that model.
    pub fn new(model: &QueuesModel) -> Spreader {
        Spreader { servers: model.parallel, by: model.spread, turn: 0 }
    }

    /// The server of a frame.
    #[inline]
    pub fn server(&mut self, frame: &Frame) -> usize {
        if self.servers == 1 {
            return 0;
        }
        let number = match self.by {
            Spread::Flow => match frame.kind {
                Kind::Flow { stream, flow } => (hash(u64::from(stream) << 32 | u64::from(flow)) >> 32) as u32,
                Kind::Raw(_) => frame.in_port.into(),
            },
            Spread::Port => u32::from(frame.in_port) - 1,
            Spread::Frame => {
                self.turn = self.turn.wrapping_add(1) % self.servers;
                self.turn
            }
        };
        (number % self.servers) as usize
    }
}

fn hash(number: u64) -> u64 {
    flowgauge_measure::Random::nth(number, 0)
}
