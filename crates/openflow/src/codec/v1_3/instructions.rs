//! Instructions (since 1.1).

use super::actions::Actions;
use crate::codec::error::{DecodeError, EncodeError, Part};
use crate::codec::oxs::CountersWire;
use crate::codec::reader::Reader;
use crate::codec::wire::{All, Bits, Wire};
use crate::codec::writer::Writer;
use crate::model::{Action, Instruction, StatTriggerFlags, Version};

const GOTO_TABLE: u16 = 1;
const WRITE_METADATA: u16 = 2;
const WRITE_ACTIONS: u16 = 3;
const APPLY_ACTIONS: u16 = 4;
const CLEAR_ACTIONS: u16 = 5;
const METER: u16 = 6;
const STAT_TRIGGER: u16 = 7;
const EXPERIMENTER: u16 = 0xffff;

/// An instruction: type, length, arguments.
pub(crate) struct InstructionWire;

/// The instructions up to the end of what is being read.
pub(crate) struct Instructions;

impl Wire for Instructions {
    type Value = Vec<Instruction>;
    #[inline]
    fn read(r: &mut Reader, name: &'static str) -> Result<Vec<Instruction>, DecodeError> {
        All::<InstructionWire>::read(r, name)
    }
    #[inline]
    fn write(value: &Vec<Instruction>, name: &'static str, w: &mut Writer) -> Result<(), EncodeError> {
        if w.version >= Version::V1_5 {
            if let Some(metered) = with_meter_action(value) {
                return All::<InstructionWire>::write(&metered, name, w);
            }
        }
        All::<InstructionWire>::write(value, name, w)
    }
}

/// The instructions as 1.5 says them: its meters are actions, and this one comes before all others to apply.
/// `None` if there is no meter.
fn with_meter_action(instructions: &[Instruction]) -> Option<Vec<Instruction>> {
    let meter =
        |i: &Instruction| if let Instruction::Meter(id) = i { Some(Action::Meter(*id)) } else { None };
    let mut actions = vec![instructions.iter().find_map(meter)?];
    let mut others = Vec::new();
    for instruction in instructions {
        match instruction {
            Instruction::Meter(_) => {}
            Instruction::ApplyActions(applied) => actions.extend_from_slice(applied),
            other => others.push(other.clone()),
        }
    }
    others.insert(0, Instruction::ApplyActions(actions));
    Some(others)
}

impl Wire for InstructionWire {
    type Value = Instruction;
    const TYPICAL_LEN: usize = 64;

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
        if w.version < Version::V1_5 && matches!(instruction, Instruction::StatTrigger { .. }) {
            return w.leave_out("stat_trigger");
        }
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
            Instruction::StatTrigger { flags, thresholds } => {
                Bits::<StatTriggerFlags, u32>::write(flags, "flags", w)?;
                CountersWire::write(thresholds, "thresholds", w)?;
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
        Instruction::StatTrigger { .. } => STAT_TRIGGER,
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
        METER if r.version < Version::V1_5 => Instruction::Meter(r.u32("meter_id")?),
        STAT_TRIGGER if r.version >= Version::V1_5 => {
            let flags = StatTriggerFlags(r.u32("flags")?);
            let thresholds = Box::new(CountersWire::read(r, "thresholds")?);
            Instruction::StatTrigger { flags, thresholds }
        }
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
