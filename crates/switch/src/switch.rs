//! The handle of a running switch.

use crate::buffers::Buffers;
use crate::config::{MAX_PORT, PortConfig, SwitchConfig, SwitchError};
use crate::core::Core;
use crate::engine::{Engine, Shared};
use crate::events::Event;
use crate::outlet::Outlet;
use crate::port::SwitchPort;
use flowgauge_channel::{Address, Channel, Config, KeepAlive};
use flowgauge_clock::{Clock, Nanos};
use flowgauge_datapath::Pipeline;
use flowgauge_openflow::FragmentHandling;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, Thread};

/// A running switch. Dropping the handle stops it.
pub struct Switch {
    thread: Option<JoinHandle<Vec<PortConfig>>>,
    shared: Arc<Shared>,
    controls: Vec<Address>,
}

impl Switch {
    /// Starts a switch without entries. It connects to its controllers, again and again, or waits for some.
    ///
    /// # Errors
    /// Bad port numbers; a control address that can't be had; no thread.
    pub fn start(config: SwitchConfig) -> Result<Switch, SwitchError> {
        check_numbers(&config.ports)?;
        let sleeper: Arc<OnceLock<Thread>> = Arc::default();
        let channels = open_channels(&config, &sleeper)?;
        let controls = channels.iter().map(Channel::address).collect();
        let shared: Arc<Shared> = Arc::default();
        let (idle, fail_mode) = (config.idle, config.fail_mode);
        let core = core(config, &shared);
        let engine = Engine::new(core, channels, idle, fail_mode, Arc::clone(&shared));
        let name = "flowgauge-switch".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || engine.run())?;
        // Set once, here: nobody else has it.
        let _ = sleeper.set(thread.thread().clone());
        Ok(Switch { thread: Some(thread), shared, controls })
    }

    /// Where it connects to and waits for controllers, in the order of the configuration: with the ports that the
    /// system chose, where it was left to it.
    pub fn controls(&self) -> &[Address] {
        &self.controls
    }

    /// What has happened since the last call.
    pub fn events(&self) -> Vec<Event> {
        self.shared.events.take()
    }

    /// How many controllers are connected.
    pub fn controllers(&self) -> usize {
        self.shared.controllers.load(Ordering::Relaxed)
    }

    /// How many PACKET_INs were dropped because a controller was too slow to take them: up to a few
    /// milliseconds old.
    pub fn packet_ins_dropped(&self) -> u64 {
        self.shared.packet_ins_dropped.load(Ordering::Relaxed)
    }

    /// Whether its thread is running. It ends before [`Switch::stop`] only by a defect.
    pub fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished())
    }

    /// Stops the switch, closes its connections and gives its ports back.
    pub fn stop(mut self) -> Vec<PortConfig> {
        self.end()
    }

    fn end(&mut self) -> Vec<PortConfig> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return Vec::new() };
        thread.thread().unpark();
        // A panic of the thread has been printed already; its ports are gone.
        thread.join().unwrap_or_default()
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.end();
    }
}

/// One endpoint for each address. Each wakes the switch's thread when requests have come.
fn open_channels(
    config: &SwitchConfig,
    sleeper: &Arc<OnceLock<Thread>>,
) -> Result<Vec<Channel>, SwitchError> {
    let sleeper = Arc::clone(sleeper);
    let wake = move || {
        if let Some(thread) = sleeper.get() {
            thread.unpark();
        }
    };
    let channel = Config {
        versions: config.versions,
        netns: config.control_netns.clone(),
        keep_alive: config.inactivity_probe.map(KeepAlive::every),
        tls: config.tls.clone(),
        notify: Some(Arc::new(wake)),
        ..Config::switch()
    };
    let opened = config.controls.iter().map(|&address| Channel::open(address, channel.clone()));
    Ok(opened.collect::<Result<_, _>>()?)
}

fn core(config: SwitchConfig, shared: &Arc<Shared>) -> Core {
    let now: Nanos = Clock.now();
    let ports: Vec<SwitchPort> =
        config.ports.into_iter().map(|p| SwitchPort::new(p, config.datapath_id, now)).collect();
    let mut pipeline = Pipeline::new(config.limits, ports.iter().map(SwitchPort::rule).collect());
    for port in &ports {
        if let Some(queues) = &port.queues {
            pipeline.set_queues(port.number, queues.setups().to_vec());
        }
    }
    Core {
        datapath_id: config.datapath_id,
        description: config.description,
        pipeline,
        outlet: Outlet::new(ports, Buffers::new(config.buffers), now),
        max_entries: u32::try_from(config.limits.entries).unwrap_or(u32::MAX),
        fragments: FragmentHandling::Normal,
        generation_id: None,
        events: Arc::clone(&shared.events),
    }
}

fn check_numbers(ports: &[PortConfig]) -> Result<(), SwitchError> {
    let mut seen = HashSet::new();
    let is_bad = |p: &&PortConfig| p.number == 0 || p.number > MAX_PORT || !seen.insert(p.number);
    match ports.iter().find(is_bad) {
        Some(p) => Err(SwitchError::PortNumber { name: p.name.clone(), number: p.number }),
        None => Ok(()),
    }
}
