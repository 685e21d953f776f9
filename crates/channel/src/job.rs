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
    fn turn(&mut self, io: &mut JobIo<'_>) -> Next;

    /// A message has come that is no echo request: `true` claims it (nobody else will see it), and the job
    /// gets a turn soon.
    fn received(&mut self, frame: &[u8], stamp: Nanos) -> bool;

    /// The connection has ended; the job is dropped afterwards. `acknowledged`: stream position up to which
    /// the peer's TCP had acknowledged what we sent.
    fn ended(&mut self, why: &ChannelError, acknowledged: u64);
}

/// What a job may do in its turn.
pub struct JobIo<'a> {
    pub(crate) writer: &'a mut Writer,
    pub(crate) socket: &'a mut Socket,
    pub(crate) failed: Option<ChannelError>,
    pub(crate) full: bool,
}

impl JobIo<'_> {
    /// The tester's clock.
    pub fn now(&self) -> Nanos {
        Clock.now()
    }

    /// Hands whole messages to the kernel, as many as it takes; none while earlier messages still wait.
    pub fn write(&mut self, messages: &[u8]) -> Written {
        if self.is_held_back() || self.full || messages.is_empty() {
            return Written { taken: 0, at: Clock.now(), position: self.socket.written() };
        }
        let written = self.writer.write(self.socket, messages).unwrap_or_else(|error| {
            self.failed = Some(error);
            Written { taken: 0, at: Clock.now(), position: self.socket.written() }
        });
        self.full = !self.writer.is_empty() || written.taken < messages.len();
        written
    }

    /// Whether [`JobIo::write`] would be held back by messages that wait from earlier.
    pub fn is_held_back(&self) -> bool {
        !self.writer.is_empty()
    }

    /// Stream position up to which the peer's TCP has acknowledged our bytes (a system call).
    pub fn acknowledged(&mut self) -> u64 {
        self.socket.acknowledged()
    }
}
