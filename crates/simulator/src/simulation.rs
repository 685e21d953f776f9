//! The whole: virtual time, transmissions, the control channel.

use flowgauge_clock::Nanos;
use flowgauge_measure::Probe;
use flowgauge_traffic::{Arrival, Options, Outcome, Stream, TrafficError, Until, check_streams};

use crate::control::{ControlPlane, Delivered, Surroundings};
use crate::elements::Element;
use crate::flows::StreamFlows;
use crate::frame::{Frame, Kind, NO_QUEUE};
use crate::ledger::Ledger;
use crate::model::{Model, ModelError};
use crate::picos::Picos;
use crate::tester::{Reached, Source, Transmission};
use crate::world::World;

/// Why something can't be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The model is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The streams are wrong.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A transmission is on its way: there is one at a time.
    #[error("a transmission is on its way")]
    Busy,
}

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

/// A tester and a switch of that model, cabled port by port: tester port `i` (from 0) to the switch's port `i + 1`.
///
/// Virtual time moves only in [`run_until`](Simulation::run_until), [`step`](Simulation::step) and
/// [`exchange`](Simulation::exchange).
pub struct Simulation {
    model: Model,
    world: World,
    transmissions: u64,
}

impl Simulation {
    /// At time zero, with empty tables.
    ///
    /// # Errors
    /// The model is wrong.
    pub fn new(model: Model, ports: usize, seed: u64) -> Result<Simulation, SimulationError> {
        model.check()?;
        Ok(Simulation { world: World::new(&model, ports, seed), model, transmissions: 0 })
    }

    /// The time.
    pub fn now(&self) -> Picos {
        self.world.now
    }

    /// The switch's model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How many ports the tester has, and the switch.
    pub fn ports(&self) -> usize {
        self.world.tx.len()
    }

    /// When something happens next; `None` when nothing will.
    pub fn next_event(&self) -> Option<Picos> {
        Some(self.world.timers.first().0).filter(|&at| at != Picos::MAX)
    }

    /// Lets everything happen until `at`, inclusive; then it is `at`.
    pub fn run_until(&mut self, at: Picos) {
        let world = &mut self.world;
        loop {
            let (next, element) = world.timers.first();
            if next > at || next == Picos::MAX {
                break;
            }
            world.now = next;
            world.happen(element);
        }
        world.now = world.now.max(at);
    }

    /// Lets happen what happens next, all of one instant; false when nothing will.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.next_event() else { return false };
        self.run_until(at);
        true
    }

    /// How often an element has handled a frame since the start: what speed is counted in.
    pub fn handled(&self) -> u64 {
        self.world.handled
    }

    /// Starts streams now.
    ///
    /// # Errors
    /// A transmission is on its way; a stream names a port that is not there; two streams have one number.
    pub fn start(
        &mut self,
        streams: Vec<Stream>,
        options: Options,
    ) -> Result<TransmissionId, SimulationError> {
        if self.world.transmission.as_ref().is_some_and(|t| t.reached != Reached::Over) {
            return Err(SimulationError::Busy);
        }
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

    /// Single frames in and out, as bytes; see [`flowgauge_traffic::exchange`]. Lets time pass until it is over.
    ///
    /// # Errors
    /// There is no such port; a transmission is on its way.
    pub fn exchange(
        &mut self,
        frames: &[(usize, Vec<u8>)],
        until: Until,
        keep: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<Arrival>, SimulationError> {
        if self.world.transmission.as_ref().is_some_and(|t| t.reached != Reached::Over) {
            return Err(SimulationError::Busy);
        }
        let ports = self.ports();
        if let Some(&(port, _)) = frames.iter().find(|(port, _)| *port >= ports) {
            return Err(TrafficError::NoSuchPort { stream: 0, port, ports }.into());
        }
        self.world.collected = Some(std::mem::take(&mut self.world.unfetched));
        let mut next_free = vec![self.now(); ports];
        for (port, bytes) in frames {
            self.run_until(next_free[*port]);
            next_free[*port] = self.now() + self.inject(*port, bytes);
        }
        let (sent, mut came, mut last) = (self.now(), 0, self.now());
        let limit = sent + until.limit.into();
        loop {
            let kept = self.world.collected.iter().flatten().filter(|a| keep(&a.frame)).count();
            if kept > came {
                (came, last) = (kept, self.now());
            }
            let quiet = last + until.quiet.into();
            let until = if came >= until.enough { quiet.min(limit) } else { limit };
            match self.next_event().filter(|&at| at <= until) {
                Some(at) => self.run_until(at),
                None => {
                    self.run_until(until);
                    break;
                }
            }
        }
        let mut arrivals = self.world.collected.take().unwrap_or_default();
        arrivals.retain(|arrival| keep(&arrival.frame));
        Ok(arrivals)
    }

    /// A frame with bytes of its own leaves a tester port; returns how long it occupies the cable.
    fn inject(&mut self, port: usize, bytes: &[u8]) -> Picos {
        let world = &mut self.world;
        let frame = Frame {
            kind: Kind::Raw(world.store.keep(bytes)),
            len: bytes.len() as u32,
            seq: 0,
            left: world.now,
            in_port: port as u16 + 1,
            is_probed: false,
            queue: NO_QUEUE,
        };
        world.put_on_cable(port, frame);
        world.occupied(bytes.len() as u32)
    }

    /// The tester writes an OpenFlow message into the control channel.
    pub fn control_in(&mut self, message: &[u8]) {
        self.world.with_control(|control, around| control.message_in(message, around));
    }

    /// Messages that have come to the tester's end of the control channel since the last call.
    pub fn take_delivered(&mut self) -> Vec<Delivered> {
        self.world.control.take_delivered()
    }

    /// The control plane, for looking at it between events.
    pub fn control(&self) -> &ControlPlane {
        &self.world.control
    }

    /// Lets the control plane do something now: counters are brought up to date before, and what it sends goes out.
    pub fn with_control<R>(&mut self, work: impl FnOnce(&mut ControlPlane, &mut Surroundings<'_>) -> R) -> R {
        self.world.with_control(work)
    }

    /// Where every frame is.
    pub fn ledger(&self) -> Ledger {
        self.world.ledger()
    }
}
