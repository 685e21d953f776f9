//! Schedules, probes, accounting and histograms: pure, without I/O. Time is an argument.
//!
//! The live tester and the simulated testbed both stand on this crate, so what the simulator proves of it holds for
//! the bench. It knows nothing of ports, threads or clocks.

mod account;
mod bitmap;
mod distribution;
pub mod exact;
mod order;
mod probe;
mod random;
mod schedule;
mod stall;
mod windows;

pub use account::{Account, AccountOptions, Arrival, Counters};
pub use bitmap::SeenSet;
pub use distribution::{Distribution, GapErrors};
pub use order::{FlowOrder, FlowWalk};
pub use probe::{Probe, ProbeError, ProbeRun};
pub use random::Random;
pub use schedule::{Departures, Megabit, Rate, Recorded, Schedule, ScheduleError};
pub use stall::StallLog;
pub use windows::{Window, Windows};
