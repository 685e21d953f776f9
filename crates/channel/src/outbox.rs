//! What waits to be sent: a queue of chunks that any thread fills, and the writer that empties it.
//!
//! Messages are only ever interleaved at their boundaries. When the kernel takes part of a message, its rest
//! (the *tail*) goes first next time; then urgent replies (echoes); then the queue; then jobs.

use std::collections::VecDeque;

use flowgauge_clock::{Clock, Nanos};

use crate::error::ChannelError;
use crate::socket::Socket;
use crate::wire::{HEADER_LEN, Header};

/// Size of the chunks that messages are gathered in, and of the writes.
pub const CHUNK: usize = 64 * 1024;
/// Bytes written before the loop looks for received messages again.
const TURN_BYTES: usize = 4 * CHUNK;
const SPARE_CHUNKS: usize = 8;

/// Filled by any thread, under a lock.
#[derive(Default)]
pub struct Outbox {
    chunks: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Lets `fill` append whole messages; gives the number of bytes that it added.
    pub fn append(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> usize {
        if self.chunks.back().is_none_or(|chunk| chunk.len() >= CHUNK) {
            let chunk = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK + 2048));
            self.chunks.push_back(chunk);
        }
        let chunk = self.chunks.back_mut().expect("just pushed");
        let before = chunk.len();
        fill(chunk);
        chunk.len() - before
    }

    /// Takes a chunk of whole messages as it is.
    pub fn push_chunk(&mut self, chunk: Vec<u8>) {
        self.chunks.push_back(chunk);
    }

    /// Returns a chunk's memory for reuse.
    fn recycle(&mut self, mut chunk: Vec<u8>) {
        if self.spare.len() < SPARE_CHUNKS && chunk.capacity() <= 2 * CHUNK {
            chunk.clear();
            self.spare.push(chunk);
        }
    }
}

/// Whether everything could be handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Nothing waits.
    Empty,
    /// The socket is full.
    Full,
    /// More waits, but receiving has its turn.
    More,
}

/// What a write of whole messages did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes taken: whole messages. The rest of the last one may still be on its way to the kernel.
    pub taken: usize,
    /// When the first of them was handed to the kernel.
    pub at: Nanos,
    /// Stream position behind the last message taken.
    pub position: u64,
}

/// The I/O thread's side.
#[derive(Default)]
pub struct Writer {
    tail: Vec<u8>,
    tail_sent: usize,
    /// Whole messages that overtake the queue.
    pub urgent: Vec<u8>,
    queue: VecDeque<Vec<u8>>,
    head_sent: usize,
    /// Bytes that left the queue since the last [`Writer::take_left`].
    left: u64,
}

impl Writer {
    /// Moves what other threads queued over to the writer.
    pub fn pull(&mut self, outbox: &mut Outbox) {
        self.queue.append(&mut outbox.chunks);
    }

    /// Whether nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.tail.is_empty() && self.urgent.is_empty() && self.queue.is_empty()
    }

    /// Bytes that have left the queue since this was last asked.
    pub fn take_left(&mut self) -> u64 {
        std::mem::take(&mut self.left)
    }

    /// Hands over as much as the kernel takes, up to a turn's share. `done` receives emptied chunks.
    pub fn flush(
        &mut self,
        socket: &mut Socket,
        mut done: impl FnMut(Vec<u8>),
    ) -> Result<Flush, ChannelError> {
        let mut budget = TURN_BYTES;
        if !self.flush_tail(socket)? {
            return Ok(Flush::Full);
        }
        if !self.urgent.is_empty() {
            let urgent = std::mem::take(&mut self.urgent);
            let taken = self.write(socket, &urgent)?.taken;
            self.urgent.extend_from_slice(&urgent[taken..]);
            if !self.tail.is_empty() || !self.urgent.is_empty() {
                return Ok(Flush::Full);
            }
        }
        while let Some(head) = self.queue.pop_front() {
            let end = head.len().min(self.head_sent + CHUNK);
            let end = boundary(&head[self.head_sent..], end - self.head_sent) + self.head_sent;
            let taken = self.write(socket, &head[self.head_sent..end])?.taken;
            self.head_sent += taken;
            self.left += taken as u64;
            let blocked = !self.tail.is_empty() || self.head_sent < end;
            if self.head_sent == head.len() {
                self.head_sent = 0;
                done(head);
            } else {
                self.queue.push_front(head);
            }
            if blocked {
                return Ok(Flush::Full);
            }
            budget = budget.saturating_sub(taken);
            if budget == 0 && !self.queue.is_empty() {
                return Ok(Flush::More);
            }
        }
        Ok(Flush::Empty)
    }

    /// Writes whole messages; nothing may wait from earlier.
    pub fn write(&mut self, socket: &mut Socket, bytes: &[u8]) -> Result<Written, ChannelError> {
        debug_assert!(self.tail.is_empty());
        let at = Clock.now();
        let sent = socket.write(bytes)?;
        let taken = boundary(bytes, sent);
        self.tail.extend_from_slice(&bytes[sent..taken]);
        Ok(Written { taken, at, position: socket.written() + (taken - sent) as u64 })
    }

    /// Whether the tail is gone.
    fn flush_tail(&mut self, socket: &mut Socket) -> Result<bool, ChannelError> {
        if self.tail.is_empty() {
            return Ok(true);
        }
        self.tail_sent += socket.write(&self.tail[self.tail_sent..])?;
        if self.tail_sent < self.tail.len() {
            return Ok(false);
        }
        self.tail.clear();
        self.tail_sent = 0;
        Ok(true)
    }
}

impl Outbox {
    /// Returns several chunks' memory.
    pub fn recycle_all(&mut self, chunks: &mut Vec<Vec<u8>>) {
        chunks.drain(..).for_each(|chunk| self.recycle(chunk));
    }
}

/// The end of the message that byte `at - 1` belongs to: the first boundary at or behind `at`.
/// Bytes that are no messages count as one, to the end.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let mut end = 0;
    while end < at {
        match Header::parse(&bytes[end..]) {
            Some(header) if usize::from(header.length) >= HEADER_LEN => end += usize::from(header.length),
            Some(_) | None => return bytes.len(),
        }
    }
    end.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn boundaries_are_those_of_messages() {
        let bytes = [wire::message(4, 2, 1, &[0; 2]), wire::message(4, 2, 2, &[0; 12])].concat();
        for (at, end) in [(0, 0), (1, 10), (9, 10), (10, 10), (11, 30), (30, 30)] {
            assert_eq!(boundary(&bytes, at), end, "{at}");
        }
        assert_eq!(boundary(&[0; 20], 3), 20);
    }

    #[test]
    fn chunks_gather_messages_and_come_back() {
        let mut outbox = Outbox::default();
        let message = wire::message(4, 2, 1, &[0; 92]);
        for _ in 0..1000 {
            assert_eq!(outbox.append(|chunk| chunk.extend_from_slice(&message)), 100);
        }
        assert_eq!(outbox.chunks.len(), 2);
        let mut writer = Writer::default();
        writer.pull(&mut outbox);
        assert!(!writer.is_empty() && outbox.chunks.is_empty());
        outbox.recycle_all(&mut writer.queue.drain(..).collect());
        assert_eq!(outbox.spare.len(), 2);
    }
}
