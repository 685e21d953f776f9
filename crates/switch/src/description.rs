//! What the switch tells of itself: features, tables, ports, queues, groups, meters, controllers.

use crate::abilities;
use crate::core::{Core, DONE, Outcome};
use flowgauge_openflow::{
    Body, BundleFeatures, BundleFlags, Capabilities, ControllerStatusReason, Desc, ErrorCode, Features,
    Message, MultipartReply, Port, PortNo, PortStats, QUEUE_ALL, QueueConfig, ReplyBody, RequestBody,
    TableStats, Version, encode,
};

/// 1.0's bitmap of the actions that we do: all.
const ACTIONS_1_0: u32 = 0xfff;
/// 1.3's PORT_DESC, which Open vSwitch's tools ask 1.0 for, too.
const PORT_DESC: u16 = 13;
/// Bytes of 1.0's FEATURES_REPLY in front of its ports.
const FEATURES_LEN: usize = 32;
/// Bytes of one message's list; what does not fit is left for the next.
const BYTES_PER_MESSAGE: usize = 32 << 10;

impl Core {
    /// FEATURES_REPLY.
    pub fn features(&self, who: usize) -> Features {
        let version = self.outlet.controllers[who].version;
        let is_old = version == Version::V1_0;
        let mut capabilities = Capabilities::FLOW_STATS
            | Capabilities::TABLE_STATS
            | Capabilities::PORT_STATS
            | Capabilities::QUEUE_STATS;
        match version {
            Version::V1_0 => capabilities |= Capabilities::ARP_MATCH_IP,
            Version::V1_3 => capabilities |= Capabilities::GROUP_STATS,
            Version::V1_4 | Version::V1_5 => {
                capabilities |=
                    Capabilities::GROUP_STATS | Capabilities::BUNDLES | Capabilities::FLOW_MONITORING;
            }
        }
        Features {
            datapath_id: self.datapath_id,
            n_buffers: self.outlet.buffers.capacity(),
            n_tables: self.tables_told(version) as u8,
            auxiliary_id: 0,
            capabilities,
            actions: if is_old { ACTIONS_1_0 } else { 0 },
            ports: if is_old { self.describe_ports(version) } else { vec![] },
        }
    }

    /// How many tables a controller is told of: 1.0 has words for one.
    pub fn tables_told(&self, version: Version) -> usize {
        if version == Version::V1_0 { 1 } else { self.pipeline.tables().len() }
    }

    fn describe_ports(&self, version: Version) -> Vec<Port> {
        self.outlet.ports.iter().map(|p| p.describe(version)).collect()
    }

    /// The reply to a multipart request that is answered at once.
    ///
    /// # Errors
    /// What is asked for isn't there, or not known.
    pub fn tell(&mut self, who: usize, wanted: RequestBody) -> Result<ReplyBody, ErrorCode> {
        let (version, now) = (self.controller(who).version, self.outlet.now);
        Ok(match wanted {
            RequestBody::Desc => ReplyBody::Desc(self.description()),
            RequestBody::Table => ReplyBody::Table(self.table_stats(version)),
            RequestBody::PortStats(port) => ReplyBody::PortStats(self.port_stats(port, version)?),
            RequestBody::PortDesc(port) => {
                let ports = self.describe_ports(version).into_iter();
                let found: Vec<Port> = ports.filter(|p| port == PortNo::ANY || p.port_no == port).collect();
                if found.is_empty() && port != PortNo::ANY {
                    return Err(ErrorCode::BadPort);
                }
                ReplyBody::PortDesc(found)
            }
            RequestBody::Queue { port, queue_id } => ReplyBody::Queue(self.queue_stats(port, queue_id, now)?),
            RequestBody::QueueDesc { port, queue_id } => {
                ReplyBody::QueueDesc(self.describe_queues(port, queue_id, version)?)
            }
            RequestBody::Group(id) => ReplyBody::Group(self.pipeline.group_stats(id, now)),
            RequestBody::GroupDesc(id) => ReplyBody::GroupDesc(self.pipeline.group_desc(id)),
            RequestBody::GroupFeatures => ReplyBody::GroupFeatures(self.pipeline.group_features()),
            RequestBody::Meter(id) => ReplyBody::Meter(self.pipeline.meter_stats(id, now)?),
            RequestBody::MeterConfig(id) => ReplyBody::MeterConfig(self.pipeline.meter_config(id)?),
            RequestBody::MeterFeatures => ReplyBody::MeterFeatures(self.pipeline.meter_features()),
            RequestBody::TableDesc => ReplyBody::TableDesc(self.pipeline.table_descs()),
            RequestBody::ControllerStatus => {
                let all = 0..self.outlet.controllers.len();
                let status = |other| self.controller_status(other, ControllerStatusReason::Request);
                ReplyBody::ControllerStatus(all.map(status).collect())
            }
            RequestBody::BundleFeatures(_) => ReplyBody::BundleFeatures(BundleFeatures {
                capabilities: BundleFlags::ATOMIC | BundleFlags::ORDERED,
                ..BundleFeatures::default()
            }),
            RequestBody::Experimenter(_) | RequestBody::NiciraFlow(_) | RequestBody::NiciraAggregate(_) => {
                return Err(ErrorCode::BadExperimenter);
            }
            RequestBody::Unknown { kind: PORT_DESC, .. } if version == Version::V1_0 => {
                ReplyBody::Unknown { kind: PORT_DESC, data: self.ports_of_1_0(who) }
            }
            RequestBody::Unknown { .. } => return Err(ErrorCode::BadMultipart),
            // Answered elsewhere.
            RequestBody::Flow(_)
            | RequestBody::FlowMonitor(_)
            | RequestBody::FlowStats(_)
            | RequestBody::Aggregate(_)
            | RequestBody::TableFeatures(_) => return Err(ErrorCode::BadMultipart),
        })
    }

