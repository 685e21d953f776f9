//! Frames: header views and representations, flow keys, checksums, templates and flow sets.
//!
//! Each header has a *view* over bytes (checked once, so that its accessors can't panic) and an owned
//! *representation* with `parse`, `buffer_len` and `emit`; `parse(emit(repr)) == repr`, and `emit` writes
//! every byte of the header. This crate knows nothing of ports, clocks or OpenFlow.

pub mod field;
pub mod flow_set;
mod mac;

pub use field::Field;
pub use flow_set::{FlowSet, Pattern};
pub use mac::MacAddr;
