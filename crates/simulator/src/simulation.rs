//! The whole: virtual time, transmissions, the control channel.

use flowgauge_clock::Nanos;
use flowgauge_traffic::{Arrival, Options, Outcome, Stream, TrafficError, Until};

use crate::control::{ControlPlane, Delivered};
use crate::ledger::Ledger;
use crate::model::{Model, ModelError};
use crate::picos::Picos;

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
/// Virtual time moves only in [`run_until`](Simulation::run_until) and [`step`](Simulation::step).
pub struct Simulation {
    model: Model,
    now: Picos,
    control: ControlPlane,
}

impl Simulation {
    /// At time zero, with empty tables.
    ///
    /// # Errors
    /// The model is wrong.
    pub fn new(model: Model, ports: usize, seed: u64) -> Result<Simulation, SimulationError> {
        model.check()?;
        let control = ControlPlane::new(&model, ports, seed);
        Ok(Simulation { model, now: Picos::ZERO, control })
    }

    /// The time.
    pub fn now(&self) -> Picos {
        self.now
    }

    /// The switch's model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// When something happens next; `None` when nothing will.
    pub fn next_event(&self) -> Option<Picos> {
        None
    }

    /// Lets everything happen until `at`, inclusive; then it is `at`.
    pub fn run_until(&mut self, at: Picos) {
        self.now = self.now.max(at);
    }

    /// Lets happen what happens next, all of one instant; false when nothing will.
    pub fn step(&mut self) -> bool {
        false
    }

    /// Starts streams now.
    ///
    /// # Errors
    /// A transmission is on its way; a stream names a port that is not there; two streams have one number.
    pub fn start(
        &mut self,
        _streams: Vec<Stream>,
        _options: Options,
    ) -> Result<TransmissionId, SimulationError> {
        Err(SimulationError::Busy)
    }

    /// How far the streams have come, in the order in which they were given.
    pub fn progress(&self, _id: TransmissionId) -> Vec<Progress> {
        Vec::new()
    }

    /// Time since the streams started, until they ended.
    pub fn elapsed(&self, _id: TransmissionId) -> Nanos {
        Nanos::ZERO
    }

    /// Ends all streams now; the drain follows.
    pub fn stop(&mut self, _id: TransmissionId) {}

    /// Ends the drain, now or as soon as it begins.
    pub fn cut_drain(&mut self, _id: TransmissionId) {}

    /// Says how many frames somebody else sent for the stream at that position, at the end of it.
    pub fn set_sent(&mut self, _id: TransmissionId, _position: usize, _frames: u64) {}

    /// Whether it has ended, drain included.
    pub fn is_finished(&self, _id: TransmissionId) -> bool {
        true
    }

    /// What came of a transmission; one that has not ended is cut off. `None` if it was asked for before.
    pub fn finish(&mut self, _id: TransmissionId) -> Option<Outcome> {
        None
    }

    /// Single frames in and out, as bytes; see [`flowgauge_traffic::exchange`]. Runs until it is over.
    ///
    /// # Errors
    /// There is no such port.
    pub fn exchange(
        &mut self,
        _frames: &[(usize, Vec<u8>)],
        _until: Until,
        _keep: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<Arrival>, SimulationError> {
        Ok(Vec::new())
    }

    /// The tester writes an OpenFlow message into the control channel.
    pub fn control_in(&mut self, _message: &[u8]) {}

    /// Messages that have come to the tester's end of the control channel since the last call.
    pub fn take_delivered(&mut self) -> Vec<Delivered> {
        self.control.take_delivered()
    }

    /// The control plane, for looking at it between events.
    pub fn control(&self) -> &ControlPlane {
        &self.control
    }

    /// Changes the control plane from outside (tests do): counters are brought up to date before, and what it wants to do
    /// next is asked for after.
    pub fn with_control<R>(&mut self, change: impl FnOnce(&mut ControlPlane) -> R) -> R {
        change(&mut self.control)
    }

    /// Where every frame is.
    pub fn ledger(&self) -> Ledger {
        Ledger::default()
    }
}
