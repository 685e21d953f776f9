//! The OpenFlow pipeline: packets in, packets out.
//!
//! - [`Datapath`] is what a switch drives: batches of frames in, frames and punts out through a [`Sink`].
//! - [`Pipeline`] is OpenFlow's: [`FlowTable`]s, each with a [`classifier`], counters and timeouts; groups and
//!   meters; FLOW_MODs, GROUP_MODs and METER_MODs change it ([`Pipeline::flow_mod`] and so on), statistics read it.
//! - [`queue`] decides which of the frames that wait for a port leaves next: a switch puts a [`Scheduler`] in front
//!   of each port that has queues.
//! - [`learning`] is what NORMAL does.
//!
//! This crate does no I/O and reads no clock: time is an argument, so that a switch in real time and a
//! simulated one in virtual time run the same code.

mod act;
mod action_set;
mod changes;
mod check;
pub mod classifier;
mod consistency;
mod entry;
mod extension_check;
mod extensions;
mod flow_mod;
mod group;
mod id_map;
mod journey;
mod learn;
pub mod learning;
mod machine;
mod meter;
mod pipeline;
mod ports;
mod program;
pub mod queue;
mod requests;
pub mod rule;
mod settings;
mod sink;
mod slab;
mod stats;
mod table;
mod timers;
mod token_bucket;
mod trace;
mod walk;

pub use changes::Change;
pub use entry::{Entry, Removed, Selection};
pub use flow_mod::Removal;
pub use group::{MAX_BUCKETS, MAX_CHAIN, MAX_GROUPS};
pub use learning::{Learning, LearningCounts, Station};
pub use meter::{MAX_BANDS, MAX_METERS};
pub use pipeline::{Limits, MAX_TABLES, Miss, Pipeline};
pub use ports::PortRule;
pub use program::Program;
pub use queue::{QueueSetup, Scheduler};
pub use sink::{Datapath, Frame, Punt, Sink, removed_reason_in};
pub use stats::{Cursor, FlowQuery, Visited, seconds};
pub use table::FlowTable;
pub use token_bucket::TokenBucket;
pub use trace::{Lookup, Trace};
