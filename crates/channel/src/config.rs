//! How a channel behaves.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::hello::Versions;

/// Which side of OpenFlow we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// We ask for the switch's features as soon as versions are agreed.
    Controller,
    /// We say HELLO and then deliver what the controller asks.
    Switch,
}

/// What to do with a received message when the log is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Count it and forget it: receipt never stalls.
    Drop,
    /// Stop reading until the log is taken: the peer's TCP waits.
    Pause,
}

/// Called on the I/O thread after messages were put into the log: it should only wake somebody.
pub type Notify = Arc<dyn Fn() + Send + Sync>;

/// How a channel behaves. `Config::controller()` and `Config::switch()` give the defaults.
#[derive(Clone)]
pub struct Config {
    /// Which side of OpenFlow we are.
    pub role: Role,
    /// The versions that we offer; one alone is forced.
    pub versions: Versions,
    /// The network namespace in which the sockets live (a path, or a name as `ip netns` knows it).
    pub netns: Option<PathBuf>,
    /// How long the I/O thread looks for work without sleeping after it last had some.
    pub spin: Duration,
    /// How long the peer may take for HELLO and FEATURES_REPLY.
    pub handshake_timeout: Duration,
    /// Answer ECHO_REQUESTs at once, ahead of everything queued.
    pub answer_echo: bool,
    /// Send an ECHO_REQUEST after this much silence, and give up after as much again.
    pub keep_alive: Option<Duration>,
    /// Bytes that the log may hold.
    pub log_cap: usize,
    /// What happens then.
    pub when_full: WhenFull,
    /// Connect again (or serve the next peer) after a connection has ended. Listening always does.
    pub reconnect: bool,
    /// Whom to wake when messages have been logged.
    pub notify: Option<Notify>,
}

impl Config {
    /// A controller's side: offers 1.0 and 1.3, logs up to 4 GiB.
    pub fn controller() -> Config {
        Config {
            role: Role::Controller,
            versions: Versions::new(&[1, 4]).expect("known versions"),
            netns: None,
            spin: Duration::from_micros(50),
            handshake_timeout: Duration::from_secs(5),
            answer_echo: true,
            keep_alive: None,
            log_cap: 4 << 30,
            when_full: WhenFull::Drop,
            reconnect: false,
            notify: None,
        }
    }

    /// A switch's side: requests wait in the log, whose cap (1 MiB) holds the controller back.
    pub fn switch() -> Config {
        Config {
            role: Role::Switch,
            log_cap: 1 << 20,
            when_full: WhenFull::Pause,
            reconnect: true,
            ..Config::controller()
        }
    }
}
