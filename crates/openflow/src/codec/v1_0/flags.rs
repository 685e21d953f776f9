//! Flags whose bits in 1.0 are not those of later versions.

use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::reader::Reader;
use crate::codec::wire::Wire;
use crate::codec::writer::Writer;
use crate::model::{Capabilities, FlowModFlags, PortFeatures};

/// A switch's capabilities: bit 3 is STP.
pub(crate) struct CapabilityBits;

impl Wire for CapabilityBits {
    type Value = Capabilities;
    fn read(r: &mut Reader, name: &'static str) -> Result<Capabilities, DecodeError> {
        let all = Capabilities(swap(r.u32(name)?, Capabilities::GROUP_STATS.0, Capabilities::STP.0));
        Ok(Capabilities(all.0 & !all.unknown_to(r.version).0))
    }
    fn write(value: &Capabilities, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let known = value.0 & !value.unknown_to(w.version).0;
        w.u32(swap(known, Capabilities::GROUP_STATS.0, Capabilities::STP.0));
        Ok(())
    }
}

/// A flow entry's flags: bit 2 is EMERGENCY.
pub(crate) struct FlowFlagBits;

impl Wire for FlowFlagBits {
    type Value = FlowModFlags;
    fn read(r: &mut Reader, name: &'static str) -> Result<FlowModFlags, DecodeError> {
        let bits = r.u16(name)?.into();
        Ok(FlowModFlags(swap(bits, FlowModFlags::RESET_COUNTS.0, FlowModFlags::EMERGENCY.0)))
    }
    fn write(value: &FlowModFlags, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if value.unknown_to(w.version).0 != 0 {
            return Err(w.inexpressible(name));
        }
        let bits = swap(value.0, FlowModFlags::RESET_COUNTS.0, FlowModFlags::EMERGENCY.0);
        w.u16(u16::try_from(bits).map_err(|_| w.out_of_range(name, bits.into()))?);
        Ok(())
    }
}

/// Changes places of two bits.
fn swap(bits: u32, a: u32, b: u32) -> u32 {
    let moved = |from, to| if bits & from != 0 { to } else { 0 };
    bits & !(a | b) | moved(a, b) | moved(b, a)
}

/// Link speeds and media: the media's bits follow those of 10 Gb/s at once.
pub(crate) struct LinkBits;

const SPEEDS: u32 = 0x7f;
const MEDIA: u32 = 0xf80;

impl Wire for LinkBits {
    type Value = PortFeatures;
    fn read(r: &mut Reader, name: &'static str) -> Result<PortFeatures, DecodeError> {
        let bits = r.u32(name)?;
        Ok(PortFeatures(bits & SPEEDS | (bits & MEDIA) << 4))
    }
    /// Speeds that 1.0 does not know are left out.
    fn write(value: &PortFeatures, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.u32(value.0 & SPEEDS | value.0 >> 4 & MEDIA);
        Ok(())
    }
}
