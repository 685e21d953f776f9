//! The transmit and receive loops, paced control messages ([`play`]), and captures ([`capture`]).
//!
//! [`start`] gives ports and streams to one thread, which sends what is due, takes account of what arrives, and gives
//! the ports back with an [`Outcome`]. Per frame the loop allocates nothing, takes no lock and makes no system call of
//! its own; what it shares with others are a few counters.
//!
//! ```text
//!   streams ─► sender per port: merge by due time, stage, stamp ─► port ══► DUT
//!                                                                            ║
//!   outcome ◄─ account per stream ◄─ sorter: probe? whose? where? ◄─ port ◄══╝
//! ```

pub mod capture;
mod drain;
mod error;
mod exchange;
mod host;
pub mod loopback;
mod merge;
mod options;
mod outcome;
mod part;
pub mod play;
mod ports;
mod receiver;
mod running;
mod sender;
mod shared;
mod sorter;
mod source;
mod state;
mod stream;
mod timetable;
mod worker;

pub use drain::Drain;
pub use error::{StartFailed, TrafficError};
pub use exchange::{Arrival, Until, exchange};
pub use options::{Options, SpinPolicy};
pub use outcome::{Outcome, PacketIn, PacketInCounts, PortOutcome, StreamOutcome};
pub use ports::Ports;
pub use running::{Finished, Progress, Running, start, start_on};
pub use sorter::{Sorted, Sorter};
pub use state::StreamState;
pub use stream::{LatePolicy, Sink, Stop, Stream, check_streams};
pub use timetable::Timetable;
