//! Instants and durations in nanoseconds, and the tester's one clock.
//!
//! Everything that is stamped on the tester (frames sent and received, OpenFlow messages) is stamped on
//! one [`Clock`], so that any two stamps may be subtracted. Pure code takes [`Nanos`] as an argument and
//! never reads a clock itself.

mod nanos;
mod tester;

pub use nanos::Nanos;
pub use tester::{Clock, WallOffset};
