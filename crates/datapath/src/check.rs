//! What a switch refuses: matches, instructions and actions that make no sense, or that it can't do.

use crate::act::Machine;
use crate::consistency::Known;
use crate::rule::Rule;
use flowgauge_openflow::{
    Action, ErrorCode, FlowModFlags, Instruction, Match, MatchProblem, OxmId, PacketOut, PortNo, Property,
    QUEUE_ALL, Version,
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

/// Properties that are left over are ones that nobody here knows.
///
/// # Errors
/// There is one.
pub fn properties(properties: &[Property]) -> Result<(), ErrorCode> {
    match properties.first() {
        None => Ok(()),
        Some(Property::Experimenter { .. }) => Err(ErrorCode::PropertyBadExperimenter),
        Some(Property::Unknown { .. }) => Err(ErrorCode::PropertyBadType),
    }
}

/// What actions are held against: what the switch has, and the version that they came in.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Ports, groups, meters.
    pub machine: &'a Machine,
    /// Number of tables.
    pub tables: usize,
    /// The version of the request.
    pub version: Version,
}

impl Facts<'_> {
    /// Whether an entry of table `number` that matches `rule` may have these instructions.
    ///
    /// # Errors
    /// What is wrong with the first that it may not have.
    pub fn instructions(&self, list: &[Instruction], number: u8, rule: &Rule) -> Result<(), ErrorCode> {
        for (i, instruction) in list.iter().enumerate() {
            if list[..i].iter().any(|other| discriminant(other) == discriminant(instruction)) {
                let is_told_so = self.version >= Version::V1_4;
                let old = ErrorCode::InstructionUnsupported;
                return Err(if is_told_so { ErrorCode::InstructionDuplicate } else { old });
            }
            match instruction {
                Instruction::ApplyActions(_) | Instruction::WriteActions(_) => {}
                Instruction::GotoTable(next) => self.goto_table(*next, number)?,
                Instruction::ClearActions | Instruction::WriteMetadata { .. } => {}
                Instruction::Meter(id) => self.machine.meters.check(*id)?,
                Instruction::StatTrigger { .. } => return Err(ErrorCode::InstructionUnsupported),
                Instruction::Experimenter { .. } => return Err(ErrorCode::InstructionBadExperimenter),
                Instruction::Unknown { .. } => return Err(ErrorCode::InstructionUnknown),
            }
        }
        // What is applied comes first, and what it does to the frame holds for what is written.
        let mut known = Known::of(rule, self.version);
        let applied = list.iter().filter_map(|instruction| {
            let Instruction::ApplyActions(actions) = instruction else { return None };
            Some(actions)
        });
        let written = list.iter().filter_map(|instruction| {
            let Instruction::WriteActions(actions) = instruction else { return None };
            Some(actions)
        });
        applied.chain(written).flatten().try_for_each(|action| self.action(action, &mut known))
    }

    fn goto_table(&self, next: u8, number: u8) -> Result<(), ErrorCode> {
        let crosses = self.machine.first_egress.is_some_and(|first| number < first && next >= first);
        if next <= number || usize::from(next) >= self.tables || crosses {
            return Err(ErrorCode::InstructionBadTableId);
        }
        Ok(())
    }

    /// Whether a bucket may have these actions: nothing is known of the frames that come to it.
    ///
    /// # Errors
    /// What is wrong with the first that it may not have.
    pub fn bucket(&self, actions: &[Action]) -> Result<(), ErrorCode> {
        let mut known = Known::nothing();
        actions.iter().try_for_each(|action| self.action(action, &mut known))
    }

    /// Whether a PACKET_OUT can be executed. Whether its buffer is there is not looked at.
    ///
    /// # Errors
    /// What is wrong with its actions or its port.
    pub fn packet_out(&self, request: &PacketOut) -> Result<(), ErrorCode> {
        let port = request.in_port;
        let is_source = port == PortNo::CONTROLLER
            || port == PortNo::LOCAL
            || port == PortNo::ANY
            || port.0 > 0 && !port.is_reserved();
        // 1.0 has no error for it, and takes any port.
        if !is_source && self.version != Version::V1_0 {
            return Err(ErrorCode::BadPort);
        }
        let is_table = |a: &Action| matches!(a, Action::Output { port: PortNo::TABLE, .. });
        let mut known = Known::nothing();
        request.actions.iter().filter(|a| !is_table(a)).try_for_each(|a| self.action(a, &mut known))
    }

    fn action(&self, action: &Action, known: &mut Known<'_>) -> Result<(), ErrorCode> {
        match action {
            Action::Output { port, .. } => self.output(*port)?,
            Action::SetField { field, value, mask } => self.set_field(*field, *value, *mask)?,
            Action::SetVlanVid(vid) if *vid > 0xfff => return Err(ErrorCode::ActionBadArgument),
            Action::SetVlanPcp(pcp) if *pcp > 7 => return Err(ErrorCode::ActionBadArgument),
            Action::PushVlan(tpid) if !matches!(tpid, 0x8100 | 0x88a8) => {
                return Err(ErrorCode::ActionBadArgument);
            }
            Action::PushMpls(eth_type) if !matches!(eth_type, 0x8847 | 0x8848) => {
                return Err(ErrorCode::ActionBadArgument);
            }
            Action::PushPbb(eth_type) if *eth_type != 0x88e7 => return Err(ErrorCode::ActionBadArgument),
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
            | Action::PopPbb => {}
            Action::Enqueue { port, queue_id } => self.enqueue(*port, *queue_id)?,
            Action::SetQueue(queue) => self.queue(None, *queue)?,
            Action::Group(id) if !self.machine.groups.contains(*id) => {
                return Err(ErrorCode::ActionBadOutGroup);
            }
            Action::Group(_) => {}
            Action::Meter(id) if self.machine.meters.check(*id).is_err() => {
                return Err(ErrorCode::ActionBadMeter);
            }
            Action::Meter(_) => {}
            Action::CopyField { n_bits, src_offset, dst_offset, src, dst } => {
                copy_field(*n_bits, (src, *src_offset), (dst, *dst_offset))?;
            }
            Action::Nicira(action) => self.extension(action)?,
            Action::Experimenter { .. } => return Err(ErrorCode::ActionBadExperimenter),
            Action::Unknown { .. } => return Err(ErrorCode::ActionBadType),
        }
        known.pass(action)
    }

    /// A port that isn't there may come: frames to it are dropped until then (OpenFlow 1.0.1, 5.3.3).
    pub fn output(&self, port: PortNo) -> Result<(), ErrorCode> {
        match port {
            PortNo::IN_PORT
            | PortNo::FLOOD
            | PortNo::ALL
            | PortNo::NORMAL
            | PortNo::CONTROLLER
            | PortNo::LOCAL => Ok(()),
            PortNo(number) if number > 0 && number <= PortNo::MAX.0 => Ok(()),
            PortNo(_) => Err(ErrorCode::ActionBadOutPort),
        }
    }

    fn enqueue(&self, port: PortNo, queue: u32) -> Result<(), ErrorCode> {
        match port {
            PortNo::IN_PORT => self.queue(None, queue),
            PortNo(number) if number > 0 && number <= PortNo::MAX.0 => self.queue(Some(number), queue),
            PortNo(_) => Err(ErrorCode::ActionBadOutPort),
        }
    }

    fn queue(&self, port: Option<u32>, queue: u32) -> Result<(), ErrorCode> {
        let is_there = queue != QUEUE_ALL && self.machine.ports.has_queue(port, queue);
        if is_there { Ok(()) } else { Err(ErrorCode::ActionBadQueue) }
    }

    fn set_field(&self, field: Field, value: u128, mask: u128) -> Result<(), ErrorCode> {
        // Metadata has an instruction of its own until 1.4.
        if !is_settable(field) || field == Field::Metadata && self.version < Version::V1_5 {
            return Err(ErrorCode::ActionBadSetType);
        }
        let is_whole = mask == field.full_mask();
        if !is_whole && self.version < Version::V1_5 || value & !field.full_mask() != 0 {
            return Err(ErrorCode::ActionBadSetArgument);
        }
        if value & !mask != 0 || mask & !field.full_mask() != 0 {
            return Err(ErrorCode::ActionBadSetMask);
        }
        Ok(())
    }
}

/// Whether actions may set a field: not what says where a frame came from or what is read off it.
pub fn is_settable(field: Field) -> bool {
    !matches!(
        field,
        Field::InPort
            | Field::InPhyPort
            | Field::ActsetOutput
            | Field::PacketType
            | Field::Ipv4Id
            | Field::Ipv6Exthdr
            | Field::MplsBos
    )
}

fn copy_field(n_bits: u16, src: (&OxmId, u16), dst: (&OxmId, u16)) -> Result<(), ErrorCode> {
    let field = |id: &OxmId| match *id {
        OxmId::Field { field, .. } => Ok(field),
        OxmId::Unknown { .. } => Err(ErrorCode::ActionBadSetType),
    };
    let (from, to) = (field(src.0)?, field(dst.0)?);
    if !is_settable(to) {
        return Err(ErrorCode::ActionBadSetType);
    }
    let fits = |field: Field, offset: u16| u32::from(offset) + u32::from(n_bits) <= field.bits();
    if n_bits == 0 || !fits(from, src.1) || !fits(to, dst.1) {
        return Err(ErrorCode::ActionBadSetArgument);
    }
    Ok(())
}
