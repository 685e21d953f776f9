//! Ports, changes of ports and their counters, with properties for Ethernet and optics.

use crate::codec::oxm::IdWire;
use crate::codec::property::{Listed, Optional, WithProperties};
use crate::codec::wire::{After, Before, Bits, LengthAt, Mac, Port32, Sized16, Text, U16, U32, U64, Wire};
use crate::codec::{DecodeError, EncodeError, reader::Reader, writer::Writer};
use crate::model::{OpticalPort, OpticalSettings, OpticalStats, Port, PortFeatures, PortMod, PortStats};

layout!(PortBody: Port {
    port_no: Before<4, Port32>,
    hw_addr: Before<2, Mac>,
    name: Text<16>,
    config: Bits<_, u32>,
    state: Bits<_, u32>,
} lost default);

/// A port; its length stands behind its number.
pub(crate) type PortWire = LengthAt<4, 40, WithProperties<PortBody>>;

slot!(EthernetPort: Port {
    current: After<4, Bits<_, u32>>,
    advertised: Bits<_, u32>,
    supported: Bits<_, u32>,
    peer: Bits<_, u32>,
    current_speed: U32,
    max_speed: U32,
} unless |port| port.optical.is_some() && has_no_ethernet(port));

/// Whether a port says nothing of Ethernet.
fn has_no_ethernet(port: &Port) -> bool {
    let features = [port.current, port.advertised, port.supported, port.peer];
    features == [PortFeatures::NONE; 4] && port.current_speed == 0 && port.max_speed == 0
}

layout!(OpticalPortWire: OpticalPort {
    supported: After<4, Bits<_, u32>>,
    tx_min_freq_lmda: U32,
    tx_max_freq_lmda: U32,
    tx_grid_freq_lmda: U32,
    rx_min_freq_lmda: U32,
    rx_max_freq_lmda: U32,
    rx_grid_freq_lmda: U32,
    tx_pwr_min: U16,
    tx_pwr_max: U16,
});

properties!(port: Port, since V1_4, others in properties {
    0 EVERY "ethernet" in *port => EthernetPort,
    1 SINCE_1_4 "optical" in port.optical => Optional<OpticalPortWire>,
    2 SINCE_1_5 "pipeline_input" in port.pipeline_input => Listed<IdWire>,
    3 SINCE_1_5 "pipeline_output" in port.pipeline_output => Listed<IdWire>,
    4 SINCE_1_5 "recirculate" in port.recirculate => Listed<Port32>,
});

layout!(PortModBody: PortMod {
    port_no: Before<4, Port32>,
    hw_addr: Before<2, Mac>,
    config: Bits<_, u32>,
    mask: Bits<_, u32>,
} lost default);

slot!(EthernetPortMod: PortMod { advertise: Bits<_, u32> }
    unless |port| port.advertise == PortFeatures::NONE);

layout!(OpticalSettingsWire: OpticalSettings {
    configure: Bits<_, u32>,
    freq_lmda: U32,
    fl_offset: Signed32,
    grid_span: U32,
    tx_pwr: U32,
});

properties!(port: PortMod, since V1_4, others in properties {
    0 EVERY "advertise" in *port => EthernetPortMod,
    1 SINCE_1_4 "optical" in port.optical => Optional<OpticalSettingsWire>,
});

/// A signed number.
struct Signed32;

impl Wire for Signed32 {
    type Value = i32;
    fn read(r: &mut Reader, name: &'static str) -> Result<i32, DecodeError> {
        Ok(r.u32(name)? as i32)
    }
    fn write(value: &i32, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        w.u32(*value as u32);
        Ok(())
    }
}

layout!(PortStatsBody: PortStats {
    port_no: After<2, Port32>,
    duration_sec: U32,
    duration_nsec: U32,
    rx_packets: U64,
    tx_packets: U64,
    rx_bytes: U64,
    tx_bytes: U64,
    rx_dropped: U64,
    tx_dropped: U64,
    rx_errors: U64,
    tx_errors: U64,
} lost {
    rx_frame_errors: u64::MAX,
    rx_over_errors: u64::MAX,
    rx_crc_errors: u64::MAX,
    collisions: u64::MAX,
    optical: None,
    properties: Vec::new(),
});

/// A port's counters, length first.
pub(crate) type PortStatsWire = Sized16<WithProperties<PortStatsBody>>;

slot!(EthernetStats: PortStats {
    rx_frame_errors: After<4, U64>,
    rx_over_errors: U64,
    rx_crc_errors: U64,
    collisions: U64,
} unless |stats| {
    [stats.rx_frame_errors, stats.rx_over_errors, stats.rx_crc_errors, stats.collisions] == [u64::MAX; 4]
});

layout!(OpticalStatsWire: OpticalStats {
    flags: After<4, Bits<_, u32>>,
    tx_freq_lmda: U32,
    tx_offset: U32,
    tx_grid_span: U32,
    rx_freq_lmda: U32,
    rx_offset: U32,
    rx_grid_span: U32,
    tx_pwr: U16,
    rx_pwr: U16,
    bias_current: U16,
    temperature: U16,
});

properties!(stats: PortStats, since V1_4, others in properties {
    0 EVERY "ethernet" in *stats => EthernetStats,
    1 SINCE_1_4 "optical" in stats.optical => Optional<OpticalStatsWire>,
});
