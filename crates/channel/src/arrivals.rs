//! Connections on their way from the I/O thread to whoever waits for them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::error::ChannelError;
use crate::shared::lock;

/// More failed handshakes than this are not kept: a peer that keeps trying must not fill memory. So many connections may
/// wait before those that have ended again are forgotten.
const KEPT: usize = 64;

/// Established connections, and handshakes that failed.
#[derive(Default)]
pub struct Arrivals {
    state: Mutex<State>,
    signal: Condvar,
    /// Peers that were turned away because too many connections were there.
    pub turned_away: AtomicU64,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Result<Connection, ChannelError>>,
    failures: usize,
    last_failure: Option<String>,
    is_closed: bool,
}

impl Arrivals {
    /// A connection is up, or its handshake has failed.
    pub fn push(&self, arrival: Result<Connection, ChannelError>) {
        let mut state = lock(&self.state);
        if let Err(why) = &arrival {
            state.last_failure = Some(why.to_string());
            if state.failures == KEPT {
                return;
            }
            state.failures += 1;
        } else if state.queue.len() >= 2 * KEPT {
            state.queue.retain(|kept| kept.as_ref().map_or(true, |connection| connection.ended().is_none()));
        }
        state.queue.push_back(arrival);
        self.signal.notify_all();
    }

    /// Why the last attempt to connect failed.
    pub fn attempt_failed(&self, reason: String) {
        lock(&self.state).last_failure = Some(reason);
    }

    /// Nothing will come any more.
    pub fn close(&self) {
        lock(&self.state).is_closed = true;
        self.signal.notify_all();
    }

    /// A peer was turned away.
    pub fn turn_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
        self.attempt_failed("too many connections are open: one was turned away".to_owned());
    }

    /// The oldest arrival that `wanted` wants; waits for one.
    pub fn wait(
        &self,
        timeout: Duration,
        address: &str,
        wanted: impl Fn(&Result<Connection, ChannelError>) -> bool,
    ) -> Result<Connection, ChannelError> {
        let deadline = Instant::now() + timeout;
        let mut state = lock(&self.state);
        loop {
            if let Some(at) = state.queue.iter().position(&wanted) {
                let arrival = state.queue.remove(at).expect("just found");
                state.failures -= usize::from(arrival.is_err());
                return arrival.inspect(Connection::take);
            }
            if state.is_closed {
                return Err(ChannelError::ClosedHere);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let reason = state.last_failure.clone().unwrap_or_else(|| "nobody connected".to_owned());
                return Err(ChannelError::NeverConnected {
                    address: address.to_owned(),
                    waited: timeout,
                    reason,
                });
            }
            state = self.signal.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
