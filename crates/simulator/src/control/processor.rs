//! The switch's processor: it handles one message at a time, and each takes its time.

use std::collections::VecDeque;

use flowgauge_channel::wire::{self, Header};
use flowgauge_datapath::Pipeline;

use crate::model::Model;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// A processor, and the messages that wait for it.
pub struct Processor {
    message: Sampler,
    echo: Sampler,
    flow_mod: Sampler,
    /// Time for each flow entry that is asked for, in nanoseconds.
    per_entry_ns: f64,
    waiting: VecDeque<Vec<u8>>,
    /// The message that is being handled, and until when.
    busy: Option<(Picos, Vec<u8>)>,
}

impl Processor {
    pub fn new(model: &Model, seed: u64) -> Processor {
        let sampler = |times, tag| Sampler::new(times, element(seed, tag, 0));
        Processor {
            message: sampler(&model.control.message, "message"),
            echo: sampler(&model.control.echo, "echo"),
            flow_mod: sampler(&model.control.flow_mod, "flow mod"),
            per_entry_ns: model.statistics.per_entry_ns,
            waiting: VecDeque::new(),
            busy: None,
        }
    }

    pub fn push(&mut self, message: Vec<u8>) {
        self.waiting.push_back(message);
    }

    /// Takes the next message, if it is idle and one waits; whether it did.
    pub fn start(&mut self, now: Picos, pipeline: &Pipeline) -> bool {
        if self.busy.is_some() {
            return false;
        }
        let Some(message) = self.waiting.pop_front() else { return false };
        self.busy = Some((now + self.time_of(&message, pipeline), message));
        true
    }

    /// How long it takes for a message.
    fn time_of(&mut self, message: &[u8], pipeline: &Pipeline) -> Picos {
        let Some(header) = Header::parse(message) else { return Picos::ZERO };
        let time = self.message.next();
        match header.message_type {
            wire::ECHO_REQUEST => time + self.echo.next(),
            wire::FLOW_MOD => time + self.flow_mod.next(),
            kind if kind == wire::multipart_reply(header.version) - 1 => {
                let held: usize = pipeline.tables().iter().map(|table| table.len()).sum();
                let asks_for_entries = matches!(message.get(8..10), Some([0, 1 | 2 | 17]));
                let entries = if asks_for_entries { held } else { 0 };
                time + Picos::from_ns_f64(self.per_entry_ns * entries as f64)
            }
            _ => time,
        }
    }

    /// The message whose time is over by `now`.
    pub fn finish(&mut self, now: Picos) -> Option<Vec<u8>> {
        if self.next() > now {
            return None;
        }
        self.busy.take().map(|(_, message)| message)
    }

    /// When it is done with its message.
    pub fn next(&self) -> Picos {
        self.busy.as_ref().map_or(Picos::MAX, |&(at, _)| at)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.busy = None;
    }
}
