//! Property lists (since 1.4): type, length, content, padding that the length leaves out.
//!
//! A property that is known stands in a field of the struct that the list belongs to; the macro `properties` says
//! which in which. The others stay in a list.

use std::marker::PhantomData;

use super::error::{DecodeError, EncodeError, Part};
use super::reader::Reader;
use super::wire::{All, Wire};
use super::writer::Writer;
use crate::model::{Property, Version, Versions};

const EXPERIMENTER: u16 = 0xffff;

/// A struct that ends in a list of properties.
pub(crate) trait Properties {
    /// The first version with the list.
    const SINCE: Version;
    /// Reads the content of a property of that type, if it is known.
    fn take(&mut self, property_type: u16, content: &mut Reader) -> Result<bool, DecodeError>;
    /// Writes the list.
    fn put(&self, w: &mut Writer) -> Result<(), EncodeError>;
    /// The properties that are not known.
    fn others(&mut self) -> &mut Vec<Property>;
}

/// How a property stands in the place where the struct has it.
pub(crate) trait Slot {
    type Place;
    fn is_there(place: &Self::Place) -> bool;
    fn read(place: &mut Self::Place, content: &mut Reader) -> Result<(), DecodeError>;
    fn write(place: &Self::Place, name: &'static str, w: &mut Writer) -> Result<(), EncodeError>;
}

/// One that may be there.
pub(crate) struct Optional<W>(PhantomData<W>);

impl<W: Wire> Slot for Optional<W> {
    type Place = Option<W::Value>;
    fn is_there(place: &Option<W::Value>) -> bool {
        place.is_some()
    }
    fn read(place: &mut Option<W::Value>, content: &mut Reader) -> Result<(), DecodeError> {
        *place = Some(W::read(content, "property")?);
        Ok(())
    }
    fn write(place: &Option<W::Value>, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        place.iter().try_for_each(|value| W::write(value, name, w))
    }
}

/// One that is a list; without an element it is not there.
pub(crate) struct Listed<W>(PhantomData<W>);

impl<W: Wire> Slot for Listed<W> {
    type Place = Vec<W::Value>;
    fn is_there(place: &Vec<W::Value>) -> bool {
        !place.is_empty()
    }
    fn read(place: &mut Vec<W::Value>, content: &mut Reader) -> Result<(), DecodeError> {
        place.extend(All::<W>::read(content, "property")?);
        Ok(())
    }
    fn write(place: &Vec<W::Value>, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        All::<W>::write(place, name, w)
    }
}

/// One whose content several fields of the struct share. `unless` tells when it is not there.
macro_rules! slot {
    ($name:ident: $type:ty { $($field:ident: $wire:ty),* $(,)? } unless |$value:ident| $unless:expr) => {
        #[doc = concat!("A part of `", stringify!($type), "` on the wire.")]
        pub(crate) struct $name;
        impl $crate::codec::property::Slot for $name {
            type Place = $type;
            fn is_there($value: &$type) -> bool {
                !$unless
            }
            fn read(
                place: &mut $type,
                r: &mut $crate::codec::reader::Reader,
            ) -> Result<(), $crate::codec::DecodeError> {
                $(place.$field = <$wire as $crate::codec::wire::Wire>::read(r, stringify!($field))?;)*
                Ok(())
            }
            fn write(
                place: &$type,
                _: &'static str,
                w: &mut $crate::codec::writer::Writer,
            ) -> Result<(), $crate::codec::EncodeError> {
                $(<$wire as $crate::codec::wire::Wire>::write(&place.$field, stringify!($field), w)?;)*
                Ok(())
            }
        }
    };
}

/// The properties of a struct: for each its number, the versions that can tell it in any way, its name in errors, its
/// place and the form in which it stands there. The list itself is there since the version that follows the struct.
macro_rules! properties {
    ($value:ident: $type:ty, since $since:ident, others in $others:ident {
        $($code:literal $versions:ident $name:literal in $place:expr => $slot:ty,)*
    }) => {
        impl $crate::codec::property::Properties for $type {
            const SINCE: $crate::model::Version = $crate::model::Version::$since;
            #[allow(unused_variables, reason = "a struct may have no property that is known")]
            fn take(
                &mut self,
                property_type: u16,
                content: &mut $crate::codec::reader::Reader,
            ) -> Result<bool, $crate::codec::DecodeError> {
                let $value = self;
                match property_type {
                    $($code if $crate::model::Versions::$versions.include(content.version) => {
                        <$slot as $crate::codec::property::Slot>::read(&mut $place, content)?;
                        Ok(true)
                    })*
                    _ => Ok(false),
                }
            }
            fn put(&self, w: &mut $crate::codec::writer::Writer) -> Result<(), $crate::codec::EncodeError> {
                let $value = self;
                $($crate::codec::property::put::<Self, $slot>(
                    &$place, $code, $crate::model::Versions::$versions, $name, w,
                )?;)*
                $crate::codec::property::put_others::<Self>(&$value.$others, w)
            }
            fn others(&mut self) -> &mut Vec<$crate::model::Property> {
                &mut self.$others
            }
        }
    };
}

/// Writes one property, if it is there.
pub(crate) fn put<T: Properties, S: Slot>(
    place: &S::Place,
    code: u16,
    versions: Versions,
    name: &'static str,
    w: &mut Writer,
) -> Result<(), EncodeError> {
    if !S::is_there(place) {
        Ok(())
    } else if !versions.include(w.version) {
        w.leave_out(name)
    } else if w.version < T::SINCE {
        // That version says it elsewhere.
        Ok(())
    } else {
        write(code, w, |w| S::write(place, name, w))
    }
}

/// Writes the properties that are not known.
pub(crate) fn put_others<T: Properties>(others: &[Property], w: &mut Writer) -> Result<(), EncodeError> {
    if others.is_empty() {
        Ok(())
    } else if w.version < T::SINCE {
        w.leave_out("properties")
    } else {
        others.iter().try_for_each(|property| OtherWire::write(property, "property", w))
    }
}

/// A struct, then its list of properties up to the end of what is being read.
pub(crate) struct WithProperties<W>(PhantomData<W>);

impl<W: Wire> Wire for WithProperties<W>
where
    W::Value: Properties,
{
    type Value = W::Value;
    fn read(r: &mut Reader, name: &'static str) -> Result<W::Value, DecodeError> {
        let mut value = W::read(r, name)?;
        if r.version >= W::Value::SINCE {
            read_list(&mut value, r)?;
        }
        Ok(value)
    }
    fn write(value: &W::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        W::write(value, name, w)?;
        value.put(w)
    }
}

/// Reads the properties up to the end.
pub(crate) fn read_list<T: Properties>(value: &mut T, r: &mut Reader) -> Result<(), DecodeError> {
    while !r.is_empty() {
        let (property_type, mut content) = read_head(r)?;
        if value.take(property_type, &mut content)? {
            content.finish("the property")?;
        } else {
            value.others().push(read_other(property_type, &mut content)?);
        }
    }
    Ok(())
}

/// Reads type and length, and passes over the padding; gives a reader of the content.
pub(crate) fn read_head<'a>(r: &mut Reader<'a>) -> Result<(u16, Reader<'a>), DecodeError> {
    let part = if r.version < Version::V1_4 { Part::TableProperty } else { Part::Property };
    let property_type = r.u16("property type")?;
    let length = usize::from(r.u16("property length")?);
    if length < 4 || length - 4 > r.left() {
        return Err(DecodeError { part, ..r.bad_length(2, "property length, 4 or more", length) });
    }
    let content = r.sub(length - 4, "property")?.within(part);
    r.skip_padding(length).map_err(|error| DecodeError { part, ..error })?;
    Ok((property_type, content))
}

