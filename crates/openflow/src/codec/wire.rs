//! How single values stand on the wire, and layouts made of them: one description gives both directions.

use std::marker::PhantomData;

use flowgauge_packet::MacAddr;

use super::error::{DecodeError, EncodeError};
use super::reader::Reader;
use super::writer::Writer;
use crate::model::{PortNo, Version, Versions};

/// A form of a value on the wire; `name` is the field's, for errors.
pub(crate) trait Wire {
    type Value;
    /// How many bytes a value takes, as a guess from which room for a list of them is reserved; 0 for no guess.
    const TYPICAL_LEN: usize = 0;
    fn read(r: &mut Reader, name: &'static str) -> Result<Self::Value, DecodeError>;
    fn write(value: &Self::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError>;
}

/// A code of the protocol; see the macro `codes`.
pub(crate) trait Code: Copy {
    type Int;
    /// The code's meaning in a version; unknown if only another version defines it.
    fn from_wire(code: Self::Int, version: Version) -> Self;
    fn code(self) -> Self::Int;
    fn versions(self) -> Versions;
}

/// A set of flags; see the macro `flags`.
pub(crate) trait Flags: Copy {
    fn from_bits(bits: u32) -> Self;
    fn bits(self) -> u32;
    fn unknown_to(self, version: Version) -> u32;
}

macro_rules! integers {
    ($($wire:ident $int:ident;)*) => {
        $(
            #[doc = concat!("A plain ", stringify!($int), ".")]
            pub(crate) struct $wire;
            impl Wire for $wire {
                type Value = $int;
                #[inline]
                fn read(r: &mut Reader, name: &'static str) -> Result<$int, DecodeError> {
                    r.$int(name)
                }
                #[inline]
                fn write(value: &$int, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
                    w.$int(*value);
                    Ok(())
                }
            }

            impl<T: Code<Int = $int>> Wire for Coded<T, $int> {
                type Value = T;
                fn read(r: &mut Reader, name: &'static str) -> Result<T, DecodeError> {
                    Ok(T::from_wire(r.$int(name)?, r.version))
                }
                fn write(value: &T, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
                    if !value.versions().include(w.version) {
                        return Err(w.inexpressible(name));
                    }
                    w.$int(value.code());
                    Ok(())
                }
            }

            impl<T: Flags> Wire for Bits<T, $int> {
                type Value = T;
                fn read(r: &mut Reader, name: &'static str) -> Result<T, DecodeError> {
                    let flags = T::from_bits(r.$int(name)? as u32);
                    let unknown = if r.is_report { flags.unknown_to(r.version) } else { 0 };
                    Ok(T::from_bits(flags.bits() & !unknown))
                }
                fn write(value: &T, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
                    let unknown = value.unknown_to(w.version);
                    if unknown != 0 {
                        w.leave_out(name)?;
                    }
                    let bits = value.bits() & !unknown;
                    w.$int($int::try_from(bits).map_err(|_| w.out_of_range(name, bits.into()))?);
                    Ok(())
                }
            }
        )*
    };
}

/// A code, in the integer that the protocol gives it.
pub(crate) struct Coded<T, I>(PhantomData<(T, I)>);

/// Flags in an integer. A request with a flag that the version has no bit for is an error; in a report it is left out,
/// and a bit to which only another version gives a meaning does not get that meaning.
pub(crate) struct Bits<T, I>(PhantomData<(T, I)>);

integers! { U8 u8; U16 u16; U32 u32; U64 u64; }

/// A port number in 16 bits, as in 1.0.
pub(crate) struct Port16;

impl Wire for Port16 {
    type Value = PortNo;
    fn read(r: &mut Reader, name: &'static str) -> Result<PortNo, DecodeError> {
        Ok(PortNo::from_u16(r.u16(name)?))
    }
    fn write(value: &PortNo, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let number = value.to_u16().ok_or_else(|| w.out_of_range(name, value.0.into()))?;
        w.u16(number);
        Ok(())
    }
}

/// A port number in 32 bits.
pub(crate) struct Port32;

impl Wire for Port32 {
    type Value = PortNo;
    fn read(r: &mut Reader, name: &'static str) -> Result<PortNo, DecodeError> {
        Ok(PortNo(r.u32(name)?))
    }
    fn write(value: &PortNo, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.u32(value.0);
        Ok(())
    }
}

/// A buffer's number, all ones for none.
pub(crate) struct Buffer;

impl Wire for Buffer {
    type Value = Option<u32>;
    fn read(r: &mut Reader, name: &'static str) -> Result<Option<u32>, DecodeError> {
        Ok(Some(r.u32(name)?).filter(|&id| id != u32::MAX))
    }
    fn write(value: &Option<u32>, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.u32(value.unwrap_or(u32::MAX));
        Ok(())
    }
}

/// An Ethernet address.
pub(crate) struct Mac;

impl Wire for Mac {
    type Value = MacAddr;
    fn read(r: &mut Reader, name: &'static str) -> Result<MacAddr, DecodeError> {
        let mut address = [0; 6];
        address.copy_from_slice(r.take(6, name)?);
        Ok(MacAddr(address))
    }
    fn write(value: &MacAddr, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.bytes(&value.0);
        Ok(())
    }
}

/// A text in `N` bytes, the last of which is 0. What is not UTF-8 becomes U+FFFD.
pub(crate) struct Text<const N: usize>;

impl<const N: usize> Wire for Text<N> {
    type Value = String;
    fn read(r: &mut Reader, name: &'static str) -> Result<String, DecodeError> {
        let bytes = r.take(N, name)?;
        let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }
    fn write(value: &String, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if value.len() >= N {
            return Err(EncodeError::TooLong { field: name, length: value.len(), max: N - 1 });
        }
        w.bytes(value.as_bytes());
        w.zeros(N - value.len());
        Ok(())
    }
}

/// All bytes that are left.
pub(crate) struct Rest;

impl Wire for Rest {
    type Value = Vec<u8>;
    fn read(r: &mut Reader, _: &'static str) -> Result<Vec<u8>, DecodeError> {
        Ok(r.rest().to_vec())
    }
    fn write(value: &Vec<u8>, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.bytes(value);
        Ok(())
    }
}

/// All bytes that are left, as a text. What is not UTF-8 becomes U+FFFD.
pub(crate) struct RestText;

impl Wire for RestText {
    type Value = String;
    fn read(r: &mut Reader, _: &'static str) -> Result<String, DecodeError> {
        Ok(String::from_utf8_lossy(r.rest()).into_owned())
    }
    fn write(value: &String, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.bytes(value.as_bytes());
        Ok(())
    }
}

/// `N` bytes of padding, then the value.
pub(crate) struct After<const N: usize, W>(PhantomData<W>);

impl<const N: usize, W: Wire> Wire for After<N, W> {
    type Value = W::Value;
    fn read(r: &mut Reader, name: &'static str) -> Result<W::Value, DecodeError> {
        r.skip(N)?;
        W::read(r, name)
    }
    fn write(value: &W::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.zeros(N);
        W::write(value, name, w)
    }
}

/// The value, then `N` bytes of padding.
pub(crate) struct Before<const N: usize, W>(PhantomData<W>);

impl<const N: usize, W: Wire> Wire for Before<N, W> {
    type Value = W::Value;
    fn read(r: &mut Reader, name: &'static str) -> Result<W::Value, DecodeError> {
        let value = W::read(r, name)?;
        r.skip(N)?;
        Ok(value)
    }
    fn write(value: &W::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        W::write(value, name, w)?;
        w.zeros(N);
        Ok(())
    }
}

/// As many values as are left. Each takes at least a byte, so that their number is bounded by the bytes.
pub(crate) struct All<W>(PhantomData<W>);

impl<W: Wire> Wire for All<W> {
    type Value = Vec<W::Value>;
    fn read(r: &mut Reader, name: &'static str) -> Result<Vec<W::Value>, DecodeError> {
        let guess = if W::TYPICAL_LEN == 0 { 0 } else { r.left().div_ceil(W::TYPICAL_LEN) };
        let mut values = Vec::with_capacity(guess);
        while !r.is_empty() {
            values.push(W::read(r, name)?);
        }
        Ok(values)
    }
    fn write(values: &Vec<W::Value>, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        values.iter().try_for_each(|value| W::write(value, name, w))
    }
}

/// `N` values.
pub(crate) struct Times<const N: usize, W>(PhantomData<W>);

impl<const N: usize, W: Wire> Wire for Times<N, W>
where
    W::Value: Default + Copy,
{
    type Value = [W::Value; N];
    fn read(r: &mut Reader, name: &'static str) -> Result<[W::Value; N], DecodeError> {
        let mut values = [W::Value::default(); N];
        for value in &mut values {
            *value = W::read(r, name)?;
        }
        Ok(values)
    }
    fn write(values: &[W::Value; N], name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        values.iter().try_for_each(|value| W::write(value, name, w))
    }
}

/// A 16-bit length, its own two bytes included, then a value of that length.
pub(crate) struct Sized16<W>(PhantomData<W>);

impl<W: Wire> Wire for Sized16<W> {
    type Value = W::Value;
    fn read(r: &mut Reader, name: &'static str) -> Result<W::Value, DecodeError> {
        let length = usize::from(r.u16(name)?);
        let Some(inner) = length.checked_sub(2).filter(|&n| n <= r.left()) else {
            return Err(r.bad_length(2, name, length));
        };
        let mut inner = r.sub(inner, name)?;
        let value = W::read(&mut inner, name)?;
        inner.finish(name)?;
        Ok(value)
    }
    fn write(value: &W::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        w.u16(0);
        W::write(value, name, w)?;
        w.patch_length(start, start);
        Ok(())
    }
}

/// A value whose length stands `AT` bytes behind its start, in two bytes that `W` passes over; at least `LEAST`.
pub(crate) struct LengthAt<const AT: usize, const LEAST: usize, W>(PhantomData<W>);

impl<const AT: usize, const LEAST: usize, W: Wire> Wire for LengthAt<AT, LEAST, W> {
    type Value = W::Value;
    fn read(r: &mut Reader, name: &'static str) -> Result<W::Value, DecodeError> {
        let mut head = r.clone();
        head.take(AT, name)?;
        let length = usize::from(head.u16(name)?);
        if length < LEAST.max(AT + 2) || length > r.left() {
            return Err(head.bad_length(2, name, length));
        }
        let mut inner = r.sub(length, name)?;
        let value = W::read(&mut inner, name)?;
        inner.finish(name)?;
        Ok(value)
    }
    fn write(value: &W::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        W::write(value, name, w)?;
        w.patch_length(start + AT, start);
        Ok(())
    }
}

/// The first version of those that a form is for, as a parameter of forms.
pub(crate) const V1_4: u8 = Version::V1_4 as u8;
/// Likewise.
pub(crate) const V1_5: u8 = Version::V1_5 as u8;

/// A field that came with version `V`. Before, `N` bytes of padding stand in its place and it has its default.
pub(crate) struct Since<const V: u8, const N: usize, W>(PhantomData<W>);

impl<const V: u8, const N: usize, W: Wire> Wire for Since<V, N, W>
where
    W::Value: Default + PartialEq,
{
    type Value = W::Value;
    #[inline]
    fn read(r: &mut Reader, name: &'static str) -> Result<W::Value, DecodeError> {
        if r.version as u8 >= V {
            return W::read(r, name);
        }
        r.skip(N)?;
        Ok(W::Value::default())
    }
    #[inline]
    fn write(value: &W::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if w.version as u8 >= V {
            return W::write(value, name, w);
        }
        if *value != W::Value::default() {
            w.leave_out(name)?;
        }
        w.zeros(N);
        Ok(())
    }
}

/// A number of one thing to ask for, since version `V`. Before, there is no room: all are asked for, which `ALL` says.
pub(crate) struct OneSince<const V: u8, const ALL: u32, W>(PhantomData<W>);

impl<const V: u8, const ALL: u32, W: Wire> Wire for OneSince<V, ALL, W>
where
    W::Value: From<u32> + PartialEq,
{
    type Value = W::Value;
    fn read(r: &mut Reader, name: &'static str) -> Result<W::Value, DecodeError> {
        if r.version as u8 >= V { W::read(r, name) } else { Ok(ALL.into()) }
    }
    fn write(value: &W::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if w.version as u8 >= V {
            W::write(value, name, w)
        } else if *value != W::Value::from(ALL) {
            w.leave_out(name)
        } else {
            Ok(())
        }
    }
}

/// A struct with nothing on the wire but what follows it.
pub(crate) struct Blank<T>(PhantomData<T>);

impl<T: Default> Wire for Blank<T> {
    type Value = T;
    fn read(_: &mut Reader, _: &'static str) -> Result<T, DecodeError> {
        Ok(T::default())
    }
    fn write(_: &T, _: &'static str, _: &mut Writer) -> Result<(), EncodeError> {
        Ok(())
    }
}

macro_rules! changes {
    ($($name:ident $version:ident $text:literal;)*) => {
        $(
            #[doc = concat!("`Old` before ", $text, ", `New` since.")]
            pub(crate) struct $name<Old, New>(PhantomData<(Old, New)>);
            impl<Old: Wire, New: Wire<Value = Old::Value>> Wire for $name<Old, New> {
                type Value = Old::Value;
                const TYPICAL_LEN: usize = New::TYPICAL_LEN;
                #[inline]
                fn read(r: &mut Reader, name: &'static str) -> Result<Old::Value, DecodeError> {
                    if r.version < Version::$version { Old::read(r, name) } else { New::read(r, name) }
                }
                #[inline]
                fn write(value: &Old::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
                    if w.version < Version::$version {
                        Old::write(value, name, w)
                    } else {
                        New::write(value, name, w)
                    }
                }
            }
        )*
    };
}

changes! { From1_3 V1_3 "1.3"; From1_4 V1_4 "1.4"; From1_5 V1_5 "1.5"; }

/// A pair of values, one behind the other.
impl<A: Wire, B: Wire> Wire for (A, B) {
    type Value = (A::Value, B::Value);
    fn read(r: &mut Reader, name: &'static str) -> Result<Self::Value, DecodeError> {
        Ok((A::read(r, name)?, B::read(r, name)?))
    }
    fn write(value: &Self::Value, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        A::write(&value.0, name, w)?;
        B::write(&value.1, name, w)
    }
}

/// A struct of the model as a sequence of fields on the wire.
///
/// `none` lists fields that this version has no room for: a request must have the given value in them.
/// `lost` lists fields that are of no account here, or told elsewhere: they are left out, and have the given value
/// when read. `lost default` does so with all other fields, which then have the struct's defaults.
macro_rules! layout {
    ($name:ident: $type:ty { $($field:ident: $wire:ty),* $(,)? }
        $(none { $($none:ident: $only:expr),* $(,)? })?
        $(lost { $($lost:ident: $default:expr),* $(,)? })?
        $(lost $rest:ident)?
    ) => {
        #[doc = concat!("`", stringify!($type), "` on the wire.")]
        pub(crate) struct $name;
        impl $crate::codec::wire::Wire for $name {
            type Value = $type;
            #[inline]
            fn read(
                r: &mut $crate::codec::reader::Reader,
                _: &'static str,
            ) -> Result<$type, $crate::codec::DecodeError> {
                Ok(Self::Value {
                    $($field: <$wire as $crate::codec::wire::Wire>::read(r, stringify!($field))?,)*
                    $($($none: $only,)*)?
                    $($($lost: $default,)*)?
                    $(..std::$rest::Default::default())?
                })
            }
            fn write(
                value: &$type,
                _: &'static str,
                w: &mut $crate::codec::writer::Writer,
            ) -> Result<(), $crate::codec::EncodeError> {
                $($(if value.$none != $only {
                    w.leave_out(stringify!($none))?;
                })*)?
                $(<$wire as $crate::codec::wire::Wire>::write(&value.$field, stringify!($field), w)?;)*
                Ok(())
            }
        }
    };
}
