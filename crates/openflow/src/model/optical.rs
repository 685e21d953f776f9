//! Optical ports (since 1.4): frequencies are in MHz, wavelengths in hundredths of a nanometre, powers in tenths of a
//! dBm.

use serde::{Deserialize, Serialize};

flags! {
    /// What an optical port can be told.
    pub struct OpticalFeatures {
        /// The receiver can be tuned.
        RX_TUNE = 1, in SINCE_1_4;
        /// The transmitter can be tuned.
        TX_TUNE = 1 << 1, in SINCE_1_4;
        /// The power can be set.
        TX_PWR = 1 << 2, in SINCE_1_4;
        /// Numbers are frequencies, not wavelengths.
        USE_FREQ = 1 << 3, in SINCE_1_4;
    }
}

/// What an optical port can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpticalPort {
    /// What it can be told.
    pub supported: OpticalFeatures,
    /// Lowest frequency or wavelength to send.
    pub tx_min_freq_lmda: u32,
    /// Highest frequency or wavelength to send.
    pub tx_max_freq_lmda: u32,
    /// Spacing of the sender's grid.
    pub tx_grid_freq_lmda: u32,
    /// Lowest frequency or wavelength to receive.
    pub rx_min_freq_lmda: u32,
    /// Highest frequency or wavelength to receive.
    pub rx_max_freq_lmda: u32,
    /// Spacing of the receiver's grid.
    pub rx_grid_freq_lmda: u32,
    /// Least power.
    pub tx_pwr_min: u16,
    /// Most power.
    pub tx_pwr_max: u16,
}

/// What an optical port shall do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpticalSettings {
    /// Which of the settings are meant.
    pub configure: OpticalFeatures,
    /// The centre frequency or wavelength.
    pub freq_lmda: u32,
    /// Offset from it.
    pub fl_offset: i32,
    /// Width of the grid.
    pub grid_span: u32,
    /// Power.
    pub tx_pwr: u32,
}

flags! {
    /// Which numbers of [`OpticalStats`] are valid.
    pub struct OpticalStatsFlags {
        /// Those of the receiver's tuning.
        RX_TUNE = 1, in SINCE_1_4;
        /// Those of the transmitter's tuning.
        TX_TUNE = 1 << 1, in SINCE_1_4;
        /// Transmit power.
        TX_PWR = 1 << 2, in SINCE_1_4;
        /// Receive power.
        RX_PWR = 1 << 4, in SINCE_1_4;
        /// Bias current.
        TX_BIAS = 1 << 5, in SINCE_1_4;
        /// Temperature.
        TX_TEMP = 1 << 6, in SINCE_1_4;
    }
}

/// What an optical port measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpticalStats {
    /// Which numbers are valid.
    pub flags: OpticalStatsFlags,
    /// Frequency or wavelength sent.
    pub tx_freq_lmda: u32,
    /// Offset from it.
    pub tx_offset: u32,
    /// Width of the sender's grid.
    pub tx_grid_span: u32,
    /// Frequency or wavelength received.
    pub rx_freq_lmda: u32,
    /// Offset from it.
    pub rx_offset: u32,
    /// Width of the receiver's grid.
    pub rx_grid_span: u32,
    /// Transmit power.
    pub tx_pwr: u16,
    /// Receive power.
    pub rx_pwr: u16,
    /// Bias current, in tenths of a milliampere.
    pub bias_current: u16,
    /// The laser's temperature, in tenths of a degree Celsius.
    pub temperature: u16,
}
