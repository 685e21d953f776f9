//! Parses instructions, which ovs-ofctl writes among the actions.

use flowgauge_packet::Field;

use super::scan::Span;
use super::{SyntaxError, action, value};
use crate::Instruction;

/// Parses what stands behind `actions=`: actions, and the instructions that ovs-ofctl writes among them.
pub(super) fn list(text: Span<'_>) -> Result<Vec<Instruction>, SyntaxError> {
    let (mut applied, mut others) = (Vec::new(), Vec::new());
    for item in text.items()? {
        let (name, argument) = item.name_and_argument();
        match name.text {
            "goto_table" => others.push(Instruction::GotoTable(value::number(argument, 0xfe)? as u8)),
            "meter" => others.push(Instruction::Meter(value::number(argument, u32::MAX.into())? as u32)),
            "apply_actions" => applied.extend(action::list(argument)?),
            "experimenter_instruction" => {
                let (experimenter, data) = action::raw(argument)?;
                others.push(Instruction::Experimenter { experimenter, data });
            }
            "instruction" => others.push(unknown(argument)?),
            "clear_actions" => others.push(Instruction::ClearActions),
            "write_actions" => others.push(Instruction::WriteActions(action::list(argument)?)),
            "write_metadata" => {
                let (metadata, mask) = value::masked(Field::Metadata, argument)?;
                others.push(Instruction::WriteMetadata { metadata: metadata as u64, mask: mask as u64 });
            }
            _ => applied.extend(action::one(item)?),
        }
    }
    let mut instructions = Vec::new();
    instructions.extend((!applied.is_empty()).then_some(Instruction::ApplyActions(applied)));
    instructions.extend(others);
    instructions.sort_by_key(Instruction::rank);
    Ok(instructions)
}

/// `instruction(TYPE,HEX)`.
fn unknown(argument: Span<'_>) -> Result<Instruction, SyntaxError> {
    let (number, data) = action::raw(argument)?;
    let instruction_type = u16::try_from(number).map_err(|_| argument.expected("a type of 16 bits"))?;
    Ok(Instruction::Unknown { instruction_type, data })
}
