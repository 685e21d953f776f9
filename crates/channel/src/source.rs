//! Where an endpoint's connections come from: its addresses, each listening or connecting.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};

use flowgauge_clock::Nanos;

use crate::address::Address;
use crate::dial::Dialer;

/// When to look again after the system had no descriptor left for a waiting peer.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(100);

/// How an endpoint gets connections at one of its addresses.
pub struct Source {
    /// The address; of a listener, with the port that the system chose.
    pub address: Address,
    /// What is done there.
    pub how: How,
}

/// What is done at an address.
pub enum How {
    /// Peers connect to us.
    Listen(Listener),
    /// We connect.
    Dial(Dialer),
}

/// A listening socket.
pub struct Listener {
    socket: TcpListener,
    acceptable: bool,
    retry_at: Option<Nanos>,
}

impl Listener {
    /// Takes over a bound socket.
    pub fn new(socket: TcpListener) -> std::io::Result<Listener> {
        socket.set_nonblocking(true)?;
        Ok(Listener { socket, acceptable: true, retry_at: None })
    }

    /// A peer may be waiting.
    pub fn event(&mut self) {
        self.acceptable = true;
    }

    /// A peer that waits, if one does.
    pub fn accept(&mut self, now: Nanos) -> Option<TcpStream> {
        if self.retry_at.is_some_and(|at| now >= at) {
            self.retry_at = None;
            self.acceptable = true;
        }
        while self.acceptable {
            match self.socket.accept() {
                Ok((stream, _)) => return Some(stream),
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(e) => {
                    self.acceptable = false;
                    if e.kind() != ErrorKind::WouldBlock {
                        self.retry_at = Some(now + ACCEPT_PAUSE);
                    }
                }
            }
        }
        None
    }
}

impl Source {
    /// When it wants a look without an event.
    pub fn deadline(&self) -> Option<Nanos> {
        match &self.how {
            How::Listen(listener) => listener.retry_at,
            How::Dial(dialer) => dialer.deadline(),
        }
    }

    /// Whether there is work that no event will announce.
    pub fn has_work(&self) -> bool {
        matches!(&self.how, How::Listen(listener) if listener.acceptable)
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}
