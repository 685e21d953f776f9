//! Prints actions and instructions as ovs-ofctl does.

use std::fmt;

use super::nicira::HASH_FIELDS;
use super::print::{Hex, List};
use super::reasons::Reason;
use super::{names, nxm, value};
use crate::{
    Action, Bundle, BundleChoice, HashFields, Instruction, LinkChoice, Multipath, Nicira, NxField, OxmId,
    PortNo, SendToController, Subfield,
};

/// Actions as ovs-ofctl prints them: `drop` if there are none.
pub struct Actions<'a>(pub &'a [Action]);

impl fmt::Display for Actions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("drop");
        }
        let mut list = List { f, empty: true };
        self.0.iter().try_for_each(|action| list.item(action))
    }
}

/// Instructions as ovs-ofctl prints them, in the order of their execution: `drop` if there are none.
pub struct Instructions<'a>(pub &'a [Instruction]);

impl fmt::Display for Instructions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted: Vec<&Instruction> = self.0.iter().collect();
        sorted.sort_by_key(|instruction| instruction.rank());
        if sorted.is_empty() {
            return f.write_str("drop");
        }
        let mut list = List { f, empty: true };
        sorted.into_iter().try_for_each(|instruction| list.item(instruction))
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Instruction::GotoTable(table) => write!(f, "goto_table:{table}"),
            Instruction::WriteMetadata { metadata, mask: u64::MAX } => {
                write!(f, "write_metadata:{metadata:#x}")
            }
            Instruction::WriteMetadata { metadata, mask } => {
                write!(f, "write_metadata:{metadata:#x}/{mask:#x}")
            }
            Instruction::WriteActions(actions) => write!(f, "write_actions({})", Actions(actions)),
            Instruction::ApplyActions(actions) => Actions(actions).fmt(f),
            Instruction::ClearActions => f.write_str("clear_actions"),
            Instruction::Meter(meter) => write!(f, "meter:{meter}"),
            Instruction::StatTrigger { flags, thresholds } => {
                write!(f, "stat_trigger({flags:?},{thresholds:?})")
            }
            Instruction::Experimenter { experimenter, data } => {
                write!(f, "experimenter_instruction({experimenter:#x},{})", Hex(data))
            }
            Instruction::Unknown { instruction_type, data } => {
                write!(f, "instruction({instruction_type},{})", Hex(data))
            }
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Output { port: PortNo::CONTROLLER, max_len } => write!(f, "CONTROLLER:{max_len}"),
            Action::Output { port, .. } if port.is_reserved() => write!(f, "{port}"),
            Action::Output { port, .. } => write!(f, "output:{port}"),
            Action::SetField { field, value, mask } => {
                let value = value::print_set(*field, *value, *mask);
                write!(f, "set_field:{value}->{}", names::in_set_field(*field))
            }
            Action::SetVlanVid(vid) => write!(f, "mod_vlan_vid:{vid}"),
            Action::SetVlanPcp(pcp) => write!(f, "mod_vlan_pcp:{pcp}"),
            Action::SetTpSrc(port) => write!(f, "mod_tp_src:{port}"),
            Action::SetTpDst(port) => write!(f, "mod_tp_dst:{port}"),
            Action::Enqueue { port, queue_id } => write!(f, "enqueue:{port}:{queue_id}"),
            Action::CopyTtlOut => f.write_str("copy_ttl_out"),
            Action::CopyTtlIn => f.write_str("copy_ttl_in"),
            Action::SetMplsTtl(ttl) => write!(f, "set_mpls_ttl({ttl})"),
            Action::DecMplsTtl => f.write_str("dec_mpls_ttl"),
            Action::PushVlan(eth_type) => write!(f, "push_vlan:{eth_type:#06x}"),
            Action::PopVlan => f.write_str("pop_vlan"),
            Action::PushMpls(eth_type) => write!(f, "push_mpls:{eth_type:#06x}"),
            Action::PopMpls(eth_type) => write!(f, "pop_mpls:{eth_type:#06x}"),
            Action::SetQueue(queue) => write!(f, "set_queue:{queue}"),
            Action::Group(group) => write!(f, "group:{group}"),
            Action::SetNwTtl(ttl) => write!(f, "mod_nw_ttl:{ttl}"),
            Action::DecNwTtl => f.write_str("dec_ttl"),
            Action::PushPbb(eth_type) => write!(f, "push_pbb:{eth_type:#06x}"),
            Action::PopPbb => f.write_str("pop_pbb"),
            Action::CopyField { n_bits, src_offset, dst_offset, src, dst } => {
                let from = Subfield { field: nx_field(src), offset: *src_offset, bits: *n_bits };
                let to = Subfield { field: nx_field(dst), offset: *dst_offset, bits: *n_bits };
                write!(f, "move:{from}->{to}")
            }
            Action::Meter(meter) => write!(f, "meter:{meter}"),
            Action::Nicira(action) => action.fmt(f),
            Action::Experimenter { experimenter, data } => {
                write!(f, "experimenter({experimenter:#x},{})", Hex(data))
            }
            Action::Unknown { action_type, data } => write!(f, "action({action_type},{})", Hex(data)),
        }
    }
}

