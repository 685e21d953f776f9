//! Connections on their way from the I/O thread to whoever waits for them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::error::ChannelError;
use crate::shared::lock;

/// More failed handshakes than this are not kept: a switch that keeps trying must not fill memory.
const KEPT: usize = 64;

/// Established connections, and handshakes that failed.
#[derive(Default)]
pub struct Arrivals {
    state: Mutex<State>,
    signal: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Result<Connection, ChannelError>>,
    last_failure: Option<String>,
}

impl Arrivals {
    /// A connection is up, or its handshake has failed.
    pub fn push(&self, arrival: Result<Connection, ChannelError>) {
        let mut state = lock(&self.state);
        if state.queue.len() < KEPT {
            state.queue.push_back(arrival);
        }
        self.signal.notify_all();
    }

    /// Why the last attempt to connect failed.
    pub fn attempt_failed(&self, reason: String) {
        lock(&self.state).last_failure = Some(reason);
    }

    /// The oldest arrival; waits for one.
    pub fn wait(&self, timeout: Duration, address: &str) -> Result<Connection, ChannelError> {
        let deadline = Instant::now() + timeout;
        let mut state = lock(&self.state);
        loop {
            if let Some(arrival) = state.queue.pop_front() {
                return arrival;
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
