//! Jobs run inside a connection's I/O loop, where messages can be paced and stamped without a thread in between.

use flowgauge_clock::{Clock, Nanos};

use crate::error::ChannelError;
use crate::outbox::{Writer, Written};
use crate::socket::Socket;

/// When a job wants its next turn. Turns may come sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At this time, whether or not the socket takes bytes.
    At(Nanos),
    /// As soon as the socket takes bytes, at the latest at this time.
    Writable(Nanos),
    /// When a message has come that the job claimed, or when it is poked.
    Received,
    /// Never: the job has ended and is dropped.
    Done,
}

/// Something that sends and receives on the I/O thread. It must never block.
pub trait Job: Send {
    /// Sends what is due, and says when to be called again.
    fn turn(&mut self, io: &mut dyn JobIo) -> Next;

    /// A message has come that is no echo request: `true` claims it (nobody else will see it), and the job
    /// gets a turn soon.
    fn received(&mut self, frame: &[u8], stamp: Nanos) -> bool;

    /// The connection has ended; the job is dropped afterwards. `acknowledged`: stream position up to which
    /// the peer's TCP had acknowledged what we sent.
    fn ended(&mut self, why: &ChannelError, acknowledged: u64);
}

/// What a job may do in its turn.
pub trait JobIo {
    /// The tester's clock.
    fn now(&self) -> Nanos;

    /// Hands whole messages over, as many as are taken; none while earlier messages still wait.
    fn write(&mut self, messages: &[u8]) -> Written;

    /// Stream position up to which the peer's TCP has acknowledged our bytes (a system call on a socket).
    fn acknowledged(&mut self) -> u64;
}

/// A turn on a socket.
pub(crate) struct SocketIo<'a> {
    pub writer: &'a mut Writer,
    pub socket: &'a mut Socket,
    pub failed: Option<ChannelError>,
    pub full: bool,
}

impl JobIo for SocketIo<'_> {
    fn now(&self) -> Nanos {
        Clock.now()
    }

    fn write(&mut self, messages: &[u8]) -> Written {
        if !self.writer.is_empty() || self.full || messages.is_empty() {
            return Written { taken: 0, at: Clock.now(), position: self.socket.written() };
        }
        let written = self.writer.write(self.socket, messages).unwrap_or_else(|error| {
            self.failed = Some(error);
            Written { taken: 0, at: Clock.now(), position: self.socket.written() }
        });
        self.full = !self.writer.is_empty() || written.taken < messages.len();
        written
    }

    fn acknowledged(&mut self) -> u64 {
        self.socket.acknowledged()
    }
}
