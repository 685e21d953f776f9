//! OpenFlow connections in both roles: TCP, version negotiation, transactions, every message stamped.
//!
//! A [`Channel`] owns one I/O thread that listens or connects and serves the [`Connection`]s that come of it.
//! The thread polls for [`Config::spin`] after it last had work and then sleeps; receiving always has its
//! turn, however much waits to be sent. Received messages that nobody asked for are kept raw in an arena
//! [`Log`]; replies go to the transaction with their xid. [`Job`]s run inside the loop to pace messages.
//!
//! The same endpoint serves a switch: with [`Config::switch`] the controller's requests wait in the log,
//! which the switch polls ([`Connection::poll_log`]) and answers ([`Connection::send_with`]).
//!
//! This crate moves whole messages and looks into none of them further than the header; what they say is the
//! business of `flowgauge-openflow`.

mod address;
mod arrivals;
mod config;
mod connection;
mod endpoint;
mod error;
pub mod framing;
mod hello;
mod job;
mod link;
mod log;
mod messages;
pub mod netns;
mod outbox;
mod poll;
mod session;
mod shared;
mod socket;
pub mod wire;
mod worker;

pub use address::{Address, BadAddress, DEFAULT_PORT};
pub use config::{Config, Notify, Role, WhenFull};
pub use connection::{Connection, Timestamps};
pub use endpoint::Channel;
pub use error::{ChannelError, version_name};
pub use hello::{Versions, negotiate};
pub use job::{Job, JobIo, Next};
pub use log::{Log, Position, Received};
pub use outbox::Written;
pub use shared::Reply;
