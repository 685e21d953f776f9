//! What OpenFlow 1.5 changes: statistics as lists of fields (OXS), pipeline fields in PACKET_OUT, buckets with numbers
//! and properties, scheduled bundles, the status of controllers.

mod bundle;
mod controller;
mod flow;
mod group;
mod packet_out;

pub(crate) use bundle::{BundleFeaturesRequestWire, BundleFeaturesWire, TimeWire};
pub(crate) use controller::ControllerStatusWire;
pub(crate) use flow::{AggregateWire, CountersReportWire, FlowDescWire, FlowRemovedWire};
pub(crate) use group::{GroupDescWire, GroupModWire};
pub(crate) use packet_out::PacketOutWire;