fn nx_field(id: &OxmId) -> NxField {
    match *id {
        OxmId::Field { field, .. } => NxField::Field(field),
        OxmId::Unknown { header, .. } => crate::codec::nxm_field(header & !0x100),
    }
}

impl fmt::Display for Nicira {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nicira::Resubmit { port: Some(port), table: None } => write!(f, "resubmit:{port}"),
            Nicira::Resubmit { port: None, table: None } => f.write_str("resubmit:IN_PORT"),
            Nicira::Resubmit { port, table: Some(table) } => {
                f.write_str("resubmit(")?;
                port.iter().try_for_each(|port| write!(f, "{port}"))?;
                write!(f, ",{table})")
            }
            Nicira::Load { to, value: 0 } => write!(f, "load:0->{to}"),
            Nicira::Load { to, value } => write!(f, "load:{value:#x}->{to}"),
            Nicira::SetField { field, value, mask } => {
                let text = nxm::print_value(*field, *value);
                let name = nxm::plain_name(*field);
                if *mask == field.full_mask() {
                    write!(f, "set_field:{text}->{name}")
                } else {
                    write!(f, "set_field:{text}/{mask:#x}->{name}")
                }
            }
            Nicira::Move { from, to } => write!(f, "move:{from}->{to}"),
            Nicira::Push(place) => write!(f, "push:{place}"),
            Nicira::Pop(place) => write!(f, "pop:{place}"),
            Nicira::PopQueue => f.write_str("pop_queue"),
            Nicira::OutputReg { from, .. } => write!(f, "output:{from}"),
            Nicira::OutputTrunc { port, max_len } => write!(f, "output(port={port},max_len={max_len})"),
            Nicira::Controller(to) => to.fmt(f),
            Nicira::DecTtlCntIds(ids) => {
                let ids: Vec<String> = ids.iter().map(u16::to_string).collect();
                write!(f, "dec_ttl({})", ids.join(","))
            }
            Nicira::Learn(learn) => learn.fmt(f),
            Nicira::Multipath(multipath) => multipath.fmt(f),
            Nicira::Bundle(bundle) => bundle.fmt(f),
            Nicira::Conjunction { id, clause, clauses } => {
                write!(f, "conjunction({id},{}/{clauses})", u16::from(*clause) + 1)
            }
            Nicira::Exit => f.write_str("exit"),
            Nicira::FinTimeout { idle_timeout, hard_timeout } => {
                f.write_str("fin_timeout(")?;
                let mut list = List { f, empty: true };
                list.number("idle_timeout", (*idle_timeout).into(), 0)?;
                list.number("hard_timeout", (*hard_timeout).into(), 0)?;
                f.write_str(")")
            }
            Nicira::Note(bytes) => write!(f, "note:{}", Dotted(bytes)),
        }
    }
}

impl fmt::Display for SendToController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = SendToController::default();
        f.write_str("controller(")?;
        let mut list = List { f, empty: true };
        if self.reason != default.reason {
            list.item(format_args!("reason={}", Reason(self.reason)))?;
        }
        list.number("max_len", self.max_len.into(), default.max_len.into())?;
        list.number("id", self.controller_id.into(), default.controller_id.into())?;
        if !self.userdata.is_empty() {
            list.item(format_args!("userdata={}", Dotted(&self.userdata)))?;
        }
        if self.pause {
            list.item("pause")?;
        }
        if let Some(meter) = self.meter_id {
            list.item(format_args!("meter_id={meter}"))?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Multipath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Multipath { fields, basis, choice, links, argument, to } = *self;
        let choice: &dyn fmt::Display = match choice {
            LinkChoice::ModuloN => &"modulo_n",
            LinkChoice::HashThreshold => &"hash_threshold",
            LinkChoice::Hrw => &"hrw",
            LinkChoice::IterHash => &"iter_hash",
            LinkChoice::Unknown(ref code) => code,
        };
        write!(f, "multipath({},{basis},{choice},{links},{argument},{to})", Hashed(fields))
    }
}

impl fmt::Display for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choice: &dyn fmt::Display = match self.choice {
            BundleChoice::ActiveBackup => &"active_backup",
            BundleChoice::Hrw => &"hrw",
            BundleChoice::Unknown(ref code) => code,
        };
        let name = if self.to.is_some() { "bundle_load" } else { "bundle" };
        write!(f, "{name}({},{},{choice},ofport,", Hashed(self.fields), self.basis)?;
        self.to.iter().try_for_each(|to| write!(f, "{to},"))?;
        let members: Vec<String> = self.members.iter().map(PortNo::to_string).collect();
        write!(f, "members:{})", members.join(","))
    }
}

/// What is hashed.
struct Hashed(HashFields);

impl fmt::Display for Hashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match HASH_FIELDS.iter().find(|(_, fields)| *fields == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0.code()),
        }
    }
}

/// Bytes in hexadecimal with dots between them.
struct Dotted<'a>(&'a [u8]);

impl fmt::Display for Dotted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let dot = if at == 0 { "" } else { "." };
            write!(f, "{dot}{byte:02x}")?;
        }
        Ok(())
    }
}
