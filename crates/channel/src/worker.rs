//! The I/O thread of an endpoint: accepts or connects, gives each connection its turns, and sleeps between.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flowgauge_clock::{Clock, Nanos};

use crate::arrivals::Arrivals;
use crate::config::Config;
use crate::connection::Connection;
use crate::error::ChannelError;
use crate::link::{Link, Turn};
use crate::netns;
use crate::poll::{Poll, Wake};
use crate::shared::Shared;
use crate::socket::Socket;

const WAKE: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;
const CONNECT_SLICE: Duration = Duration::from_millis(500);
const CONNECT_PAUSE: Nanos = Nanos::from_millis(20);

/// How an endpoint gets its connections.
pub enum Source {
    /// Peers connect to us.
    Listener(TcpListener),
    /// We connect to this address; with `reconnect`, again when the connection has ended.
    Connect(SocketAddr),
}

/// The state of an endpoint's I/O thread.
pub struct Worker {
    config: Config,
    source: Source,
    wake: Arc<Wake>,
    stop: Arc<AtomicBool>,
    arrivals: Arc<Arrivals>,
    poll: Poll,
    links: Vec<Option<Link>>,
    /// When to try to connect (again).
    connect_at: Option<Nanos>,
    acceptable: bool,
}

impl Worker {
    /// Everything that may fail happens here, on the caller's thread.
    pub fn new(
        config: Config,
        source: Source,
        wake: Arc<Wake>,
        stop: Arc<AtomicBool>,
        arrivals: Arc<Arrivals>,
    ) -> std::io::Result<Worker> {
        let poll = Poll::new()?;
        poll.add(wake.as_raw_fd(), WAKE)?;
        let connect_at = match &source {
            Source::Listener(listener) => {
                listener.set_nonblocking(true)?;
                poll.add(listener.as_raw_fd(), LISTENER)?;
                None
            }
            Source::Connect(_) => Some(Nanos::ZERO),
        };
        Ok(Worker {
            config,
            source,
            wake,
            stop,
            arrivals,
            poll,
            links: Vec::new(),
            connect_at,
            acceptable: true,
        })
    }

    /// Runs until told to stop, then closes every connection.
    pub fn run(mut self) {
        precise_sleep();
        let spin = Nanos(self.config.spin.as_nanos() as u64);
        let mut busy_at = Clock.now();
        while !self.stop.load(Ordering::Acquire) {
            self.accept();
            self.connect();
            let busy = self.turn_links(Clock.now());
            let now = Clock.now();
            if busy {
                // Counted from the turn's end: a long turn must not look like a long idleness.
                busy_at = now;
            }
            self.wait(now, busy || now - busy_at < spin, spin);
        }
        for link in self.links.drain(..).flatten() {
            link.end(&ChannelError::ClosedHere);
        }
        self.arrivals.push(Err(ChannelError::ClosedHere));
    }

    /// Collects events: at once while there was work lately or a deadline is near, else asleep.
    fn wait(&mut self, now: Nanos, active: bool, spin: Nanos) {
        let deadline = self.links.iter().flatten().filter_map(Link::deadline).chain(self.connect_at).min();
        let until = deadline.map(|d| d - now);
        let spinning = active || until.is_some_and(|left| left <= spin);
        // epoll lets a wait end up to a thousandth late: wait a little less first, then for the rest.
        let early = |left: Nanos| left - spin - Nanos(left.0 / 500);
        let mut timeout = if spinning { Some(Nanos::ZERO) } else { until.map(early) };
        if !spinning {
            self.wake.about_to_sleep();
            let work = self.links.iter().flatten().any(Link::has_work) || self.stop.load(Ordering::Acquire);
            if work {
                timeout = Some(Nanos::ZERO);
            }
        }
        for ready in self.poll.wait(timeout) {
            match ready.token {
                WAKE => self.wake.drain(),
                LISTENER => self.acceptable = true,
                token => {
                    if let Some(Some(link)) = self.links.get_mut(token as usize) {
                        link.readable |= ready.readable;
                        link.writable |= ready.writable;
                    }
                }
            }
        }
        if !spinning {
            self.wake.awake();
        }
    }

    fn turn_links(&mut self, now: Nanos) -> bool {
        let mut busy = false;
        for slot in &mut self.links {
            let Some(link) = slot else { continue };
            let turn = link.turn(now);
            if link.came_up() {
                self.arrivals.push(Ok(Connection::new(link.shared.clone())));
            }
            match turn {
                Ok(Turn::Busy) => busy = true,
                Ok(Turn::Idle) => {}
                Err(why) => {
                    busy = true;
                    let link = slot.take().expect("it just had its turn");
                    let was_up = link.shared.agreed.get().is_some();
                    link.end(&why);
                    if !was_up {
                        self.arrivals.push(Err(why));
                    }
                    if self.config.reconnect && matches!(self.source, Source::Connect(_)) {
                        self.connect_at = Some(now + CONNECT_PAUSE);
                    }
                }
            }
        }
        busy
    }

    fn accept(&mut self) {
        while self.acceptable {
            let Source::Listener(listener) = &self.source else { return };
            match listener.accept() {
                Ok((stream, _)) => self.adopt(stream),
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                // Nobody waits, or no descriptors are left: the next event tells.
                Err(_) => self.acceptable = false,
            }
        }
    }

    /// Tries to connect when it is time. This blocks, which harms nobody: a connecting endpoint has no
    /// other connection meanwhile.
    fn connect(&mut self) {
        let Source::Connect(address) = self.source else { return };
        if self.connect_at.is_none_or(|at| Clock.now() < at) {
            return;
        }
        let attempt = netns::within(self.config.netns.as_deref(), || {
            TcpStream::connect_timeout(&address, CONNECT_SLICE)
        });
        match attempt {
            Ok(stream) => {
                self.connect_at = None;
                self.adopt(stream);
            }
            Err(error) => {
                self.arrivals.attempt_failed(error.to_string());
                self.connect_at = Some(Clock.now() + CONNECT_PAUSE);
            }
        }
    }

    fn adopt(&mut self, stream: TcpStream) {
        let Ok(socket) = Socket::new(stream) else { return };
        let token = self.links.iter().position(Option::is_none).unwrap_or(self.links.len());
        if self.poll.add(socket.as_raw_fd(), token as u64).is_err() {
            return;
        }
        let shared = Arc::new(Shared::new(self.wake.clone(), socket.peer()));
        let link = Some(Link::new(socket, shared, self.config.clone()));
        if token == self.links.len() {
            self.links.push(link);
        } else {
            self.links[token] = link;
        }
    }
}

/// Lets this thread's sleeps end on time instead of up to 50 us later.
fn precise_sleep() {
    // SAFETY: sets a number of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}
