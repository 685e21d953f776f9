//! Groups: GROUP_MOD, descriptions, statistics.

use super::actions::Actions;
use crate::codec::error::{DecodeError, EncodeError, Part};
use crate::codec::reader::Reader;
use crate::codec::wire::{After, All, Before, Bits, Coded, Port32, Sized16, Times, U16, U32, U64, Wire};
use crate::codec::writer::{FlowContext, Writer};
use crate::model::{BUCKET_ALL, Bucket, BucketCounter, GroupDesc, GroupFeatures, GroupMod, GroupStats};

layout!(BucketBody: Bucket {
    weight: U16,
    watch_port: Port32,
    watch_group: Before<4, U32>,
    actions: Actions,
} none { properties: Vec::new() } lost { bucket_id: None });

/// A bucket, length first.
pub(crate) struct BucketWire;

impl Wire for BucketWire {
    type Value = Bucket;
    fn read(r: &mut Reader, name: &'static str) -> Result<Bucket, DecodeError> {
        let length = usize::from(r.u16("bucket length")?);
        if length < 16 || length - 2 > r.left() {
            let error = r.bad_length(2, "bucket length, 16 or more", length);
            return Err(DecodeError { part: Part::Bucket, ..error });
        }
        BucketBody::read(&mut r.sub(length - 2, name)?.within(Part::Bucket), name)
    }
    fn write(value: &Bucket, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.flow = FlowContext::default();
        if value.bucket_id.is_some() {
            w.leave_out("bucket_id")?;
        }
        Sized16::<BucketBody>::write(value, "bucket", w)
    }
}

layout!(GroupModWire: GroupMod {
    command: Coded<_, u16>,
    group_type: Before<1, Coded<_, u8>>,
    group_id: U32,
    buckets: All<BucketWire>,
} none { command_bucket_id: BUCKET_ALL, properties: Vec::new() });

layout!(GroupDescWire: GroupDesc {
    group_type: Before<1, Coded<_, u8>>,
    group_id: U32,
    buckets: All<BucketWire>,
} none { properties: Vec::new() });

layout!(BucketCounterWire: BucketCounter { packet_count: U64, byte_count: U64 });

layout!(GroupStatsWire: GroupStats {
    group_id: After<2, U32>,
    ref_count: Before<4, U32>,
    packet_count: U64,
    byte_count: U64,
    duration_sec: U32,
    duration_nsec: U32,
    buckets: All<BucketCounterWire>,
});

layout!(GroupFeaturesWire: GroupFeatures {
    types: U32,
    capabilities: Bits<_, u32>,
    max_groups: Times<4, U32>,
    actions: Times<4, U32>,
});
