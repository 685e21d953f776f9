//! What a flow entry does with the packets that it matches.

use serde::{Deserialize, Serialize};

use super::{Action, FlowCounters, StatTriggerFlags};

/// One instruction of a flow entry. 1.0 has none: there, `[ApplyActions(actions)]` stands for the entry's
/// actions, and no instruction at all for none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Instruction {
    /// Continue in a later table.
    GotoTable(u8),
    /// Set the bits of `metadata` that `mask` has.
    WriteMetadata {
        /// New bits.
        #[serde(with = "crate::json::hex_number")]
        metadata: u64,
        /// The bits that are set.
        #[serde(default = "crate::json::all_bits", with = "crate::json::hex_number")]
        mask: u64,
    },
    /// Add to the action set.
    WriteActions(Vec<Action>),
    /// Do at once, in order.
    ApplyActions(Vec<Action>),
    /// Empty the action set.
    ClearActions,
    /// Pass through a meter. In 1.5 it is an action, and written as the first one to apply.
    Meter(u32),
    /// Tell the controller when counters reach thresholds (since 1.5).
    StatTrigger {
        /// How often.
        flags: StatTriggerFlags,
        /// The thresholds.
        thresholds: Box<FlowCounters>,
    },
    /// An experimenter's instruction.
    Experimenter {
        /// Whose.
        #[serde(with = "crate::json::hex_number")]
        experimenter: u32,
        /// What follows the experimenter's number.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
    /// An instruction that is not known here.
    Unknown {
        /// Its type.
        instruction_type: u16,
        /// What follows type and length.
        #[serde(with = "crate::json::hex")]
        data: Vec<u8>,
    },
}

impl Instruction {
    /// Its place in the order in which a switch executes instructions (OpenFlow 1.3.5, 5.9), in which they print, too.
    pub fn rank(&self) -> u8 {
        match self {
            Instruction::Meter(_) => 0,
            Instruction::ApplyActions(_) => 1,
            Instruction::ClearActions => 2,
            Instruction::WriteActions(_) => 3,
            Instruction::WriteMetadata { .. } => 4,
            Instruction::GotoTable(_) => 5,
            Instruction::StatTrigger { .. }
            | Instruction::Experimenter { .. }
            | Instruction::Unknown { .. } => 6,
        }
    }
}
