//! The forms that all versions share.

use super::error::{DecodeError, EncodeError};
use super::reader::Reader;
use super::wire::{All, Coded, U16, Wire};
use super::writer::Writer;
use crate::model::{
    ErrorCode, ErrorMessage, Experimenter, FlowRemovedReason, Hello, HelloElement, PacketInReason,
    SwitchConfig, Version,
};

layout!(Config: SwitchConfig { fragments: Coded<_, u16>, miss_send_len: U16 });

/// Why a packet went to the controller. Versions that lack a reason say the one that covers it.
pub(crate) struct PacketReason;

impl Wire for PacketReason {
    type Value = PacketInReason;
    fn read(r: &mut Reader, name: &'static str) -> Result<PacketInReason, DecodeError> {
        Coded::<PacketInReason, u8>::read(r, name)
    }
    fn write(value: &PacketInReason, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let known = value.versions().include(w.version);
        Coded::<_, u8>::write(if known { value } else { &PacketInReason::Action }, name, w)
    }
}

/// Why a flow entry went, likewise.
pub(crate) struct RemovedReason;

impl Wire for RemovedReason {
    type Value = FlowRemovedReason;
    fn read(r: &mut Reader, name: &'static str) -> Result<FlowRemovedReason, DecodeError> {
        Coded::<FlowRemovedReason, u8>::read(r, name)
    }
    fn write(value: &FlowRemovedReason, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let known = value.versions().include(w.version);
        Coded::<_, u8>::write(if known { value } else { &FlowRemovedReason::Delete }, name, w)
    }
}

/// A HELLO's elements.
pub(crate) struct HelloWire;

impl Wire for HelloWire {
    type Value = Hello;
    fn read(r: &mut Reader, name: &'static str) -> Result<Hello, DecodeError> {
        let start = r.clone();
        match All::<Element>::read(r, name) {
            Ok(elements) => Ok(Hello { elements }),
            // Before 1.3 a HELLO's body meant nothing and could be anything.
            Err(_) if start.version < Version::V1_3 => {
                r.rest();
                Ok(Hello::default())
            }
            Err(error) => Err(error),
        }
    }
    fn write(value: &Hello, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        All::<Element>::write(&value.elements, name, w)
    }
}

const VERSION_BITMAP: u16 = 1;

struct Element;

impl Wire for Element {
    type Value = HelloElement;
    fn read(r: &mut Reader, _: &'static str) -> Result<HelloElement, DecodeError> {
        let element_type = r.u16("type of a hello element")?;
        let length = usize::from(r.u16("length of a hello element")?);
        if length < 4 || length - 4 > r.left() {
            return Err(r.bad_length(2, "length of a hello element, 4 or more", length));
        }
        let mut content = r.sub(length - 4, "hello element")?;
        // Some peers leave out the padding of the last element.
        r.skip((length.next_multiple_of(8) - length).min(r.left()))?;
        if element_type != VERSION_BITMAP {
            return Ok(HelloElement::Unknown { element_type, data: content.rest().to_vec() });
        }
        let mut words = Vec::new();
        while !content.is_empty() {
            words.push(content.u32("version bitmap")?);
        }
        Ok(HelloElement::VersionBitmap(words))
    }
    fn write(value: &HelloElement, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        w.u16(match value {
            HelloElement::VersionBitmap(_) => VERSION_BITMAP,
            HelloElement::Unknown { element_type, .. } => *element_type,
        });
        w.u16(0);
        match value {
            HelloElement::VersionBitmap(words) => words.iter().for_each(|word| w.u32(*word)),
            HelloElement::Unknown { data, .. } => w.bytes(data),
        }
        w.patch_length(start + 2, start);
        w.pad_since(start);
        Ok(())
    }
}

/// An ERROR's type, code and data.
pub(crate) struct ErrorWire;

impl Wire for ErrorWire {
    type Value = ErrorMessage;
    fn read(r: &mut Reader, _: &'static str) -> Result<ErrorMessage, DecodeError> {
        let (error_type, code) = (r.u16("error type")?, r.u16("error code")?);
        let is_experimenter = error_type == ErrorMessage::EXPERIMENTER && r.version > Version::V1_0;
        let experimenter = if is_experimenter { Some(r.u32("experimenter")?) } else { None };
        let code = ErrorCode::from_wire(r.version, error_type, code);
        Ok(ErrorMessage { code, experimenter, data: r.rest().to_vec() })
    }
    fn write(value: &ErrorMessage, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let numbers = value.code.wire(w.version);
        let (error_type, code) = numbers.ok_or_else(|| w.inexpressible(value.code.name()))?;
        let is_experimenter = error_type == ErrorMessage::EXPERIMENTER && w.version > Version::V1_0;
        if is_experimenter != value.experimenter.is_some() {
            return Err(w.inexpressible("experimenter"));
        }
        w.u16(error_type);
        w.u16(code);
        value.experimenter.into_iter().for_each(|number| w.u32(number));
        w.bytes(&value.data);
        Ok(())
    }
}

/// An experimenter's number, its type (since 1.1) and content: a message, or the body of a multipart message.
pub(crate) struct ExperimenterWire;

impl Wire for ExperimenterWire {
    type Value = Experimenter;
    fn read(r: &mut Reader, _: &'static str) -> Result<Experimenter, DecodeError> {
        let experimenter = r.u32("experimenter")?;
        let has_type = r.version > Version::V1_0;
        let experimenter_type = if has_type { Some(r.u32("experimenter_type")?) } else { None };
        Ok(Experimenter { experimenter, experimenter_type, data: r.rest().to_vec() })
    }
    fn write(value: &Experimenter, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if value.experimenter_type.is_some() != (w.version > Version::V1_0) {
            return Err(w.inexpressible("experimenter_type"));
        }
        w.u32(value.experimenter);
        value.experimenter_type.into_iter().for_each(|number| w.u32(number));
        w.bytes(&value.data);
        Ok(())
    }
}
