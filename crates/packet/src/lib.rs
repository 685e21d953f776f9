//! Frames: header views and representations, flow keys, checksums, templates and flow sets.
//!
//! Each header has a *view* over bytes (checked once, so that its accessors can't panic) and an owned
//! *representation* with `parse`, `buffer_len` and `emit`; `parse(emit(repr)) == repr`, and `emit` writes
//! every byte of the header. This crate knows nothing of ports, clocks or OpenFlow's messages.

mod bytes;
pub mod checksum;
pub mod edit;
pub mod field;
pub mod flow_key;
pub mod flow_set;
pub mod frame;
pub mod header;
pub mod layout;
mod mac;
pub mod raw;
mod source;
pub mod template;
#[cfg(test)]
mod testing;
mod text;

pub use field::Field;
pub use flow_key::{FlowKey, FlowMask};
pub use flow_set::{FlowSet, FlowSetError, Pattern};
pub use mac::MacAddr;
pub use raw::{RawError, RawFrames};
pub use source::FrameSource;
pub use template::{FrameTemplate, Payload, TemplateError};
