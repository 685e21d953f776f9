//! Properties: the typed parts that 1.4 lets messages and structures end with.

use serde::{Deserialize, Serialize};

/// A property that is an experimenter's, or that is not known here. Those that are known are fields of what they
/// belong to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Property {
    /// An experimenter's.
    Experimenter {
        /// Whose.
        #[serde(with = "crate::json::hex_number")]
        experimenter: u32,
        /// Which of the experimenter's types.
        experimenter_type: u32,
        /// The content.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
    /// One that is not known here.
    Unknown {
        /// Its type.
        property_type: u16,
        /// What follows type and length.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}
