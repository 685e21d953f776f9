//! Meters: METER_MOD, configuration, statistics.

use crate::codec::error::{DecodeError, EncodeError, Part};
use crate::codec::reader::Reader;
use crate::codec::wire::{All, Before, Bits, Coded, LengthAt, Since, U8, U32, U64, V1_5, Wire};
use crate::codec::writer::Writer;
use crate::model::{Band, BandCounter, MeterConfig, MeterFeatures, MeterMod, MeterStats};

const DROP: u16 = 1;
const DSCP_REMARK: u16 = 2;
const EXPERIMENTER: u16 = 0xffff;

/// A band: type, length, rate, burst, arguments.
pub(crate) struct BandWire;

impl Wire for BandWire {
    type Value = Band;

    fn read(r: &mut Reader, _: &'static str) -> Result<Band, DecodeError> {
        let band_type = r.u16("band type")?;
        let length = usize::from(r.u16("band length")?);
        if length < 4 || length - 4 > r.left() {
            return Err(DecodeError { part: Part::Band, ..r.bad_length(2, "band length", length) });
        }
        let mut body = r.sub(length - 4, "band")?.within(Part::Band);
        let band = read_arguments(band_type, &mut body)?;
        body.finish("the band")?;
        Ok(band)
    }

    fn write(band: &Band, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        let head = |band_type: u16, rate: u32, burst_size: u32, w: &mut Writer| {
            w.u16(band_type);
            w.u16(0);
            w.u32(rate);
            w.u32(burst_size);
        };
        match band {
            Band::Drop { rate, burst_size } => {
                head(DROP, *rate, *burst_size, w);
                w.zeros(4);
            }
            Band::DscpRemark { rate, burst_size, prec_level } => {
                head(DSCP_REMARK, *rate, *burst_size, w);
                w.u8(*prec_level);
                w.zeros(3);
            }
            Band::Experimenter { rate, burst_size, experimenter, data } => {
                head(EXPERIMENTER, *rate, *burst_size, w);
                w.u32(*experimenter);
                w.bytes(data);
            }
            Band::Unknown { band_type, data } => {
                w.u16(*band_type);
                w.u16(0);
                w.bytes(data);
            }
        }
        w.patch_length(start + 2, start);
        Ok(())
    }
}

fn read_arguments(band_type: u16, r: &mut Reader) -> Result<Band, DecodeError> {
    if ![DROP, DSCP_REMARK, EXPERIMENTER].contains(&band_type) {
        return Ok(Band::Unknown { band_type, data: r.rest().to_vec() });
    }
    let (rate, burst_size) = (r.u32("band rate")?, r.u32("band burst_size")?);
    let argument = r.u32("band argument")?;
    Ok(match band_type {
        DROP => Band::Drop { rate, burst_size },
        DSCP_REMARK => Band::DscpRemark { rate, burst_size, prec_level: (argument >> 24) as u8 },
        _ => Band::Experimenter { rate, burst_size, experimenter: argument, data: r.rest().to_vec() },
    })
}

layout!(MeterModWire: MeterMod {
    command: Coded<_, u16>,
    flags: Bits<_, u16>,
    meter_id: U32,
    bands: All<BandWire>,
});

layout!(MeterConfigWire: MeterConfig { flags: Bits<_, u16>, meter_id: U32, bands: All<BandWire> });

layout!(BandCounterWire: BandCounter { packet_count: U64, byte_count: U64 });

layout!(MeterStatsBody: MeterStats {
    meter_id: Before<8, U32>,
    flow_count: U32,
    packet_in_count: U64,
    byte_in_count: U64,
    duration_sec: U32,
    duration_nsec: U32,
    bands: All<BandCounterWire>,
});

/// A meter's counters; the length stands behind the meter's number.
pub(crate) type MeterStatsWire = LengthAt<4, 12, MeterStatsBody>;

layout!(MeterFeaturesWire: MeterFeatures {
    max_meters: U32,
    band_types: U32,
    capabilities: Bits<_, u32>,
    max_bands: U8,
    max_color: Before<2, U8>,
    features: Since<V1_5, 0, Before<4, Bits<_, u32>>>,
});
