//! GROUP_MODs: what is refused, and how groups change (OpenFlow 1.3.5, 6.5; 1.5.1, 6.5).

use super::{Body, Group, Groups, HIGHEST, MAX_BUCKETS, MAX_GROUPS};
use crate::check;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    BUCKET_ALL, BUCKET_FIRST, BUCKET_LAST, Bucket, BucketCounter, ErrorCode, GROUP_ALL, GROUP_ANY, GroupMod,
    GroupModCommand, GroupType, PortNo,
};
use std::sync::Arc;

/// A GROUP_MOD that has been found sound, not yet carried out.
#[derive(Debug)]
pub struct Change {
    buckets: Vec<Bucket>,
    body: Body,
}

/// Removes nothing and is no group: neither a number that a group can have nor all.
fn is_number(id: u32) -> bool {
    id <= HIGHEST
}

impl Groups {
    /// What a GROUP_MOD would make of its group; buckets' actions are the caller's to check.
    ///
    /// # Errors
    /// The code with which it is refused.
    pub fn plan(&self, request: &GroupMod) -> Result<Change, ErrorCode> {
        let id = request.group_id;
        let known = self.by_id.get(&id);
        let (group_type, buckets) = match (request.command, known) {
            (GroupModCommand::Unknown(_) | GroupModCommand::Delete, _) => {
                return Err(ErrorCode::GroupBadCommand);
            }
            (_, _) if !is_number(id) => return Err(ErrorCode::GroupInvalid),
            (GroupModCommand::Add, Some(_)) => return Err(ErrorCode::GroupExists),
            (GroupModCommand::Add, None) if self.by_id.len() >= MAX_GROUPS => {
                return Err(ErrorCode::GroupOutOfGroups);
            }
            (GroupModCommand::Add, None) | (GroupModCommand::Modify, Some(_)) => {
                (request.group_type, request.buckets.clone())
            }
            (GroupModCommand::InsertBucket, Some(group)) => {
                (group.body.group_type, inserted(&group.buckets, request)?)
            }
            (GroupModCommand::RemoveBucket, Some(group)) => {
                (group.body.group_type, left(&group.buckets, request)?)
            }
            (
                GroupModCommand::Modify | GroupModCommand::InsertBucket | GroupModCommand::RemoveBucket,
                None,
            ) => {
                return Err(ErrorCode::GroupUnknown);
            }
        };
        check::properties(&request.properties)?;
        self.check_buckets(group_type, &buckets)?;
        let body = Body::new(group_type, &buckets);
        if self.makes_loop(id, &body) {
            return Err(ErrorCode::GroupLoop);
        }
        if self.makes_long_chain(id, &body) {
            return Err(ErrorCode::GroupChainingUnsupported);
        }
        Ok(Change { buckets, body })
    }

    fn check_buckets(&self, group_type: GroupType, buckets: &[Bucket]) -> Result<(), ErrorCode> {
        if let GroupType::Unknown(_) = group_type {
            return Err(ErrorCode::GroupBadType);
        }
        if buckets.len() > MAX_BUCKETS {
            return Err(ErrorCode::GroupOutOfBuckets);
        }
        if group_type == GroupType::Indirect && buckets.len() != 1 {
            return Err(ErrorCode::GroupInvalid);
        }
        let ids: Vec<u32> = ids(buckets);
        if ids.iter().any(|&id| id > HIGHEST) {
            return Err(ErrorCode::GroupBadBucket);
        }
        if (1..ids.len()).any(|i| ids[..i].contains(&ids[i])) {
            return Err(ErrorCode::GroupBucketExists);
        }
        buckets.iter().try_for_each(|bucket| self.check_bucket(group_type, bucket))
    }

    /// Weights are for select groups; watching is a must for fast failover, and pointless for groups that
    /// don't choose.
    fn check_bucket(&self, group_type: GroupType, bucket: &Bucket) -> Result<(), ErrorCode> {
        check::properties(&bucket.properties)?;
        if bucket.weight != 0 && group_type != GroupType::Select {
            return Err(ErrorCode::GroupInvalid);
        }
        let (port, group) = (bucket.watch_port, bucket.watch_group);
        let watches = port != PortNo::ANY || group != GROUP_ANY;
        match group_type {
            GroupType::All | GroupType::Indirect if watches => return Err(ErrorCode::GroupWatchUnsupported),
            GroupType::FastFailover if !watches => return Err(ErrorCode::GroupInvalid),
            GroupType::All
            | GroupType::Indirect
            | GroupType::Select
            | GroupType::FastFailover
            | GroupType::Unknown(_) => {}
        }
        let is_port = port == PortNo::ANY || port == PortNo::LOCAL || (port.0 > 0 && !port.is_reserved());
        if !is_port || (group != GROUP_ANY && !self.contains(group)) {
            return Err(ErrorCode::GroupBadWatch);
        }
        Ok(())
    }

