//! What happens to a switch, for whoever watches it.

use flowgauge_openflow::{ControllerRole, Version};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Events that nobody fetched; older ones are forgotten.
const KEPT: usize = 1024;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A controller is there.
    Connected {
        /// Its address.
        controller: String,
        /// The version that was agreed on.
        version: Version,
    },
    /// A connection could not be made, or its first messages were wrong.
    NotConnected {
        /// The address.
        controller: String,
        /// Why.
        why: String,
    },
    /// A controller is gone.
    Disconnected {
        /// Its address.
        controller: String,
        /// Why.
        why: String,
    },
    /// A controller has another role.
    Role {
        /// Its address.
        controller: String,
        /// The role.
        role: ControllerRole,
    },
    /// A port's link came up or went down.
    Port {
        /// Its OpenFlow number.
        number: u32,
        /// Its name.
        name: String,
        /// Whether it is up.
        is_up: bool,
    },
    /// The switch forwards by itself from now on, or no longer does.
    Standalone(bool),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Connected { controller, version } => {
                write!(f, "connected: {controller} (OpenFlow {version})")
            }
            Event::NotConnected { controller, why } => write!(f, "not connected: {controller}: {why}"),
            Event::Disconnected { controller, why } => write!(f, "disconnected: {controller}: {why}"),
            Event::Role { controller, role } => {
                let role = match role {
                    ControllerRole::Primary => "primary",
                    ControllerRole::Secondary => "secondary",
                    ControllerRole::NoChange | ControllerRole::Equal | ControllerRole::Unknown(_) => "equal",
                };
                write!(f, "role: {controller} is {role}")
            }
            Event::Port { number, name, is_up } => {
                write!(f, "port {number} ({name}): link {}", if *is_up { "up" } else { "down" })
            }
            Event::Standalone(true) => f.write_str("standalone: forwarding by learned addresses"),
            Event::Standalone(false) => f.write_str("standalone ends: the controller's entries decide"),
        }
    }
}

/// Events on their way from the switch's thread to whoever fetches them.
#[derive(Debug, Default)]
pub struct Events {
    queue: Mutex<VecDeque<Event>>,
}

impl Events {
    /// Something happened.
    pub fn push(&self, event: Event) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() == KEPT {
            queue.pop_front();
        }
        queue.push_back(event);
    }

    /// All events since the last call.
    pub fn take(&self) -> Vec<Event> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}
