//! Ports: description, change of state, configuration, counters.

use flowgauge_packet::MacAddr;
use serde::{Deserialize, Serialize};

use super::{OpticalPort, OpticalSettings, OpticalStats, OxmId, PortNo, Property};

flags! {
    /// What the controller wants of a port.
    pub struct PortConfig {
        /// Down.
        PORT_DOWN = 1, in EVERY;
        /// Out of the spanning tree.
        NO_STP = 1 << 1, in ONLY_1_0;
        /// Drop what arrives.
        NO_RECV = 1 << 2, in EVERY;
        /// Drop spanning-tree frames that arrive.
        NO_RECV_STP = 1 << 3, in ONLY_1_0;
        /// Not part of a flood.
        NO_FLOOD = 1 << 4, in ONLY_1_0;
        /// Drop what is forwarded to it.
        NO_FWD = 1 << 5, in EVERY;
        /// Send no PACKET_IN for what arrives.
        NO_PACKET_IN = 1 << 6, in EVERY;
    }
}

flags! {
    /// What a port is like now.
    pub struct PortState {
        /// No link.
        LINK_DOWN = 1, in EVERY;
        /// Blocked by a protocol of the switch.
        BLOCKED = 1 << 1, in SINCE_1_3;
        /// Live for fast-failover groups.
        LIVE = 1 << 2, in SINCE_1_3;
        /// Spanning tree: learning, not forwarding.
        STP_LEARN = 1 << 8, in ONLY_1_0;
        /// Spanning tree: learning and forwarding.
        STP_FORWARD = 2 << 8, in ONLY_1_0;
        /// Spanning tree: not part of the tree.
        STP_BLOCK = 3 << 8, in ONLY_1_0;
    }
}

flags! {
    /// Link speeds and media (the bits of 1.1 and later).
    pub struct PortFeatures {
        /// 10 Mb/s half duplex.
        MB10_HALF = 1, in EVERY;
        /// 10 Mb/s full duplex.
        MB10_FULL = 1 << 1, in EVERY;
        /// 100 Mb/s half duplex.
        MB100_HALF = 1 << 2, in EVERY;
        /// 100 Mb/s full duplex.
        MB100_FULL = 1 << 3, in EVERY;
        /// 1 Gb/s half duplex.
        GB1_HALF = 1 << 4, in EVERY;
        /// 1 Gb/s full duplex.
        GB1_FULL = 1 << 5, in EVERY;
        /// 10 Gb/s full duplex.
        GB10_FULL = 1 << 6, in EVERY;
        /// 40 Gb/s full duplex.
        GB40_FULL = 1 << 7, in SINCE_1_3;
        /// 100 Gb/s full duplex.
        GB100_FULL = 1 << 8, in SINCE_1_3;
        /// 1 Tb/s full duplex.
        TB1_FULL = 1 << 9, in SINCE_1_3;
        /// Another rate.
        OTHER = 1 << 10, in SINCE_1_3;
        /// Copper.
        COPPER = 1 << 11, in EVERY;
        /// Fibre.
        FIBER = 1 << 12, in EVERY;
        /// Auto-negotiation.
        AUTONEG = 1 << 13, in EVERY;
        /// Pause.
        PAUSE = 1 << 14, in EVERY;
        /// Asymmetric pause.
        PAUSE_ASYM = 1 << 15, in EVERY;
    }
}

/// A port of a switch. 1.0 has no speeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Port {
    /// Its number.
    pub port_no: PortNo,
    /// Its Ethernet address.
    pub hw_addr: MacAddr,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// What the controller wants of it.
    pub config: PortConfig,
    /// What it is like.
    pub state: PortState,
    /// Speed and medium now.
    pub current: PortFeatures,
    /// What it advertises.
    pub advertised: PortFeatures,
    /// What it can do.
    pub supported: PortFeatures,
    /// What the peer advertises.
    pub peer: PortFeatures,
    /// Bit rate now, in kb/s.
    pub current_speed: u32,
    /// Highest bit rate, in kb/s.
    pub max_speed: u32,
    /// What it can do if it is optical (since 1.4).
    pub optical: Option<OpticalPort>,
    /// Pipeline fields that packets from it may have (since 1.5).
    pub pipeline_input: Vec<OxmId>,
    /// Pipeline fields that packets to it may have (since 1.5).
    pub pipeline_output: Vec<OxmId>,
    /// The ports that its packets may come back on (since 1.5).
    pub recirculate: Vec<PortNo>,
    /// Other properties (since 1.4).
    pub properties: Vec<Property>,
}

codes! {
    /// What happened to a port.
    pub enum PortStatusReason: u8 {
        /// It came.
        Add = 0 in EVERY,
        /// It went.
        Delete = 1 in EVERY,
        /// It changed.
        Modify = 2 in EVERY,
    }
}

/// A port came, went or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortStatus {
    /// Which of these.
    pub reason: PortStatusReason,
    /// The port as it is now, or was.
    pub port: Port,
}

/// Changes what the controller wants of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortMod {
    /// The port.
    pub port_no: PortNo,
    /// Its Ethernet address, which must be right.
    pub hw_addr: MacAddr,
    /// New configuration.
    pub config: PortConfig,
    /// The bits of it that change.
    pub mask: PortConfig,
    /// What to advertise; none for no change.
    pub advertise: PortFeatures,
    /// What an optical port shall do (since 1.4).
    pub optical: Option<OpticalSettings>,
    /// Other properties (since 1.4).
    pub properties: Vec<Property>,
}

/// A port's counters; a counter that the switch does not keep is `u64::MAX`. 1.0 has no duration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortStats {
    /// The port.
    pub port_no: PortNo,
    /// Frames received.
    pub rx_packets: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Frames dropped on receipt.
    pub rx_dropped: u64,
    /// Frames dropped before they were sent.
    pub tx_dropped: u64,
    /// Errors on receipt.
    pub rx_errors: u64,
    /// Errors when sending.
    pub tx_errors: u64,
    /// Alignment errors.
    pub rx_frame_errors: u64,
    /// Receive overruns.
    pub rx_over_errors: u64,
    /// Checksum errors.
    pub rx_crc_errors: u64,
    /// Collisions.
    pub collisions: u64,
    /// Whole seconds that the port has been alive.
    pub duration_sec: u32,
    /// Nanoseconds beyond those.
    pub duration_nsec: u32,
    /// What it measures if it is optical (since 1.4).
    pub optical: Option<OpticalStats>,
    /// Other properties (since 1.4).
    pub properties: Vec<Property>,
}
