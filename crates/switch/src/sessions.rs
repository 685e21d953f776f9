//! The connections to controllers: new ones are taken in, dead ones go, requests are served in turn.

use crate::controller::Controller;
use crate::core::Core;
use crate::events::Event;
use crate::inbox::Inbox;
use crate::statistics::Pending;
use flowgauge_channel::{Address, Channel, ChannelError, Connection};
use flowgauge_clock::Clock;
use flowgauge_openflow::{ChannelStatus, ControllerStatusReason, Version};
use std::time::Duration;

/// Requests of one controller that are handled in one turn.
const REQUESTS_PER_TURN: usize = 64;

/// A connection's requests, and the one that is not finished.
struct Session {
    inbox: Inbox,
    pending: Option<Pending>,
    /// Which endpoint it came from.
    endpoint: usize,
    /// Why the connection has ended. What it had asked for before is still done.
    ended: Option<ChannelError>,
    /// Whether no request was left when it was last looked at.
    is_drained: bool,
}

/// Where connections come from.
struct Endpoint {
    channel: Channel,
    /// The last failure that was told: the same is not told again and again.
    told: String,
}

/// All connections, in the order of the outlet's controllers, and where they come from.
pub struct Sessions {
    endpoints: Vec<Endpoint>,
    open: Vec<Session>,
}

impl Sessions {
    pub fn new(channels: Vec<Channel>) -> Sessions {
        let endpoint = |channel| Endpoint { channel, told: String::new() };
        Sessions { endpoints: channels.into_iter().map(endpoint).collect(), open: Vec::new() }
    }

    /// Some requests of each controller. One that doesn't read its replies gets no more of them.
    pub fn serve(&mut self, core: &mut Core) -> bool {
        let mut worked = false;
        for (who, session) in self.open.iter_mut().enumerate() {
            for _ in 0..REQUESTS_PER_TURN {
                if session.ended.is_none() && core.controller(who).is_behind() {
                    break;
                }
                core.outlet.now = Clock.now();
                if let Some(pending) = session.pending.take() {
                    worked = true;
                    session.pending = core.go_on(who, pending);
                    if session.pending.is_some() {
                        break;
                    }
                    continue;
                }
                let Some(frame) = session.inbox.next() else {
                    session.is_drained = true;
                    break;
                };
                worked = true;
                session.pending = core.handle(who, frame);
            }
        }
        worked
    }

    /// Takes new controllers in and lets dead ones go.
    pub fn look(&mut self, core: &mut Core) {
        let before = self.open.len();
        for endpoint in 0..self.endpoints.len() {
            self.take_in(endpoint, core);
        }
        let mut changed = self.open.len() != before;
        for who in (0..self.open.len()).rev() {
            let session = &mut self.open[who];
            match &session.ended {
                None => {
                    session.ended = session.inbox.ended();
                    session.is_drained = false;
                }
                Some(why) if session.is_drained && session.pending.is_none() => {
                    changed = true;
                    let controller = core.controller(who).name.clone();
                    core.events.push(Event::Disconnected { controller, why: why.to_string() });
                    core.tell_status(who, ControllerStatusReason::ChannelStatus, ChannelStatus::Down);
                    self.open.swap_remove(who);
                    core.outlet.controllers.swap_remove(who);
                }
                Some(_) => {}
            }
        }
        if changed {
            core.adapt_to_controllers();
            core.watch_if_wanted();
        }
    }

    fn take_in(&mut self, endpoint: usize, core: &mut Core) {
        loop {
            let Endpoint { channel, told } = &mut self.endpoints[endpoint];
            match channel.wait_connected(Duration::ZERO) {
                Ok(connection) => {
                    told.clear();
                    let Some(version) = Version::from_wire(connection.version()) else { continue };
                    let name = name(channel.address(), &connection);
                    core.events.push(Event::Connected { controller: name.clone(), version });
                    let inbox = Inbox::new(connection.clone());
                    self.open.push(Session {
                        inbox,
                        pending: None,
                        endpoint,
                        ended: None,
                        is_drained: false,
                    });
                    core.outlet.controllers.push(Controller::new(Some(connection), version, name));
                    let who = self.open.len() - 1;
                    core.tell_status(who, ControllerStatusReason::ChannelStatus, ChannelStatus::Up);
                }
                Err(error) => {
                    let is_over = matches!(error, ChannelError::NeverConnected { .. });
                    self.tell_failure(endpoint, &error, core);
                    // Another error: somebody spoke another version, or no OpenFlow. The endpoint goes on.
                    if is_over {
                        return;
                    }
                }
            }
        }
    }

    /// Says why an endpoint has no controller, once for each reason.
    fn tell_failure(&mut self, endpoint: usize, error: &ChannelError, core: &Core) {
        let is_served = self.open.iter().any(|s| s.endpoint == endpoint);
        let Endpoint { channel, told } = &mut self.endpoints[endpoint];
        let why = match error {
            ChannelError::NeverConnected { .. } if is_served || channel.address().is_listening() => return,
            ChannelError::NeverConnected { reason, .. } => reason.clone(),
            other => other.to_string(),
        };
        // Before the first attempt has ended there is nothing to say.
        if *told != why && why != NO_ATTEMPT_YET {
            told.clone_from(&why);
            let controller = channel.address().to_string();
            core.events.push(Event::NotConnected { controller, why });
        }
    }
}

/// What a channel says of itself before an attempt has failed.
const NO_ATTEMPT_YET: &str = "nobody connected";

/// A connection's name for people: the peer's address, in the notation of the endpoint.
fn name(endpoint: Address, connection: &Connection) -> String {
    let kind = if endpoint.is_tls() { "ssl" } else { "tcp" };
    connection.peer().map_or_else(|| endpoint.to_string(), |peer| format!("{kind}:{peer}"))
}
