//! One connection in the I/O loop: socket, framing, session, writer and jobs, each turn in that order.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowgauge_clock::{Clock, Nanos};

use crate::config::Config;
use crate::error::ChannelError;
use crate::framing::Framer;
use crate::job::{Job, Next, SocketIo};
use crate::outbox::{Flush, Writer};
use crate::session::Session;
use crate::shared::{Command, Shared, lock};
use crate::socket::Socket;
use crate::tcp::Read;

/// Reads per turn before writing has its turn.
const READS: usize = 16;
/// How long a close waits for queued bytes to leave, and for the peer to close too.
const CLOSE_TIMEOUT: Nanos = Nanos::from_secs(1);

/// One connection in the loop.
pub struct Link {
    pub shared: Arc<Shared>,
    socket: Socket,
    framer: Framer,
    session: Session,
    writer: Writer,
    jobs: Vec<(Box<dyn Job>, bool)>,
    due: Vec<Next>,
    emptied: Vec<Vec<u8>>,
    pub readable: bool,
    pub writable: bool,
    poked: bool,
    closing: Option<Nanos>,
    half_closed: bool,
    config: Config,
    opened: Nanos,
    /// When the last whole message came.
    heard: Nanos,
    was_up: bool,
    /// Which of its endpoint's addresses it came from.
    pub source: usize,
}

/// What a turn came to.
pub enum Turn {
    /// Something was done: turn again soon.
    Busy,
    /// Nothing to do until an event or the deadline.
    Idle,
}

impl Link {
    /// Takes over a connected socket and queues our HELLO.
    pub fn new(socket: Socket, shared: Arc<Shared>, config: Config, source: usize) -> Link {
        let mut writer = Writer::default();
        let session = Session::begin(config.clone(), shared.clone(), &mut writer.urgent);
        let now = Clock.now();
        Link {
            shared,
            socket,
            framer: Framer::new(),
            session,
            writer,
            jobs: Vec::new(),
            due: Vec::new(),
            emptied: Vec::new(),
            readable: true,
            writable: true,
            poked: false,
            closing: None,
            half_closed: false,
            config,
            opened: now,
            heard: now,
            was_up: false,
            source,
        }
    }

    /// Receives, sends, runs jobs.
    ///
    /// # Errors
    /// Why the connection has ended.
    pub fn turn(&mut self, now: Nanos) -> Result<Turn, ChannelError> {
        let commanded = self.commands();
        let received = self.receive(now);
        if received.is_err() {
            // Parting words (HELLO_FAILED, a TLS alert) still go out, if the socket takes them.
            let _ = self.writer.flush(&mut self.socket, drop);
            self.socket.part();
        }
        let received = received?;
        self.timeouts(now)?;
        let sent = self.send()?;
        let worked = self.run_jobs(now)?;
        self.close(now)?;
        Ok(if commanded || received || sent || worked { Turn::Busy } else { Turn::Idle })
    }

    /// Whether the handshake was completed in the last turn: true once.
    pub fn came_up(&mut self) -> bool {
        let came_up = !std::mem::replace(&mut self.was_up, self.session.is_up()) && self.session.is_up();
        if let (true, Some(name)) = (came_up, self.socket.peer_name()) {
            // Set once: a connection comes up once.
            let _ = self.shared.peer_name.set(name);
        }
        came_up
    }

    /// Whether the handshake is complete.
    pub fn is_up(&self) -> bool {
        self.session.is_up()
    }

    /// Whether its next turn will go on with a TLS handshake.
    pub fn has_handshake_work(&self) -> bool {
        self.readable && self.socket.is_handshaking()
    }

    /// When it was opened.
    pub fn opened(&self) -> Nanos {
        self.opened
    }

    /// Whether there is work that no event will announce.
    pub fn has_work(&self) -> bool {
        self.shared.has_work() || (self.readable && !self.session.is_paused())
    }

