//! What a switch refuses: matches, instructions and actions that make no sense, or that it can't do.

use crate::rule::Rule;
use flowgauge_openflow::{
    Action, ErrorCode, FlowModFlags, Instruction, Match, MatchProblem, PacketOut, PortNo, Version,
};
use flowgauge_packet::Field;
use std::mem::discriminant;

/// The rule of a match.
///
/// Since 1.3 a match must be sound: each field once and with its prerequisites. In 1.0 a field that makes no
/// sense with the others counts as a wildcard.
///
/// # Errors
/// What is wrong with the match.
pub fn rule(wanted: &Match, version: Version) -> Result<Rule, ErrorCode> {
    if !wanted.unknown.is_empty() {
        return Err(ErrorCode::MatchBadField);
    }
    if version != Version::V1_0 {
        wanted.check().map_err(|e| e.error_code())?;
        return Ok(Rule::from(wanted));
    }
    let mut sensible = wanted.canonical();
    while let Err(error) = sensible.check() {
        match error.problem {
            MatchProblem::Missing(_)
            | MatchProblem::NoValue
            | MatchProblem::Duplicate
            | MatchProblem::TooWide
            | MatchProblem::OutsideMask => sensible.entries.retain(|e| e.field != error.field),
        }
    }
    Ok(Rule::from(&sensible))
}

/// Whether the flags of a new entry can be honoured.
///
/// # Errors
/// Flags that nobody knows. 1.0's emergency entries are not kept. The specification has no error for that; the table that they would go
/// to is taken to be full, as in Open vSwitch.
pub fn flags(flags: FlowModFlags, version: Version) -> Result<(), ErrorCode> {
    const KNOWN: u32 = 0b11111;
    match version {
        Version::V1_0 if flags.contains(FlowModFlags::EMERGENCY) => Err(ErrorCode::FlowModTableFull),
        Version::V1_0 => Ok(()),
        Version::V1_3 | Version::V1_4 | Version::V1_5 if flags.0 & !KNOWN != 0 => {
            Err(ErrorCode::FlowModBadFlags)
        }
        Version::V1_3 | Version::V1_4 | Version::V1_5 => Ok(()),
    }
}

/// Whether an entry of table `number` may have these instructions, in a pipeline of `tables` tables.
///
/// # Errors
/// What is wrong with the first that it may not have.
pub fn instructions(instructions: &[Instruction], number: u8, tables: usize) -> Result<(), ErrorCode> {
    for (i, instruction) in instructions.iter().enumerate() {
        if instructions[..i].iter().any(|other| discriminant(other) == discriminant(instruction)) {
            return Err(ErrorCode::InstructionUnsupported);
        }
        match instruction {
            Instruction::ApplyActions(actions) | Instruction::WriteActions(actions) => {
                actions.iter().try_for_each(action)?;
            }
            Instruction::GotoTable(next) if *next <= number || usize::from(*next) >= tables => {
                return Err(ErrorCode::InstructionBadTableId);
            }
            Instruction::GotoTable(_) | Instruction::ClearActions | Instruction::WriteMetadata { .. } => {}
            Instruction::Meter(_) => return Err(ErrorCode::InstructionUnsupported),
            Instruction::Experimenter { .. } => return Err(ErrorCode::InstructionBadExperimenter),
            Instruction::Unknown { .. } => return Err(ErrorCode::InstructionUnknown),
        }
    }
    Ok(())
}

/// Whether a PACKET_OUT can be executed.
///
/// # Errors
/// What is wrong with its actions, its port or its buffer.
pub fn packet_out(request: &PacketOut) -> Result<(), ErrorCode> {
    if request.buffer_id.is_some() {
        return Err(ErrorCode::BufferUnknown);
    }
    let is_table = |a: &Action| matches!(a, Action::Output { port: PortNo::TABLE, .. });
    request.actions.iter().filter(|a| !is_table(a)).try_for_each(action)
}

