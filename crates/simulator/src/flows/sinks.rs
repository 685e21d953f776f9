//! Takers of what the pipeline emits.

use flowgauge_datapath::{Punt, Sink};
use flowgauge_measure::Probe;
use flowgauge_openflow::{FlowRemoved, TableStatus};

use super::{Decision, Out};
use crate::control::Punted;
use crate::frame::NO_QUEUE;

/// Where a probe that `is_it` stands now; it was at `before`. All headers are of even length.
pub fn find_probe(bytes: &[u8], before: usize, is_it: impl Fn(&Probe) -> bool) -> Option<usize> {
    let is_there =
        |&at: &usize| bytes.get(at..).is_some_and(|area| Probe::read(area).is_ok_and(|p| is_it(&p)));
    let last = bytes.len().checked_sub(Probe::LEN)?;
    std::iter::once(before).chain((14..=last).step_by(2)).find(is_there)
}

/// Takes what the pipeline does with a stream's frame.
pub struct Collected {
    pub decision: Decision,
    pub probe: Option<(usize, Probe)>,
}

impl Sink for Collected {
    fn output(&mut self, port: u32, queue: Option<u32>, bytes: &[u8]) {
        let is_probed =
            self.probe.as_ref().is_some_and(|(at, probe)| find_probe(bytes, *at, |p| p == probe).is_some());
        self.decision.outs.push(Out {
            port,
            queue: queue.unwrap_or(NO_QUEUE),
            len: bytes.len() as u32,
            is_probed,
        });
    }

    fn punt(&mut self, punt: &Punt<'_>) {
        self.decision.punts.push(owned(punt));
    }

    fn flow_removed(&mut self, _removed: FlowRemoved) {}
    fn table_status(&mut self, _status: TableStatus) {}
}

fn owned(punt: &Punt<'_>) -> Punted {
    let Punt { bytes, max_len, reason, table_id, cookie, key, .. } = *punt;
    Punted { bytes: bytes.to_vec(), max_len, reason, table_id, cookie, key: *key }
}

/// What becomes of a frame with bytes of its own.
#[derive(Debug, Default)]
pub struct RawDecision {
    /// Ports, queues, bytes.
    pub outs: Vec<(u32, Option<u32>, Vec<u8>)>,
    /// What goes to the controller.
    pub punts: Vec<Punted>,
    /// Whether the software path deals with it.
    pub is_software: bool,
}

#[derive(Default)]
pub struct RawSink {
    pub outs: Vec<(u32, Option<u32>, Vec<u8>)>,
    pub punts: Vec<Punted>,
}

impl Sink for RawSink {
    fn output(&mut self, port: u32, queue: Option<u32>, bytes: &[u8]) {
        self.outs.push((port, queue, bytes.to_vec()));
    }

    fn punt(&mut self, punt: &Punt<'_>) {
        self.punts.push(owned(punt));
    }

    fn flow_removed(&mut self, _removed: FlowRemoved) {}
    fn table_status(&mut self, _status: TableStatus) {}
}
