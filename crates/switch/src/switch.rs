//! The handle of a running switch.

use crate::config::{MAX_PORT, PortConfig, SwitchConfig, SwitchError};
use crate::core::Core;
use crate::engine::{Engine, Shared};
use crate::outlet::Outlet;
use crate::port::SwitchPort;
use flowgauge_channel::{Address, Channel, Config};
use flowgauge_clock::Clock;
use flowgauge_datapath::{Pipeline, PortRule};
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, Thread};

/// A running switch. Dropping the handle stops it.
pub struct Switch {
    thread: Option<JoinHandle<Vec<PortConfig>>>,
    shared: Arc<Shared>,
    control: Address,
}

impl Switch {
    /// Starts a switch without entries. It connects to its controller, again and again, or waits for some.
    ///
    /// # Errors
    /// Bad port numbers; a control address that can't be had; no thread.
    pub fn start(config: SwitchConfig) -> Result<Switch, SwitchError> {
        check_numbers(&config.ports)?;
        let sleeper: Arc<OnceLock<Thread>> = Arc::default();
        let channel = {
            let sleeper = Arc::clone(&sleeper);
            let wake = move || {
                if let Some(thread) = sleeper.get() {
                    thread.unpark();
                }
            };
            let channel = Config {
                versions: config.versions,
                netns: config.control_netns.clone(),
                notify: Some(Arc::new(wake)),
                ..Config::switch()
            };
            Channel::open(config.control, channel)?
        };
        let control = channel.address();
        let shared: Arc<Shared> = Arc::default();
        let idle = config.idle;
        let core = core(config);
        let engine = Engine::new(core, channel, idle, Arc::clone(&shared));
        let name = "flowgauge-switch".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || engine.run())?;
        // Set once, here: nobody else has it.
        let _ = sleeper.set(thread.thread().clone());
        Ok(Switch { thread: Some(thread), shared, control })
    }

    /// Where it connects to, or waits for controllers: with the port that the system chose, if it was left to it.
    pub fn control(&self) -> Address {
        self.control
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

fn core(config: SwitchConfig) -> Core {
    let rules = config.ports.iter().map(|p| PortRule::new(p.number)).collect();
    let ports = config.ports.into_iter().map(|p| SwitchPort::new(p, config.datapath_id)).collect();
    Core {
        datapath_id: config.datapath_id,
        pipeline: Pipeline::new(config.limits, rules),
        outlet: Outlet::new(ports),
        started: Clock.now(),
        max_entries: u32::try_from(config.limits.entries).unwrap_or(u32::MAX),
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
