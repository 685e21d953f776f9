//! What OpenFlow 1.4 changes: properties of ports, tables, queues and asynchronous messages; bundles; flow monitors.

mod bundle;
mod monitor;
mod port;
mod queue;
mod role;
mod table;

pub(crate) use bundle::{BundleAddWire, BundleControlWire, EnclosedWire};
pub(crate) use monitor::{FlowMonitorWire, FlowUpdateWire};
pub(crate) use port::{PortModBody, PortStatsWire, PortWire};
pub(crate) use queue::{QueueDescWire, QueueStatsWire};
pub(crate) use role::{AsyncWire, RoleStatusWire};
pub(crate) use table::{TableDescWire, TableStatusWire};
