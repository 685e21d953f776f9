//! The datapath thread: polls ports, serves controllers, lets time pass, and waits when there is nothing to do.

use crate::config::{FailMode, Idle, PortConfig};
use crate::core::Core;
use crate::events::{Event, Events};
use crate::fragments::is_fragment;
use crate::port::SwitchPort;
use crate::sessions::Sessions;
use flowgauge_channel::Channel;
use flowgauge_clock::{Clock, Nanos};
use flowgauge_datapath::{Datapath, Frame};
use flowgauge_openflow::FragmentHandling;
use flowgauge_ports::{BURST, Burst};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Timeouts dealt with in one turn.
const TIMEOUTS_PER_TURN: usize = 64;
/// How often new controllers and dead connections are looked for.
const CONNECTIONS_EVERY: Nanos = Nanos::from_millis(2);
/// How often ports are asked whether their link is up.
const LINKS_EVERY: Nanos = Nanos::from_millis(5);

/// What the thread shares with the handle.
#[derive(Default)]
pub struct Shared {
    pub stop: AtomicBool,
    pub controllers: AtomicUsize,
    pub packet_ins_dropped: AtomicU64,
    pub events: Arc<Events>,
}

/// The switch as its thread sees it.
pub struct Engine {
    core: Core,
    sessions: Sessions,
    burst: Burst,
    idle: Idle,
    fail_mode: FailMode,
    /// Whether frames go by learned addresses now.
    is_standalone: bool,
    shared: Arc<Shared>,
    next_connections: Nanos,
    next_links: Nanos,
}

impl Engine {
    pub fn new(
        core: Core,
        channels: Vec<Channel>,
        idle: Idle,
        fail_mode: FailMode,
        shared: Arc<Shared>,
    ) -> Engine {
        Engine {
            core,
            sessions: Sessions::new(channels),
            burst: Burst::new(),
            idle,
            fail_mode,
            is_standalone: false,
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
        self.core.outlet.now = now;
        let mut worked = self.forward(now);
        self.core.outlet.flush();
        worked |= self.sessions.serve(&mut self.core);
        worked |= self.core.expire(now, TIMEOUTS_PER_TURN);
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
        let Core { pipeline, outlet, fragments, .. } = &mut self.core;
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
            let mut count = 0;
            for slot in burst.iter() {
                if *fragments == FragmentHandling::Drop && is_fragment(slot.bytes()) {
                    continue;
                }
                frames[count].bytes = slot.bytes();
                count += 1;
            }
            pipeline.process(&frames[..count], now, outlet);
            outlet.ports[index].free(burst);
        }
        worked
    }

    fn look_for_connections(&mut self) {
        self.sessions.look(&mut self.core);
        let controllers = self.core.outlet.controllers.len();
        self.shared.controllers.store(controllers, Ordering::Relaxed);
        let dropped = self.core.outlet.packet_ins_dropped;
        self.shared.packet_ins_dropped.store(dropped, Ordering::Relaxed);
        let is_alone = controllers == 0 && self.fail_mode == FailMode::Standalone;
        if is_alone != self.is_standalone {
            self.is_standalone = is_alone;
            self.core.pipeline.set_standalone(is_alone);
            self.shared.events.push(Event::Standalone(is_alone));
        }
    }

    fn look_at_links(&mut self) {
        for index in 0..self.core.outlet.ports.len() {
            if self.core.outlet.ports[index].check_link() {
                self.core.link_changed(index);
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
