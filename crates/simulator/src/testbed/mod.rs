//! The simulated testbed as one thing: the simulation, and the tester's end of the control channel. Virtual time moves only
//! within calls that wait: [`Testbed::sleep`], [`Testbed::wait`] and the requests that have a reply.

mod controller;

use std::time::Duration;

use flowgauge_channel::wire::{self, Header};
use flowgauge_channel::{ChannelError, Log, Reply};
use flowgauge_clock::Nanos;
use flowgauge_measure::Probe;
use flowgauge_openflow::Version;
use flowgauge_traffic::play::{Handle, PlayOptions, Source, prepare};
use flowgauge_traffic::{Options, Stream};

use crate::model::Model;
use crate::picos::Picos;
use crate::simulation::{Simulation, SimulationError, TransmissionId};
use controller::{Controller, Stand};

/// How often a wait for a transmission looks whether it is over.
const LOOK: Picos = Picos::from_micros(100);

/// A simulated switch with its tester.
pub struct Testbed {
    /// Switch, cables and traffic.
    pub simulation: Simulation,
    controller: Controller,
    version: Version,
    features: Vec<u8>,
    /// How many transmissions there were.
    nonce: u16,
}

impl Testbed {
    /// At time zero, without a controller.
    ///
    /// # Errors
    /// The model is wrong.
    pub fn new(model: Model, ports: usize, seed: u64) -> Result<Testbed, SimulationError> {
        let simulation = Simulation::new(model, ports, seed)?;
        let (controller, features) = (Controller::default(), Vec::new());
        Ok(Testbed { simulation, controller, version: Version::V1_3, features, nonce: 0 })
    }

    /// The time on the tester's clock.
    pub fn now(&self) -> Nanos {
        self.simulation.now().nanos()
    }

    /// Lets that time pass.
    pub fn sleep(&mut self, time: Nanos) {
        let until = self.simulation.now() + Picos::from(time);
        self.run_until(until, |_| false);
    }

    /// Connects to the switch; the handshake takes no time.
    pub fn connect(&mut self, version: Version) {
        self.features = self.simulation.with_control(|control, _| control.connect(version));
        self.version = version;
        self.controller = Controller::default();
    }

    /// The version that is spoken.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The switch's FEATURES_REPLY, whole.
    pub fn features(&self) -> &[u8] {
        &self.features
    }

    /// Why the channel has ended; `None` while it is up.
    pub fn ended(&self) -> Option<ChannelError> {
        self.controller.ended()
    }

    /// Closes the channel.
    pub fn close(&mut self) {
        self.controller.end(ChannelError::ClosedHere);
    }

    /// The first of `n` transaction ids that nobody else uses.
    pub fn reserve_xids(&mut self, n: u32) -> u32 {
        self.controller.reserve_xids(n)
    }

    /// Messages that came unasked since the last call.
    pub fn take_log(&mut self) -> Log {
        self.controller.take_log()
    }

    /// Messages of a type that came so far.
    pub fn received(&self, kind: u8) -> u64 {
        self.controller.received(kind)
    }

    /// Sends a request and waits for its reply; see `flowgauge_channel::Connection::transact_raw`.
    ///
    /// # Errors
    /// The switch refused it, or did not answer in (virtual) time; the channel has ended.
    pub fn transact_raw(&mut self, request: &[u8], timeout: Duration) -> Result<Vec<Reply>, ChannelError> {
        self.check_open()?;
        let xid = Header::parse(request).map_or(0, |header| header.xid);
        self.controller.expect([xid]);
        self.simulation.control_in(request);
        let answered = self.run_for(timeout, |testbed| testbed.controller.is_answered(xid));
        let replies = self.controller.take_replies(xid);
        self.check_open()?;
        if answered { replies } else { Err(ChannelError::no_reply(request, timeout)) }
    }

    /// Sends a BARRIER_REQUEST and waits for its reply; gives the reply's arrival.
    ///
    /// # Errors
    /// As [`Testbed::transact_raw`].
    pub fn barrier(&mut self, timeout: Duration) -> Result<Nanos, ChannelError> {
        let (version, xid) = (self.version.wire(), self.reserve_xids(1));
        let request = wire::message(version, wire::barrier_request(version), xid, &[]);
        let replies = self.transact_raw(&request, timeout).map_err(|e| e.awaiting("BARRIER_REPLY"))?;
        Ok(replies.last().map_or(Nanos::ZERO, |reply| reply.stamp))
    }

