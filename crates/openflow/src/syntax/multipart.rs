//! What multipart messages ask for and tell, in one line.

use std::fmt;

use super::meter::MeterId;
use super::statistics::FlowOf;
use crate::{FlowStatsRequest, PortNo, ReplyBody, RequestBody, TABLE_ALL, Version};

fn flow_request(request: &FlowStatsRequest, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if request.table_id != TABLE_ALL {
        write!(f, " table={}", request.table_id)?;
    }
    if request.out_port != PortNo::ANY {
        write!(f, " out_port={}", request.out_port)?;
    }
    if request.cookie_mask != 0 {
        write!(f, " cookie={:#x}/{:#x}", request.cookie, request.cookie_mask)?;
    }
    write!(f, " {}", request.match_)
}

pub(super) fn request(body: &RequestBody, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match body {
        RequestBody::Flow(request)
        | RequestBody::Aggregate(request)
        | RequestBody::NiciraFlow(request)
        | RequestBody::NiciraAggregate(request)
        | RequestBody::FlowStats(request) => flow_request(request, f),
        RequestBody::PortStats(port) => write!(f, " port_no={port}"),
        RequestBody::Group(group) | RequestBody::GroupDesc(group) => write!(f, " group_id={group}"),
        RequestBody::Meter(meter) | RequestBody::MeterConfig(meter) => {
            write!(f, " meter={}", MeterId(*meter))
        }
        RequestBody::Desc
        | RequestBody::Table
        | RequestBody::GroupFeatures
        | RequestBody::MeterFeatures
        | RequestBody::TableDesc
        | RequestBody::ControllerStatus => Ok(()),
        other => write!(f, " {other:?}"),
    }
}

/// Entries with `; ` between them.
fn entries<T: fmt::Display>(entries: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, entry) in entries.iter().enumerate() {
        write!(f, "{}{entry}", if at == 0 { " " } else { "; " })?;
    }
    Ok(())
}

pub(super) fn reply(body: &ReplyBody, version: Version, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match body {
        ReplyBody::Flow(flows) | ReplyBody::NiciraFlow(flows) => {
            let flows: Vec<_> = flows.iter().map(|flow| FlowOf(version, flow)).collect();
            entries(&flows, f)
        }
        ReplyBody::Aggregate(sum) | ReplyBody::NiciraAggregate(sum) => write!(
            f,
            " packet_count={} byte_count={} flow_count={}",
            sum.packet_count, sum.byte_count, sum.flow_count
        ),
        ReplyBody::Group(groups) => entries(groups, f),
        ReplyBody::GroupDesc(groups) => entries(groups, f),
        ReplyBody::Meter(meters) => entries(meters, f),
        ReplyBody::MeterConfig(meters) => entries(meters, f),
        other => write!(f, " {other:?}"),
    }
}
