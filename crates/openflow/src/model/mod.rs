//! The version-neutral messages, one file per family.

#[macro_use]
mod codes;

mod action;
mod error_code;
mod flow;
mod flow_match;
mod group;
mod instruction;
mod message;
mod meter;
mod multipart;
mod nicira;
mod packet;
mod port;
mod port_no;
mod prerequisite;
mod queue;
mod role;
mod session;
mod table;
mod version;

pub use action::Action;
pub use codes::Versions;
pub use error_code::ErrorCode;
pub use flow::{
    AggregateStats, FlowMod, FlowModCommand, FlowModFlags, FlowRemoved, FlowRemovedReason, FlowStats,
    FlowStatsRequest, TABLE_ALL,
};
pub use flow_match::{Match, MatchEntry, RawOxm};
pub use group::{
    Bucket, BucketCounter, GROUP_ALL, GROUP_ANY, GroupCapabilities, GroupDesc, GroupFeatures, GroupMod,
    GroupModCommand, GroupStats, GroupType,
};
pub use instruction::Instruction;
pub use message::{Body, Kind, Message};
pub use meter::{
    Band, BandCounter, METER_ALL, METER_CONTROLLER, METER_SLOWPATH, MeterConfig, MeterFeatures, MeterFlags,
    MeterMod, MeterModCommand, MeterStats,
};
pub use multipart::{Desc, MultipartKind, MultipartReply, MultipartRequest, ReplyBody, RequestBody};
pub use nicira::{
    Bundle, BundleChoice, FlowFormat, HashFields, Learn, LearnFlags, LearnSource, LearnSpec, LinkChoice, Multipath,
    NICIRA, Nicira, NiciraMessage, NxField, PacketIn2, PacketInFormat, SendToController, Subfield,
};
pub use packet::{PacketIn, PacketInReason, PacketOut};
pub use port::{Port, PortConfig, PortFeatures, PortMod, PortState, PortStats, PortStatus, PortStatusReason};
pub use port_no::PortNo;
pub use prerequisite::{MatchError, MatchProblem};
pub use queue::{QUEUE_ALL, Queue, QueueConfig, QueueProperty, QueueStats};
pub use role::{AsyncConfig, AsyncMasks, ControllerRole, Role};
pub use session::{
    Capabilities, ErrorMessage, Experimenter, Features, FragmentHandling, Header, Hello, HelloElement,
    SwitchConfig,
};
pub use table::{OxmId, TableFeatures, TableMod, TableProperty, TableStats, TypeId};
pub use version::{Version, VersionError};
