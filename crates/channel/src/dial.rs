//! The connecting role: attempts that don't block, and when to make the next.

use std::io::{self, ErrorKind};
use std::mem::size_of;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use flowgauge_clock::Nanos;

use crate::config::{Backoff, Config};
use crate::error::ChannelError;
use crate::netns;
use crate::tcp::ask_for_stamps;

/// How long one attempt may take: a lost SYN is sent again after a second.
const ATTEMPT: Nanos = Nanos::from_secs(3);

/// Connects to one address, again and again.
pub struct Dialer {
    at: SocketAddr,
    netns: Option<PathBuf>,
    reconnect: bool,
    backoff: Backoff,
    pause: Duration,
    was_up: bool,
    state: State,
}

enum State {
    /// The next attempt is due then.
    Due(Nanos),
    /// An attempt is under way until then; whether an event has come for it.
    Trying(TcpStream, Nanos, bool),
    /// A connection is there, or no attempt is wanted any more.
    Resting,
}

/// What a look at the dialer came to.
pub enum Dialed {
    /// Nothing to do now.
    Nothing,
    /// An attempt has begun: watch its descriptor.
    Begun,
    /// Connected.
    Done(TcpStream),
    /// This attempt failed; the next is planned.
    Failed(io::Error),
}

impl Dialer {
    /// The first attempt is due at once.
    pub fn new(at: SocketAddr, config: &Config) -> Dialer {
        Dialer {
            at,
            netns: config.netns.clone(),
            reconnect: config.reconnect,
            backoff: config.backoff,
            pause: config.backoff.first,
            was_up: false,
            state: State::Due(Nanos::ZERO),
        }
    }

    /// Where it connects to.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// The attempt under way, to be watched.
    pub fn socket(&self) -> Option<&TcpStream> {
        match &self.state {
            State::Trying(stream, ..) => Some(stream),
            State::Due(_) | State::Resting => None,
        }
    }

    /// When it wants a look without an event.
    pub fn deadline(&self) -> Option<Nanos> {
        match &self.state {
            State::Due(at) | State::Trying(_, at, _) => Some(*at),
            State::Resting => None,
        }
    }

    /// An event has come for the attempt under way.
    pub fn event(&mut self) {
        if let State::Trying(_, _, ready) = &mut self.state {
            *ready = true;
        }
    }

    /// Begins, checks or gives up an attempt.
    pub fn look(&mut self, now: Nanos) -> Dialed {
        match std::mem::replace(&mut self.state, State::Resting) {
            State::Due(at) if now >= at => match begin(self.at, self.netns.as_ref()) {
                Ok(stream) => {
                    self.state = State::Trying(stream, now + ATTEMPT, false);
                    Dialed::Begun
                }
                Err(error) => self.failed(error, now),
            },
            State::Trying(stream, _, true) => match outcome(&stream) {
                Ok(true) => Dialed::Done(stream),
                Ok(false) => {
                    self.state = State::Trying(stream, now + ATTEMPT, false);
                    Dialed::Nothing
                }
                Err(error) => self.failed(error, now),
            },
            State::Trying(_, until, false) if now >= until => {
                self.failed(io::Error::new(ErrorKind::TimedOut, "connection timed out"), now)
            }
            other => {
                self.state = other;
                Dialed::Nothing
            }
        }
    }

    fn failed(&mut self, error: io::Error, now: Nanos) -> Dialed {
        self.plan(now);
        Dialed::Failed(error)
    }

    /// The connection could not even be taken over.
    pub fn plan(&mut self, now: Nanos) {
        self.state = State::Due(now + Nanos(u64::try_from(self.pause.as_nanos()).unwrap_or(u64::MAX)));
        self.pause = self.pause.saturating_mul(2).min(self.backoff.most).max(self.backoff.first);
    }

    /// The connection has ended after `lasted`; whether it was up, and why it ended.
    pub fn ended(&mut self, now: Nanos, lasted: Nanos, was_up: bool, why: &ChannelError) {
        self.was_up |= was_up;
        let again = self.reconnect || !self.was_up && may_mend(why);
        if !again {
            return;
        }
        if was_up && Duration::from_nanos(lasted.0) > self.backoff.most {
            self.pause = self.backoff.first;
        }
        self.plan(now);
    }
}

/// Whether another attempt may do better after a handshake that ended so: the peer may just be starting.
pub fn may_mend(why: &ChannelError) -> bool {
    match why {
        ChannelError::Closed { .. }
        | ChannelError::ClosedEarly
        | ChannelError::Reset { .. }
        | ChannelError::Timeout { .. }
        | ChannelError::NeverConnected { .. } => true,
        ChannelError::PortBusy { .. }
        | ChannelError::Setup { .. }
        | ChannelError::VersionMismatch { .. }
        | ChannelError::Garbage { .. }
        | ChannelError::ClosedHere
        | ChannelError::Tls { .. }
        | ChannelError::TlsFile { .. }
        | ChannelError::OutboxFull { .. }
        | ChannelError::ReplyTooLong { .. }
        | ChannelError::Rejected { .. }
        | ChannelError::Encode(_)
        | ChannelError::Decode(_) => false,
    }
}

/// Begins to connect; an event tells when that has come to something.
fn begin(at: SocketAddr, namespace: Option<&PathBuf>) -> io::Result<TcpStream> {
    let family = if at.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let stream = netns::within(namespace.map(PathBuf::as_path), || {
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe { libc::socket(family, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else owns it.
        Ok(TcpStream::from(unsafe { OwnedFd::from_raw_fd(fd) }))
    })?;
    // Before the first byte can come, so that it is stamped too.
    ask_for_stamps(stream.as_raw_fd());
    match connect(&stream, at) {
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(stream),
        Err(e) => Err(e),
        Ok(()) => Ok(stream),
    }
}

fn connect(stream: &TcpStream, at: SocketAddr) -> io::Result<()> {
    let fd = stream.as_raw_fd();
    let result = match at {
        SocketAddr::V4(v4) => {
            let address = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            };
            // SAFETY: `address` is of the stated type and length, and alive.
            unsafe {
                libc::connect(
                    fd,
                    (&raw const address).cast(),
                    size_of::<libc::sockaddr_in>() as libc::socklen_t,
                )
            }
        }
        SocketAddr::V6(v6) => {
            let address = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: as above.
            unsafe {
                libc::connect(
                    fd,
                    (&raw const address).cast(),
                    size_of::<libc::sockaddr_in6>() as libc::socklen_t,
                )
            }
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether an attempt has come to a connection; `false` while it is under way.
fn outcome(stream: &TcpStream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    match stream.peer_addr() {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::NotConnected => Ok(false),
        Err(e) => Err(e),
    }
}
