//! What frames and messages do beside the fast path: in software, and in the control plane.

use super::World;
use crate::control::{ControlPlane, Emission, Surroundings};
use crate::elements::Element;
use crate::frame::{Frame, Kind, NO_QUEUE};
use crate::ledger::Cause;
use crate::software::Errand;

impl World {
    pub(super) fn enter_software(&mut self, errand: Errand) {
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

    pub(super) fn run_software(&mut self) {
        if let Some(errand) = self.software.run(self.now) {
            self.carry_out(errand);
        }
        let next = self.software.next_event();
        self.set(Element::Software, next);
    }

    pub(super) fn carry_out(&mut self, errand: Errand) {
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

    pub(super) fn emit(&mut self, emission: Emission) {
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
}
