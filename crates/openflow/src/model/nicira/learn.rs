//! The learn action: flow entries that are made after packets.

use serde::{Deserialize, Serialize};

use super::{NxField, Subfield};

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
