//! Why a channel could not be opened, ended, or refused a request: each kind with a stable name.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;

use crate::wire::Header;

/// What went wrong on a channel. The connection keeps the first error that ended it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// Nobody connected to us, or accepted our connection, in time.
    #[error("no OpenFlow peer at {address} within {waited:.1?}: {reason}")]
    NeverConnected {
        /// The address that we listened on or connected to.
        address: String,
        /// How long we waited.
        waited: Duration,
        /// What the last attempt met: "connection refused", "nobody connected".
        reason: String,
    },
    /// The TCP port that we were to listen on is in use.
    #[error("{address} is in use{place}")]
    PortBusy {
        /// The address that is taken.
        address: String,
        /// " in network namespace NAME", or empty.
        place: String,
        /// The command that tells who holds it.
        advice: String,
    },
    /// A socket could not be made: no such address, no such namespace, no permission.
    #[error("cannot open {address}: {reason}")]
    Setup {
        /// The address, or the namespace's path.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// The two sides have no OpenFlow version in common.
    #[error("no common OpenFlow version: we speak {}, the peer {}", names(ours), names(theirs))]
    VersionMismatch {
        /// Wire versions that we offered, ascending.
        ours: Vec<u8>,
        /// Wire versions that the peer offered, ascending (its highest alone when it sent no bitmap).
        theirs: Vec<u8>,
    },
    /// The peer sent bytes that are not OpenFlow.
    #[error("not OpenFlow at byte {offset} of the peer's stream: expected {expected}, found {found}")]
    Garbage {
        /// Position in the stream that the peer sent, in bytes.
        offset: u64,
        /// What OpenFlow allows there.
        expected: String,
        /// What was there.
        found: String,
    },
    /// The peer closed the connection in order.
    #[error("the peer closed the channel{}", cut(*.partial))]
    Closed {
        /// Bytes of an unfinished message that it left behind, 0 when it closed between messages.
        partial: usize,
    },
    /// The peer closed the connection before it said a word: it is busy, starting, or expects TLS.
    #[error("the peer closed the channel before its HELLO")]
    ClosedEarly,
    /// We closed the connection.
    #[error("the channel was closed on our side")]
    ClosedHere,
    /// The peer, or the network, reset the connection.
    #[error("the channel was reset: {reason}")]
    Reset {
        /// What the system said: "connection reset by peer".
        reason: String,
    },
    /// TLS failed: the handshake, or what came inside it. Also a peer that speaks TLS where we don't, and the reverse.
    #[error("TLS: {reason}")]
    Tls {
        /// Who refused what, and why.
        reason: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// A file with a key or certificates is missing or doesn't serve.
    #[error("{key} {}: {reason}", file.display())]
    TlsFile {
        /// Which of the three: "private_key", "certificate", "ca".
        key: &'static str,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// More waits to be sent than [`crate::Config::outbox_cap`] allows: nothing was queued.
    #[error("{queued} bytes wait to be sent, the limit is {limit}")]
    OutboxFull {
        /// Bytes that wait.
        queued: u64,
        /// The limit.
        limit: u64,
    },
    /// The peer's reply is longer than [`crate::Config::reply_cap`] allows: it was forgotten.
    #[error("the {what} is longer than {limit} bytes")]
    ReplyTooLong {
        /// "reply to xid 7".
        what: String,
        /// The limit.
        limit: usize,
    },
    /// Something that the peer owed us did not come in time.
    #[error("no {what} within {waited:.1?}")]
    Timeout {
        /// What was awaited: "HELLO", "BARRIER_REPLY", "reply to xid 7".
        what: String,
        /// How long we waited.
        waited: Duration,
    },
    /// The peer answered a request with an OpenFlow ERROR.
    #[error("the peer refused xid {xid}: error type {error_type}, code {code}")]
    Rejected {
        /// Transaction id of the refused message.
        xid: u32,
        /// Error type as the version in use numbers it.
        error_type: u16,
        /// Error code within the type.
        code: u16,
        /// What the peer attached, usually the start of the refused message.
        data: Vec<u8>,
    },
    /// The message can't be said in the version in use.
    #[error("{0}")]
    Encode(String),
    /// A reply is malformed.
    #[error("{0}")]
    Decode(String),
}

impl ChannelError {
    /// No reply to a request came within that time.
    pub fn no_reply(request: &[u8], waited: Duration) -> ChannelError {
        let (xid, kind) = Header::parse(request).map_or((0, 0), |header| (header.xid, header.message_type));
        ChannelError::Timeout { what: format!("reply to xid {xid} (message type {kind})"), waited }
    }

    /// The same, naming what was awaited if it did not come in time.
    pub fn awaiting(self, what: &str) -> ChannelError {
        match self {
            ChannelError::Timeout { waited, .. } => ChannelError::Timeout { what: what.to_owned(), waited },
            other => other,
        }
    }

    /// Its stable name, shared with the Python error catalogue.
    pub const fn name(&self) -> &'static str {
        match self {
            ChannelError::NeverConnected { .. } => "never-connected",
            ChannelError::PortBusy { .. } => "port-busy",
            ChannelError::Setup { .. } => "setup",
            ChannelError::VersionMismatch { .. } => "version-mismatch",
            ChannelError::Garbage { .. } => "garbage",
            ChannelError::Closed { .. }
            | ChannelError::ClosedEarly
            | ChannelError::ClosedHere
            | ChannelError::Reset { .. } => "channel-closed",
            ChannelError::Tls { .. } => "tls",
            ChannelError::TlsFile { .. } => "tls-file",
            ChannelError::OutboxFull { .. } => "outbox-full",
            ChannelError::ReplyTooLong { .. } => "reply-too-long",
            ChannelError::Timeout { .. } => "reply-timeout",
            ChannelError::Rejected { .. } => "rejected",
            ChannelError::Encode(_) => "encode",
            ChannelError::Decode(_) => "decode",
        }
    }
}

/// An error of a socket: the network's fault, or the peer's.
pub(crate) fn broken(error: &io::Error) -> ChannelError {
    match error.kind() {
        ErrorKind::TimedOut => ChannelError::Timeout {
            what: "acknowledgement by the peer's TCP".to_owned(),
            waited: Duration::ZERO,
        },
        _ => ChannelError::Reset { reason: error.to_string() },
    }
}

fn cut(partial: usize) -> String {
    if partial == 0 {
        String::new()
    } else {
        format!(" in the middle of a message ({partial} bytes of it came)")
    }
}

/// Wire versions as people write them: "1.0, 1.3".
fn names(versions: &[u8]) -> impl fmt::Display {
    let texts: Vec<String> = versions.iter().map(|v| version_name(*v)).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

/// A wire version as people write it: 4 is "1.3".
pub fn version_name(wire: u8) -> String {
    match wire {
        1..=6 => format!("1.{}", wire - 1),
        other => format!("{other:#04x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_people_write_them() {
        let error = ChannelError::VersionMismatch { ours: vec![1, 4], theirs: vec![6] };
        assert_eq!(error.to_string(), "no common OpenFlow version: we speak 1.0, 1.3, the peer 1.5");
        assert_eq!(version_name(0x47), "0x47");
    }
}