    /// When the link wants a turn even without an event.
    pub fn deadline(&self) -> Option<Nanos> {
        let jobs = self.due.iter().filter_map(|next| match next {
            Next::At(time) | Next::Writable(time) => Some(*time),
            Next::Received | Next::Done => None,
        });
        jobs.chain(self.silence_deadline()).chain(self.closing).min()
    }

    /// Tells everyone that the connection is over: first its holders, so that whoever hears of it from a job finds it so.
    pub fn end(mut self, why: &ChannelError) {
        let acknowledged = self.socket.acknowledged();
        self.session.batch_done();
        self.shared.end(why.clone());
        for (job, _) in &mut self.jobs {
            job.ended(why, acknowledged);
        }
        for command in lock(&self.shared.commands).drain(..) {
            if let Command::Start(mut job) = command {
                job.ended(why, acknowledged);
            }
        }
    }

    fn commands(&mut self) -> bool {
        if !self.shared.commanded.swap(false, Ordering::Acquire) {
            return false;
        }
        for command in lock(&self.shared.commands).drain(..) {
            match command {
                Command::Start(job) => {
                    self.jobs.push((job, true));
                    self.due.push(Next::Received);
                }
                Command::Poke => self.poked = true,
                Command::Close => self.closing = Some(Clock.now() + CLOSE_TIMEOUT),
            }
        }
        true
    }

    /// Closes in order: what is queued goes out, the peer is told, and what it still sends is read and
    /// forgotten until it closes too. (Closing with unread bytes would reset the connection, and the peer
    /// could lose what it has not read yet.)
    fn close(&mut self, now: Nanos) -> Result<(), ChannelError> {
        let Some(deadline) = self.closing else { return Ok(()) };
        if now > deadline {
            return Err(ChannelError::ClosedHere);
        }
        if !self.half_closed && self.writer.is_empty() && !self.shared.has_work() {
            // What can't leave any more does not matter.
            if self.socket.flush().unwrap_or(true) {
                self.half_closed = true;
                self.socket.shutdown_write();
            }
        }
        for _ in 0..READS {
            if !self.half_closed || !self.readable {
                break;
            }
            match self.socket.read(self.framer.space()) {
                Ok(Read::Bytes(..)) => {}
                Ok(Read::Empty) => self.readable = false,
                Ok(Read::End) | Err(_) => return Err(ChannelError::ClosedHere),
            }
        }
        Ok(())
    }

    fn receive(&mut self, now: Nanos) -> Result<bool, ChannelError> {
        let mut any = false;
        for _ in 0..READS {
            if !self.readable || self.half_closed {
                break;
            }
            if self.session.is_paused() {
                self.shared.paused.store(true, Ordering::Release);
                break;
            }
            match self.socket.read(self.framer.space()) {
                Ok(Read::Bytes(n, stamp)) => {
                    self.framer.filled(n);
                    any = true;
                    self.handle(now, stamp)?;
                }
                Ok(Read::Empty) => self.readable = false,
                Ok(Read::End) if self.closing.is_some() => return Err(ChannelError::ClosedHere),
                Ok(Read::End) if !self.session.is_up() && self.framer.received() == 0 => {
                    return Err(ChannelError::ClosedEarly);
                }
                Ok(Read::End) => return Err(ChannelError::Closed { partial: self.framer.pending() }),
                Err(error) => return Err(error),
            }
        }
        if any {
            self.session.batch_done();
        }
        Ok(any)
    }

    fn handle(&mut self, now: Nanos, kernel_stamp: Option<Nanos>) -> Result<(), ChannelError> {
        let stamp = kernel_stamp.unwrap_or_else(|| Clock.now());
        let before = self.framer.offset();
        while let Some(frame) = self.framer.next_frame(self.session.expect())? {
            let stamp = (stamp, kernel_stamp.is_some());
            self.session.frame(frame, stamp, &mut self.jobs, &mut self.writer.urgent)?;
        }
        if self.framer.offset() > before {
            self.heard = now;
        }
        Ok(())
    }

