//! Queues: descriptions and counters.

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::property::{self, WithProperties};
use crate::codec::reader::Reader;
use crate::codec::wire::{After, All, Before, LengthAt, Port32, Sized16, U16, U32, U64, Wire};
use crate::codec::writer::Writer;
use crate::model::{Queue, QueueProperty, QueueStats};

const MIN_RATE: u16 = 1;
const MAX_RATE: u16 = 2;
const EXPERIMENTER: u16 = 0xffff;

layout!(QueueDescBody: Queue {
    port: Port32,
    queue_id: Before<8, U32>,
    properties: All<PropertyWire>,
});

/// A queue: port, number, length, properties.
pub(crate) type QueueDescWire = LengthAt<8, 16, QueueDescBody>;

/// A property of a queue.
struct PropertyWire;

impl Wire for PropertyWire {
    type Value = QueueProperty;
    fn read(r: &mut Reader, _: &'static str) -> Result<QueueProperty, DecodeError> {
        let (property_type, mut content) = property::read_head(r)?;
        let property = match property_type {
            MIN_RATE => QueueProperty::MinRate(Before::<2, U16>::read(&mut content, "rate")?),
            MAX_RATE => QueueProperty::MaxRate(Before::<2, U16>::read(&mut content, "rate")?),
            EXPERIMENTER => {
                let experimenter = content.u32("experimenter")?;
                let experimenter_type = content.u32("experimenter_type")?;
                let data = content.rest().to_vec();
                QueueProperty::Experimenter { experimenter, experimenter_type, data }
            }
            _ => QueueProperty::Unknown { property_type, data: content.rest().to_vec() },
        };
        content.finish("the queue property")?;
        Ok(property)
    }
    fn write(value: &QueueProperty, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let code = match value {
            QueueProperty::MinRate(_) => MIN_RATE,
            QueueProperty::MaxRate(_) => MAX_RATE,
            QueueProperty::Experimenter { .. } => EXPERIMENTER,
            QueueProperty::Unknown { property_type, .. } => *property_type,
        };
        property::write(code, w, |w| {
            match value {
                QueueProperty::MinRate(rate) | QueueProperty::MaxRate(rate) => {
                    w.u16(*rate);
                    w.zeros(2);
                }
                QueueProperty::Experimenter { experimenter, experimenter_type, data } => {
                    w.u32(*experimenter);
                    w.u32(*experimenter_type);
                    w.bytes(data);
                }
                QueueProperty::Unknown { data, .. } => w.bytes(data),
            }
            Ok(())
        })
    }
}

layout!(QueueStatsBody: QueueStats {
    port_no: After<6, Port32>,
    queue_id: U32,
    tx_bytes: U64,
    tx_packets: U64,
    tx_errors: U64,
    duration_sec: U32,
    duration_nsec: U32,
} lost { properties: Vec::new() });

/// A queue's counters, length first.
pub(crate) type QueueStatsWire = Sized16<WithProperties<QueueStatsBody>>;

properties!(stats: QueueStats, since V1_4, others in properties {});
