//! OpenFlow 1.3, and what the versions after it keep of it.

mod actions;
mod group;
mod instructions;
mod messages;
mod meter;
mod queue;
mod stats;
mod table_features;

pub(crate) use actions::Actions;
pub(crate) use group::{GroupDescWire, GroupFeaturesWire, GroupModWire, GroupStatsWire};
pub(crate) use instructions::Instructions;
pub(crate) use messages::{
    AsyncWire, FeaturesReply, FlowModWire, FlowRemovedWire, PacketInWire, PacketOutWire, PortModWire,
    PortWire, RoleWire, TableModBody,
};
pub(crate) use meter::{MeterConfigWire, MeterFeaturesWire, MeterModWire, MeterStatsWire};
pub(crate) use queue::{PropertyWire, QueueConfigWire};
pub(crate) use stats::{
    AggregateWire, DescWire, FlowRequest, FlowStatsWire, PortStatsWire, QueueStatsWire, TableStatsWire,
};
pub(crate) use table_features::TableFeaturesWire;
