//! The version-neutral messages, one file per family.

#[macro_use]
mod codes;

mod action;
mod bundle;
mod error_code;
mod flow;
mod flow_counters;
mod flow_match;
mod group;
mod instruction;
mod message;
mod meter;
mod monitor;
mod multipart;
mod nicira;
mod optical;
mod packet;
mod port;
mod port_no;
mod prerequisite;
mod property;
mod queue;
mod role;
mod session;
mod table;
mod version;

pub use action::Action;
pub use bundle::{
    BundleAdd, BundleControl, BundleControlType, BundleFeatureFlags, BundleFeatures, BundleFeaturesRequest,
    BundleFlags, BundleScheduling, BundleTime,
};
pub use codes::Versions;
pub use error_code::ErrorCode;
pub use flow::{
    AggregateStats, FlowMod, FlowModCommand, FlowModFlags, FlowRemoved, FlowRemovedReason, FlowStats,
    FlowStatsRequest, TABLE_ALL,
};
pub use flow_counters::{Age, FlowCounters, FlowCountersReason, FlowCountersReport, StatTriggerFlags};
pub use flow_match::{Match, MatchEntry, RawOxm};
pub use group::{
    BUCKET_ALL, BUCKET_FIRST, BUCKET_LAST, Bucket, BucketCounter, GROUP_ALL, GROUP_ANY, GroupCapabilities,
    GroupDesc, GroupFeatures, GroupMod, GroupModCommand, GroupStats, GroupType,
};
pub use instruction::Instruction;
pub use message::{Body, Kind, Message};
pub use meter::{
    Band, BandCounter, METER_ALL, METER_CONTROLLER, METER_SLOWPATH, MeterConfig, MeterFeatureFlags,
    MeterFeatures, MeterFlags, MeterMod, MeterModCommand, MeterStats,
};
pub use monitor::{
    FlowEvent, FlowMonitorCommand, FlowMonitorFlags, FlowMonitorRequest, FlowUpdate, FlowUpdateFull,
};
pub use multipart::{Desc, MultipartKind, MultipartReply, MultipartRequest, ReplyBody, RequestBody};
pub use nicira::{
    Bundle, BundleChoice, FlowFormat, HashFields, Learn, LearnFlags, LearnSource, LearnSpec, LinkChoice,
    Multipath, NICIRA, Nicira, NiciraMessage, NxField, PacketIn2, PacketInFormat, SendToController, Subfield,
};
pub use optical::{OpticalFeatures, OpticalPort, OpticalSettings, OpticalStats, OpticalStatsFlags};
pub use packet::{PacketIn, PacketInReason, PacketOut};
pub use port::{Port, PortConfig, PortFeatures, PortMod, PortState, PortStats, PortStatus, PortStatusReason};
pub use port_no::PortNo;
pub use prerequisite::{MatchError, MatchProblem, Prerequisite, prerequisites};
pub use property::Property;
pub use queue::{QUEUE_ALL, Queue, QueueConfig, QueueProperty, QueueStats};
pub use role::{
    AsyncConfig, AsyncMasks, ChannelStatus, ControllerRole, ControllerStatus, ControllerStatusReason, Role,
    RoleReason, RoleStatus,
};
pub use session::{
    Capabilities, ErrorMessage, Experimenter, Features, FragmentHandling, Header, Hello, HelloElement,
    SwitchConfig,
};
pub use table::{
    EvictionFlags, OxmId, TableConfig, TableDesc, TableFeatureFlags, TableFeatures, TableFeaturesCommand,
    TableMod, TableProperty, TableStats, TableStatus, TableStatusReason, TypeId, Vacancy,
};
pub use version::{Version, VersionError};
