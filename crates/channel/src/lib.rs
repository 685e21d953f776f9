//! OpenFlow connections in both roles: TCP and TLS, version negotiation, transactions, every message stamped.
//!
//! A [`Channel`] owns one I/O thread that listens and connects at one or several [`Address`]es and serves the
//! [`Connection`]s that come of it. The thread polls for [`Config::spin`] after it last had work and then sleeps; receiving
//! always has its turn, however much waits to be sent, and so has each connection, whatever the others do. Received messages
//! that nobody asked for are kept raw in an arena [`Log`]; replies go to the transaction with their xid. [`Job`]s run inside
//! the loop to pace messages.
//!
//! The same endpoint serves a switch: with [`Config::switch`] the controller's requests wait in the log,
//! which the switch polls ([`Connection::poll_log`]) and answers ([`Connection::send_with`]).
//!
//! **Stamps.** Without TLS a message bears the kernel's stamp of the segment with its last byte. With TLS it is stamped when it
//! has been decrypted: the kernel does not know where messages end. [`Connection::timestamps`] tells.
//!
//! **Limits.** A peer can make a connection hold: 192 KiB of an unfinished message (and a few records with TLS), the log up to
//! [`Config::log_cap`], one reply up to [`Config::reply_cap`], and 1 MiB of echo replies that it does not read. What goes
//! beyond is dropped and counted ([`Connection::log_dropped`], [`Connection::echoes_dropped`]) or ends the request.
//! [`Config::max_connections`] limits the connections, [`Config::outbox_cap`], if set, what waits to be sent.
//!
//! This crate moves whole messages and looks into none of them further than the header; what they say is the
//! business of `flowgauge-openflow`.

mod address;
mod arrivals;
pub mod certificate;
mod config;
mod connection;
mod dial;
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
mod sending;
mod session;
mod shared;
mod socket;
mod source;
mod tcp;
mod tls;
pub mod wire;
mod worker;

pub use address::{Address, BadAddress, DEFAULT_PORT};
pub use config::{Backoff, Config, KeepAlive, Notify, Role, WhenFull};
pub use connection::{Connection, Timestamps, reject_errors};
pub use endpoint::Channel;
pub use error::{ChannelError, version_name};
pub use hello::{Versions, negotiate};
pub use job::{Job, JobIo, Next};
pub use log::{Log, Position, Received};
pub use outbox::Written;
pub use shared::Reply;
pub use tls::{Tls, TlsFiles};
