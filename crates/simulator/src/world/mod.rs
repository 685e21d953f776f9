//! All elements and what passes between them.
//!
//! ```text
//!  Tx ─► CableIn ─► Server ─► Delay ─► Output ─► CableOut ─► account
//!                      │                 ▲
//!                      ├─► Software ─────┤
//!                      └─► Control ──────┘
//! ```
//!
//! Where an element takes no time, the frame goes on at once, without an event.

mod errands;
mod switch;
mod tester;

use flowgauge_traffic::Arrival;

use crate::control::ControlPlane;
use crate::counters::PortCounters;
use crate::elements::{Element, Elements};
use crate::flows::Flows;
use crate::frame::{Frame, Kind, Store};
use crate::ledger::{Cause, Ledger};
use crate::line::{Cable, Line};
use crate::model::{Mode, Model};
use crate::output::{Output, setups};
use crate::picos::Picos;
use crate::sampling::{Chance, Sampler, element};
use crate::server::{Server, Spreader};
use crate::software::Software;
use crate::tester::{Transmission, TxPort};
use crate::timers::Timers;

/// Frames that an exchange collects, with their bytes.
pub type Collected = Vec<Arrival>;

/// Everything.
pub struct World {
    pub now: Picos,
    pub timers: Timers,
    pub elements: Elements,
    by_number: Vec<Element>,
    cable: Cable,
    /// How much of a frame a cut-through switch wants to see.
    header: Option<u32>,
    pub tx: Vec<TxPort>,
    cables_in: Vec<Line>,
    spreader: Spreader,
    servers: Vec<Server>,
    software: Software,
    delays: Vec<(Sampler, Line)>,
    /// Of the pipeline's delay, for each byte of a frame with its FCS, in picoseconds.
    delay_per_byte: f64,
    outputs: Vec<Output>,
    cables_out: Vec<Line>,
    /// By port: towards the switch, and away from it.
    cable_loss: Vec<[Chance; 2]>,
    loss: Chance,
    pub flows: Flows,
    pub store: Store,
    pub control: ControlPlane,
    pub transmission: Option<Transmission>,
    pub collected: Option<Collected>,
    /// Frames that came while nobody received: the next exchange gets them.
    pub unfetched: Collected,
    counters: Vec<PortCounters>,
    ledger: Ledger,
    /// Frames that elements have handled.
    pub handled: u64,
}

impl World {
    pub fn new(model: &Model, ports: usize, seed: u64) -> World {
        let servers = model.queues.parallel as usize;
        let elements = Elements::new(ports, servers);
        let delay = |port| Sampler::new(&model.forwarding.latency, element(seed, "latency", port));
        let loss = |port, way| Chance::new(model.link.loss, element(seed, way, port));
        let mut control = ControlPlane::new(model, ports, seed);
        let setups = setups(&model.queues);
        (1..=ports as u32).for_each(|port| control.pipeline().set_queues(port, setups.clone()));
        World {
            now: Picos::ZERO,
            timers: Timers::new(elements.count()),
            elements,
            by_number: elements.all(),
            cable: Cable::new(&model.link),
            header: (model.forwarding.mode == Mode::CutThrough).then_some(model.forwarding.header_bytes),
            tx: (0..ports).map(|_| TxPort::new()).collect(),
            cables_in: (0..ports).map(|_| Line::default()).collect(),
            spreader: Spreader::new(&model.queues),
            servers: (0..servers as u64).map(|number| Server::new(model, number, seed)).collect(),
            software: Software::new(&model.software, seed),
            delays: (0..ports as u64).map(|port| (delay(port), Line::default())).collect(),
            delay_per_byte: model.forwarding.latency_per_byte_ns * 1e3,
            outputs: (0..ports).map(|_| Output::new(&model.queues)).collect(),
            cables_out: (0..ports).map(|_| Line::default()).collect(),
            cable_loss: (0..ports as u64).map(|p| [loss(p, "cable-in"), loss(p, "cable-out")]).collect(),
            loss: Chance::new(model.forwarding.loss, element(seed, "loss", 0)),
            flows: Flows::new(&model.software),
            store: Store::default(),
            control,
            transmission: None,
            collected: None,
            unfetched: Vec::new(),
            counters: vec![PortCounters::default(); ports],
            ledger: Ledger::default(),
            handled: 0,
        }
    }

    #[inline]
    fn set(&mut self, element: Element, at: Picos) {
        self.timers.set(self.elements.number(element), at);
    }

    /// The event of the element with that number has come.
    #[inline]
    pub fn happen(&mut self, number: usize) {
        match self.by_number[number] {
            Element::CableOut(port) => {
                if let Some((frame, next)) = self.cables_out[port].pop() {
                    self.timers.set(number, next);
                    self.receive(port, frame);
                }
            }
            Element::Output(port) => self.transmit_next(port),
            Element::Delay(port) => {
                if let Some((frame, next)) = self.delays[port].1.pop() {
                    self.timers.set(number, next);
                    self.enqueue(port, frame);
                }
            }
            Element::Software => self.run_software(),
            Element::Server(server) => self.serve(server),
            Element::CableIn(port) => {
                if let Some((frame, next)) = self.cables_in[port].pop() {
                    self.timers.set(number, next);
                    self.arrive(frame);
                }
            }
            Element::Tx(port) => self.send_next(port),
            Element::Control => self.with_control(|control, around| control.run(around)),
            Element::Transmission => self.advance_transmission(),
        }
    }

    /// A frame is no more.
    fn lose(&mut self, frame: Frame, cause: Cause) {
        self.ledger.dropped[cause as usize] += 1;
        self.forget(&frame);
    }

    fn forget(&mut self, frame: &Frame) {
        if let Kind::Raw(place) = frame.kind {
            self.store.drop(place);
        }
    }

    /// Where every frame is, those under way counted one by one.
    pub fn ledger(&self) -> Ledger {
        let lines =
            self.cables_in.iter().chain(&self.cables_out).chain(self.delays.iter().map(|(_, line)| line));
        let queued = lines.map(Line::len).sum::<usize>()
            + self.servers.iter().map(Server::len).sum::<usize>()
            + self.outputs.iter().map(Output::len).sum::<usize>()
            + self.software.copies();
        Ledger { queued: queued as u64, ..self.ledger }
    }
}
