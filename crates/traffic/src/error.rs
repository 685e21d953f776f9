//! What can go wrong with a transmission.

use flowgauge_ports::{Port, PortError};

/// Why a transmission could not start, or broke.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A stream names a port that is not there.
    #[error("stream {stream} names port {port}, but there are {ports}")]
    NoSuchPort {
        /// The stream.
        stream: u16,
        /// The position that it names.
        port: usize,
        /// How many ports there are.
        ports: usize,
    },
    /// Two streams have one number.
    #[error("two streams have the number {stream}")]
    DuplicateStream {
        /// The number.
        stream: u16,
    },
    /// A stream's frames are longer than its port takes.
    #[error("stream {stream} has frames of {found} bytes without FCS; port {port} takes {longest}")]
    FrameTooLong {
        /// The stream.
        stream: u16,
        /// The port.
        port: String,
        /// The frames' length.
        found: usize,
        /// The longest that the port takes.
        longest: usize,
    },
    /// The system gave no thread.
    #[error("no thread for the traffic loop: {0}")]
    Thread(std::io::Error),
    /// A port broke in the middle.
    #[error("{0}")]
    Port(#[from] PortError),
}

impl TrafficError {
    /// The error's stable name.
    pub fn name(&self) -> &'static str {
        match self {
            TrafficError::NoSuchPort { .. } => "no-such-port",
            TrafficError::DuplicateStream { .. } => "duplicate-stream",
            TrafficError::FrameTooLong { .. } => "frame-too-long",
            TrafficError::Thread(_) => "thread",
            TrafficError::Port(error) => error.name(),
        }
    }
}

/// A transmission that did not start, with the ports that it would have had (none if the system gave no thread).
#[derive(thiserror::Error)]
#[error("{error}")]
pub struct StartFailed {
    /// Why.
    pub error: TrafficError,
    /// The handles of the ports, as they were.
    pub ports: Vec<Box<dyn Port>>,
}

impl std::fmt::Debug for StartFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StartFailed({:?}, {} ports)", self.error, self.ports.len())
    }
}