    fn timeouts(&mut self, now: Nanos) -> Result<(), ChannelError> {
        if self.silence_deadline().is_none_or(|deadline| now < deadline) {
            return Ok(());
        }
        let what = if self.socket.is_handshaking() { "TLS handshake" } else { self.session.awaited() };
        let late = |waited| Err(ChannelError::Timeout { what: what.to_owned(), waited });
        if !self.session.is_up() {
            return late(self.config.handshake_timeout);
        }
        if self.session.is_paused() {
            // It is we who don't listen.
            self.heard = now;
        } else if !self.session.silence(&mut self.writer.urgent) {
            return late(std::time::Duration::from_nanos((now - self.heard).0));
        }
        Ok(())
    }

    fn silence_deadline(&self) -> Option<Nanos> {
        let after = |from: Nanos, time: std::time::Duration| {
            Nanos(from.0.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)))
        };
        if !self.session.is_up() {
            return Some(after(self.opened, self.config.handshake_timeout));
        }
        let turns = self.session.unanswered().saturating_add(1);
        self.config.keep_alive.map(|keep| after(self.heard, keep.idle.saturating_mul(turns)))
    }

    /// Sends what is queued; `true` if something went out and more may follow.
    fn send(&mut self) -> Result<bool, ChannelError> {
        if self.session.is_up() && self.shared.outbox_filled.swap(false, Ordering::Acquire) {
            self.writer.pull(&mut lock(&self.shared.outbox));
        }
        if !self.writable {
            return Ok(false);
        }
        match self.socket.flush() {
            Ok(gone) => self.writable = gone,
            Err(error) => return self.write_failed(error),
        }
        if !self.writable || self.writer.is_empty() {
            return Ok(false);
        }
        let emptied = &mut self.emptied;
        let before = self.socket.written();
        let flushed = self.writer.flush(&mut self.socket, |chunk| emptied.push(chunk));
        self.shared.left(self.writer.take_left());
        if !self.emptied.is_empty() {
            lock(&self.shared.outbox).recycle_all(&mut self.emptied);
        }
        match flushed {
            Ok(Flush::Empty | Flush::More) => Ok(true),
            Ok(Flush::Full) => {
                self.writable = false;
                Ok(self.socket.written() > before)
            }
            Err(error) => self.write_failed(error),
        }
    }

    fn run_jobs(&mut self, now: Nanos) -> Result<bool, ChannelError> {
        let poked = std::mem::take(&mut self.poked);
        let mut any = false;
        let mut at = 0;
        while at < self.jobs.len() {
            let (job, claimed) = &mut self.jobs[at];
            let due = match self.due[at] {
                Next::At(time) => now >= time,
                Next::Writable(time) => now >= time || (self.writable && self.writer.is_empty()),
                Next::Received | Next::Done => false,
            };
            if !(due || poked || std::mem::take(claimed)) {
                at += 1;
                continue;
            }
            any = true;
            let full = !self.writable;
            let mut io = SocketIo { writer: &mut self.writer, socket: &mut self.socket, failed: None, full };
            let next = job.turn(&mut io);
            self.writable = !io.full;
            if let Some(error) = io.failed {
                return self.write_failed(error);
            }
            if next == Next::Done {
                drop(self.jobs.remove(at));
                self.due.remove(at);
            } else {
                self.due[at] = next;
                at += 1;
            }
        }
        if any && self.jobs.len() > 1 {
            // Another goes first next time: a job that fills the socket must not starve those behind it.
            self.jobs.rotate_left(1);
            self.due.rotate_left(1);
        }
        Ok(any)
    }

    /// A write failed: what the peer sent before it went away counts first, and usually says why.
    fn write_failed(&mut self, error: ChannelError) -> Result<bool, ChannelError> {
        if self.half_closed {
            return Err(ChannelError::ClosedHere);
        }
        self.writable = false;
        self.readable = true;
        while self.readable && !self.session.is_paused() {
            self.receive(Clock.now())?;
        }
        Err(error)
    }
}