    /// Carries a change out. The group keeps its own counts; its buckets start anew, but for those that a
    /// bucket command left alone.
    pub fn carry_out(&mut self, request: &GroupMod, change: Change, now: Nanos) {
        let Change { buckets, body } = change;
        let id = request.group_id;
        let old = self.by_id.remove(&id);
        let mut counters = vec![BucketCounter::default(); buckets.len()];
        let keeps = request.command != GroupModCommand::Modify;
        if let Some(old) = old.as_ref().filter(|_| keeps) {
            let (before, after) = (ids(&old.buckets), ids(&buckets));
            for (place, id) in after.iter().enumerate() {
                if let Some(was) = before.iter().position(|b| b == id) {
                    counters[place] = old.counters[was];
                }
            }
        }
        for target in old.iter().flat_map(|old| old.body.targets()) {
            self.count_chained(target, false);
        }
        for target in body.targets() {
            self.count_chained(target, true);
        }
        let mut group = Group {
            body: Arc::new(body),
            buckets,
            properties: request.properties.clone(),
            counters,
            packets: 0,
            bytes: 0,
            created: now,
            users: 0,
            chained: 0,
        };
        if let Some(old) = old {
            (group.packets, group.bytes, group.created) = (old.packets, old.bytes, old.created);
            (group.users, group.chained) = (old.users, old.chained);
        }
        self.by_id.insert(id, group);
    }

    fn count_chained(&mut self, target: u32, more: bool) {
        if let Some(group) = self.by_id.get_mut(&target) {
            group.chained = if more { group.chained + 1 } else { group.chained.saturating_sub(1) };
        }
    }

    /// Removes a group, or all; gives the numbers of those that entries send to. A group that isn't there is no
    /// error.
    ///
    /// # Errors
    /// Another group sends to it; a number that no group has.
    pub fn remove(&mut self, id: u32) -> Result<Vec<u32>, ErrorCode> {
        if id == GROUP_ALL {
            let mut used: Vec<u32> =
                self.by_id.iter().filter(|(_, g)| g.users > 0).map(|(&id, _)| id).collect();
            used.sort_unstable();
            self.by_id.clear();
            return Ok(used);
        }
        if !is_number(id) {
            return Err(ErrorCode::GroupInvalid);
        }
        if self.by_id.get(&id).is_some_and(|group| group.chained > 0) {
            return Err(ErrorCode::GroupChained);
        }
        let Some(gone) = self.by_id.remove(&id) else { return Ok(vec![]) };
        gone.body.targets().into_iter().for_each(|target| self.count_chained(target, false));
        Ok(if gone.users > 0 { vec![id] } else { vec![] })
    }
}

impl Change {
    /// The buckets as they will be.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }
}

/// The buckets' numbers: given, or else their places.
fn ids(buckets: &[Bucket]) -> Vec<u32> {
    buckets.iter().enumerate().map(|(place, b)| b.bucket_id.unwrap_or(place as u32)).collect()
}

/// The buckets with their numbers written down: places are about to change.
fn numbered(buckets: &[Bucket]) -> Vec<Bucket> {
    let numbered = buckets.iter().zip(ids(buckets));
    numbered.map(|(bucket, id)| Bucket { bucket_id: Some(id), ..bucket.clone() }).collect()
}

/// The place behind a bucket.
fn place_of(buckets: &[Bucket], id: u32) -> Result<usize, ErrorCode> {
    ids(buckets).iter().position(|&b| b == id).ok_or(ErrorCode::GroupUnknownBucket)
}

fn inserted(old: &[Bucket], request: &GroupMod) -> Result<Vec<Bucket>, ErrorCode> {
    let at = match request.command_bucket_id {
        BUCKET_FIRST => 0,
        BUCKET_LAST => old.len(),
        BUCKET_ALL => return Err(ErrorCode::GroupUnknownBucket),
        id => place_of(old, id)? + 1,
    };
    let mut buckets = numbered(old);
    buckets.splice(at..at, numbered(&request.buckets));
    Ok(buckets)
}

fn left(old: &[Bucket], request: &GroupMod) -> Result<Vec<Bucket>, ErrorCode> {
    if !request.buckets.is_empty() {
        return Err(ErrorCode::GroupBadBucket);
    }
    let at = match request.command_bucket_id {
        BUCKET_ALL => return Ok(vec![]),
        _ if old.is_empty() => return Err(ErrorCode::GroupUnknownBucket),
        BUCKET_FIRST => 0,
        BUCKET_LAST => old.len() - 1,
        id => place_of(old, id)?,
    };
    let mut buckets = numbered(old);
    buckets.remove(at);
    Ok(buckets)
}
