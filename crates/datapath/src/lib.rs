//! The OpenFlow pipeline: packets in, packets out.
//!
//! This crate does no I/O and reads no clock: time is an argument, so that a switch in real time and a
//! simulated one in virtual time run the same code.

pub mod classifier;
pub mod rule;
mod slab;