    /// The ports as 1.0's FEATURES_REPLY lists them, behind a header and 24 bytes of other things.
    fn ports_of_1_0(&self, who: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let features = Message { xid: 0, body: Body::FeaturesReply(self.features(who)) };
        // Our own ports can be said in any version.
        let _ = encode(&features, Version::V1_0, &mut bytes);
        bytes.split_off(bytes.len().min(FEATURES_LEN))
    }

    fn description(&self) -> Desc {
        Desc {
            mfr_desc: "Flowgauge".into(),
            hw_desc: "software".into(),
            sw_desc: concat!("flowgauge switch ", env!("CARGO_PKG_VERSION")).into(),
            serial_num: format!("{:016x}", self.datapath_id),
            dp_desc: self.description.clone(),
        }
    }

    fn table_stats(&self, version: Version) -> Vec<TableStats> {
        let tables = self.pipeline.tables().iter().take(self.tables_told(version)).enumerate();
        let stats = tables.map(|(number, table)| TableStats {
            table_id: number as u8,
            name: format!("table{number}"),
            wildcards: abilities::WILDCARDS_1_0,
            max_entries: self.max_entries,
            active_count: table.len() as u32,
            lookup_count: table.lookups,
            matched_count: table.matched,
        });
        stats.collect()
    }

    fn port_stats(&mut self, wanted: PortNo, version: Version) -> Result<Vec<PortStats>, ErrorCode> {
        let now = self.outlet.now;
        let ports = self.outlet.ports.iter_mut();
        let found: Vec<PortStats> = ports
            .filter(|p| wanted == PortNo::ANY || p.number == wanted.0)
            .map(|p| p.counters(now))
            .collect();
        let is_unknown = found.is_empty() && wanted != PortNo::ANY;
        // 1.0 has no error for a port that isn't there: there is nothing to tell of it.
        if is_unknown && version != Version::V1_0 { Err(ErrorCode::BadPort) } else { Ok(found) }
    }

    /// QUEUE_GET_CONFIG_REQUEST.
    pub fn queue_config(&mut self, who: usize, xid: u32, port: PortNo) -> Outcome {
        let version = self.controller(who).version;
        let queues = self.describe_queues(port, QUEUE_ALL, version)?;
        self.reply(who, xid, Body::QueueGetConfigReply(QueueConfig { port, queues }))
    }

    /// Sends a reply in as many messages as it takes.
    ///
    /// # Errors
    /// As [`Core::reply`].
    pub fn send_in_parts(&mut self, who: usize, xid: u32, reply: ReplyBody) -> Outcome {
        let mut parts = split(reply).into_iter().peekable();
        while let Some(body) = parts.next() {
            let more = parts.peek().is_some();
            self.reply(who, xid, Body::MultipartReply(MultipartReply { more, body }))?;
        }
        DONE
    }
}

/// The reply in pieces that each fit a message.
fn split(reply: ReplyBody) -> Vec<ReplyBody> {
    /// Cuts a list into pieces of about `BYTES_PER_MESSAGE`; one empty piece if it is empty.
    fn pieces<T>(list: Vec<T>, bytes: impl Fn(&T) -> usize, body: fn(Vec<T>) -> ReplyBody) -> Vec<ReplyBody> {
        let (mut done, mut piece, mut room) = (Vec::new(), Vec::new(), BYTES_PER_MESSAGE);
        for item in list {
            let size = bytes(&item);
            if size > room && !piece.is_empty() {
                done.push(body(std::mem::take(&mut piece)));
                room = BYTES_PER_MESSAGE;
            }
            room = room.saturating_sub(size);
            piece.push(item);
        }
        done.push(body(piece));
        done
    }
    match reply {
        ReplyBody::PortStats(list) => pieces(list, |_| 160, ReplyBody::PortStats),
        ReplyBody::PortDesc(list) => pieces(list, |_| 128, ReplyBody::PortDesc),
        ReplyBody::Queue(list) => pieces(list, |_| 64, ReplyBody::Queue),
        ReplyBody::QueueDesc(list) => pieces(list, |q| 32 + q.properties.len() * 32, ReplyBody::QueueDesc),
        ReplyBody::Group(list) => pieces(list, |g| 48 + g.buckets.len() * 16, ReplyBody::Group),
        ReplyBody::GroupDesc(list) => {
            let bucket = |b: &flowgauge_openflow::Bucket| 64 + b.actions.len() * 40;
            pieces(list, |g| 32 + g.buckets.iter().map(bucket).sum::<usize>(), ReplyBody::GroupDesc)
        }
        ReplyBody::Meter(list) => pieces(list, |m| 48 + m.bands.len() * 16, ReplyBody::Meter),
        ReplyBody::MeterConfig(list) => pieces(list, |m| 16 + m.bands.len() * 16, ReplyBody::MeterConfig),
        ReplyBody::FlowMonitor(list) => pieces(list, |_| 320, ReplyBody::FlowMonitor),
        ReplyBody::ControllerStatus(list) => pieces(list, |_| 128, ReplyBody::ControllerStatus),
        other => vec![other],
    }
}
