//! OXS: statistics as a list of fields (1.5), padded to a multiple of eight bytes.
//!
//! ```text
//! class 16 | field 7 | reserved 1 | length 8 | value
//! ```

use super::error::{DecodeError, EncodeError};
use super::reader::Reader;
use super::wire::Wire;
use super::writer::Writer;
use crate::model::{Age, FlowCounters, RawOxm};

const BASIC: u32 = 0x8002 << 16;
const DURATION: u32 = BASIC;
const IDLE_TIME: u32 = BASIC | 1 << 9;
const FLOW_COUNT: u32 = BASIC | 3 << 9;
const PACKET_COUNT: u32 = BASIC | 4 << 9;
const BYTE_COUNT: u32 = BASIC | 5 << 9;

/// Two reserved bytes, a length, the fields.
pub(crate) struct CountersWire;

impl Wire for CountersWire {
    type Value = FlowCounters;
    fn read(r: &mut Reader, _: &'static str) -> Result<FlowCounters, DecodeError> {
        r.skip(2)?;
        let length = usize::from(r.u16("length of statistics")?);
        if length < 4 || length - 4 > r.left() {
            return Err(r.bad_length(2, "length of statistics, 4 or more", length));
        }
        let mut fields = r.sub(length - 4, "statistics")?;
        let mut counters = FlowCounters::default();
        while !fields.is_empty() {
            read_field(&mut counters, &mut fields)?;
        }
        r.skip_padding(length)?;
        Ok(counters)
    }

    fn write(value: &FlowCounters, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        w.zeros(4);
        for (header, age) in [(DURATION, value.duration), (IDLE_TIME, value.idle_time)] {
            if let Some(age) = age {
                w.u32(header | 8);
                w.u32(age.sec);
                w.u32(age.nsec);
            }
        }
        if let Some(count) = value.flow_count {
            w.u32(FLOW_COUNT | 4);
            w.u32(count);
        }
        for (header, count) in [(PACKET_COUNT, value.packet_count), (BYTE_COUNT, value.byte_count)] {
            if let Some(count) = count {
                w.u32(header | 8);
                w.u64(count);
            }
        }
        value.unknown.iter().try_for_each(|raw| super::oxm::write_raw(raw, w))?;
        w.patch_length(start + 2, start);
        w.pad_since(start);
        Ok(())
    }
}

fn read_field(counters: &mut FlowCounters, r: &mut Reader) -> Result<(), DecodeError> {
    let header = r.u32("OXS header")?;
    let length = (header & 0xff) as usize;
    let expected = match header & !0xff {
        DURATION | IDLE_TIME | PACKET_COUNT | BYTE_COUNT => 8,
        FLOW_COUNT => 4,
        _ => length,
    };
    if length != expected || length > r.left() {
        return Err(r.bad_length(1, "length of a statistic", length));
    }
    match header & !0xff {
        DURATION => counters.duration = Some(age(r)?),
        IDLE_TIME => counters.idle_time = Some(age(r)?),
        FLOW_COUNT => counters.flow_count = Some(r.u32("flow_count")?),
        PACKET_COUNT => counters.packet_count = Some(r.u64("packet_count")?),
        BYTE_COUNT => counters.byte_count = Some(r.u64("byte_count")?),
        _ => counters.unknown.push(RawOxm { header, payload: r.take(length, "statistic")?.to_vec() }),
    }
    Ok(())
}

fn age(r: &mut Reader) -> Result<Age, DecodeError> {
    Ok(Age { sec: r.u32("duration_sec")?, nsec: r.u32("duration_nsec")? })
}
