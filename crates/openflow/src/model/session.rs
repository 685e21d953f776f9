//! Messages about the connection itself: HELLO, ERROR, EXPERIMENTER, FEATURES, configuration.

use serde::{Deserialize, Serialize};

use super::{ErrorCode, Port, Version};

/// The eight bytes that begin every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version's number; any, because a HELLO may carry one that we don't know.
    pub version: u8,
    /// The message type's number in that version.
    pub message_type: u8,
    /// The message's length in bytes, header included.
    pub length: u16,
    /// What ties replies to requests.
    pub xid: u32,
}

impl Header {
    /// Its length in bytes.
    pub const LEN: usize = 8;

    /// The header at the start of `bytes`; `None` if there are fewer than eight.
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let &[version, message_type, l0, l1, x0, x1, x2, x3] = bytes.first_chunk::<8>()?;
        let (length, xid) = (u16::from_be_bytes([l0, l1]), u32::from_be_bytes([x0, x1, x2, x3]));
        Some(Header { version, message_type, length, xid })
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; 8] {
        let ([l0, l1], [x0, x1, x2, x3]) = (self.length.to_be_bytes(), self.xid.to_be_bytes());
        [self.version, self.message_type, l0, l1, x0, x1, x2, x3]
    }
}

/// The first message on a connection; the header's version is the highest that the sender speaks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hello {
    /// What the sender adds (since 1.3, but any version may carry it).
    pub elements: Vec<HelloElement>,
}

/// A part of a HELLO.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum HelloElement {
    /// The versions that the sender speaks: bit `n % 32` of word `n / 32` stands for version number `n`.
    VersionBitmap(Vec<u32>),
    /// An element that is not known here; it is to be ignored.
    Unknown {
        /// Its type.
        element_type: u16,
        /// Its content.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

impl Hello {
    /// A HELLO that announces `versions` in a bitmap.
    pub fn announcing(versions: &[Version]) -> Hello {
        let bitmap = versions.iter().fold(0, |bits, v| bits | 1u32 << v.wire());
        Hello { elements: vec![HelloElement::VersionBitmap(vec![bitmap])] }
    }

    /// Whether its bitmap has the version of that number; `None` if it has no bitmap.
    pub fn supports(&self, number: u8) -> Option<bool> {
        self.elements.iter().find_map(|element| match element {
            HelloElement::VersionBitmap(words) => {
                let word = words.get(usize::from(number / 32)).copied().unwrap_or(0);
                Some(word >> (number % 32) & 1 == 1)
            }
            HelloElement::Unknown { .. } => None,
        })
    }

    /// The version to speak with a peer that sent this HELLO under `header_version`, given that we announced
    /// `ours` in a bitmap: the highest in both bitmaps, or without theirs the smaller of the highest two, if
    /// we speak it (OpenFlow 1.3.5, section 6.3.1).
    pub fn negotiate(&self, header_version: u8, ours: &[Version]) -> Option<Version> {
        let highest = ours.iter().copied().max()?;
        let common = ours.iter().copied().filter(|v| self.supports(v.wire()) == Some(true)).max();
        match self.supports(0) {
            Some(_) => common,
            None => {
                let number = header_version.min(highest.wire());
                ours.iter().copied().find(|v| v.wire() == number)
            }
        }
    }
}

/// Something went wrong at the other end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorMessage {
    /// What.
    pub code: ErrorCode,
    /// The number and type of an experimenter's error (`code` is then `Unknown` with type 0xffff).
    #[serde(default)]
    pub experimenter: Option<u32>,
    /// The start of the message at fault, or for HELLO_FAILED a text.
    #[serde(default, with = "crate::json::hex")]
    pub data: Vec<u8>,
}

impl ErrorMessage {
    /// The type under which experimenters define errors (since 1.2).
    pub const EXPERIMENTER: u16 = 0xffff;

    /// An error that the specification defines.
    pub fn new(code: ErrorCode, data: impl Into<Vec<u8>>) -> ErrorMessage {
        ErrorMessage { code, experimenter: None, data: data.into() }
    }
}

