//! Meters: changing them, describing them, reading their counters (since 1.3).

use serde::{Deserialize, Serialize};

/// The meter of slow-path packets.
pub const METER_SLOWPATH: u32 = 0xffff_fffd;
/// The meter of packets to the controller.
pub const METER_CONTROLLER: u32 = 0xffff_fffe;
/// All meters, in requests that allow it.
pub const METER_ALL: u32 = 0xffff_ffff;

codes! {
    /// What a METER_MOD does.
    pub enum MeterModCommand: u16 {
        /// Add a meter.
        Add = 0 in SINCE_1_3,
        /// Replace a meter's flags and bands.
        Modify = 1 in SINCE_1_3,
        /// Delete a meter, or all.
        Delete = 2 in SINCE_1_3,
    }
}

flags! {
    /// How a meter counts.
    pub struct MeterFlags {
        /// Rates in kb/s.
        KBPS = 1, in SINCE_1_3;
        /// Rates in packets per second.
        PKTPS = 1 << 1, in SINCE_1_3;
        /// Bursts count.
        BURST = 1 << 2, in SINCE_1_3;
        /// Keeps statistics.
        STATS = 1 << 3, in SINCE_1_3;
    }
}

/// What happens above a rate. Rates are in kb/s or packets per second, bursts in kilobits or packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Band {
    /// Drop.
    Drop {
        /// Above this rate.
        rate: u32,
        /// Burst.
        burst_size: u32,
    },
    /// Raise the drop precedence in the DSCP field.
    DscpRemark {
        /// Above this rate.
        rate: u32,
        /// Burst.
        burst_size: u32,
        /// By so many levels.
        prec_level: u8,
    },
    /// An experimenter's band.
    Experimenter {
        /// Above this rate.
        rate: u32,
        /// Burst.
        burst_size: u32,
        /// Whose.
        #[serde(with = "crate::json::hex_number")]
        experimenter: u32,
        /// What follows the experimenter's number.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
    /// A band that is not known here.
    Unknown {
        /// Its type.
        band_type: u16,
        /// What follows type and length.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

/// Adds, changes or deletes a meter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeterMod {
    /// What to do.
    pub command: MeterModCommand,
    /// How the meter counts.
    pub flags: MeterFlags,
    /// The meter; [`METER_ALL`] for all.
    pub meter_id: u32,
    /// What happens above which rates.
    pub bands: Vec<Band>,
}

/// A meter as it was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeterConfig {
    /// How it counts.
    pub flags: MeterFlags,
    /// Its number.
    pub meter_id: u32,
    /// What happens above which rates.
    pub bands: Vec<Band>,
}

/// A band's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BandCounter {
    /// Packets in the band.
    pub packet_count: u64,
    /// Bytes in the band.
    pub byte_count: u64,
}

/// A meter's counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeterStats {
    /// Its number.
    pub meter_id: u32,
    /// How many flow entries use it.
    pub flow_count: u32,
    /// Packets that passed.
    pub packet_in_count: u64,
    /// Bytes that passed.
    pub byte_in_count: u64,
    /// Whole seconds that it has lived.
    pub duration_sec: u32,
    /// Nanoseconds beyond those.
    pub duration_nsec: u32,
    /// Each band's counters.
    pub bands: Vec<BandCounter>,
}

flags! {
    /// Where meter actions may stand.
    pub struct MeterFeatureFlags {
        /// In action sets.
        ACTION_SET = 1, in SINCE_1_5;
        /// Anywhere in an action list.
        ANY_POSITION = 1 << 1, in SINCE_1_5;
        /// More than once in an action list.
        MULTI_LIST = 1 << 2, in SINCE_1_5;
    }
}

/// What a switch's meters can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeterFeatures {
    /// Most meters.
    pub max_meters: u32,
    /// Bitmap of the band types.
    pub band_types: u32,
    /// What they can do.
    pub capabilities: MeterFlags,
    /// Most bands per meter.
    pub max_bands: u8,
    /// Most colours.
    pub max_color: u8,
    /// Where meter actions may stand (since 1.5).
    pub features: MeterFeatureFlags,
}
