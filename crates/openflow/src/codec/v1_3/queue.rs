//! Queue configuration.

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::wire::{All, Before, LengthAt, Port32, U32, Wire};
use crate::codec::writer::Writer;
use crate::model::{Queue, QueueConfig, QueueProperty};

const MIN_RATE: u16 = 1;
const MAX_RATE: u16 = 2;
const EXPERIMENTER: u16 = 0xffff;

layout!(QueueConfigWire: QueueConfig { port: Before<4, Port32>, queues: All<QueueWire> });

layout!(QueueBody: Queue { queue_id: U32, port: Before<8, Port32>, properties: All<PropertyWire> });

/// A queue: number, port, length, properties.
pub(crate) type QueueWire = LengthAt<8, 16, QueueBody>;

/// A property of a queue: type, length, padding, content. 1.0 has the same ones but `MAX_RATE`.
pub(crate) struct PropertyWire;

impl Wire for PropertyWire {
    type Value = QueueProperty;
    fn read(r: &mut Reader, _: &'static str) -> Result<QueueProperty, DecodeError> {
        let property_type = r.u16("queue property type")?;
        let length = usize::from(r.u16("queue property length")?);
        if length < 8 || length - 4 > r.left() {
            return Err(r.bad_length(2, "queue property length, 8 or more", length));
        }
        r.skip(4)?;
        let mut content = r.sub(length - 8, "queue property")?;
        let property = match property_type {
            MIN_RATE => QueueProperty::MinRate(rate(&mut content)?),
            MAX_RATE => QueueProperty::MaxRate(rate(&mut content)?),
            EXPERIMENTER => {
                let experimenter = content.u32("experimenter")?;
                content.skip(4)?;
                QueueProperty::Experimenter {
                    experimenter,
                    experimenter_type: 0,
                    data: content.rest().to_vec(),
                }
            }
            _ => QueueProperty::Unknown { property_type, data: content.rest().to_vec() },
        };
        content.finish("the queue property")?;
        Ok(property)
    }
    fn write(value: &QueueProperty, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        w.u16(match value {
            QueueProperty::MinRate(_) => MIN_RATE,
            QueueProperty::MaxRate(_) => MAX_RATE,
            QueueProperty::Experimenter { .. } => EXPERIMENTER,
            QueueProperty::Unknown { property_type, .. } => *property_type,
        });
        w.zeros(6);
        match value {
            QueueProperty::MinRate(rate) | QueueProperty::MaxRate(rate) => {
                w.u16(*rate);
                w.zeros(6);
            }
            QueueProperty::Experimenter { experimenter, data, .. } => {
                w.u32(*experimenter);
                w.zeros(4);
                w.bytes(data);
            }
            QueueProperty::Unknown { data, .. } => w.bytes(data),
        }
        w.patch_length(start + 2, start);
        Ok(())
    }
}

fn rate(r: &mut Reader) -> Result<u16, DecodeError> {
    let rate = r.u16("rate")?;
    r.skip(6)?;
    Ok(rate)
}
