//! The I/O thread of an endpoint: accepts and connects, gives each connection its turns, and sleeps between.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flowgauge_clock::{Clock, Nanos};

use crate::arrivals::Arrivals;
use crate::config::Config;
use crate::connection::Connection;
use crate::dial::Dialed;
use crate::error::ChannelError;
use crate::link::{Link, Turn};
use crate::poll::{Poll, Wake};
use crate::shared::Shared;
use crate::socket::Socket;
use crate::source::{How, Source};
use crate::tls::TlsStream;

const WAKE: u64 = u64::MAX;
/// Tokens from here on are those of sources, tokens below those of links.
const SOURCES: u64 = 1 << 32;
/// Peers accepted in one turn: a flood of them must not keep the others waiting.
const ACCEPTS: usize = 8;
/// TLS handshakes that go on in one pass over the connections: each may take the signature's millisecond, and a crowd of
/// them must not keep the others waiting.
const HANDSHAKES: usize = 2;

/// The state of an endpoint's I/O thread.
pub struct Worker {
    config: Config,
    sources: Vec<Source>,
    wake: Arc<Wake>,
    stop: Arc<AtomicBool>,
    arrivals: Arc<Arrivals>,
    poll: Poll,
    links: Vec<Option<Link>>,
    /// Links before this one have had their turn at a TLS handshake.
    handshake_from: usize,
}

impl Worker {
    /// Everything that may fail happens here, on the caller's thread.
    pub fn new(
        config: Config,
        sources: Vec<Source>,
        wake: Arc<Wake>,
        stop: Arc<AtomicBool>,
        arrivals: Arc<Arrivals>,
    ) -> std::io::Result<Worker> {
        let poll = Poll::new()?;
        poll.add(wake.as_raw_fd(), WAKE)?;
        for (source, token) in sources.iter().zip(SOURCES..) {
            if let How::Listen(listener) = &source.how {
                poll.add(listener.as_raw_fd(), token)?;
            }
        }
        Ok(Worker { config, sources, wake, stop, arrivals, poll, links: Vec::new(), handshake_from: 0 })
    }

