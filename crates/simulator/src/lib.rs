//! The simulated testbed: tester ports, cables and a switch model, in virtual time.
//!
//! ```text
//!  tester                        switch                                                tester
//!  port ══cable══► queue ─► server ─► pipeline ─► queues ─► port ══cable══► port ─► account
//!                    K      lookup     delay        ▲
//!                             ├─► software queue ───┤
//!                             └─► PACKET_INs ─► control plane ─► PACKET_OUTs
//! ```
//!
//! What a switch *does* with a frame is decided by the OpenFlow pipeline of `flowgauge-datapath`; how long it takes, and
//! where frames wait or are lost, by the [`Model`]. Streams, their timetables and accounts are those of the live tester.
//!
//! - [`Simulation`] is the whole: virtual time, transmissions, the control channel.
//! - [`model`] is what the switch is like, in numbers.
//! - [`control`] is the control plane.
//! - [`Ledger`] says where every frame is: sent = received + dropped + queued, always.
//!
//! Time is integer [`Picos`]. The same model, seed and calls give the same results on every machine: random numbers come
//! from `flowgauge_measure::Random`, one stream of them for each element, and nothing uses the platform's mathematics.

pub mod control;
mod counters;
mod elements;
mod flows;
mod frame;
mod ledger;
mod line;
pub mod model;
mod output;
mod picos;
pub mod sampling;
mod server;
mod simulation;
mod software;
mod testbed;
mod tester;
mod timers;
mod world;

pub use counters::PortCounters;
pub use ledger::{Cause, Ledger};
pub use model::{Model, ModelError};
pub use picos::Picos;
pub use simulation::{Progress, Simulation, SimulationError, TransmissionId};
pub use testbed::Testbed;
