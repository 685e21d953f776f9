//! OpenFlow 1.0.

mod actions;
mod flags;
mod flow_match;
mod messages;
mod queue;
mod stats;

pub(crate) use actions::{read_instructions, write_instructions};
pub(crate) use messages::{
    FeaturesReply, FlowModWire, FlowRemovedWire, PacketInWire, PacketOutWire, PortModWire, PortWire,
};
pub(crate) use queue::QueueConfigWire;
pub(crate) use stats::{FlowRequest, FlowStatsWire, PortStatsWire, QueueStatsWire, TableStatsWire};
