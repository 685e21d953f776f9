//! The control plane of the simulated switch: what OpenFlow messages make it do, and when.
//!
//! The data path asks it for the [`pipeline`](ControlPlane::pipeline) that frames are looked up in, hands it the frames for
//! the controller, and runs it when [`next_event`](ControlPlane::next_event) has come. Before it calls anything here, it
//! has brought the counters of the pipeline up to date.

use flowgauge_datapath::{Datapath, Limits, Pipeline, PortRule, Sink};
use flowgauge_openflow::{FlowRemoved, PacketInReason, TableStatus};
use flowgauge_packet::FlowKey;

use crate::counters::PortCounters;
use crate::model::Model;
use crate::picos::Picos;

/// What the control plane sees of the rest of the switch, and where it puts frames.
pub struct Surroundings<'a> {
    /// The time.
    pub now: Picos,
    /// Counters of the ports; the first is of port 1.
    pub ports: &'a [PortCounters],
    /// Frames to send: they go to the output queues.
    pub emissions: &'a mut Vec<Emission>,
}

/// A frame that the control plane sends out of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emission {
    /// OpenFlow number of the port.
    pub port: u32,
    /// Its queue.
    pub queue: Option<u32>,
    /// The frame without FCS.
    pub bytes: Vec<u8>,
}

/// A frame on its way to the controller, as the pipeline left it.
#[derive(Clone, Debug)]
pub struct Punted {
    /// The frame without FCS.
    pub bytes: Vec<u8>,
    /// As [`flowgauge_datapath::Punt`] has them.
    pub max_len: Option<u16>,
    /// Why.
    pub reason: PacketInReason,
    /// Whose entry, or lack of one, sent it.
    pub table_id: u8,
    /// The entry's cookie.
    pub cookie: u64,
    /// Its key: ingress port and metadata are told to the controller.
    pub key: FlowKey,
}

/// A message on the tester's end of the control channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// When it came.
    pub at: Picos,
    /// The message.
    pub bytes: Vec<u8>,
}

/// The control plane.
pub struct ControlPlane {
    pipeline: Pipeline,
    version: u64,
    delivered: Vec<Delivered>,
}

impl ControlPlane {
    /// Of a switch with that many ports, numbered from 1.
    pub fn new(model: &Model, ports: usize, _seed: u64) -> ControlPlane {
        let limits = Limits { tables: model.table.tables as usize, entries: model.table.entries as usize };
        let rules = (1..=ports as u32).map(PortRule::new).collect();
        ControlPlane { pipeline: Pipeline::new(limits, rules), version: 0, delivered: Vec::new() }
    }

    /// The tables that frames are looked up in now.
    pub fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// Another number after every change after which a frame may fare otherwise: decisions are remembered that long.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Changes the pipeline from outside, as tests do.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut Pipeline) -> R) -> R {
        self.version += 1;
        change(&mut self.pipeline)
    }

    /// When [`run`](ControlPlane::run) wants to be called next, if nothing happens before; [`Picos::MAX`]: never.
    pub fn next_event(&self) -> Picos {
        self.pipeline.next_deadline().map_or(Picos::MAX, Picos::from)
    }

    /// The time that [`next_event`](ControlPlane::next_event) gave has come.
    pub fn run(&mut self, around: &mut Surroundings<'_>) {
        while self.pipeline.expire(around.now.nanos(), 64, &mut Removals { version: &mut self.version }) {}
    }

    /// The tester wrote a message into the channel.
    pub fn message_in(&mut self, _bytes: &[u8], _around: &mut Surroundings<'_>) {}

    /// Whether there is a place for one more frame to the controller.
    pub fn admits_punt(&mut self, _now: Picos) -> bool {
        true
    }

    /// A frame goes to the controller, for which there was a place.
    pub fn punt(&mut self, _punted: Punted, _around: &mut Surroundings<'_>) {}

    /// Messages that have come to the tester's end of the channel.
    pub fn take_delivered(&mut self) -> Vec<Delivered> {
        std::mem::take(&mut self.delivered)
    }
}

/// Notes that entries are gone.
struct Removals<'a> {
    version: &'a mut u64,
}

impl Sink for Removals<'_> {
    fn output(&mut self, _port: u32, _queue: Option<u32>, _bytes: &[u8]) {}
    fn punt(&mut self, _punt: &flowgauge_datapath::Punt<'_>) {}
    fn flow_removed(&mut self, _removed: FlowRemoved) {
        *self.version += 1;
    }
    fn table_status(&mut self, _status: TableStatus) {}
}