    /// Runs until told to stop, then closes every connection.
    pub fn run(mut self) {
        precise_sleep();
        let spin = Nanos(self.config.spin.as_nanos() as u64);
        let mut busy_at = Clock.now();
        while !self.stop.load(Ordering::Acquire) {
            let opened = self.open(Clock.now());
            let busy = self.turn_links(Clock.now()) || opened;
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
        self.arrivals.close();
    }

    /// Collects events: at once while there was work lately or a deadline is near, else asleep.
    fn wait(&mut self, now: Nanos, active: bool, spin: Nanos) {
        let sources = self.sources.iter().filter_map(Source::deadline);
        let deadline = self.links.iter().flatten().filter_map(Link::deadline).chain(sources).min();
        let until = deadline.map(|d| d - now);
        let spinning = active || until.is_some_and(|left| left <= spin);
        // epoll lets a wait end up to a thousandth late: wait a little less first, then for the rest.
        let early = |left: Nanos| left - spin - Nanos(left.0 / 500);
        let mut timeout = if spinning { Some(Nanos::ZERO) } else { until.map(early) };
        if !spinning {
            self.wake.about_to_sleep();
            let work = self.links.iter().flatten().any(Link::has_work)
                || self.sources.iter().any(Source::has_work)
                || self.stop.load(Ordering::Acquire);
            if work {
                timeout = Some(Nanos::ZERO);
            }
        }
        for ready in self.poll.wait(timeout) {
            match ready.token {
                WAKE => self.wake.drain(),
                token if token >= SOURCES => {
                    match self.sources.get_mut((token - SOURCES) as usize).map(|source| &mut source.how) {
                        Some(How::Listen(listener)) => listener.event(),
                        Some(How::Dial(dialer)) => dialer.event(),
                        None => {}
                    }
                }
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
        let (first, mut handshakes, mut next) = (std::mem::take(&mut self.handshake_from), 0, 0);
        for (index, slot) in self.links.iter_mut().enumerate() {
            let Some(link) = slot else { continue };
            if link.has_handshake_work() {
                busy = true;
                if index < first || handshakes == HANDSHAKES {
                    continue;
                }
                handshakes += 1;
                next = index + 1;
            }
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
                    let (source, lasted) = (link.source, now - link.opened());
                    link.end(&why);
                    if let How::Dial(dialer) = &mut self.sources[source].how {
                        dialer.ended(now, lasted, was_up, &why);
                    }
                    if !was_up {
                        self.arrivals.push(Err(why));
                    }
                }
            }
        }
        if handshakes == HANDSHAKES {
            // The rest goes on there next time.
            self.handshake_from = next;
        }
        busy
    }

    /// Accepts and connects; whether anything was done.
    fn open(&mut self, now: Nanos) -> bool {
        let mut busy = false;
        for index in 0..self.sources.len() {
            busy |= match self.sources[index].how {
                How::Listen(_) => self.accept(index, now),
                How::Dial(_) => self.dial(index, now),
            };
        }
        busy
    }

    fn accept(&mut self, index: usize, now: Nanos) -> bool {
        for n in 0..ACCEPTS {
            let How::Listen(listener) = &mut self.sources[index].how else { return false };
            let Some(stream) = listener.accept(now) else { return n > 0 };
            if self.links.iter().flatten().count() >= self.config.max_connections {
                self.arrivals.turn_away();
                if !self.make_room() {
                    continue;
                }
            }
            // A peer that can't be served (no memory, no descriptors) finds its connection closed.
            if let Err(reason) = self.adopt(stream, index, false) {
                self.arrivals.attempt_failed(reason);
            }
        }
        true
    }

    /// Lets the connection go that has been in its handshake for longest: who opens connections and says nothing must not
    /// keep others out. `false` when all are up.
    fn make_room(&mut self) -> bool {
        let opening = self.links.iter_mut().filter(|slot| slot.as_ref().is_some_and(|link| !link.is_up()));
        let Some(oldest) = opening.min_by_key(|slot| slot.as_ref().map(Link::opened)) else { return false };
        if let Some(link) = oldest.take() {
            link.end(&ChannelError::ClosedHere);
        }
        true
    }

    fn dial(&mut self, index: usize, now: Nanos) -> bool {
        let How::Dial(dialer) = &mut self.sources[index].how else { return false };
        let failure = match dialer.look(now) {
            Dialed::Nothing => return false,
            Dialed::Begun => {
                let socket = dialer.socket().expect("an attempt has begun");
                self.poll.add(socket.as_raw_fd(), SOURCES + index as u64).err().map(|e| e.to_string())
            }
            Dialed::Done(stream) => self.adopt(stream, index, true).err(),
            Dialed::Failed(error) => {
                self.arrivals.attempt_failed(error.to_string());
                return true;
            }
        };
        if let (Some(reason), How::Dial(dialer)) = (failure, &mut self.sources[index].how) {
            dialer.plan(now);
            self.arrivals.attempt_failed(reason);
        }
        true
    }

    /// Makes a link of a connected stream. `watched`: whether the poll has its descriptor already.
    fn adopt(&mut self, stream: TcpStream, source: usize, watched: bool) -> Result<(), String> {
        let tls = self.secure(source).map_err(|e| e.to_string())?;
        let socket = Socket::new(stream, tls).map_err(|e| e.to_string())?;
        let token = self.links.iter().position(Option::is_none).unwrap_or(self.links.len());
        let add = if watched { Poll::rename } else { Poll::add };
        add(&self.poll, socket.as_raw_fd(), token as u64).map_err(|e| e.to_string())?;
        let from = (source, self.sources[source].address);
        let shared = Arc::new(Shared::new(self.wake.clone(), socket.peer(), from, &self.config));
        let link = Some(Link::new(socket, shared, self.config.clone(), source));
        if token == self.links.len() {
            self.links.push(link);
        } else {
            self.links[token] = link;
        }
        Ok(())
    }

    /// TLS for a connection from this source, if its address asks for it.
    fn secure(&self, source: usize) -> Result<Option<TlsStream>, ChannelError> {
        let Source { address, how } = &self.sources[source];
        let Some(tls) = self.config.tls.as_ref().filter(|_| address.is_tls()) else { return Ok(None) };
        match how {
            How::Listen(_) => tls.server().map(Some),
            How::Dial(dialer) => tls.client(dialer.at()).map(Some),
        }
    }
}

/// Lets this thread's sleeps end on time instead of up to 50 us later.
fn precise_sleep() {
    // SAFETY: sets a number of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}
