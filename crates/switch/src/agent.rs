//! The OpenFlow agent without sockets, threads and clock: requests and frames in, messages and frames out, at whatever time the
//! caller says. Every message that [`crate::Switch`] answers is answered alike, by the same code.

use crate::buffers::Buffers;
use crate::config::PortConfig;
use crate::controller::Controller;
use crate::core::Core;
use crate::events::Events;
use crate::outlet::{Emitted, Outlet};
use crate::port::SwitchPort;
use flowgauge_clock::Nanos;
use flowgauge_datapath::{Datapath, Frame, Limits, Pipeline, QueueSetup, Sink};
use flowgauge_openflow::{ErrorCode, FragmentHandling, Header, QueueStats, Version};
use flowgauge_ports::{Burst, Capabilities, Port, PortError, PortStats, RxCapacity};
use std::sync::Arc;

/// Timeouts dealt with at a time.
const TIMEOUTS: usize = 1024;
/// The controller's place among those of the switch: there is one.
const WHO: usize = 0;

/// A port of an agent.
#[derive(Clone, Debug)]
pub struct AgentPort {
    /// Its OpenFlow number, 1 to 65279.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Speed of its link in Mbit/s, if it has one.
    pub link_mbps: Option<u64>,
    /// Its queues.
    pub queues: Vec<QueueSetup>,
}

/// What passed a port: frames, their bytes, and frames for which there was no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Of frames that came in.
    pub received: (u64, u64, u64),
    /// Of frames that left.
    pub sent: (u64, u64, u64),
}

/// What an agent is to be.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// Its datapath id.
    pub datapath_id: u64,
    /// Its ports, each with a number of its own.
    pub ports: Vec<AgentPort>,
    /// Its tables.
    pub limits: Limits,
    /// How many packets it keeps for its controller to decide on.
    pub buffers: u32,
    /// What it says of itself for people.
    pub description: String,
}

/// An OpenFlow switch as its controller sees it, and the tables that its frames meet.
pub struct Agent {
    core: Core,
    config: AgentConfig,
}

impl Agent {
    /// A switch without entries and without a controller.
    pub fn new(config: AgentConfig) -> Agent {
        let ports = config.ports.iter().map(|port| {
            let wire = Wire { link_mbps: port.link_mbps };
            let (name, queues) = (port.name.clone(), port.queues.clone());
            let own = PortConfig { number: port.number, name, port: Box::new(wire), queues };
            SwitchPort::new(own, config.datapath_id, Nanos::ZERO)
        });
        let ports: Vec<SwitchPort> = ports.collect();
        let mut pipeline = Pipeline::new(config.limits, ports.iter().map(SwitchPort::rule).collect());
        for port in &ports {
            if let Some(queues) = &port.queues {
                pipeline.set_queues(port.number, queues.setups().to_vec());
            }
        }
        let mut outlet = Outlet::new(ports, Buffers::new(config.buffers), Nanos::ZERO);
        outlet.tray = Some(Vec::new());
        let core = Core {
            datapath_id: config.datapath_id,
            description: config.description.clone(),
            pipeline,
            outlet,
            max_entries: u32::try_from(config.limits.entries).unwrap_or(u32::MAX),
            fragments: FragmentHandling::Normal,
            generation_id: None,
            events: Arc::new(Events::default()),
        };
        Agent { core, config }
    }

    /// A controller connects that speaks that version, in place of the one that was there.
    pub fn connect(&mut self, version: Version) {
        self.disconnect();
        self.core.outlet.controllers.push(Controller::new(None, version, "controller".to_owned()));
        self.core.adapt_to_controllers();
    }

    /// The controller is gone; entries stay.
    pub fn disconnect(&mut self) {
        self.core.outlet.controllers.clear();
        self.core.adapt_to_controllers();
        self.core.watch_if_wanted();
    }

    /// Whether there is a controller.
    pub fn is_connected(&self) -> bool {
        !self.core.outlet.controllers.is_empty()
    }

