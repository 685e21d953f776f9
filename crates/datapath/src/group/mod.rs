//! Groups: several alternatives of what is done with a frame (OpenFlow 1.3.5, 5.6).

mod body;
mod chain;
mod request;

use crate::id_map::IdMap;
use crate::ports::Ports;
use crate::stats::seconds;
pub use body::{Alternative, Body, mixed};
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    Bucket, BucketCounter, GROUP_ALL, GroupCapabilities, GroupDesc, GroupFeatures, GroupStats, Property,
};
use std::sync::Arc;

/// The most groups.
pub const MAX_GROUPS: usize = 65_536;
/// The most buckets of a group.
pub const MAX_BUCKETS: usize = 1024;
/// The longest chain of groups that send to each other.
pub const MAX_CHAIN: usize = 64;
/// The highest number of a group (OFPG_MAX).
const HIGHEST: u32 = 0xffff_ff00;
/// Numbers of the actions that buckets may have: all of 1.3.
const ACTIONS: u32 = 1 | 0b11 << 11 | 0x0fff_8000;

/// A group.
#[derive(Clone, Debug)]
struct Group {
    body: Arc<Body>,
    /// As the controller gave them.
    buckets: Vec<Bucket>,
    properties: Vec<Property>,
    counters: Vec<BucketCounter>,
    packets: u64,
    bytes: u64,
    created: Nanos,
    /// Flow entries that send to it.
    users: u32,
    /// Groups that send to it.
    chained: u32,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    by_id: IdMap<Group>,
}

impl Groups {
    /// Whether the group is there.
    pub fn contains(&self, id: u32) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Counts a frame of `bytes` bytes and gives what is to be done with it.
    pub fn enter(&mut self, id: u32, bytes: usize) -> Option<Arc<Body>> {
        let group = self.by_id.get_mut(&id)?;
        group.packets += 1;
        group.bytes += bytes as u64;
        Some(Arc::clone(&group.body))
    }

    /// Counts a frame of `bytes` bytes for a bucket.
    pub fn count_bucket(&mut self, id: u32, place: usize, bytes: usize) {
        if let Some(counter) = self.by_id.get_mut(&id).and_then(|g| g.counters.get_mut(place)) {
            counter.packet_count += 1;
            counter.byte_count += bytes as u64;
        }
    }

    /// Counts `frames` more for a group, `bytes` in all.
    pub fn credit(&mut self, id: u32, frames: u64, bytes: u64) {
        if let Some(group) = self.by_id.get_mut(&id) {
            group.packets += frames;
            group.bytes += bytes;
        }
    }

    /// Counts `frames` more for a bucket, `bytes` in all.
    pub fn credit_bucket(&mut self, id: u32, place: usize, frames: u64, bytes: u64) {
        if let Some(counter) = self.by_id.get_mut(&id).and_then(|g| g.counters.get_mut(place)) {
            counter.packet_count += frames;
            counter.byte_count += bytes;
        }
    }

    /// Whether a bucket may be chosen: it watches nothing, or a live port or group (1.3.5, 6.5).
    pub fn is_bucket_live(&self, bucket: &Alternative, ports: &Ports) -> bool {
        let watches_nothing = bucket.watch_port.is_none() && bucket.watch_group.is_none();
        watches_nothing
            || bucket.watch_port.is_some_and(|port| ports.is_live(port))
            || bucket.watch_group.is_some_and(|group| self.is_live(group, ports))
    }

    /// Whether a group has a live bucket. Groups don't watch each other in circles.
    fn is_live(&self, id: u32, ports: &Ports) -> bool {
        let Some(group) = self.by_id.get(&id) else { return false };
        group.body.buckets.iter().any(|bucket| self.is_bucket_live(bucket, ports))
    }

    /// Counts an entry that sends to the group.
    pub fn add_user(&mut self, id: u32) {
        if let Some(group) = self.by_id.get_mut(&id) {
            group.users += 1;
        }
    }

    /// Uncounts an entry that sent to the group.
    pub fn drop_user(&mut self, id: u32) {
        if let Some(group) = self.by_id.get_mut(&id) {
            group.users = group.users.saturating_sub(1);
        }
    }

    fn meant(&self, id: u32) -> Vec<u32> {
        let mut ids: Vec<u32> = self.by_id.keys().copied().filter(|&i| id == GROUP_ALL || id == i).collect();
        ids.sort_unstable();
        ids
    }

    /// The counters of a group, or of all ([`GROUP_ALL`]), by rising number; none for a group that isn't there.
    pub fn stats(&self, id: u32, now: Nanos) -> Vec<GroupStats> {
        let stats = |id| {
            let group = &self.by_id[&id];
            let (duration_sec, duration_nsec) = seconds(now - group.created);
            GroupStats {
                group_id: id,
                ref_count: group.users + group.chained,
                packet_count: group.packets,
                byte_count: group.bytes,
                duration_sec,
                duration_nsec,
                buckets: group.counters.clone(),
            }
        };
        self.meant(id).into_iter().map(stats).collect()
    }

    /// A group, or all ([`GROUP_ALL`]), as they were set up, by rising number.
    pub fn desc(&self, id: u32) -> Vec<GroupDesc> {
        let desc = |id| {
            let group = &self.by_id[&id];
            GroupDesc {
                group_type: group.body.group_type,
                group_id: id,
                buckets: group.buckets.clone(),
                properties: group.properties.clone(),
            }
        };
        self.meant(id).into_iter().map(desc).collect()
    }

    /// What groups can do.
    pub fn features() -> GroupFeatures {
        GroupFeatures {
            types: 0b1111,
            capabilities: GroupCapabilities::SELECT_WEIGHT
                | GroupCapabilities::SELECT_LIVENESS
                | GroupCapabilities::CHAINING
                | GroupCapabilities::CHAINING_CHECKS,
            max_groups: [MAX_GROUPS as u32; 4],
            actions: [ACTIONS; 4],
        }
    }
}
