//! Nicira's statistics of flow entries, for 1.0: with matches that have fields which 1.0's has no room for.

use super::nxm::{read_padded, write_padded};
use super::{DecodeError, EncodeError, Reader, Writer};
use crate::codec::v1_0;
use crate::codec::wire::{Port16, Wire};
use crate::model::{
    AggregateStats, Experimenter, FlowStats, FlowStatsRequest, NICIRA, ReplyBody, RequestBody, Version,
};

const FLOW: u32 = 0;
const AGGREGATE: u32 = 1;

/// Reads what follows the experimenter's number and the padded subtype, if it is one of these in 1.0.
fn read<T>(
    message: &Experimenter,
    version: Version,
    known: impl FnOnce(u32, &mut Reader) -> Result<Option<T>, DecodeError>,
) -> Option<T> {
    if message.experimenter != NICIRA || version != Version::V1_0 {
        return None;
    }
    let mut r = Reader::new(&message.data, 0, version);
    let subtype = r.u32("subtype").ok()?;
    r.skip(4).ok()?;
    let body = known(subtype, &mut r).ok().flatten()?;
    r.is_empty().then_some(body)
}

/// An experimenter's request, as what it asks for if it is one of Nicira's.
pub(crate) fn read_request(message: Experimenter, version: Version) -> RequestBody {
    let known = read(&message, version, |subtype, r| {
        Ok(match subtype {
            FLOW => read_flow_request(r)?.map(RequestBody::NiciraFlow),
            AGGREGATE => read_flow_request(r)?.map(RequestBody::NiciraAggregate),
            _ => None,
        })
    });
    known.unwrap_or(RequestBody::Experimenter(message))
}

/// An experimenter's reply, as what it tells if it is one of Nicira's.
pub(crate) fn read_reply(message: Experimenter, version: Version) -> ReplyBody {
    let known = read(&message, version, |subtype, r| {
        Ok(match subtype {
            FLOW => read_flows(r)?.map(ReplyBody::NiciraFlow),
            AGGREGATE => {
                let (packet_count, byte_count) = (r.u64("packet_count")?, r.u64("byte_count")?);
                let flow_count = r.u32("flow_count")?;
                r.skip(4)?;
                let sum =
                    AggregateStats { packet_count, byte_count, flow_count, ..AggregateStats::default() };
                Some(ReplyBody::NiciraAggregate(sum))
            }
            _ => None,
        })
    });
    known.unwrap_or(ReplyBody::Experimenter(message))
}

fn write_head(subtype: u32, w: &mut Writer) -> Result<(), EncodeError> {
    if w.version != Version::V1_0 {
        return Err(w.inexpressible("Nicira statistics"));
    }
    w.u32(NICIRA);
    w.u32(subtype);
    w.zeros(4);
    Ok(())
}

/// Writes what follows the statistics' header; other requests than Nicira's are an error.
pub(crate) fn write_request(
    flow: &FlowStatsRequest,
    aggregate: bool,
    w: &mut Writer,
) -> Result<(), EncodeError> {
    write_head(if aggregate { AGGREGATE } else { FLOW }, w)?;
    if flow.out_group != crate::model::GROUP_ANY {
        return Err(w.inexpressible("out_group"));
    }
    Port16::write(&flow.out_port, "out_port", w)?;
    let length_at = w.position();
    w.u16(0);
    w.u8(flow.table_id);
    w.zeros(3);
    let cookie = (flow.cookie_mask != 0).then_some((flow.cookie, flow.cookie_mask));
    write_padded(&flow.match_, cookie, length_at, w)
}

fn read_flow_request(r: &mut Reader) -> Result<Option<FlowStatsRequest>, DecodeError> {
    let (out_port, length) = (Port16::read(r, "out_port")?, r.u16("match_len")?);
    let table_id = r.u8("table_id")?;
    r.skip(3)?;
    let (match_, wanted) = read_padded(length, r)?;
    let (cookie, cookie_mask) = wanted.filter(|(_, mask)| *mask != 0).unwrap_or((0, 0));
    Ok(Some(FlowStatsRequest {
        table_id,
        out_port,
        cookie,
        cookie_mask,
        match_,
        ..FlowStatsRequest::default()
    }))
}

/// Writes flow entries.
pub(crate) fn write_reply(flows: &[FlowStats], w: &mut Writer) -> Result<(), EncodeError> {
    write_head(FLOW, w)?;
    flows.iter().try_for_each(|flow| write_flow(flow, w))
}

/// Writes a sum of flow entries.
pub(crate) fn write_aggregate(sum: &AggregateStats, w: &mut Writer) -> Result<(), EncodeError> {
    write_head(AGGREGATE, w)?;
    w.u64(sum.packet_count);
    w.u64(sum.byte_count);
    w.u32(sum.flow_count);
    w.zeros(4);
    Ok(())
}

fn read_flows(r: &mut Reader) -> Result<Option<Vec<FlowStats>>, DecodeError> {
    let mut flows = Vec::new();
    while !r.is_empty() {
        let length = usize::from(r.u16("length of a flow entry")?);
        let Some(rest) = length.checked_sub(2).filter(|&rest| rest <= r.left()) else {
            return Err(r.bad_length(2, "length of a flow entry", length));
        };
        flows.push(read_flow(&mut r.sub(rest, "flow entry")?)?);
    }
    Ok(Some(flows))
}

fn read_flow(r: &mut Reader) -> Result<FlowStats, DecodeError> {
    let table_id = r.u8("table_id")?;
    r.skip(1)?;
    let (duration_sec, duration_nsec) = (r.u32("duration_sec")?, r.u32("duration_nsec")?);
    let priority = r.u16("priority")?;
    let (idle_timeout, hard_timeout) = (r.u16("idle_timeout")?, r.u16("hard_timeout")?);
    let length = r.u16("match_len")?;
    // Seconds since the last packet and the last change, if the controller asked for them.
    r.skip(4)?;
    let (cookie, packet_count, byte_count) = (r.u64("cookie")?, r.u64("packet_count")?, r.u64("byte_count")?);
    let (match_, _) = read_padded(length, r)?;
    let instructions = v1_0::read_instructions(r)?;
    Ok(FlowStats {
        table_id,
        duration_sec,
        duration_nsec,
        priority,
        idle_timeout,
        hard_timeout,
        cookie,
        packet_count,
        byte_count,
        match_,
        instructions,
        ..FlowStats::default()
    })
}

fn write_flow(flow: &FlowStats, w: &mut Writer) -> Result<(), EncodeError> {
    let start = w.position();
    w.u16(0);
    w.u8(flow.table_id);
    w.zeros(1);
    w.u32(flow.duration_sec);
    w.u32(flow.duration_nsec);
    w.u16(flow.priority);
    w.u16(flow.idle_timeout);
    w.u16(flow.hard_timeout);
    let length_at = w.position();
    w.zeros(6);
    w.u64(flow.cookie);
    w.u64(flow.packet_count);
    w.u64(flow.byte_count);
    write_padded(&flow.match_, None, length_at, w)?;
    v1_0::write_instructions(&flow.instructions, w)?;
    w.patch_length(start, start);
    Ok(())
}