    /// Handles one whole message of the controller's. Without one, nothing happens.
    pub fn request(&mut self, message: &[u8], now: Nanos) {
        if !self.is_connected() {
            return;
        }
        self.core.outlet.now = now;
        let mut pending = self.core.handle(WHO, message);
        while let Some(unfinished) = pending {
            pending = self.core.go_on(WHO, unfinished);
        }
    }

    /// Answers a message of the controller's with an error instead of handling it.
    pub fn refuse(&mut self, message: &[u8], code: ErrorCode) {
        if self.is_connected() {
            let xid = Header::parse(message).map_or(0, |header| header.xid);
            self.core.refuse(WHO, xid, code, message);
        }
    }

    /// Messages to the controller since the last call, one behind the other, are moved to the end of `out`.
    pub fn take_messages(&mut self, out: &mut Vec<u8>) {
        if let Some(controller) = self.core.outlet.controllers.get_mut(WHO) {
            out.append(&mut controller.out);
        }
    }

    /// Frames that left since the last call: those of PACKET_OUTs, and of frames given to [`Agent::forward`].
    pub fn take_frames(&mut self) -> Vec<Emitted> {
        self.core.outlet.tray.as_mut().map_or_else(Vec::new, std::mem::take)
    }

    /// A frame through the tables. What comes of it is taken by [`Agent::take_frames`] and [`Agent::take_messages`].
    pub fn forward(&mut self, frame: Frame<'_>, now: Nanos) {
        self.core.outlet.now = now;
        self.core.pipeline.process(&[frame], now, &mut self.core.outlet);
    }

    /// The tables, and where frames, PACKET_INs and announcements go that come of them.
    pub fn data_plane(&mut self, now: Nanos) -> (&mut Pipeline, &mut dyn Sink) {
        self.core.outlet.now = now;
        (&mut self.core.pipeline, &mut self.core.outlet)
    }

    /// The tables.
    pub fn pipeline(&self) -> &Pipeline {
        &self.core.pipeline
    }

    /// The tables, to be changed past OpenFlow.
    pub fn pipeline_mut(&mut self) -> &mut Pipeline {
        &mut self.core.pipeline
    }

    /// Says what passed a port, as somebody else counted it.
    pub fn set_counts(&mut self, port: u32, counts: PortCounts) {
        if let Some(port) = self.core.outlet.port_mut(port) {
            port.set_counts(counts);
        }
    }

    /// Says what passed the queues of a port, as somebody else counted it.
    pub fn set_queue_counts(&mut self, port: u32, counts: Vec<QueueStats>) {
        if let Some(queues) = self.core.outlet.port_mut(port).and_then(|port| port.queues.as_mut()) {
            queues.counted = Some(counts);
        }
    }

    /// Starts anew: no entries, groups and meters, and no controller.
    pub fn reset(&mut self) {
        *self = Agent::new(self.config.clone());
    }

    /// Lets entries time out.
    pub fn expire(&mut self, now: Nanos) {
        self.core.outlet.now = now;
        while self.core.expire(now, TIMEOUTS) {}
    }

    /// When [`Agent::expire`] may next have something to do.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.core.pipeline.next_deadline()
    }
}

/// A link that others simulate: it is up, and has a speed.
struct Wire {
    link_mbps: Option<u64>,
}

impl Port for Wire {
    fn describe(&self) -> &str {
        "wire"
    }

    fn capabilities(&self) -> Capabilities {
        let plain = Capabilities::plain(usize::from(u16::MAX), RxCapacity::Frames(u64::MAX));
        Capabilities { link_mbps: self.link_mbps, ..plain }
    }

    fn alloc(&mut self, _burst: &mut Burst, _n: usize) -> usize {
        0
    }

    fn tx(&mut self, _burst: &mut Burst) -> Result<usize, PortError> {
        Ok(0)
    }

    fn rx(&mut self, _burst: &mut Burst, _max: usize) -> Result<usize, PortError> {
        Ok(0)
    }

    fn free(&mut self, _burst: &mut Burst) {}

    fn stats(&mut self) -> PortStats {
        PortStats { link_up: true, ..PortStats::default() }
    }
}