    /// Sends messages that have no reply, then a barrier, and waits for it; see `flowgauge_channel::Connection::apply_raw`.
    ///
    /// # Errors
    /// The switch refused one; as [`Testbed::barrier`].
    pub fn apply_raw(&mut self, messages: &mut [Vec<u8>], timeout: Duration) -> Result<Nanos, ChannelError> {
        self.check_open()?;
        let first = self.reserve_xids(u32::try_from(messages.len()).unwrap_or(u32::MAX));
        let xids = (0..messages.len() as u32).map(|i| first.wrapping_add(i));
        self.controller.expect(xids.clone());
        for (message, xid) in messages.iter_mut().zip(xids.clone()) {
            wire::set_xid(message, xid);
            self.simulation.control_in(message);
        }
        let barrier = self.barrier(timeout);
        let refusals: Vec<_> = xids.map(|xid| self.controller.take_replies(xid)).collect();
        for refusal in refusals {
            refusal?;
        }
        barrier
    }

    /// Starts a play.
    pub fn play(&mut self, source: Box<dyn Source>, options: &PlayOptions) -> Handle {
        let start = options.start.unwrap_or_else(|| self.now());
        let version = self.version.wire();
        let (job, handle) = prepare(source, options, start, version, |n| self.controller.reserve_xids(n));
        self.controller.start(job);
        self.turn();
        handle
    }

    /// Whether a play is over within that time.
    pub fn wait_play(&mut self, play: &Handle, timeout: Duration) -> bool {
        self.run_for(timeout, |_| play.result().is_some())
    }

    /// Ends a play now.
    pub fn end_play(&mut self, play: &Handle) {
        play.end();
        self.controller.poke();
        self.turn();
    }

    /// Starts streams; gives the number of the transmission, and what its probes say: nonce and origin.
    ///
    /// # Errors
    /// As [`Simulation::start`].
    pub fn start(
        &mut self,
        streams: Vec<Stream>,
        drain: Option<Nanos>,
    ) -> Result<(TransmissionId, u16, Nanos), SimulationError> {
        self.nonce = self.nonce.wrapping_add(1);
        let options = Options { drain, nonce: self.nonce, ..Options::default() };
        let id = self.simulation.start(streams, options)?;
        Ok((id, self.nonce, Probe::origin(self.now())))
    }

    /// Whether a transmission has ended, drain included, within that time.
    pub fn wait(&mut self, transmission: TransmissionId, timeout: Duration) -> bool {
        let limit = self.simulation.now() + Picos::from(nanos(timeout));
        while !self.simulation.is_finished(transmission) && self.simulation.now() < limit {
            let until = (self.simulation.now() + LOOK).min(limit);
            self.run_until(until, |_| false);
        }
        self.simulation.is_finished(transmission)
    }

    fn check_open(&self) -> Result<(), ChannelError> {
        self.ended().map_or(Ok(()), Err)
    }

    fn stand(&self) -> Stand {
        let control = self.simulation.control();
        Stand { window: control.window(), written: control.written(), acknowledged: control.acknowledged() }
    }

    /// Hears what the switch said, and lets plays say what is due.
    fn turn(&mut self) {
        let delivered = self.simulation.take_delivered();
        self.controller.receive(delivered);
        if self.simulation.control().restarted().is_some() && self.controller.ended().is_none() {
            let reason = "the switch restarted".to_owned();
            self.controller.end(ChannelError::Reset { reason });
        }
        let stand = self.stand();
        if self.controller.next_turn(stand) <= self.now() {
            for message in self.controller.turn(self.now(), stand) {
                self.simulation.control_in(&message);
            }
        }
    }

    fn run_for(&mut self, timeout: Duration, done: impl Fn(&Testbed) -> bool) -> bool {
        let limit = self.simulation.now() + Picos::from(nanos(timeout));
        self.run_until(limit, done)
    }

    /// Lets everything happen until `limit`, or until `done`; whether that is so.
    fn run_until(&mut self, limit: Picos, done: impl Fn(&Testbed) -> bool) -> bool {
        loop {
            self.turn();
            if done(self) {
                return true;
            }
            let now = self.simulation.now();
            if now >= limit {
                return false;
            }
            let turn = Picos::from(self.controller.next_turn(self.stand())).max(now);
            if !self.controller.is_busy() {
                self.simulation.run_until(limit);
            } else if self.simulation.next_event().is_some_and(|at| at <= turn.min(limit)) {
                self.simulation.step();
            } else {
                self.simulation.run_until(turn.min(limit));
            }
        }
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
