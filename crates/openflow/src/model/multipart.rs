//! Statistics and descriptions, asked for and told in as many messages as it takes (STATS in 1.0).

use serde::{Deserialize, Serialize};

use super::{
    AggregateStats, BundleFeatures, BundleFeaturesRequest, ControllerStatus, Experimenter,
    FlowCountersReport, FlowMonitorRequest, FlowStats, FlowStatsRequest, FlowUpdate, GroupDesc,
    GroupFeatures, GroupStats, MeterConfig, MeterFeatures, MeterStats, Port, PortNo, PortStats, Queue,
    QueueStats, TableDesc, TableFeatures, TableStats,
};

codes! {
    /// What a multipart message is about.
    pub enum MultipartKind: u16 {
        /// The switch.
        Desc = 0 in EVERY,
        /// Flow entries.
        Flow = 1 in EVERY,
        /// Flow entries, added up.
        Aggregate = 2 in EVERY,
        /// Tables.
        Table = 3 in EVERY,
        /// Ports' counters.
        PortStats = 4 in EVERY,
        /// Queues' counters.
        Queue = 5 in EVERY,
        /// Groups' counters.
        Group = 6 in SINCE_1_3,
        /// Groups.
        GroupDesc = 7 in SINCE_1_3,
        /// What groups can do.
        GroupFeatures = 8 in SINCE_1_3,
        /// Meters' counters.
        Meter = 9 in SINCE_1_3,
        /// Meters.
        MeterConfig = 10 in SINCE_1_3,
        /// What meters can do.
        MeterFeatures = 11 in SINCE_1_3,
        /// What tables can do.
        TableFeatures = 12 in SINCE_1_3,
        /// Ports.
        PortDesc = 13 in SINCE_1_3,
        /// How tables are configured.
        TableDesc = 14 in SINCE_1_4,
        /// Queues.
        QueueDesc = 15 in SINCE_1_4,
        /// Changes of flow entries.
        FlowMonitor = 16 in SINCE_1_4,
        /// Flow entries' counters alone.
        FlowStats = 17 in SINCE_1_5,
        /// Controllers.
        ControllerStatus = 18 in SINCE_1_5,
        /// What bundles can do.
        BundleFeatures = 19 in SINCE_1_5,
        /// An experimenter's.
        Experimenter = 0xffff in EVERY,
    }
}

