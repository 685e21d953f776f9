//! The sending side of a connection: the queue, how much waits in it, and waiting for room.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::error::ChannelError;
use crate::shared::lock;

impl Connection {
    /// Queues a whole message. It leaves as soon as the messages before it have.
    ///
    /// # Errors
    /// As [`Connection::send_with`].
    pub fn send_raw(&self, message: &[u8]) -> Result<(), ChannelError> {
        self.send_with(|chunk| chunk.extend_from_slice(message))
    }

    /// Queues the whole messages that `fill` appends: many at the price of one lock.
    ///
    /// # Errors
    /// Why the connection has ended; [`ChannelError::OutboxFull`] when more waits than
    /// [`crate::Config::outbox_cap`] allows (the queue may exceed it by one call's messages).
    pub fn send_with(&self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), ChannelError> {
        self.check_open()?;
        self.shared.check_room()?;
        let mut outbox = lock(&self.shared.outbox);
        let added = outbox.append(fill);
        // Counted under the lock, so that the I/O thread can't subtract it before.
        self.shared.queued.fetch_add(added as u64, Ordering::Relaxed);
        drop(outbox);
        self.queued();
        Ok(())
    }

    /// Queues whole messages without copying them.
    ///
    /// # Errors
    /// As [`Connection::send_with`].
    pub fn send_chunk(&self, messages: Vec<u8>) -> Result<(), ChannelError> {
        self.check_open()?;
        self.shared.check_room()?;
        let mut outbox = lock(&self.shared.outbox);
        self.shared.queued.fetch_add(messages.len() as u64, Ordering::Relaxed);
        outbox.push_chunk(messages);
        drop(outbox);
        self.queued();
        Ok(())
    }

    fn queued(&self) {
        self.shared.outbox_filled.store(true, Ordering::Release);
        self.shared.wake.notify();
    }

    /// Bytes queued that the kernel has not taken yet.
    pub fn queued_bytes(&self) -> u64 {
        self.shared.queued.load(Ordering::Relaxed)
    }

    /// Waits until half of [`crate::Config::outbox_cap`] is free (without a cap: until nothing waits): `false` if that
    /// takes longer than `timeout`.
    ///
    /// # Errors
    /// Why the connection has ended.
    pub fn wait_room(&self, timeout: Duration) -> Result<bool, ChannelError> {
        let deadline = Instant::now() + timeout;
        let enough = self.shared.outbox_cap.map_or(0, |cap| cap / 2);
        let mut outbox = lock(&self.shared.outbox);
        loop {
            self.check_open()?;
            self.shared.room_wanted.store(true, Ordering::SeqCst);
            if self.queued_bytes() <= enough {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            // A slice, because the I/O thread looks at `room_wanted` without the lock.
            let left = left.min(Duration::from_millis(20));
            outbox =
                self.shared.room_signal.wait_timeout(outbox, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
