//! The OpenFlow pipeline: packets in, packets out.
//!
//! - [`Datapath`] is what a switch drives: batches of frames in, frames and punts out through a [`Sink`].
//! - [`Pipeline`] is OpenFlow's: [`FlowTable`]s, each with a [`classifier`], counters and timeouts; FLOW_MODs
//!   change it ([`Pipeline::flow_mod`]), statistics read it.
//!
//! This crate does no I/O and reads no clock: time is an argument, so that a switch in real time and a
//! simulated one in virtual time run the same code.

mod action_set;
pub mod check;
pub mod classifier;
mod flow_mod;
mod journey;
mod pipeline;
mod program;
pub mod rule;
mod sink;
mod slab;
mod stats;
mod table;
mod timers;

pub use flow_mod::Removal;
pub use pipeline::{Limits, MAX_TABLES, Miss, Pipeline, PortRule};
pub use program::Program;
pub use sink::{Datapath, Frame, Punt, Sink};
pub use stats::{Cursor, FlowQuery, Visited, seconds};
pub use table::{Entry, FlowTable, Removed, Selection};