/// An experimenter's (1.0: vendor's) message or multipart body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experimenter {
    /// Whose.
    #[serde(with = "crate::json::hex_number")]
    pub experimenter: u32,
    /// Which of the experimenter's types; `None` in 1.0, where it is part of `data` if there is one.
    pub experimenter_type: Option<u32>,
    /// The content.
    #[serde(with = "crate::json::hex")]
    pub data: Vec<u8>,
}

flags! {
    /// What a switch can do.
    pub struct Capabilities {
        /// Flow statistics.
        FLOW_STATS = 1, in EVERY;
        /// Table statistics.
        TABLE_STATS = 1 << 1, in EVERY;
        /// Port statistics.
        PORT_STATS = 1 << 2, in EVERY;
        /// Group statistics.
        GROUP_STATS = 1 << 3, in SINCE_1_3;
        /// Reassembles IP fragments.
        IP_REASM = 1 << 5, in EVERY;
        /// Queue statistics.
        QUEUE_STATS = 1 << 6, in EVERY;
        /// Matches addresses in ARP packets.
        ARP_MATCH_IP = 1 << 7, in ONLY_1_0;
        /// Blocks looping ports itself.
        PORT_BLOCKED = 1 << 8, in SINCE_1_3;
        /// Bundles.
        BUNDLES = 1 << 9, in SINCE_1_4;
        /// Flow monitoring.
        FLOW_MONITORING = 1 << 10, in SINCE_1_4;
        /// 802.1d spanning tree (1.0; its bit there is that of GROUP_STATS).
        STP = 1 << 31, in ONLY_1_0;
    }
}

/// What a switch says of itself when connected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Features {
    /// The switch's identity.
    #[serde(with = "crate::json::hex_number")]
    pub datapath_id: u64,
    /// How many packets it can buffer.
    pub n_buffers: u32,
    /// How many tables it has.
    pub n_tables: u8,
    /// 0 on the main connection (since 1.3).
    pub auxiliary_id: u8,
    /// What it can do.
    pub capabilities: Capabilities,
    /// 1.0's bitmap of action types; 0 since.
    pub actions: u32,
    /// 1.0's list of ports; empty since (ask for [`RequestBody::PortDesc`](super::RequestBody::PortDesc)).
    pub ports: Vec<Port>,
}

codes! {
    /// What a switch does with IP fragments.
    pub enum FragmentHandling: u16 {
        /// Nothing special.
        Normal = 0 in EVERY,
        /// Drops them.
        Drop = 1 in EVERY,
        /// Reassembles them.
        Reassemble = 2 in EVERY,
    }
}

/// A switch's configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SwitchConfig {
    /// IP fragments.
    pub fragments: FragmentHandling,
    /// How many bytes of a packet go to the controller where no action says it.
    pub miss_send_len: u16,
}

#[cfg(test)]
mod tests {
    use super::*;
    use Version::{V1_0, V1_3, V1_5};

    #[test]
    fn bitmaps_decide_when_both_have_one() {
        let hello = Hello::announcing(&[V1_0, V1_3]);
        assert_eq!(hello.negotiate(4, &[V1_0, V1_3, V1_5]), Some(V1_3));
        assert_eq!(hello.negotiate(4, &[V1_5]), None);
        assert_eq!(hello.supports(2), Some(false));
    }

    #[test]
    fn without_a_bitmap_the_smaller_header_version_decides() {
        let plain = Hello::default();
        assert_eq!(plain.negotiate(1, &[V1_0, V1_3]), Some(V1_0));
        assert_eq!(plain.negotiate(0x7f, &[V1_0, V1_3]), Some(V1_3));
        assert_eq!(plain.negotiate(3, &[V1_0, V1_3]), None);
        assert_eq!(plain.negotiate(1, &[V1_3]), None);
    }

    #[test]
    fn headers_round_trip() {
        let header = Header { version: 4, message_type: 14, length: 56, xid: 0x01020304 };
        assert_eq!(Header::parse(&header.to_bytes()), Some(header));
        assert_eq!(Header::parse(&[4, 0, 0]), None);
    }
}
