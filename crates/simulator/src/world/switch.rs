//! The way of a frame through the switch: server, tables, delay, output queue.

use super::World;
use crate::elements::Element;
use crate::frame::{Frame, Kind, NO_QUEUE};
use crate::ledger::Cause;
use crate::picos::Picos;
use crate::server::Admission;
use crate::software::{Errand, leaving};

impl World {
    /// The switch has seen enough of a frame.
    #[inline]
    pub(super) fn arrive(&mut self, frame: Frame) {
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
    pub(super) fn begin_service(&mut self, server: usize) {
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
    pub(super) fn serve(&mut self, server: usize) {
        if self.servers[server].is_busy() { self.end_service(server) } else { self.begin_service(server) }
    }

    pub(super) fn end_service(&mut self, server: usize) {
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
    pub(super) fn forward(&mut self, frame: Frame) {
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
    pub(super) fn forward_many(&mut self, (stream, flow): (u32, u32), frame: Frame) {
        let decision = self.flows.decision(stream, flow);
        let (outs, punts) = (decision.outs.len(), decision.punts.len());
        if outs + punts == 0 {
            return self.lose(frame, Cause::Pipeline);
        }
        self.ledger.copied += (outs + punts) as u64 - 1;
        if decision.is_software {
            let outs = decision.outs.iter().map(|out| (out.port, leaving(&frame, out))).collect();
            let punts = (0..punts).map(|n| self.flows.punted((stream, flow), n, &frame)).collect();
            return self.enter_software(Errand { outs, punts });
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

    pub(super) fn forward_raw(&mut self, frame: Frame) {
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
        if decision.is_software { self.enter_software(errand) } else { self.carry_out(errand) }
    }

    /// A frame goes through the pipeline's delay to a port.
    #[inline]
    pub(super) fn delay(&mut self, number: u32, frame: Frame) {
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
    pub(super) fn enqueue(&mut self, port: usize, frame: Frame) {
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
    pub(super) fn transmit_next(&mut self, port: usize) {
        if let Some(frame) = self.outputs[port].next(self.now) {
            self.transmit(port, frame);
        }
        let next = self.outputs[port].next_ready(self.now);
        self.set(Element::Output(port), next);
    }

    /// A frame leaves a switch port.
    #[inline]
    pub(super) fn transmit(&mut self, port: usize, frame: Frame) {
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
}
