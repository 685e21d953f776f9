//! The whole: virtual time, transmissions, single frames, the control channel.

mod exchange;
mod transmissions;

use flowgauge_traffic::TrafficError;

use crate::control::{ControlPlane, Delivered, Surroundings};
use crate::ledger::Ledger;
use crate::model::{Model, ModelError};
use crate::picos::Picos;
use crate::world::World;

pub use transmissions::{Progress, TransmissionId};

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
