//! Queue configuration.

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::v1_3::PropertyWire;
use crate::codec::wire::{All, Port16, Wire};
use crate::codec::writer::Writer;
use crate::model::{PortNo, Queue, QueueConfig, QueueProperty};

/// The port, padding, its queues.
pub(crate) struct QueueConfigWire;

impl Wire for QueueConfigWire {
    type Value = QueueConfig;
    fn read(r: &mut Reader, name: &'static str) -> Result<QueueConfig, DecodeError> {
        let port: PortNo = Port16::read(r, "port")?;
        r.skip(6)?;
        let mut queues = All::<QueueWire>::read(r, name)?;
        queues.iter_mut().for_each(|queue| queue.port = port);
        Ok(QueueConfig { port, queues })
    }
    fn write(value: &QueueConfig, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        Port16::write(&value.port, "port", w)?;
        w.zeros(6);
        All::<QueueWire>::write(&value.queues, name, w)
    }
}

/// A queue: number, length, properties. Its port is the message's.
struct QueueWire;

impl Wire for QueueWire {
    type Value = Queue;
    fn read(r: &mut Reader, name: &'static str) -> Result<Queue, DecodeError> {
        let queue_id = r.u32("queue_id")?;
        let length = usize::from(r.u16("queue length")?);
        if length < 8 || length - 6 > r.left() {
            return Err(r.bad_length(2, "queue length, 8 or more", length));
        }
        r.skip(2)?;
        let properties = All::<PropertyWire>::read(&mut r.sub(length - 8, name)?, name)?;
        Ok(Queue { queue_id, port: PortNo::ANY, properties })
    }
    fn write(value: &Queue, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if value.properties.iter().any(|p| matches!(p, QueueProperty::MaxRate(_))) {
            return Err(w.inexpressible("max_rate"));
        }
        let start = w.position();
        w.u32(value.queue_id);
        w.zeros(4);
        All::<PropertyWire>::write(&value.properties, name, w)?;
        w.patch_length(start + 4, start);
        Ok(())
    }
}
