//! A connection to a switch: over a socket, or to a simulated switch. Both offer the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowgauge_channel::{ChannelError, Connection, Log, Reply, Timestamps};
use flowgauge_clock::Nanos;
use flowgauge_simulator::Testbed;
use flowgauge_traffic::play::{Handle, Play, PlayOptions, PlayResult, Source};

/// The simulated testbed that several Python objects hold.
#[derive(Clone)]
pub struct Simulated(Arc<Mutex<Testbed>>);

impl Simulated {
    /// To be held by several.
    pub fn new(testbed: Testbed) -> Simulated {
        Simulated(Arc::new(Mutex::new(testbed)))
    }

    /// The testbed, for one call.
    pub fn lock(&self) -> MutexGuard<'_, Testbed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to a switch.
#[derive(Clone)]
pub enum Line {
    /// Over a socket.
    Live(Connection),
    /// To a simulated switch.
    Simulated(Simulated),
}

impl Line {
    /// The wire version agreed on.
    pub fn version(&self) -> u8 {
        match self {
            Line::Live(connection) => connection.version(),
            Line::Simulated(simulated) => simulated.lock().version().wire(),
        }
    }

    /// The FEATURES_REPLY, whole.
    pub fn features(&self) -> Vec<u8> {
        match self {
            Line::Live(connection) => connection.features().to_vec(),
            Line::Simulated(simulated) => simulated.lock().features().to_vec(),
        }
    }

    /// The switch's datapath id.
    pub fn datapath_id(&self) -> Option<u64> {
        self.features().get(8..16).map(|b| u64::from_be_bytes(b.try_into().expect("eight bytes")))
    }

    /// The peer's name by its certificate, with TLS.
    pub fn peer_name(&self) -> Option<String> {
        match self {
            Line::Live(connection) => connection.peer_name().map(str::to_owned),
            Line::Simulated(_) => None,
        }
    }

    /// The first of `n` transaction ids that nobody else uses.
    pub fn reserve_xids(&self, n: u32) -> u32 {
        match self {
            Line::Live(connection) => connection.reserve_xids(n),
            Line::Simulated(simulated) => simulated.lock().reserve_xids(n),
        }
    }

    /// A request and its reply.
    pub fn transact_raw(&self, request: &[u8], timeout: Duration) -> Result<Vec<Reply>, ChannelError> {
        match self {
            Line::Live(connection) => connection.transact_raw(request, timeout),
            Line::Simulated(simulated) => simulated.lock().transact_raw(request, timeout),
        }
    }

    /// Messages without replies, and a barrier.
    pub fn apply_raw(&self, messages: &mut [Vec<u8>], timeout: Duration) -> Result<Nanos, ChannelError> {
        match self {
            Line::Live(connection) => connection.apply_raw(messages, timeout),
            Line::Simulated(simulated) => simulated.lock().apply_raw(messages, timeout),
        }
    }

    /// A barrier; when its reply came.
    pub fn barrier(&self, timeout: Duration) -> Result<Nanos, ChannelError> {
        match self {
            Line::Live(connection) => connection.barrier(timeout),
            Line::Simulated(simulated) => simulated.lock().barrier(timeout),
        }
    }

    /// Messages that came unasked.
    pub fn take_log(&self) -> Log {
        match self {
            Line::Live(connection) => connection.take_log(),
            Line::Simulated(simulated) => simulated.lock().take_log(),
        }
    }

    /// Messages that the log had no room for.
    pub fn log_dropped(&self) -> u64 {
        match self {
            Line::Live(connection) => connection.log_dropped(),
            Line::Simulated(_) => 0,
        }
    }

    /// Echo requests left unanswered.
    pub fn echoes_dropped(&self) -> u64 {
        match self {
            Line::Live(connection) => connection.echoes_dropped(),
            Line::Simulated(_) => 0,
        }
    }

    /// Bytes that wait to be sent.
    pub fn queued_bytes(&self) -> u64 {
        match self {
            Line::Live(connection) => connection.queued_bytes(),
            Line::Simulated(_) => 0,
        }
    }

    /// Where messages are stamped.
    pub fn stamps(&self) -> &'static str {
        match self {
            Line::Live(connection) => match connection.timestamps() {
                Timestamps::Kernel => "kernel receive",
                Timestamps::Read if connection.is_tls() => "decryption",
                Timestamps::Read => "user receive",
                Timestamps::Mixed { .. } => "kernel receive, some user receive",
            },
            Line::Simulated(_) => "arrival in virtual time",
        }
    }

    /// Messages of a type received so far.
    pub fn received(&self, kind: u8) -> u64 {
        match self {
            Line::Live(connection) => connection.received(kind),
            Line::Simulated(simulated) => simulated.lock().received(kind),
        }
    }

    /// Why it has ended.
    pub fn ended(&self) -> Option<ChannelError> {
        match self {
            Line::Live(connection) => connection.ended(),
            Line::Simulated(simulated) => simulated.lock().ended(),
        }
    }

    /// Closes it.
    pub fn close(&self) {
        match self {
            Line::Live(connection) => connection.close(),
            Line::Simulated(simulated) => simulated.lock().close(),
        }
    }

    /// Starts a play.
    pub fn play(&self, source: Box<dyn Source>, options: PlayOptions) -> Playing {
        match self {
            Line::Live(connection) => Playing::Live(Play::start(connection, source, options)),
            Line::Simulated(simulated) => {
                let handle = simulated.lock().play(source, &options);
                Playing::Simulated(simulated.clone(), handle)
            }
        }
    }
}

/// A play on its way.
pub enum Playing {
    /// Over a socket.
    Live(Play),
    /// To a simulated switch.
    Simulated(Simulated, Handle),
}

impl Playing {
    /// What came of it, if it is over within that time.
    pub fn wait(&self, timeout: Duration) -> Option<Arc<PlayResult>> {
        match self {
            Playing::Live(play) => play.wait(Some(timeout)).ok(),
            Playing::Simulated(simulated, handle) => {
                simulated.lock().wait_play(handle, timeout);
                handle.result()
            }
        }
    }

    /// Ends it; what was done.
    pub fn stop(&self) -> Option<Arc<PlayResult>> {
        match self {
            Playing::Live(play) => Some(play.stop()),
            Playing::Simulated(simulated, handle) => {
                simulated.lock().end_play(handle);
                handle.result()
            }
        }
    }
}
