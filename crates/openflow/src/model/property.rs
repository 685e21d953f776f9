//! Properties: the typed parts that 1.4 lets messages and structures end with.

/// A property that is an experimenter's, or that is not known here. Those that are known are fields of what they
/// belong to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// An experimenter's.
    Experimenter {
        /// Whose.
        experimenter: u32,
        /// Which of the experimenter's types.
        experimenter_type: u32,
        /// The content.
        data: Vec<u8>,
    },
    /// One that is not known here.
    Unknown {
        /// Its type.
        property_type: u16,
        /// What follows type and length.
        data: Vec<u8>,
    },
}