/// A request, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultipartRequest {
    /// Whether more parts follow.
    #[serde(default)]
    pub more: bool,
    /// What is asked for.
    pub body: RequestBody,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RequestBody {
    /// The switch's description.
    Desc,
    /// Flow entries.
    Flow(FlowStatsRequest),
    /// The sum of flow entries.
    Aggregate(FlowStatsRequest),
    /// Tables' counters.
    Table,
    /// A port's counters; [`PortNo::ANY`] for all.
    PortStats(PortNo),
    /// Queues' counters.
    Queue {
        /// The port; [`PortNo::ANY`] for all (1.0: [`PortNo::ALL`]).
        port: PortNo,
        /// The queue; [`QUEUE_ALL`](super::QUEUE_ALL) for all.
        queue_id: u32,
    },
    /// A group's counters; [`GROUP_ALL`](super::GROUP_ALL) for all.
    Group(u32),
    /// A group; [`GROUP_ALL`](super::GROUP_ALL) for all (to 1.4 always).
    GroupDesc(u32),
    /// What groups can do.
    GroupFeatures,
    /// A meter's counters; [`METER_ALL`](super::METER_ALL) for all.
    Meter(u32),
    /// A meter; [`METER_ALL`](super::METER_ALL) for all.
    MeterConfig(u32),
    /// What meters can do.
    MeterFeatures,
    /// What tables can do; or, with a list, what they shall do.
    TableFeatures(Vec<TableFeatures>),
    /// A port; [`PortNo::ANY`] for all (to 1.4 always).
    PortDesc(PortNo),
    /// How tables are configured.
    TableDesc,
    /// Queues.
    QueueDesc {
        /// The port; [`PortNo::ANY`] for all.
        port: PortNo,
        /// The queue; [`QUEUE_ALL`](super::QUEUE_ALL) for all.
        queue_id: u32,
    },
    /// Adds, changes or deletes flow monitors.
    FlowMonitor(Vec<FlowMonitorRequest>),
    /// Flow entries' counters alone.
    FlowStats(FlowStatsRequest),
    /// Controllers.
    ControllerStatus,
    /// What bundles can do.
    BundleFeatures(BundleFeaturesRequest),
    /// Flow entries, in Nicira's format: fields that 1.0's has no room for.
    NiciraFlow(FlowStatsRequest),
    /// The sum of flow entries, likewise.
    NiciraAggregate(FlowStatsRequest),
    /// An experimenter's request.
    Experimenter(Experimenter),
    /// A request that is not known here.
    Unknown {
        /// Its type.
        kind: u16,
        /// Its content.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

/// A reply, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultipartReply {
    /// Whether more parts follow.
    #[serde(default)]
    pub more: bool,
    /// What is told.
    pub body: ReplyBody,
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReplyBody {
    /// The switch's description.
    Desc(Desc),
    /// Flow entries.
    Flow(Vec<FlowStats>),
    /// The sum of flow entries.
    Aggregate(AggregateStats),
    /// Tables' counters.
    Table(Vec<TableStats>),
    /// Ports' counters.
    PortStats(Vec<PortStats>),
    /// Queues' counters.
    Queue(Vec<QueueStats>),
    /// Groups' counters.
    Group(Vec<GroupStats>),
    /// Groups.
    GroupDesc(Vec<GroupDesc>),
    /// What groups can do.
    GroupFeatures(GroupFeatures),
    /// Meters' counters.
    Meter(Vec<MeterStats>),
    /// Meters.
    MeterConfig(Vec<MeterConfig>),
    /// What meters can do.
    MeterFeatures(MeterFeatures),
    /// What tables can do.
    TableFeatures(Vec<TableFeatures>),
    /// Ports.
    PortDesc(Vec<Port>),
    /// How tables are configured.
    TableDesc(Vec<TableDesc>),
    /// Queues.
    QueueDesc(Vec<Queue>),
    /// Changes of flow entries.
    FlowMonitor(Vec<FlowUpdate>),
    /// Flow entries' counters alone.
    FlowStats(Vec<FlowCountersReport>),
    /// Controllers.
    ControllerStatus(Vec<ControllerStatus>),
    /// What bundles can do.
    BundleFeatures(BundleFeatures),
    /// Flow entries, in Nicira's format.
    NiciraFlow(Vec<FlowStats>),
    /// The sum of flow entries, likewise.
    NiciraAggregate(AggregateStats),
    /// An experimenter's reply.
    Experimenter(Experimenter),
    /// A reply that is not known here.
    Unknown {
        /// Its type.
        kind: u16,
        /// Its content.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

/// Who made a switch, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Desc {
    /// Manufacturer, at most 255 bytes.
    pub mfr_desc: String,
    /// Hardware, at most 255 bytes.
    pub hw_desc: String,
    /// Software, at most 255 bytes.
    pub sw_desc: String,
    /// Serial number, at most 31 bytes.
    pub serial_num: String,
    /// The datapath, for people, at most 255 bytes.
    pub dp_desc: String,
}

impl MultipartRequest {
    /// A request in one part.
    pub fn new(body: RequestBody) -> MultipartRequest {
        MultipartRequest { more: false, body }
    }
}

impl MultipartReply {
    /// A reply in one part, or the last.
    pub fn new(body: ReplyBody) -> MultipartReply {
        MultipartReply { more: false, body }
    }
}

impl RequestBody {
    /// What it is about.
    pub fn kind(&self) -> MultipartKind {
        match self {
            RequestBody::Desc => MultipartKind::Desc,
            RequestBody::Flow(_) => MultipartKind::Flow,
            RequestBody::Aggregate(_) => MultipartKind::Aggregate,
            RequestBody::Table => MultipartKind::Table,
            RequestBody::PortStats(_) => MultipartKind::PortStats,
            RequestBody::Queue { .. } => MultipartKind::Queue,
            RequestBody::Group(_) => MultipartKind::Group,
            RequestBody::GroupDesc(_) => MultipartKind::GroupDesc,
            RequestBody::GroupFeatures => MultipartKind::GroupFeatures,
            RequestBody::Meter(_) => MultipartKind::Meter,
            RequestBody::MeterConfig(_) => MultipartKind::MeterConfig,
            RequestBody::MeterFeatures => MultipartKind::MeterFeatures,
            RequestBody::TableFeatures(_) => MultipartKind::TableFeatures,
            RequestBody::PortDesc(_) => MultipartKind::PortDesc,
            RequestBody::TableDesc => MultipartKind::TableDesc,
            RequestBody::QueueDesc { .. } => MultipartKind::QueueDesc,
            RequestBody::FlowMonitor(_) => MultipartKind::FlowMonitor,
            RequestBody::FlowStats(_) => MultipartKind::FlowStats,
            RequestBody::ControllerStatus => MultipartKind::ControllerStatus,
            RequestBody::BundleFeatures(_) => MultipartKind::BundleFeatures,
            RequestBody::NiciraFlow(_) | RequestBody::NiciraAggregate(_) | RequestBody::Experimenter(_) => {
                MultipartKind::Experimenter
            }
            RequestBody::Unknown { kind, .. } => MultipartKind::Unknown(*kind),
        }
    }
}

impl ReplyBody {
    /// What it is about.
    pub fn kind(&self) -> MultipartKind {
        match self {
            ReplyBody::Desc(_) => MultipartKind::Desc,
            ReplyBody::Flow(_) => MultipartKind::Flow,
            ReplyBody::Aggregate(_) => MultipartKind::Aggregate,
            ReplyBody::Table(_) => MultipartKind::Table,
            ReplyBody::PortStats(_) => MultipartKind::PortStats,
            ReplyBody::Queue(_) => MultipartKind::Queue,
            ReplyBody::Group(_) => MultipartKind::Group,
            ReplyBody::GroupDesc(_) => MultipartKind::GroupDesc,
            ReplyBody::GroupFeatures(_) => MultipartKind::GroupFeatures,
            ReplyBody::Meter(_) => MultipartKind::Meter,
            ReplyBody::MeterConfig(_) => MultipartKind::MeterConfig,
            ReplyBody::MeterFeatures(_) => MultipartKind::MeterFeatures,
            ReplyBody::TableFeatures(_) => MultipartKind::TableFeatures,
            ReplyBody::PortDesc(_) => MultipartKind::PortDesc,
            ReplyBody::TableDesc(_) => MultipartKind::TableDesc,
            ReplyBody::QueueDesc(_) => MultipartKind::QueueDesc,
            ReplyBody::FlowMonitor(_) => MultipartKind::FlowMonitor,
            ReplyBody::FlowStats(_) => MultipartKind::FlowStats,
            ReplyBody::ControllerStatus(_) => MultipartKind::ControllerStatus,
            ReplyBody::BundleFeatures(_) => MultipartKind::BundleFeatures,
            ReplyBody::NiciraFlow(_) | ReplyBody::NiciraAggregate(_) | ReplyBody::Experimenter(_) => {
                MultipartKind::Experimenter
            }
            ReplyBody::Unknown { kind, .. } => MultipartKind::Unknown(*kind),
        }
    }
}
