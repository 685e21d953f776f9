//! Instructions (since 1.1).

use super::actions::Actions;
use crate::codec::error::{DecodeError, EncodeError, Part};
use crate::codec::reader::Reader;
use crate::codec::wire::{All, Wire};
use crate::codec::writer::Writer;
use crate::model::{Action, Instruction};

const GOTO_TABLE: u16 = 1;
const WRITE_METADATA: u16 = 2;
const WRITE_ACTIONS: u16 = 3;
const APPLY_ACTIONS: u16 = 4;
const CLEAR_ACTIONS: u16 = 5;
const METER: u16 = 6;
const EXPERIMENTER: u16 = 0xffff;

/// An instruction: type, length, arguments.
pub(crate) struct InstructionWire;

/// The instructions up to the end of what is being read.
pub(crate) type Instructions = All<InstructionWire>;

impl Wire for InstructionWire {
    type Value = Instruction;

    fn read(r: &mut Reader, _: &'static str) -> Result<Instruction, DecodeError> {
        let instruction_type = r.u16("instruction type")?;
        let length = usize::from(r.u16("instruction length")?);
        if length < 8 || length % 8 != 0 || length - 4 > r.left() {
            let error = r.bad_length(2, "instruction length, a multiple of 8", length);
            return Err(DecodeError { part: Part::Instruction, ..error });
        }
        let mut body = r.sub(length - 4, "instruction")?.within(Part::Instruction);
        let instruction = read_arguments(instruction_type, &mut body)?;
        body.finish("the instruction")?;
        Ok(instruction)
    }

    fn write(instruction: &Instruction, _: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        let start = w.position();
        let number = |n: u32, w: &mut Writer| w.u32(n);
        w.u16(code(instruction));
        w.u16(0);
        match instruction {
            Instruction::GotoTable(table_id) => number(u32::from(*table_id) << 24, w),
            Instruction::Meter(meter_id) => number(*meter_id, w),
            Instruction::ClearActions => w.zeros(4),
            Instruction::WriteMetadata { metadata, mask } => {
                w.zeros(4);
                w.u64(*metadata);
                w.u64(*mask);
            }
            Instruction::WriteActions(actions) | Instruction::ApplyActions(actions) => {
                write_actions(actions, w)?;
            }
            Instruction::Experimenter { experimenter, data } => {
                w.u32(*experimenter);
                w.bytes(data);
            }
            Instruction::Unknown { data, .. } => w.bytes(data),
        }
        let length = w.position() - start;
        if length < 8 || length % 8 != 0 {
            return Err(w.out_of_range("length of an instruction", length as u128));
        }
        w.patch_length(start + 2, start);
        Ok(())
    }
}

fn code(instruction: &Instruction) -> u16 {
    match instruction {
        Instruction::GotoTable(_) => GOTO_TABLE,
        Instruction::WriteMetadata { .. } => WRITE_METADATA,
        Instruction::WriteActions(_) => WRITE_ACTIONS,
        Instruction::ApplyActions(_) => APPLY_ACTIONS,
        Instruction::ClearActions => CLEAR_ACTIONS,
        Instruction::Meter(_) => METER,
        Instruction::Experimenter { .. } => EXPERIMENTER,
        Instruction::Unknown { instruction_type, .. } => *instruction_type,
    }
}

fn write_actions(actions: &Vec<Action>, w: &mut Writer) -> Result<(), EncodeError> {
    w.zeros(4);
    // What one list does to a packet's tag says nothing of what another meets.
    let flow = w.flow;
    Actions::write(actions, "actions", w)?;
    w.flow = flow;
    Ok(())
}

fn read_arguments(instruction_type: u16, r: &mut Reader) -> Result<Instruction, DecodeError> {
    Ok(match instruction_type {
        GOTO_TABLE => Instruction::GotoTable((r.u32("table_id")? >> 24) as u8),
        WRITE_METADATA => {
            r.skip(4)?;
            Instruction::WriteMetadata { metadata: r.u64("metadata")?, mask: r.u64("metadata mask")? }
        }
        WRITE_ACTIONS => Instruction::WriteActions(read_actions(r)?),
        APPLY_ACTIONS => Instruction::ApplyActions(read_actions(r)?),
        CLEAR_ACTIONS => {
            r.skip(4)?;
            Instruction::ClearActions
        }
        METER => Instruction::Meter(r.u32("meter_id")?),
        EXPERIMENTER => {
            let experimenter = r.u32("experimenter")?;
            Instruction::Experimenter { experimenter, data: r.rest().to_vec() }
        }
        _ => Instruction::Unknown { instruction_type, data: r.rest().to_vec() },
    })
}

fn read_actions(r: &mut Reader) -> Result<Vec<Action>, DecodeError> {
    r.skip(4)?;
    Actions::read(r, "actions")
}
