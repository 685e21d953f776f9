//! Actions that choose a link or a port by a hash.

use serde::{Deserialize, Serialize};

use super::Subfield;
use crate::model::PortNo;

codes! {
    /// What of a packet is hashed.
    pub enum HashFields: u16 {
        /// The Ethernet source.
        EthSrc = 0 in EVERY,
        /// Addresses and ports, the same in both directions.
        SymmetricL4 = 1 in EVERY,
        /// Addresses and TCP or UDP ports, the same in both directions.
        SymmetricL3L4 = 2 in EVERY,
        /// The same, without UDP ports.
        SymmetricL3L4Udp = 3 in EVERY,
        /// The network source.
        NwSrc = 4 in EVERY,
        /// The network destination.
        NwDst = 5 in EVERY,
        /// The network addresses, the same in both directions.
        SymmetricL3 = 6 in EVERY,
    }
}

codes! {
    /// How a hash becomes a link.
    pub enum LinkChoice: u16 {
        /// Hash modulo the number of links.
        ModuloN = 0 in EVERY,
        /// Hash, scaled to the number of links.
        HashThreshold = 1 in EVERY,
        /// The link whose hash with the packet's is highest.
        Hrw = 2 in EVERY,
        /// Links of a table, tried until one will do.
        IterHash = 3 in EVERY,
    }
}

/// Choose one of several links by a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Multipath {
    /// What is hashed.
    pub fields: HashFields,
    /// A number that goes into the hash.
    pub basis: u16,
    /// How the hash becomes a link.
    pub choice: LinkChoice,
    /// How many links there are, at least 1.
    pub links: u32,
    /// An argument of the choice.
    pub argument: u32,
    /// Where the link's number goes.
    pub to: Subfield,
}

codes! {
    /// How a hash becomes a port of a bundle.
    pub enum BundleChoice: u16 {
        /// The first port that is up.
        ActiveBackup = 0 in EVERY,
        /// The port whose hash with the packet's is highest.
        Hrw = 1 in EVERY,
    }
}

/// Choose one of several ports by a hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// What is hashed.
    pub fields: HashFields,
    /// A number that goes into the hash.
    pub basis: u16,
    /// How the hash becomes a port.
    pub choice: BundleChoice,
    /// The ports.
    pub members: Vec<PortNo>,
    /// Where the port's number goes; `None`: the packet goes to the port.
    pub to: Option<Subfield>,
}
