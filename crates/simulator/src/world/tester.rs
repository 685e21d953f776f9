//! The tester's side: frames leave its ports, and arrive at them.

use super::World;
use crate::elements::Element;
use crate::frame::{Frame, Kind, NO_QUEUE};
use crate::ledger::Cause;
use crate::picos::Picos;
use crate::tester::Reached;
use flowgauge_traffic::Arrival;

/// Frames that a tester's ports hold while nobody receives.
const UNFETCHED: usize = 65_536;

impl World {
    /// A tester port sends what is due.
    #[inline]
    pub(super) fn send_next(&mut self, port: usize) {
        let now = self.now;
        if let Some((due, source)) = self.tx[port].next(now) {
            let (position, place, paced) = (source.stream, source.place, !source.timetable.greedy);
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
                transmission.left(port, position, paced.then_some(due.at), now.nanos());
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

    /// The first bit of a frame is at a tester port.
    #[inline]
    pub(super) fn receive(&mut self, port: usize, frame: Frame) {
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

    pub(super) fn receive_raw(&mut self, port: usize, frame: Frame) {
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

    /// The transmission goes on as far as it can.
    pub fn advance_transmission(&mut self) {
        let now = self.now.nanos();
        let next = self.transmission.as_mut().map_or(Picos::MAX, |t| t.advance(&self.tx, now));
        self.set(Element::Transmission, next);
    }
}
