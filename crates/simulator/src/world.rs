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

use flowgauge_traffic::Arrival;

use crate::control::{ControlPlane, Emission, Surroundings};
use crate::counters::PortCounters;
use crate::elements::{Element, Elements};
use crate::flows::Flows;
use crate::frame::{Frame, Kind, NO_QUEUE, Store};
use crate::ledger::{Cause, Ledger};
use crate::line::{Cable, Line};
use crate::model::{Mode, Model};
use crate::output::{Output, setups};
use crate::picos::Picos;
use crate::sampling::{Chance, Sampler, element};
use crate::server::{Admission, Server, Spreader};
use crate::software::{Errand, Software, leaving};
use crate::tester::{Reached, Transmission, TxPort};
use crate::timers::Timers;

/// Frames that an exchange collects, with their bytes.
pub type Collected = Vec<Arrival>;

/// Frames that a tester's ports hold while nobody receives.
const UNFETCHED: usize = 65_536;

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

    /// A tester port sends what is due.
    #[inline]
    fn send_next(&mut self, port: usize) {
        let now = self.now;
        if let Some((due, source)) = self.tx[port].next(now) {
            let (position, place) = (source.stream, source.place);
            let stream = self.flows.stream(place);
            let len = stream.frames.len(due.flow) as u32;
            let frame = Frame {
                kind: Kind::Flow { stream: place, flow: due.flow },
                len,
                seq: due.seq,
                left: now,
                in_port: port as u16 + 1,
                is_probed: true,
                queue: NO_QUEUE,
            };
            if let Some(transmission) = &mut self.transmission {
                transmission.left(port, position, due.at, now.nanos());
            }
            let occupied = self.cable.occupied(len);
            self.tx[port].occupy(now, occupied);
            self.put_on_cable(port, frame);
        }
        let next = self.tx[port].next_event();
        self.set(Element::Tx(port), next);
        if next == Picos::MAX {
            self.set(Element::Transmission, now);
        }
    }

    /// A frame leaves a tester port.
    #[inline]
    pub fn put_on_cable(&mut self, port: usize, frame: Frame) {
        self.handled += 1;
        self.ledger.sent += 1;
        if self.cable_loss[port][0].next() {
            return self.lose(frame, Cause::Link);
        }
        let seen = match self.header {
            Some(bytes) => self.cable.head(frame.len, bytes),
            None => self.cable.frame(frame.len),
        };
        let at = self.now + self.cable.propagation + seen;
        if at == self.now && self.cables_in[port].is_empty() {
            return self.arrive(frame);
        }
        if let Some(first) = self.cables_in[port].push(at, frame) {
            self.set(Element::CableIn(port), first);
        }
    }

    /// How long a frame of `len` bytes occupies a cable.
    pub fn occupied(&self, len: u32) -> Picos {
        self.cable.occupied(len)
    }

    /// The switch has seen enough of a frame.
    #[inline]
    fn arrive(&mut self, frame: Frame) {
        self.handled += 1;
        let counters = &mut self.counters[usize::from(frame.in_port) - 1];
        counters.rx_packets += 1;
        counters.rx_bytes += u64::from(frame.len);
        let server = self.spreader.server(&frame);
        match self.servers[server].admit(frame, self.now) {
            Admission::Begin => self.begin_service(server),
            Admission::Fill(until) => self.set(Element::Server(server), until),
            Admission::Waits => {}
            Admission::Full => {
                self.counters[usize::from(frame.in_port) - 1].rx_dropped += 1;
                self.lose(frame, Cause::ServiceQueue);
            }
        }
    }

    #[inline]
    fn begin_service(&mut self, server: usize) {
        let flows = &self.flows;
        let time = self.servers[server].begin(|frame| match frame.kind {
            Kind::Flow { stream, flow } => flows.tables(stream, flow),
            Kind::Raw(_) => 1,
        });
        if time == Picos::ZERO {
            self.end_service(server);
        } else {
            let end = self.now + time;
            self.set(Element::Server(server), end);
        }
    }

    /// A server's event: the end of a service, or of its patience with a batch.
    #[inline]
    fn serve(&mut self, server: usize) {
        if self.servers[server].is_busy() { self.end_service(server) } else { self.begin_service(server) }
    }

    fn end_service(&mut self, server: usize) {
        self.set(Element::Server(server), Picos::MAX);
        let frames = self.servers[server].end();
        for &frame in &frames {
            self.forward(frame);
        }
        if self.servers[server].done(frames) {
            self.begin_service(server);
        }
    }

    /// A frame has been served: it goes where the tables say.
    #[inline]
    fn forward(&mut self, frame: Frame) {
        self.handled += 1;
        if self.loss.next() {
            return self.lose(frame, Cause::Loss);
        }
        let Kind::Flow { stream, flow } = frame.kind else { return self.forward_raw(frame) };
        let decision = self.flows.decide((stream, flow), &frame, self.now, &mut self.control);
        if let ([out], true) = (&decision.outs[..], decision.punts.is_empty() && !decision.is_software) {
            let out = *out;
            return self.delay(out.port, leaving(&frame, &out));
        }
        self.forward_many((stream, flow), frame);
    }

    /// A frame of which nothing, or several copies, or something for the controller, or software's work remains.
    fn forward_many(&mut self, (stream, flow): (u32, u32), frame: Frame) {
        let decision = self.flows.decision(stream, flow);
        let (outs, punts) = (decision.outs.len(), decision.punts.len());
        if outs + punts == 0 {
            return self.lose(frame, Cause::Pipeline);
        }
        self.ledger.copied += (outs + punts) as u64 - 1;
        if decision.is_software {
            let outs = decision.outs.iter().map(|out| (out.port, leaving(&frame, out))).collect();
            let punts = (0..punts).map(|n| self.flows.punted((stream, flow), n, &frame)).collect();
            return self.to_software(Errand { outs, punts });
        }
        for n in 0..outs {
            let out = self.flows.decision(stream, flow).outs[n];
            self.delay(out.port, leaving(&frame, &out));
        }
        for n in 0..punts {
            if self.control.admits_punt(self.now) {
                let punted = self.flows.punted((stream, flow), n, &frame);
                self.ledger.to_controller += 1;
                self.with_control(|control, around| control.punt(punted, around));
            } else {
                self.ledger.dropped[Cause::PacketInQueue as usize] += 1;
            }
        }
    }

    fn forward_raw(&mut self, frame: Frame) {
        let Kind::Raw(place) = frame.kind else { return };
        let bytes = self.store.take(place);
        let pipeline = self.control.pipeline();
        let decision = self.flows.decide_raw(&bytes, frame.in_port.into(), self.now.nanos(), pipeline);
        let copies = decision.outs.len() + decision.punts.len();
        if copies == 0 {
            self.ledger.dropped[Cause::Pipeline as usize] += 1;
            return;
        }
        self.ledger.copied += copies as u64 - 1;
        let outs = decision.outs.into_iter().map(|(port, queue, bytes)| {
            let (kind, len) = (Kind::Raw(self.store.keep(&bytes)), bytes.len() as u32);
            (port, Frame { kind, len, queue: queue.unwrap_or(NO_QUEUE), ..frame })
        });
        let errand = Errand { outs: outs.collect(), punts: decision.punts };
        if decision.is_software { self.to_software(errand) } else { self.carry_out(errand) }
    }

    fn to_software(&mut self, errand: Errand) {
        self.handled += 1;
        if let Err((cause, errand)) = self.software.admit(errand, self.now) {
            // The frame had no copies yet.
            self.ledger.copied -= errand.copies() as u64 - 1;
            self.ledger.dropped[cause as usize] += 1;
            errand.outs.iter().for_each(|(_, frame)| self.forget(frame));
        }
        let next = self.software.next_event();
        self.set(Element::Software, next);
    }

    fn run_software(&mut self) {
        if let Some(errand) = self.software.run(self.now) {
            self.carry_out(errand);
        }
        let next = self.software.next_event();
        self.set(Element::Software, next);
    }

    fn carry_out(&mut self, errand: Errand) {
        for (port, frame) in errand.outs {
            self.delay(port, frame);
        }
        for punted in errand.punts {
            if self.control.admits_punt(self.now) {
                self.ledger.to_controller += 1;
                self.with_control(|control, around| control.punt(punted, around));
            } else {
                self.ledger.dropped[Cause::PacketInQueue as usize] += 1;
            }
        }
    }

    /// A frame goes through the pipeline's delay to a port.
    #[inline]
    fn delay(&mut self, number: u32, frame: Frame) {
        let port = number.wrapping_sub(1) as usize;
        if port >= self.outputs.len() {
            return self.lose(frame, Cause::NoPort);
        }
        let (latency, line) = &mut self.delays[port];
        let by_size = (self.delay_per_byte * f64::from(frame.len + 4)) as u64;
        let at = self.now + latency.next() + Picos(by_size);
        if at == self.now && line.is_empty() {
            return self.enqueue(port, frame);
        }
        self.handled += 1;
        if let Some(first) = line.push(at, frame) {
            self.set(Element::Delay(port), first);
        }
    }

    /// A frame comes to the queues of a port.
    #[inline]
    fn enqueue(&mut self, port: usize, frame: Frame) {
        self.handled += 1;
        let queue = (frame.queue != NO_QUEUE).then_some(frame.queue);
        match self.outputs[port].admit(frame, queue, self.now) {
            Ok(Some(frame)) => self.transmit(port, frame),
            Ok(None) => {
                let next = self.outputs[port].next_ready(self.now);
                self.set(Element::Output(port), next);
            }
            Err(frame) => {
                self.counters[port].tx_dropped += 1;
                self.lose(frame, Cause::OutputQueue);
            }
        }
    }

    #[inline]
    fn transmit_next(&mut self, port: usize) {
        if let Some(frame) = self.outputs[port].next(self.now) {
            self.transmit(port, frame);
        }
        let next = self.outputs[port].next_ready(self.now);
        self.set(Element::Output(port), next);
    }

    /// A frame leaves a switch port.
    #[inline]
    fn transmit(&mut self, port: usize, frame: Frame) {
        let counters = &mut self.counters[port];
        counters.tx_packets += 1;
        counters.tx_bytes += u64::from(frame.len);
        self.outputs[port].occupy(self.now + self.cable.occupied(frame.len));
        if self.cable_loss[port][1].next() {
            return self.lose(frame, Cause::Link);
        }
        let at = self.now + self.cable.propagation;
        if at == self.now && self.cables_out[port].is_empty() {
            return self.receive(port, frame);
        }
        if let Some(first) = self.cables_out[port].push(at, frame) {
            self.set(Element::CableOut(port), first);
        }
    }

    /// The first bit of a frame is at a tester port.
    #[inline]
    fn receive(&mut self, port: usize, frame: Frame) {
        self.handled += 1;
        self.ledger.received += 1;
        let at = self.now.nanos();
        let Kind::Flow { stream, .. } = frame.kind else { return self.receive_raw(port, frame) };
        let Some(transmission) = &mut self.transmission else { return };
        let of = self.flows.stream(stream);
        if of.transmission == transmission.id {
            transmission.arrived(port, of.position, (frame.seq, frame.left.nanos(), frame.is_probed), at);
        } else {
            transmission.arrived_late(port);
        }
    }

    fn receive_raw(&mut self, port: usize, frame: Frame) {
        let Kind::Raw(place) = frame.kind else { return };
        let (bytes, at) = (self.store.take(place), self.now.nanos());
        if let Some(collected) = &mut self.collected {
            collected.push(Arrival { port, at, frame: bytes });
            return;
        }
        match &mut self.transmission {
            Some(transmission) if transmission.reached != Reached::Over => {
                transmission.arrived_raw(port, &bytes, at);
            }
            Some(_) | None if self.unfetched.len() < UNFETCHED => {
                self.unfetched.push(Arrival { port, at, frame: bytes });
            }
            Some(_) | None => {}
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

    /// Lets the control plane do something: counters are brought up to date before; what it sends goes out after.
    pub fn with_control<R>(&mut self, work: impl FnOnce(&mut ControlPlane, &mut Surroundings<'_>) -> R) -> R {
        self.flows.settle(self.control.pipeline());
        let mut emissions = Vec::new();
        let mut around = Surroundings {
            now: self.now,
            ports: &self.counters,
            queues: &|port, now| {
                self.outputs.get(port as usize - 1).map_or(Vec::new(), |o| o.queue_stats(port, now))
            },
            emissions: &mut emissions,
        };
        let result = work(&mut self.control, &mut around);
        emissions.into_iter().for_each(|emission| self.emit(emission));
        let next = self.control.next_event().max(self.now);
        self.set(Element::Control, next);
        result
    }

    fn emit(&mut self, emission: Emission) {
        self.ledger.from_controller += 1;
        let frame = Frame {
            kind: Kind::Raw(self.store.keep(&emission.bytes)),
            len: emission.bytes.len() as u32,
            seq: 0,
            left: self.now,
            in_port: 0,
            is_probed: false,
            queue: emission.queue.unwrap_or(NO_QUEUE),
        };
        self.delay(emission.port, frame);
    }

    /// The transmission goes on as far as it can.
    pub fn advance_transmission(&mut self) {
        let now = self.now.nanos();
        let next = self.transmission.as_mut().map_or(Picos::MAX, |t| t.advance(&self.tx, now));
        self.set(Element::Transmission, next);
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
