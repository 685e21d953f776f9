//! Multipart messages (STATS in 1.0): type, flags, body; and which form each body has in which version.

use super::body::PortForm;
use super::error::{DecodeError, EncodeError};
use super::reader::Reader;
use super::shared::ExperimenterWire;
use super::wire::{
    All, Before, Coded, From1_3, From1_4, From1_5, OneSince, Port16, Port32, Rest, Sized16, U32, V1_5, Wire,
};
use super::writer::Writer;
use super::{nicira, v1_0, v1_3, v1_4, v1_5};
use crate::model::{
    GROUP_ALL, MultipartKind, MultipartReply, MultipartRequest, PortNo, ReplyBody, RequestBody, Version,
};

/// The flag that says that more parts follow.
const MORE: u16 = 1;

fn write_head(kind: MultipartKind, more: bool, w: &mut Writer) -> Result<(), EncodeError> {
    Coded::<MultipartKind, u16>::write(&kind, "multipart type", w)?;
    w.u16(if more { MORE } else { 0 });
    if w.version > Version::V1_0 {
        w.zeros(4);
    }
    Ok(())
}

fn read_head(r: &mut Reader) -> Result<(MultipartKind, bool), DecodeError> {
    let code = r.u16("multipart type")?;
    // What only later versions number is unknown.
    let known = Some(MultipartKind::from_code(code)).filter(|kind| kind.versions().include(r.version));
    let more = r.u16("multipart flags")? & MORE != 0;
    if r.version > Version::V1_0 {
        r.skip(4)?;
    }
    Ok((known.unwrap_or(MultipartKind::Unknown(code)), more))
}

macro_rules! bodies {
    ($wire:ident: $message:ident of $body:ident {
        $($kind:ident: $form:ty,)*
        ; $($pair:ident { $first:ident, $second:ident }: $pair_form:ty,)*
        ; $($empty:ident,)*
        ; with $w:ident, $read:path, $($own:ident($content:ident) => $write:expr,)*
    }) => {
        #[doc = concat!("`", stringify!($message), "` on the wire.")]
        pub(crate) struct $wire;
        impl Wire for $wire {
            type Value = $message;
            fn read(r: &mut Reader, _: &'static str) -> Result<$message, DecodeError> {
                let (kind, more) = read_head(r)?;
                let body = match kind {
                    $(MultipartKind::$kind => $body::$kind(<$form>::read(r, "body")?),)*
                    $(MultipartKind::$pair => {
                        let ($first, $second) = <$pair_form>::read(r, "body")?;
                        $body::$pair { $first, $second }
                    })*
                    $(MultipartKind::$empty => $body::$empty,)*
                    MultipartKind::Experimenter => $read(ExperimenterWire::read(r, "body")?, r.version),
                    MultipartKind::Unknown(kind) => $body::Unknown { kind, data: r.rest().to_vec() },
                };
                Ok($message { more, body })
            }
            fn write(value: &$message, _: &'static str, $w: &mut Writer) -> Result<(), EncodeError> {
                write_head(value.body.kind(), value.more, $w)?;
                match &value.body {
                    $($body::$kind(content) => <$form>::write(content, stringify!($kind), $w),)*
                    $($body::$pair { $first, $second } => {
                        <$pair_form>::write(&(*$first, *$second), "body", $w)
                    })*
                    $($body::$empty => Ok(()),)*
                    $($body::$own($content) => $write,)*
                    $body::Experimenter(content) => ExperimenterWire::write(content, "body", $w),
                    $body::Unknown { data, .. } => Rest::write(data, "body", $w),
                }
            }
        }
    };
}

type FlowRequest = From1_3<v1_0::FlowRequest, v1_3::FlowRequest>;
type Flows13 = From1_3<Sized16<v1_0::FlowStatsWire>, Sized16<v1_3::FlowStatsWire>>;
type PortStats13 = From1_3<v1_0::PortStatsWire, v1_3::PortStatsWire>;
type QueueStats13 = From1_3<v1_0::QueueStatsWire, v1_3::QueueStatsWire>;
type TableFeatures = All<v1_3::TableFeaturesWire>;

// A version that lacks a kind never gets here: it is unknown there.
bodies! {
    RequestWire: MultipartRequest of RequestBody {
        Flow: FlowRequest,
        Aggregate: FlowRequest,
        PortStats: From1_3<Before<6, Port16>, Before<4, Port32>>,
        Group: Before<4, U32>,
        GroupDesc: OneSince<V1_5, GROUP_ALL, Before<4, U32>>,
        Meter: Before<4, U32>,
        MeterConfig: Before<4, U32>,
        TableFeatures: TableFeatures,
        PortDesc: OneSince<V1_5, { PortNo::ANY.0 }, Before<4, Port32>>,
        FlowMonitor: All<v1_4::FlowMonitorWire>,
        FlowStats: FlowRequest,
        BundleFeatures: v1_5::BundleFeaturesRequestWire,
        ;
        Queue { port, queue_id }: From1_3<(Before<2, Port16>, U32), (Port32, U32)>,
        QueueDesc { port, queue_id }: (Port32, U32),
        ;
        Desc,
        Table,
        GroupFeatures,
        MeterFeatures,
        TableDesc,
        ControllerStatus,
        ;
        with w, nicira::read_request,
        NiciraFlow(flow) => nicira::write_request(flow, false, w),
        NiciraAggregate(flow) => nicira::write_request(flow, true, w),
    }
}

bodies! {
    ReplyWire: MultipartReply of ReplyBody {
        Desc: v1_3::DescWire,
        Flow: All<From1_5<Flows13, v1_5::FlowDescWire>>,
        Aggregate: From1_5<v1_3::AggregateWire, v1_5::AggregateWire>,
        Table: All<From1_3<v1_0::TableStatsWire, v1_3::TableStatsWire>>,
        PortStats: All<From1_4<PortStats13, v1_4::PortStatsWire>>,
        Queue: All<From1_4<QueueStats13, v1_4::QueueStatsWire>>,
        Group: All<Sized16<v1_3::GroupStatsWire>>,
        GroupDesc: All<From1_5<Sized16<v1_3::GroupDescWire>, v1_5::GroupDescWire>>,
        GroupFeatures: v1_3::GroupFeaturesWire,
        Meter: All<v1_3::MeterStatsWire>,
        MeterConfig: All<Sized16<v1_3::MeterConfigWire>>,
        MeterFeatures: v1_3::MeterFeaturesWire,
        TableFeatures: TableFeatures,
        PortDesc: All<PortForm>,
        TableDesc: All<v1_4::TableDescWire>,
        QueueDesc: All<v1_4::QueueDescWire>,
        FlowMonitor: All<v1_4::FlowUpdateWire>,
        FlowStats: All<v1_5::CountersReportWire>,
        ControllerStatus: All<v1_5::ControllerStatusWire>,
        BundleFeatures: v1_5::BundleFeaturesWire,
        ; ; ;
        with w, nicira::read_reply,
        NiciraFlow(flows) => nicira::write_reply(flows, w),
        NiciraAggregate(sum) => nicira::write_aggregate(sum, w),
    }
}