fn action(action: &Action) -> Result<(), ErrorCode> {
    match action {
        Action::Output { port, .. } => output(*port),
        Action::SetField { field, value, mask } => set_field(*field, *value, *mask),
        Action::SetVlanVid(vid) if *vid > 0xfff => Err(ErrorCode::ActionBadArgument),
        Action::SetVlanPcp(pcp) if *pcp > 7 => Err(ErrorCode::ActionBadArgument),
        Action::PushVlan(tpid) if !matches!(tpid, 0x8100 | 0x88a8) => Err(ErrorCode::ActionBadArgument),
        Action::PushMpls(eth_type) if !matches!(eth_type, 0x8847 | 0x8848) => {
            Err(ErrorCode::ActionBadArgument)
        }
        Action::PushPbb(eth_type) if *eth_type != 0x88e7 => Err(ErrorCode::ActionBadArgument),
        Action::SetVlanVid(_)
        | Action::SetVlanPcp(_)
        | Action::SetTpSrc(_)
        | Action::SetTpDst(_)
        | Action::CopyTtlOut
        | Action::CopyTtlIn
        | Action::SetMplsTtl(_)
        | Action::DecMplsTtl
        | Action::PushVlan(_)
        | Action::PopVlan
        | Action::PushMpls(_)
        | Action::PopMpls(_)
        | Action::SetNwTtl(_)
        | Action::DecNwTtl
        | Action::PushPbb(_)
        | Action::PopPbb => Ok(()),
        Action::Enqueue { .. } | Action::SetQueue(_) => Err(ErrorCode::ActionBadQueue),
        Action::Group(_) => Err(ErrorCode::ActionBadOutGroup),
        Action::Nicira(_) => Err(ErrorCode::ActionBadExperimenterType),
        Action::Experimenter { .. } => Err(ErrorCode::ActionBadExperimenter),
        Action::Unknown { .. } => Err(ErrorCode::ActionBadType),
    }
}

/// A port that isn't there may come: frames to it are dropped until then (OpenFlow 1.0.1, 5.3.3).
fn output(port: PortNo) -> Result<(), ErrorCode> {
    match port {
        PortNo::IN_PORT | PortNo::FLOOD | PortNo::ALL | PortNo::CONTROLLER | PortNo::LOCAL => Ok(()),
        PortNo(number) if number > 0 && number <= PortNo::MAX.0 => Ok(()),
        PortNo(_) => Err(ErrorCode::ActionBadOutPort),
    }
}

fn set_field(field: Field, value: u128, mask: u128) -> Result<(), ErrorCode> {
    let is_settable = !matches!(
        field,
        Field::InPort
            | Field::InPhyPort
            | Field::Metadata
            | Field::ActsetOutput
            | Field::PacketType
            | Field::Ipv4Id
            | Field::Ipv6Exthdr
            | Field::MplsBos
            | Field::TcpFlags
    );
    if !is_settable {
        return Err(ErrorCode::ActionBadSetType);
    }
    if mask != field.full_mask() || value & !mask != 0 {
        return Err(ErrorCode::ActionBadSetArgument);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_with_the_code_of_the_specification() {
        let refused = |actions| instructions(&[Instruction::ApplyActions(actions)], 0, 4);
        assert_eq!(refused(vec![Action::output(PortNo(0))]), Err(ErrorCode::ActionBadOutPort));
        assert_eq!(refused(vec![Action::output(PortNo::TABLE)]), Err(ErrorCode::ActionBadOutPort));
        assert_eq!(refused(vec![Action::Group(1)]), Err(ErrorCode::ActionBadOutGroup));
        assert_eq!(refused(vec![Action::SetQueue(1)]), Err(ErrorCode::ActionBadQueue));
        assert_eq!(refused(vec![Action::set(Field::InPort, 1)]), Err(ErrorCode::ActionBadSetType));
        assert_eq!(refused(vec![Action::set(Field::IpDscp, 64)]), Err(ErrorCode::ActionBadSetArgument));
        assert_eq!(refused(vec![Action::output(PortNo(9)), Action::PopVlan]), Ok(()));
        assert_eq!(instructions(&[Instruction::GotoTable(2)], 2, 4), Err(ErrorCode::InstructionBadTableId));
        assert_eq!(instructions(&[Instruction::GotoTable(4)], 2, 4), Err(ErrorCode::InstructionBadTableId));
        assert_eq!(instructions(&[Instruction::Meter(1)], 0, 4), Err(ErrorCode::InstructionUnsupported));
    }

    #[test]
    fn a_field_without_its_prerequisite_is_an_error_or_a_wildcard() {
        let wanted = Match::any().with(Field::InPort, 1).with(Field::UdpDst, 53);
        assert_eq!(rule(&wanted, Version::V1_3), Err(ErrorCode::MatchBadPrerequisite));
        assert_eq!(rule(&wanted, Version::V1_0), Ok(Rule::new([(Field::InPort, 1, u128::MAX)])));
    }
}
