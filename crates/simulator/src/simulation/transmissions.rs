//! Streams that the tester sends: their start, how far they have come, their end.

use flowgauge_clock::Nanos;
use flowgauge_measure::Probe;
use flowgauge_traffic::{Options, Outcome, Stream, check_streams};

use super::{Simulation, SimulationError};
use crate::elements::Element;
use crate::flows::StreamFlows;
use crate::tester::{Reached, Source, Transmission};

/// The number of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransmissionId(pub u64);

/// How far a stream has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Frames that left.
    pub sent: u64,
    /// Distinct frames that arrived.
    pub received: u64,
}

impl Simulation {
    /// Starts streams now.
    ///
    /// # Errors
    /// A transmission is on its way; a stream names a port that is not there; two streams have one number.
    pub fn start(
        &mut self,
        streams: Vec<Stream>,
        options: Options,
    ) -> Result<TransmissionId, SimulationError> {
        self.check_idle()?;
        check_streams(&streams, self.ports())?;
        self.transmissions += 1;
        let (id, now) = (self.transmissions, self.world.now.nanos());
        let origin = Probe::origin(now);
        let world = &mut self.world;
        world.flows.settle(world.control.pipeline());
        if world.ledger().queued == 0 {
            world.flows.clear();
        }
        let mut sources: Vec<Vec<Source>> = world.tx.iter().map(|_| Vec::new()).collect();
        for (position, stream) in streams.iter().enumerate() {
            let Some(port) = stream.tx_port else { continue };
            let probe = (options.nonce, stream.id, origin);
            let flows = StreamFlows::new((id, position), probe, port as u16 + 1, stream.frames.clone());
            let place = world.flows.add(flows);
            sources[port].push(Source::new(position, place, stream, now));
        }
        world.unfetched.clear();
        world.transmission = Some(Transmission::new(id, &streams, options, world.tx.len(), origin, now));
        for (port, sources) in sources.into_iter().enumerate() {
            world.tx[port].begin(sources);
        }
        self.look_again();
        Ok(TransmissionId(id))
    }

    /// Whether no transmission is on its way.
    pub(super) fn check_idle(&self) -> Result<(), SimulationError> {
        match &self.world.transmission {
            Some(transmission) if transmission.reached != Reached::Over => Err(SimulationError::Busy),
            Some(_) | None => Ok(()),
        }
    }

    /// Something outside has changed: ports and the transmission say anew when they go on.
    fn look_again(&mut self) {
        let world = &mut self.world;
        for port in 0..world.tx.len() {
            let next = world.tx[port].next_event().max(world.now);
            world.timers.set(world.elements.number(Element::Tx(port)), next);
        }
        world.advance_transmission();
    }

    fn transmission(&self, id: TransmissionId) -> Option<&Transmission> {
        self.world.transmission.as_ref().filter(|t| t.id == id.0)
    }

    fn change(&mut self, id: TransmissionId, change: impl FnOnce(&mut Transmission)) {
        if let Some(transmission) = self.world.transmission.as_mut().filter(|t| t.id == id.0) {
            change(transmission);
            self.look_again();
        }
    }

    /// How far the streams have come, in the order in which they were given.
    pub fn progress(&self, id: TransmissionId) -> Vec<Progress> {
        let streams = self.transmission(id).into_iter().flat_map(Transmission::progress);
        streams.map(|(sent, received)| Progress { sent, received }).collect()
    }

    /// Time since the streams started, until they ended.
    pub fn elapsed(&self, id: TransmissionId) -> Nanos {
        self.transmission(id).map_or(Nanos::ZERO, |t| t.elapsed(self.world.now.nanos()))
    }

    /// Ends all streams now; the drain follows.
    pub fn stop(&mut self, id: TransmissionId) {
        let now = self.world.now.nanos();
        if self.transmission(id).is_some_and(|t| t.reached == Reached::Streams) {
            self.world.tx.iter_mut().for_each(|port| port.cut(now));
        }
        self.change(id, Transmission::stop);
    }

    /// Ends the drain, now or as soon as it begins.
    pub fn cut_drain(&mut self, id: TransmissionId) {
        self.change(id, Transmission::cut_drain);
    }

    /// Says how many frames somebody else sent for the stream at that position, at the end of it.
    pub fn set_sent(&mut self, id: TransmissionId, position: usize, frames: u64) {
        self.change(id, |transmission| transmission.announce(position, frames));
    }

    /// Whether it has ended, drain included.
    pub fn is_finished(&self, id: TransmissionId) -> bool {
        self.transmission(id).is_none_or(|t| t.reached == Reached::Over)
    }

    /// What came of a transmission; one that has not ended is cut off. `None` if it was asked for before.
    pub fn finish(&mut self, id: TransmissionId) -> Option<Outcome> {
        self.transmission(id)?;
        let world = &mut self.world;
        let now = world.now.nanos();
        let transmission = world.transmission.take()?;
        world.tx.iter_mut().for_each(|port| port.cut(now));
        let outcome = transmission.finish(&world.tx, now);
        world.tx.iter_mut().for_each(|port| port.begin(Vec::new()));
        self.look_again();
        Some(outcome)
    }
}
