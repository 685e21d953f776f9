//! How a channel behaves.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::hello::Versions;
use crate::tls::Tls;

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

/// How a dead peer is found: an ECHO_REQUEST after each `idle` without a message, the end after `misses` of them
/// without an answer. Any message counts as a sign of life, bytes that complete none do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// How long the peer may be silent, and how long it has for each answer.
    pub idle: Duration,
    /// So many unanswered requests end the connection.
    pub misses: u32,
}

impl KeepAlive {
    /// Three misses.
    pub const fn every(idle: Duration) -> KeepAlive {
        KeepAlive { idle, misses: 3 }
    }
}

/// How long a connecting endpoint waits between attempts: `first`, then twice as long each time up to `most`;
/// `first` again once a connection has lasted longer than `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// The longest pause.
    pub most: Duration,
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
    /// Look for a dead peer; `None` leaves that to TCP.
    pub keep_alive: Option<KeepAlive>,
    /// Memory that the log of one connection may take, in bytes (each message counts as 144 at least). As long as
    /// nobody has taken a connection from its endpoint it gets 16 MiB at most.
    pub log_cap: usize,
    /// What happens then.
    pub when_full: WhenFull,
    /// Connect again after a connection that was up has ended. (Attempts before the first that comes up go on anyway,
    /// as long as another might do better; a listener serves one peer after the other and several at once.)
    pub reconnect: bool,
    /// Pauses between attempts to connect.
    pub backoff: Backoff,
    /// Refuse to queue more ([`crate::ChannelError::OutboxFull`]) once so many bytes wait to be sent; `None`: never.
    pub outbox_cap: Option<u64>,
    /// Bytes that all parts of one reply may have.
    pub reply_cap: usize,
    /// Connections that an endpoint serves at once. One more takes the place of the oldest whose handshake is not complete;
    /// when all are up it is closed at once. Either is counted ([`crate::Channel::turned_away`]).
    pub max_connections: usize,
    /// Our key, certificate and authorities: for `ssl:` and `pssl:` addresses.
    pub tls: Option<Tls>,
    /// Whom to wake when messages have been logged.
    pub notify: Option<Notify>,
}

impl Config {
    /// A controller's side: offers 1.0 and 1.3, logs up to 4 GiB (a quarter of the memory, if that is less), and
    /// leaves a dead or lost connection alone: that is a result.
    pub fn controller() -> Config {
        Config {
            role: Role::Controller,
            versions: Versions::new(&[1, 4]).expect("known versions"),
            netns: None,
            spin: Duration::from_micros(50),
            handshake_timeout: Duration::from_secs(5),
            answer_echo: true,
            keep_alive: None,
            log_cap: (4 << 30).min(memory() / 4),
            when_full: WhenFull::Drop,
            reconnect: false,
            backoff: Backoff { first: Duration::from_millis(20), most: Duration::from_millis(200) },
            outbox_cap: None,
            reply_cap: 512 << 20,
            max_connections: 256,
            tls: None,
            notify: None,
        }
    }

    /// A switch's side: requests wait in the log, whose cap (1 MiB) holds the controller back. It looks for dead
    /// controllers (5 s, 3 misses), and connects again and again.
    pub fn switch() -> Config {
        Config {
            role: Role::Switch,
            log_cap: 1 << 20,
            when_full: WhenFull::Pause,
            reconnect: true,
            backoff: Backoff { first: Duration::from_millis(20), most: Duration::from_secs(2) },
            keep_alive: Some(KeepAlive::every(Duration::from_secs(5))),
            ..Config::controller()
        }
    }
}

/// This machine's memory in bytes.
fn memory() -> usize {
    // SAFETY: asks for two numbers.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(size).unwrap_or(0)).max(1 << 30)
}
