//! The extensions that Nicira defined and Open vSwitch's users rely on: actions, messages, and names of fields.
//!
//! What has an equivalent in OpenFlow itself is that in the model, and becomes an extension only where the version
//! lacks it: [`Action::DecNwTtl`](super::Action::DecNwTtl) on 1.0 is `NXAST_DEC_TTL`. What is here has none.

use flowgauge_packet::Field;
use serde::{Deserialize, Serialize};

use super::{FlowMod, FlowRemoved, PacketIn, PortNo};

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

flags! {
    /// Options of a learned flow entry.
    pub struct LearnFlags {
        /// Tell the controller when the entry goes.
        SEND_FLOW_REM = 1, in EVERY;
        /// Delete what was learned when the entry with the action goes.
        DELETE_LEARNED = 1 << 1, in EVERY;
        /// Store whether there was room for the entry.
        WRITE_RESULT = 1 << 2, in EVERY;
    }
}

/// A flow entry to be made after the packet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Learn {
    /// Seconds without a packet until the entry goes; 0 for never.
    pub idle_timeout: u16,
    /// Seconds until the entry goes; 0 for never.
    pub hard_timeout: u16,
    /// The entry's priority.
    pub priority: u16,
    /// Its cookie.
    #[serde(with = "crate::json::hex_number")]
    pub cookie: u64,
    /// Options.
    pub flags: LearnFlags,
    /// Its table.
    pub table_id: u8,
    /// Idle timeout after a TCP FIN or RST; 0: unchanged.
    pub fin_idle_timeout: u16,
    /// Hard timeout after a TCP FIN or RST; 0: unchanged.
    pub fin_hard_timeout: u16,
    /// At most so many entries; 0: any number.
    pub limit: u32,
    /// Where to store whether there was room, with [`LearnFlags::WRITE_RESULT`]: a bit.
    pub result: Option<Subfield>,
    /// What the entry matches and does.
    pub specs: Vec<LearnSpec>,
}

impl Default for Learn {
    /// An entry in table 1 with ovs-ofctl's default priority that matches everything and drops it.
    fn default() -> Learn {
        Learn {
            idle_timeout: 0,
            hard_timeout: 0,
            priority: 0x8000,
            cookie: 0,
            flags: LearnFlags::NONE,
            table_id: 1,
            fin_idle_timeout: 0,
            fin_hard_timeout: 0,
            limit: 0,
            result: None,
            specs: Vec::new(),
        }
    }
}

/// One thing that a learned entry matches or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LearnSpec {
    /// It matches these bits.
    Match {
        /// The bits.
        field: Subfield,
        /// What they must be.
        from: LearnSource,
    },
    /// It sets these bits.
    Load {
        /// The bits.
        to: Subfield,
        /// To what.
        from: LearnSource,
    },
    /// It sends out of the port that the packet has in a field.
    Output(Subfield),
}

/// Where a learned entry's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LearnSource {
    /// From the packet: as many bits as it is for, from `offset` on.
    Field {
        /// The field.
        field: NxField,
        /// Its lowest bit that counts.
        offset: u16,
    },
    /// It is this.
    Value(#[serde(with = "crate::json::hex_number")] u128),
}

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

codes! {
    /// How a switch writes flow entries (1.0).
    pub enum FlowFormat: u32 {
        /// With 1.0's own match.
        OpenFlow10 = 0 in EVERY,
        /// With Nicira's extensible match.
        Nxm = 2 in EVERY,
    }
}

codes! {
    /// How a switch writes PACKET_INs.
    pub enum PacketInFormat: u32 {
        /// As the version has it.
        Standard = 0 in EVERY,
        /// As NXT_PACKET_IN.
        Nxt = 1 in EVERY,
        /// As NXT_PACKET_IN2.
        Nxt2 = 2 in EVERY,
    }
}

/// One of Nicira's messages. Roles on 1.0 are [`Body::RoleRequest`](super::Body::RoleRequest) and `RoleReply`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NiciraMessage {
    /// Write flow entries like this from now on.
    SetFlowFormat(FlowFormat),
    /// A FLOW_MOD whose match may have fields that 1.0's match has no room for.
    FlowMod(FlowMod),
    /// A FLOW_REMOVED with such a match.
    FlowRemoved(FlowRemoved),
    /// Whether the upper byte of a FLOW_MOD's command is a table's number from now on (1.0).
    FlowModTableId(bool),
    /// Write PACKET_INs like this from now on.
    SetPacketInFormat(PacketInFormat),
    /// A packet for the controller, with table, cookie and pipeline fields.
    PacketIn(PacketIn),
    /// The same, with what newer actions add.
    PacketIn2(PacketIn2),
    /// Tell in statistics for how long entries have been idle.
    FlowAge,
    /// The number that actions know this controller by.
    SetControllerId(u16),
}

/// A packet for the controller, with what a `controller` action had it bring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacketIn2 {
    /// The packet.
    pub packet: PacketIn,
    /// The action's bytes.
    #[serde(with = "crate::json::hex")]
    pub userdata: Vec<u8>,
    /// What resumes the pipeline, if it was paused.
    #[serde(with = "crate::json::hex")]
    pub continuation: Vec<u8>,
}
