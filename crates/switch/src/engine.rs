//! The datapath thread: polls ports, serves controllers, lets time pass, and waits when there is nothing to do.

use crate::config::{Idle, PortConfig};
use crate::core::Core;
use crate::inbox::Inbox;
use crate::outlet::Controller;
use crate::port::SwitchPort;
use crate::statistics::Pending;
use flowgauge_channel::{Channel, ChannelError};
use flowgauge_clock::{Clock, Nanos};
use flowgauge_datapath::{Datapath, Frame};
use flowgauge_openflow::{PortStatusReason, Version};
use flowgauge_ports::{BURST, Burst};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Requests of one controller that are handled in one turn.
const REQUESTS_PER_TURN: usize = 64;
/// Timeouts dealt with in one turn.
const TIMEOUTS_PER_TURN: usize = 64;
/// How often new controllers and dead connections are looked for.
const CONNECTIONS_EVERY: Nanos = Nanos::from_millis(2);
/// How often ports are asked whether their link is up.
const LINKS_EVERY: Nanos = Nanos::from_millis(20);

/// What the thread shares with the handle.
#[derive(Default)]
pub struct Shared {
    pub stop: AtomicBool,
    pub controllers: AtomicUsize,
    pub packet_ins_dropped: AtomicU64,
}

/// A connection's requests, and the one that is not finished.
struct Session {
    inbox: Inbox,
    pending: Option<Pending>,
}

/// The switch as its thread sees it.
pub struct Engine {
    core: Core,
    channel: Channel,
    /// In the order of the outlet's controllers.
    sessions: Vec<Session>,
    burst: Burst,
    idle: Idle,
    shared: Arc<Shared>,
    next_connections: Nanos,
    next_links: Nanos,
}

impl Engine {
    pub fn new(core: Core, channel: Channel, idle: Idle, shared: Arc<Shared>) -> Engine {
        Engine {
            core,
            channel,
            sessions: Vec::new(),
            burst: Burst::new(),
            idle,
            shared,
            next_connections: Nanos::ZERO,
            next_links: Nanos::ZERO,
        }
    }

    /// Runs until it is told to stop; gives the ports back.
    pub fn run(mut self) -> Vec<PortConfig> {
        let mut last_work = Clock.now();
        while !self.shared.stop.load(Ordering::Relaxed) {
            let now = Clock.now();
            if self.turn(now) {
                last_work = now;
            } else {
                self.wait(now - last_work);
            }
        }
        self.core.outlet.flush();
        self.core.outlet.ports.into_iter().map(SwitchPort::into_config).collect()
    }

    /// Gives everything its turn, each a bounded amount of work. Whether there was any.
    fn turn(&mut self, now: Nanos) -> bool {
        let mut worked = self.forward(now);
        self.core.outlet.flush();
        worked |= self.serve();
        worked |= self.core.pipeline.expire(now, TIMEOUTS_PER_TURN, &mut self.core.outlet);
        self.core.outlet.flush();
        if now >= self.next_connections {
            self.next_connections = now + CONNECTIONS_EVERY;
            self.look_for_connections();
        }
        if now >= self.next_links {
            self.next_links = now + LINKS_EVERY;
            self.look_at_links();
        }
        worked
    }

    /// A burst from each port through the pipeline.
    fn forward(&mut self, now: Nanos) -> bool {
        let Core { pipeline, outlet, .. } = &mut self.core;
        let burst = &mut self.burst;
        let mut worked = false;
        for index in 0..outlet.ports.len() {
            let in_port = outlet.ports[index].number;
            outlet.ports[index].receive(burst);
            if burst.is_empty() {
                continue;
            }
            worked = true;
            let mut frames = [Frame { bytes: &[], in_port }; BURST];
            for (frame, slot) in frames.iter_mut().zip(burst.iter()) {
                frame.bytes = slot.bytes();
            }
            pipeline.process(&frames[..burst.len()], now, outlet);
            outlet.ports[index].free(burst);
        }
        worked
    }

    /// Some requests of each controller. One that doesn't read its replies gets no more of them.
    fn serve(&mut self) -> bool {
        let mut worked = false;
        for (who, session) in self.sessions.iter_mut().enumerate() {
            for _ in 0..REQUESTS_PER_TURN {
                if self.core.controller(who).is_behind() {
                    break;
                }
                if let Some(pending) = session.pending.take() {
                    worked = true;
                    session.pending = self.core.go_on(who, pending);
                    if session.pending.is_some() {
                        break;
                    }
                    continue;
                }
                let Some(frame) = session.inbox.next() else { break };
                worked = true;
                session.pending = self.core.handle(who, frame);
            }
        }
        worked
    }

    /// Takes new controllers in and lets dead ones go.
    fn look_for_connections(&mut self) {
        loop {
            match self.channel.wait_connected(Duration::ZERO) {
                Ok(connection) => {
                    let Some(version) = Version::from_wire(connection.version()) else { continue };
                    let inbox = Inbox::new(connection.clone());
                    self.sessions.push(Session { inbox, pending: None });
                    self.core.outlet.controllers.push(Controller::new(connection, version));
                }
                Err(ChannelError::NeverConnected { .. }) => break,
                // Somebody spoke another version, or no OpenFlow: the endpoint goes on, and so do we.
                Err(_) => {}
            }
        }
        for who in (0..self.sessions.len()).rev() {
            if self.sessions[who].inbox.has_ended() {
                self.sessions.swap_remove(who);
                self.core.outlet.controllers.swap_remove(who);
            }
        }
        self.core.adapt_to_controllers();
        self.shared.controllers.store(self.sessions.len(), Ordering::Relaxed);
        let dropped = self.core.outlet.packet_ins_dropped;
        self.shared.packet_ins_dropped.store(dropped, Ordering::Relaxed);
    }

    fn look_at_links(&mut self) {
        for index in 0..self.core.outlet.ports.len() {
            if self.core.outlet.ports[index].check_link() {
                self.core.outlet.announce(index, PortStatusReason::Modify);
            }
        }
    }

    /// Nothing was to do for `idle_time`: poll on, let others run, or sleep.
    fn wait(&self, idle_time: Nanos) {
        let idle_time = Duration::from_nanos(idle_time.0);
        if idle_time < self.idle.spin {
            std::hint::spin_loop();
        } else if idle_time < self.idle.spin + self.idle.yield_for {
            std::thread::yield_now();
        } else {
            std::thread::park_timeout(self.idle.nap);
        }
    }
}
