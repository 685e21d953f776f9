//! Bundles, and messages within messages.

use crate::codec::body;
use crate::codec::error::{DecodeError, DecodeErrorKind, EncodeError, Part};
use crate::codec::property::{self, Optional, Properties, WithProperties};
use crate::codec::reader::Reader;
use crate::codec::v1_5::TimeWire;
use crate::codec::wire::{After, Bits, Coded, U32, Wire};
use crate::codec::writer::Writer;
use crate::model::{Body, BundleAdd, BundleControl, BundleFlags, Header, Kind, Message};

layout!(BundleControlBody: BundleControl {
    bundle_id: U32,
    control_type: Coded<_, u16>,
    flags: Bits<_, u16>,
} lost { scheduled_time: None, properties: Vec::new() });

/// A bundle's number, what to do, flags, properties.
pub(crate) type BundleControlWire = WithProperties<BundleControlBody>;

properties!(control: BundleControl, since V1_4, others in properties {
    1 SINCE_1_5 "scheduled_time" in control.scheduled_time => Optional<After<4, TimeWire>>,
});

properties!(add: BundleAdd, since V1_4, others in properties {});

/// A bundle's number, flags, a message, and behind padding properties.
pub(crate) struct BundleAddWire;

impl Wire for BundleAddWire {
    type Value = BundleAdd;
    fn read(r: &mut Reader, name: &'static str) -> Result<BundleAdd, DecodeError> {
        let bundle_id = r.u32("bundle_id")?;
        let flags = After::<2, Bits<BundleFlags, u16>>::read(r, "flags")?;
        let before = r.left();
        let message = EnclosedWire::read(r, name)?;
        let length = before - r.left();
        // Without properties the padding may be there or not.
        r.skip((length.next_multiple_of(8) - length).min(r.left()))?;
        let mut add = BundleAdd { bundle_id, flags, message, properties: Vec::new() };
        property::read_list(&mut add, r)?;
        Ok(add)
    }
    fn write(value: &BundleAdd, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.u32(value.bundle_id);
        After::<2, Bits<BundleFlags, u16>>::write(&value.flags, "flags", w)?;
        let start = w.position();
        EnclosedWire::write(&value.message, name, w)?;
        if !value.properties.is_empty() {
            w.pad_since(start);
        }
        value.put(w)
    }
}

/// A message within a message, of the same version. One that would hold a message itself is not looked into, so that
/// messages can't be nested without end.
pub(crate) struct EnclosedWire;

impl Wire for EnclosedWire {
    type Value = Box<Message>;
    fn read(r: &mut Reader, name: &'static str) -> Result<Box<Message>, DecodeError> {
        let mut head = r.clone().within(Part::Bundled);
        let start = head.clone();
        let found = head.left() as u64;
        let header = head.take_some(Header::LEN).and_then(Header::parse);
        let header =
            header.ok_or_else(|| start.error(DecodeErrorKind::Truncated, "the message within", found))?;
        if header.version != r.version.wire() {
            let kind = DecodeErrorKind::UnsupportedVersion;
            return Err(start.error(kind, "the version of the message around", header.version.into()));
        }
        let length = usize::from(header.length);
        if length < Header::LEN || length - Header::LEN > head.left() {
            return Err(head.bad_length(6, "length of the message within", length));
        }
        r.skip(Header::LEN)?;
        let mut content = r.sub(length - Header::LEN, name)?;
        let body = match Kind::from_code(r.version, header.message_type) {
            Kind::BundleAddMessage | Kind::RequestForward => {
                Body::Unknown { message_type: header.message_type, data: content.rest().to_vec() }
            }
            kind => body::read(kind, &mut content)?,
        };
        content.finish("the message within")?;
        Ok(Box::new(Message { xid: header.xid, body }))
    }
    fn write(value: &Box<Message>, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if let Body::BundleAddMessage(_) | Body::RequestForward(_) = value.body {
            return Err(w.inexpressible("message within a message"));
        }
        body::write_message(value, w)
    }
}
