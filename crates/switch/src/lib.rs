//! The software switch: datapath, ports and control channel in real time.
//!
//! One thread does everything that forwarding needs: it polls the ports, runs frames through the
//! [`Pipeline`](flowgauge_datapath::Pipeline), serves requests of controllers a few at a time and lets entries
//! time out. Each control channel has its own thread, which only moves bytes: whatever a controller does, or
//! fails to do, frames go on.
//!
//! ```no_run
//! use flowgauge_ports::ring;
//! use flowgauge_switch::{PortConfig, Switch, SwitchConfig};
//! let ((tester, ours), (other_tester, other)) = (ring::pair(1024), ring::pair(1024));
//! let ports =
//!     vec![PortConfig::new(1, "one", Box::new(ours)), PortConfig::new(2, "two", Box::new(other))];
//! let control = "tcp:127.0.0.1:6653".parse().unwrap();
//! let switch = Switch::start(SwitchConfig::new(1, ports, control))?;
//! // ... frames in at `tester` come out at `other_tester`, as the controller's entries want it ...
//! let ports = switch.stop();
//! # Ok::<(), flowgauge_switch::SwitchError>(())
//! ```

mod abilities;
mod agent;
mod buffers;
mod bundles;
mod commit;
mod config;
mod controller;
mod core;
mod description;
mod engine;
mod events;
mod extensions;
mod fragments;
mod hearing;
mod inbox;
mod monitors;
mod outlet;
mod port;
mod port_mod;
mod queues;
mod roles;
mod sessions;
mod statistics;
mod switch;
mod table_features;

pub use agent::{Agent, AgentConfig, AgentPort, PortCounts};
pub use config::{FailMode, Idle, MAX_PORT, PortConfig, SwitchConfig, SwitchError};
pub use events::Event;
pub use flowgauge_datapath::{Limits, QueueSetup};
pub use outlet::Emitted;
pub use switch::Switch;
