//! What the switch does in software, because its fast path can't.

use serde::{Deserialize, Serialize};

use super::{Distribution, ModelError, check};

/// The software path: frames whose entry matches or does something that the fast path can't go this way, after the server
/// has looked them up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SoftwareModel {
    /// Match fields by their OpenFlow names, such as `ipv6_dst`: an entry that compares any of them is software's.
    pub matches: Vec<String>,
    /// Fields that `set_field` changes in software.
    pub set_fields: Vec<String>,
    /// Frames per second that it admits; others are dropped. 0: any number.
    pub limit_pps: f64,
    /// Frames that it admits at once before the limit holds; 0: one.
    pub limit_burst: u32,
    /// Waiting places, the frame in service not included. None: any number.
    pub frames: Option<u32>,
    /// Time for a frame.
    pub service: Distribution,
    /// Time from there to the output queue.
    pub latency: Distribution,
}

impl SoftwareModel {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        for (key, names) in [("software.matches", &self.matches), ("software.set_fields", &self.set_fields)] {
            for name in names {
                if flowgauge_packet::Field::from_name(name).is_none() {
                    return Err(ModelError::new(key, format!("there is no field {name:?}")));
                }
            }
        }
        check::positive("software.limit_pps", self.limit_pps)?;
        check::distribution("software.service", &self.service)?;
        check::distribution("software.latency", &self.latency)
    }
}
