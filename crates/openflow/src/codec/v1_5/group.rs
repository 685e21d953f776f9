//! Groups whose buckets have numbers and properties.

use crate::codec::error::{DecodeError, EncodeError, Part};
use crate::codec::property::{self, Properties};
use crate::codec::reader::Reader;
use crate::codec::v1_3::Actions;
use crate::codec::wire::{Before, Coded, Port32, Sized16, U16, U32, Wire};
use crate::codec::writer::{FlowContext, Writer};
use crate::model::{Bucket, GROUP_ANY, GroupDesc, GroupMod, GroupType, PortNo};

slot!(Weight: Bucket { weight: Before<2, U16> } unless |bucket| bucket.weight == 0);
slot!(WatchPort: Bucket { watch_port: Port32 }
    unless |bucket| bucket.watch_port == PortNo::ANY);
slot!(WatchGroup: Bucket { watch_group: U32 } unless |bucket| bucket.watch_group == GROUP_ANY);

properties!(bucket: Bucket, since V1_5, others in properties {
    0 EVERY "weight" in *bucket => Weight,
    1 EVERY "watch_port" in *bucket => WatchPort,
    2 EVERY "watch_group" in *bucket => WatchGroup,
});

properties!(group: GroupMod, since V1_5, others in properties {});
properties!(group: GroupDesc, since V1_5, others in properties {});

/// Length, length of the actions, number, actions, properties.
///
/// Of the buckets of a `Select` group, one whose weight is not said weighs 1; weights mean nothing elsewhere.
fn read_bucket(group_type: GroupType, r: &mut Reader) -> Result<Bucket, DecodeError> {
    let length = usize::from(r.u16("bucket length")?);
    if length < 8 || length - 2 > r.left() {
        let error = r.bad_length(2, "bucket length, 8 or more", length);
        return Err(DecodeError { part: Part::Bucket, ..error });
    }
    let mut r = r.sub(length - 2, "bucket")?.within(Part::Bucket);
    let actions = usize::from(r.u16("actions length")?);
    let bucket_id = Some(r.u32("bucket_id")?);
    if actions > r.left() {
        return Err(r.bad_length(6, "actions length", actions));
    }
    let actions = Actions::read(&mut r.sub(actions, "actions")?, "actions")?;
    let weight = u16::from(group_type == GroupType::Select);
    let mut bucket = Bucket { bucket_id, ..Bucket::new(weight, actions) };
    property::read_list(&mut bucket, &mut r)?;
    Ok(bucket)
}

fn write_bucket(
    bucket: &Bucket,
    group_type: GroupType,
    place: usize,
    w: &mut Writer,
) -> Result<(), EncodeError> {
    w.flow = FlowContext::default();
    let start = w.position();
    w.zeros(4);
    w.u32(bucket.bucket_id.unwrap_or(place as u32));
    Actions::write(&bucket.actions, "actions", w)?;
    w.patch_length(start + 2, start + 8);
    if bucket.weight == 0 && group_type == GroupType::Select {
        // Without it the bucket would weigh 1.
        property::write(0, w, |w| {
            w.zeros(4);
            Ok(())
        })?;
    }
    bucket.put(w)?;
    w.patch_length(start, start);
    Ok(())
}

fn read_buckets(group_type: GroupType, mut r: Reader) -> Result<Vec<Bucket>, DecodeError> {
    let mut buckets = Vec::new();
    while !r.is_empty() {
        buckets.push(read_bucket(group_type, &mut r)?);
    }
    Ok(buckets)
}

fn write_buckets(buckets: &[Bucket], group_type: GroupType, w: &mut Writer) -> Result<(), EncodeError> {
    buckets.iter().enumerate().try_for_each(|(place, bucket)| write_bucket(bucket, group_type, place, w))
}

/// Command, type, number, length of the buckets, the bucket that is meant, the buckets, properties.
pub(crate) struct GroupModWire;

impl Wire for GroupModWire {
    type Value = GroupMod;
    fn read(r: &mut Reader, _: &'static str) -> Result<GroupMod, DecodeError> {
        let command = Coded::<_, u16>::read(r, "command")?;
        let group_type = Before::<1, Coded<_, u8>>::read(r, "group_type")?;
        let group_id = r.u32("group_id")?;
        let length = usize::from(r.u16("buckets length")?);
        r.skip(2)?;
        let command_bucket_id = r.u32("command_bucket_id")?;
        if length > r.left() {
            return Err(DecodeError { part: Part::Bucket, ..r.bad_length(8, "buckets length", length) });
        }
        let buckets = read_buckets(group_type, r.sub(length, "buckets")?)?;
        let mut group =
            GroupMod { command, group_type, group_id, buckets, command_bucket_id, properties: Vec::new() };
        property::read_list(&mut group, r)?;
        Ok(group)
    }
    fn write(value: &GroupMod, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        Coded::<_, u16>::write(&value.command, "command", w)?;
        Before::<1, Coded<_, u8>>::write(&value.group_type, "group_type", w)?;
        w.u32(value.group_id);
        let length_at = w.position();
        w.zeros(4);
        w.u32(value.command_bucket_id);
        write_buckets(&value.buckets, value.group_type, w)?;
        w.patch_length(length_at, length_at + 8);
        value.put(w)
    }
}

/// A group, length first.
pub(crate) type GroupDescWire = Sized16<GroupDescBody>;

/// Type, number, length of the buckets, the buckets, properties.
pub(crate) struct GroupDescBody;

impl Wire for GroupDescBody {
    type Value = GroupDesc;
    fn read(r: &mut Reader, _: &'static str) -> Result<GroupDesc, DecodeError> {
        let group_type = Before::<1, Coded<_, u8>>::read(r, "group_type")?;
        let group_id = r.u32("group_id")?;
        let length = usize::from(r.u16("buckets length")?);
        r.skip(6)?;
        if length > r.left() {
            return Err(DecodeError { part: Part::Bucket, ..r.bad_length(8, "buckets length", length) });
        }
        let buckets = read_buckets(group_type, r.sub(length, "buckets")?)?;
        let mut group = GroupDesc { group_type, group_id, buckets, properties: Vec::new() };
        property::read_list(&mut group, r)?;
        Ok(group)
    }
    fn write(value: &GroupDesc, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        Before::<1, Coded<_, u8>>::write(&value.group_type, "group_type", w)?;
        w.u32(value.group_id);
        let length_at = w.position();
        w.zeros(8);
        write_buckets(&value.buckets, value.group_type, w)?;
        w.patch_length(length_at, length_at + 8);
        value.put(w)
    }
}
