//! Groups: changing them, describing them, reading their counters (since 1.1).

use serde::{Deserialize, Serialize};

use super::{Action, PortNo, Property};

/// All groups, in requests that allow it (OFPG_ALL).
pub const GROUP_ALL: u32 = 0xffff_fffc;
/// Any group, or none (OFPG_ANY).
pub const GROUP_ANY: u32 = 0xffff_ffff;
/// In front of all buckets (OFPG_BUCKET_FIRST).
pub const BUCKET_FIRST: u32 = 0xffff_fffd;
/// Behind all buckets (OFPG_BUCKET_LAST).
pub const BUCKET_LAST: u32 = 0xffff_fffe;
/// All buckets, or none in particular (OFPG_BUCKET_ALL).
pub const BUCKET_ALL: u32 = 0xffff_ffff;

codes! {
    /// What a GROUP_MOD does.
    pub enum GroupModCommand: u16 {
        /// Add a group.
        Add = 0 in SINCE_1_3,
        /// Replace a group's type and buckets.
        Modify = 1 in SINCE_1_3,
        /// Delete a group, or all.
        Delete = 2 in SINCE_1_3,
        /// Add buckets to a group.
        InsertBucket = 3 in SINCE_1_5,
        /// Remove a group's bucket, or all.
        RemoveBucket = 5 in SINCE_1_5,
    }
}

codes! {
    /// Which of a group's buckets act.
    pub enum GroupType: u8 {
        /// All of them: multicast.
        All = 0 in SINCE_1_3,
        /// One of them, by the switch's choice.
        Select = 1 in SINCE_1_3,
        /// The only one.
        Indirect = 2 in SINCE_1_3,
        /// The first that is live.
        FastFailover = 3 in SINCE_1_3,
    }
}

/// A group's alternative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bucket {
    /// Its share in `Select` groups.
    pub weight: u16,
    /// The port whose liveness is the bucket's; [`PortNo::ANY`] for none.
    pub watch_port: PortNo,
    /// The group whose liveness is the bucket's; [`GROUP_ANY`] for none.
    pub watch_group: u32,
    /// What it does.
    pub actions: Vec<Action>,
    /// Its number (since 1.5); `None` stands for its place in the message.
    pub bucket_id: Option<u32>,
    /// Other properties (since 1.5).
    pub properties: Vec<Property>,
}

impl Default for Bucket {
    /// A bucket that does nothing and has nothing to watch.
    fn default() -> Bucket {
        Bucket::new(0, Vec::new())
    }
}

impl Bucket {
    /// A bucket with `actions`, and nothing to watch.
    pub fn new(weight: u16, actions: Vec<Action>) -> Bucket {
        Bucket {
            weight,
            watch_port: PortNo::ANY,
            watch_group: GROUP_ANY,
            actions,
            bucket_id: None,
            properties: Vec::new(),
        }
    }
}

/// Adds, changes or deletes a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroupMod {
    /// What to do.
    pub command: GroupModCommand,
    /// The group's type.
    pub group_type: GroupType,
    /// The group; [`GROUP_ALL`] for all.
    pub group_id: u32,
    /// Its alternatives.
    pub buckets: Vec<Bucket>,
    /// The bucket behind which to insert, or which to remove (since 1.5); [`BUCKET_ALL`] where it means nothing.
    pub command_bucket_id: u32,
    /// Properties (since 1.5).
    pub properties: Vec<Property>,
}

impl GroupMod {
    /// A request without properties, for all buckets.
    pub fn new(
        command: GroupModCommand,
        group_type: GroupType,
        group_id: u32,
        buckets: Vec<Bucket>,
    ) -> GroupMod {
        let properties = Vec::new();
        GroupMod { command, group_type, group_id, buckets, command_bucket_id: BUCKET_ALL, properties }
    }
}

/// A group as it was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroupDesc {
    /// Its type.
    pub group_type: GroupType,
    /// Its number.
    pub group_id: u32,
    /// Its alternatives.
    pub buckets: Vec<Bucket>,
    /// Properties (since 1.5).
    pub properties: Vec<Property>,
}

/// A bucket's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BucketCounter {
    /// Packets processed.
    pub packet_count: u64,
    /// Bytes processed.
    pub byte_count: u64,
}

/// A group's counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroupStats {
    /// Its number.
    pub group_id: u32,
    /// How many flow entries and groups send to it.
    pub ref_count: u32,
    /// Packets processed.
    pub packet_count: u64,
    /// Bytes processed.
    pub byte_count: u64,
    /// Whole seconds that it has lived.
    pub duration_sec: u32,
    /// Nanoseconds beyond those.
    pub duration_nsec: u32,
    /// Each bucket's counters.
    pub buckets: Vec<BucketCounter>,
}

flags! {
    /// What a switch's groups can do.
    pub struct GroupCapabilities {
        /// Weights of `Select` buckets.
        SELECT_WEIGHT = 1, in SINCE_1_3;
        /// Liveness of `Select` buckets.
        SELECT_LIVENESS = 1 << 1, in SINCE_1_3;
        /// Groups that send to groups.
        CHAINING = 1 << 2, in SINCE_1_3;
        /// Loops are found and refused.
        CHAINING_CHECKS = 1 << 3, in SINCE_1_3;
    }
}

/// What a switch's groups can do; the arrays have one number per group type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroupFeatures {
    /// Bitmap of the group types.
    pub types: u32,
    /// What they can do.
    pub capabilities: GroupCapabilities,
    /// Most groups of each type.
    pub max_groups: [u32; 4],
    /// Bitmaps of the action types in groups of each type.
    pub actions: [u32; 4],
}
