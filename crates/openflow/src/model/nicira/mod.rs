//! The extensions that Nicira defined and Open vSwitch's users rely on: actions, messages, and names of fields.
//!
//! What has an equivalent in OpenFlow itself is that in the model, and becomes an extension only where the version
//! lacks it: [`Action::DecNwTtl`](super::Action::DecNwTtl) on 1.0 is `NXAST_DEC_TTL`. What is here has none.

mod balance;
mod learn;
mod message;

use flowgauge_packet::Field;
use serde::{Deserialize, Serialize};

use super::PortNo;
pub use balance::{Bundle, BundleChoice, HashFields, LinkChoice, Multipath};
pub use learn::{Learn, LearnFlags, LearnSource, LearnSpec};
pub use message::{FlowFormat, NiciraMessage, PacketIn2, PacketInFormat};

/// The experimenter's number of Nicira.
pub const NICIRA: u32 = 0x0000_2320;

/// A field as the extensions name it: by an NXM or OXM header, which is in some cases of another width than
/// OpenFlow's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NxField {
    /// A field that OpenFlow, or this crate's list, has as well.
    Field(Field),
    /// The ingress port in 16 bits, as 1.0 has it (`NXM_OF_IN_PORT`).
    InPort16,
    /// All of the outer VLAN tag's control information; bit 12 says that there is a tag (`NXM_OF_VLAN_TCI`).
    VlanTci,
    /// The type of service octet without its two lowest bits (`NXM_OF_IP_TOS`).
    IpTos,
    /// Two registers in one of 64 bits: number `n` is `reg(2n)`, which is its upper half, and `reg(2n+1)`.
    Xreg(u8),
    /// Four registers in one of 128 bits, likewise.
    Xxreg(u8),
    /// One that is not known here: its header, without a mask.
    Unknown(u32),
}

impl NxField {
    /// Its width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            NxField::Field(field) => field.bits(),
            NxField::InPort16 | NxField::VlanTci => 16,
            NxField::IpTos => 8,
            NxField::Xreg(_) => 64,
            NxField::Xxreg(_) => 128,
            NxField::Unknown(header) => (header & 0xff) * 8,
        }
    }

    /// All of its bits; of one that is wider than 128 bits, the lowest 128.
    pub const fn full_mask(self) -> u128 {
        match self.bits() {
            0 => 0,
            bits @ 1..128 => u128::MAX >> (128 - bits),
            _ => u128::MAX,
        }
    }
}

/// Some bits of a field: `reg0[4..7]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subfield {
    /// The field.
    pub field: NxField,
    /// Its lowest bit that counts.
    pub offset: u16,
    /// How many bits count, at least 1.
    pub bits: u16,
}

impl Subfield {
    /// All bits of `field`.
    pub const fn all(field: NxField) -> Subfield {
        Subfield { field, offset: 0, bits: field.bits() as u16 }
    }

    /// Whether it is all of its field.
    pub fn is_all(self) -> bool {
        self == Subfield::all(self.field)
    }
}

/// One of Nicira's actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Nicira {
    /// Look the packet up again.
    Resubmit {
        /// As if it had come from this port; `None`: from where it did.
        port: Option<PortNo>,
        /// In this table; `None`: in the table that the action is in.
        table: Option<u8>,
    },
    /// Set bits of a field to a value.
    Load {
        /// Which bits, at most 64.
        to: Subfield,
        /// The value.
        #[serde(with = "crate::json::hex_number")]
        value: u64,
    },
    /// Set a field that OpenFlow does not have, or those of its bits that `mask` has.
    SetField {
        /// The field.
        field: NxField,
        /// The value.
        #[serde(with = "crate::json::hex_number")]
        value: u128,
        /// The bits that are set.
        #[serde(with = "crate::json::hex_number")]
        mask: u128,
    },
    /// Copy bits from one field to another.
    Move {
        /// From here.
        from: Subfield,
        /// To here; as many bits.
        to: Subfield,
    },
    /// Push bits of a field onto the pipeline's stack.
    Push(Subfield),
    /// Pop them from there.
    Pop(Subfield),
    /// Go back to the queue that the packet had before `set_queue`.
    PopQueue,
    /// Send out of the port that a field names.
    OutputReg {
        /// The field.
        from: Subfield,
        /// How many bytes the controller gets, if it is the port.
        max_len: u16,
    },
    /// Send at most so many bytes of the packet out of a port.
    OutputTrunc {
        /// The port.
        port: PortNo,
        /// The bytes.
        max_len: u32,
    },
    /// Send to one of the controllers.
    Controller(SendToController),
    /// Decrement the TTL; a packet whose TTL is over goes to the controllers with these numbers.
    DecTtlCntIds(Vec<u16>),
    /// Add or change a flow entry, made after the packet.
    Learn(Box<Learn>),
    /// Choose one of several links by a hash, and store its number.
    Multipath(Multipath),
    /// Choose one of several ports by a hash, and send there or store its number.
    Bundle(Bundle),
    /// One of the clauses of a conjunctive match.
    Conjunction {
        /// The conjunction.
        id: u32,
        /// Which of its clauses, from 0.
        clause: u8,
        /// How many clauses it has.
        clauses: u8,
    },
    /// Stop here, also in the tables that resubmitted.
    Exit,
    /// Shorten the entry's timeouts after a TCP FIN or RST.
    FinTimeout {
        /// Idle timeout in seconds; 0: unchanged.
        idle_timeout: u16,
        /// Hard timeout in seconds; 0: unchanged.
        hard_timeout: u16,
    },
    /// Nothing; the bytes are a comment. They come back with zeros behind them, to a length of 8n+6.
    Note(#[serde(with = "crate::json::hex")] Vec<u8>),
}

/// How a packet goes to a controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SendToController {
    /// At most so many bytes.
    pub max_len: u16,
    /// To the controller with this number.
    pub controller_id: u16,
    /// The reason to tell, a code of [`PacketInReason`](super::PacketInReason).
    pub reason: u8,
    /// Bytes that come with it.
    #[serde(with = "crate::json::hex")]
    pub userdata: Vec<u8>,
    /// Whether the pipeline stops until the controller resumes it.
    pub pause: bool,
    /// The meter that the packet must pass.
    pub meter_id: Option<u32>,
}

impl Default for SendToController {
    /// Whole packets, to controller 0, because an action said so.
    fn default() -> SendToController {
        SendToController {
            max_len: 0xffff,
            controller_id: 0,
            reason: 1,
            userdata: Vec::new(),
            pause: false,
            meter_id: None,
        }
    }
}
