//! Flow monitors.

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::oxm::OxmMatch;
use crate::codec::reader::Reader;
use crate::codec::v1_3::Instructions;
use crate::codec::wire::{Before, Bits, Coded, Port32, Sized16, U8, U16, U32, U64, Wire};
use crate::codec::writer::Writer;
use crate::model::{FlowEvent, FlowMonitorRequest, FlowUpdate, FlowUpdateFull};

layout!(FlowMonitorWire: FlowMonitorRequest {
    monitor_id: U32,
    out_port: Port32,
    out_group: U32,
    flags: Bits<_, u16>,
    table_id: U8,
    command: Coded<_, u8>,
    match_: OxmMatch,
});

layout!(FullWire: FlowUpdateFull {
    event: Coded<_, u16>,
    table_id: U8,
    reason: Coded<_, u8>,
    idle_timeout: U16,
    hard_timeout: U16,
    priority: Before<4, U16>,
    cookie: U64,
    match_: OxmMatch,
    instructions: Instructions,
});

/// What a monitor tells, length first.
pub(crate) type FlowUpdateWire = Sized16<UpdateBody>;

/// The event, and what belongs to it.
pub(crate) struct UpdateBody;

impl Wire for UpdateBody {
    type Value = FlowUpdate;
    fn read(r: &mut Reader, name: &'static str) -> Result<FlowUpdate, DecodeError> {
        let event = FlowEvent::from_code(r.clone().u16("event")?);
        if let FlowEvent::Initial | FlowEvent::Added | FlowEvent::Removed | FlowEvent::Modified = event {
            return FullWire::read(r, name).map(FlowUpdate::Full);
        }
        r.skip(2)?;
        Ok(match event {
            FlowEvent::Abbreviated => FlowUpdate::Abbreviated { xid: r.u32("xid")? },
            FlowEvent::Paused => r.skip(4).map(|()| FlowUpdate::Paused)?,
            FlowEvent::Resumed => r.skip(4).map(|()| FlowUpdate::Resumed)?,
            other => FlowUpdate::Unknown { event: other.code(), data: r.rest().to_vec() },
        })
    }
    fn write(value: &FlowUpdate, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let short = |event: FlowEvent, argument: u32, w: &mut Writer| {
            w.u16(event.code());
            w.u32(argument);
        };
        match value {
            FlowUpdate::Full(full) => FullWire::write(full, name, w)?,
            FlowUpdate::Abbreviated { xid } => short(FlowEvent::Abbreviated, *xid, w),
            FlowUpdate::Paused => short(FlowEvent::Paused, 0, w),
            FlowUpdate::Resumed => short(FlowEvent::Resumed, 0, w),
            FlowUpdate::Unknown { event, data } => {
                w.u16(*event);
                w.bytes(data);
            }
        }
        Ok(())
    }
}