/// Writes a property, whose content `content` writes.
pub(crate) fn write(
    property_type: u16,
    w: &mut Writer,
    content: impl FnOnce(&mut Writer) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = w.position();
    w.u16(property_type);
    w.u16(0);
    content(w)?;
    w.patch_length(start + 2, start);
    w.pad_since(start);
    Ok(())
}

/// The content of a property that is an experimenter's or not known.
fn read_other(property_type: u16, content: &mut Reader) -> Result<Property, DecodeError> {
    if property_type != EXPERIMENTER {
        return Ok(Property::Unknown { property_type, data: content.rest().to_vec() });
    }
    let (experimenter, experimenter_type) = (content.u32("experimenter")?, content.u32("experimenter_type")?);
    Ok(Property::Experimenter { experimenter, experimenter_type, data: content.rest().to_vec() })
}

/// A property that is an experimenter's or not known.
struct OtherWire;

impl Wire for OtherWire {
    type Value = Property;
    fn read(r: &mut Reader, _: &'static str) -> Result<Property, DecodeError> {
        let (property_type, mut content) = read_head(r)?;
        read_other(property_type, &mut content)
    }
    fn write(value: &Property, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        match value {
            Property::Experimenter { experimenter, experimenter_type, data } => write(EXPERIMENTER, w, |w| {
                w.u32(*experimenter);
                w.u32(*experimenter_type);
                w.bytes(data);
                Ok(())
            }),
            Property::Unknown { property_type, data } => write(*property_type, w, |w| {
                w.bytes(data);
                Ok(())
            }),
        }
    }
}
