//! OpenFlow: one version-neutral model of its messages, the codecs of each version, and ovs-ofctl flow syntax.
//!
//! - [`model`] holds the messages. Where versions differ, the newest meaning is the model's, and what only one
//!   version has says so.
//! - [`encode`], [`decode`] and [`frame_len`] translate between the model and bytes. A *request* that a version
//!   can't express is an [`EncodeError`] that names the field, because a request that lost a field would do
//!   something else. A *report* (statistics, PACKET_IN, ...) that a version has no room for is written without it.
//! - [`syntax`] reads and prints flows as ovs-ofctl does; [`FlowEncoder`] writes the FLOW_MODs of whole flow sets.
//! - Codes, types and fields that nobody knows survive in `Unknown` variants; decoding never panics and
//!   allocates no more than the message's length suggests.
//!
//! This crate knows nothing of sockets, clocks or switches.

pub mod codec;
mod flow_encoder;
pub mod json;
pub mod model;
pub mod syntax;

pub use codec::{DecodeError, DecodeErrorKind, EncodeError, Part, decode, decode_hello, encode, frame_len};
pub use flow_encoder::{FlowEncodeError, FlowEncoder};
pub use model::*;
