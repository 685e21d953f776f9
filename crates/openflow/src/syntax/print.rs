//! Prints flows, matches and actions as ovs-ofctl does.

use std::fmt;

use flowgauge_packet::Field;

use super::flow::order;
use super::names::{self, PROTOCOLS, Protocol};
use super::{value, vlan};
use crate::{Action, FlowMod, FlowModFlags, Instruction, Match, MatchEntry, PortNo};

/// Writes items with commas between them.
struct List<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    empty: bool,
}

impl List<'_, '_> {
    fn item(&mut self, text: impl fmt::Display) -> fmt::Result {
        if !std::mem::take(&mut self.empty) {
            self.f.write_str(",")?;
        }
        write!(self.f, "{text}")
    }

    fn number(&mut self, name: &str, value: u64, default: u64) -> fmt::Result {
        if value == default { Ok(()) } else { self.item(format_args!("{name}={value}")) }
    }
}

impl fmt::Display for FlowMod {
    /// As `ovs-ofctl add-flow` takes it; the command is not part of the syntax and is not printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = List { f, empty: true };
        list.number("table", self.table_id.into(), 0)?;
        if self.cookie_mask != 0 {
            list.item(format_args!("cookie={:#x}/{:#x}", self.cookie, self.cookie_mask))?;
        } else if self.cookie != 0 {
            list.item(format_args!("cookie={:#x}", self.cookie))?;
        }
        list.number("idle_timeout", self.idle_timeout.into(), 0)?;
        list.number("hard_timeout", self.hard_timeout.into(), 0)?;
        list.number("importance", self.importance.into(), 0)?;
        if self.out_port != PortNo::ANY {
            list.item(format_args!("out_port={}", self.out_port))?;
        }
        for (flag, name) in FLAGS {
            if self.flags.contains(*flag) {
                list.item(name)?;
            }
        }
        list.number("priority", self.priority.into(), 0x8000)?;
        print_match(&self.match_, &mut list)?;
        let separator = if list.empty { "" } else { " " };
        write!(f, "{separator}actions=")?;
        print_instructions(&self.instructions, f)
    }
}

const FLAGS: &[(FlowModFlags, &str)] = &[
    (FlowModFlags::SEND_FLOW_REM, "send_flow_rem"),
    (FlowModFlags::CHECK_OVERLAP, "check_overlap"),
    (FlowModFlags::RESET_COUNTS, "reset_counts"),
    (FlowModFlags::NO_PACKET_COUNTS, "no_packet_counts"),
    (FlowModFlags::NO_BYTE_COUNTS, "no_byte_counts"),
];

impl fmt::Display for Match {
    /// `udp,nw_dst=10.0.0.1`; nothing for the match of every packet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_match(self, &mut List { f, empty: true })
    }
}

/// ovs-ofctl's order: metadata, tunnel, protocol, port, Ethernet, network, transport.
const PRINTED: &[Field] = &[
    Field::ActsetOutput,
    Field::PacketType,
    Field::TunnelId,
    Field::Metadata,
    Field::InPort,
    Field::InPhyPort,
    Field::VlanVid,
    Field::VlanPcp,
    Field::EthSrc,
    Field::EthDst,
    Field::EthType,
    Field::Ipv6Src,
    Field::Ipv6Dst,
    Field::Ipv6Flabel,
    Field::Ipv4Src,
    Field::Ipv4Dst,
    Field::ArpSpa,
    Field::ArpTpa,
    Field::IpProto,
    Field::ArpOp,
    Field::ArpSha,
    Field::ArpTha,
    Field::IpDscp,
    Field::IpEcn,
    Field::IpTtl,
    Field::Ipv4Id,
    Field::MplsLabel,
    Field::MplsTc,
    Field::MplsBos,
    Field::TcpSrc,
    Field::TcpDst,
    Field::TcpFlags,
    Field::UdpSrc,
    Field::UdpDst,
    Field::SctpSrc,
    Field::SctpDst,
    Field::Icmpv4Type,
    Field::Icmpv4Code,
    Field::Icmpv6Type,
    Field::Icmpv6Code,
    Field::Ipv6NdTarget,
    Field::Ipv6NdSll,
    Field::Ipv6NdTll,
    Field::PbbIsid,
    Field::PbbUca,
    Field::Ipv6Exthdr,
];

fn print_match(m: &Match, list: &mut List<'_, '_>) -> fmt::Result {
    let protocol = protocol(m);
    if let Some(protocol) = protocol {
        list.item(protocol.name)?;
    }
    for &field in PRINTED {
        let said = match field {
            Field::EthType => protocol.is_some(),
            Field::IpProto => protocol.is_some_and(|p| p.ip_proto.is_some()),
            Field::VlanVid | Field::VlanPcp => true,
            _ => false,
        };
        if let Some(tag) = vlan::print(m).filter(|_| field == Field::VlanVid) {
            list.item(tag)?;
        }
        if let Some(entry) = m.entry(field).filter(|e| e.mask != 0 && !said) {
            list.item(print_entry(entry))?;
        }
    }
    for raw in &m.unknown {
        list.item(format_args!("oxm_{:08x}={}", raw.header, Hex(&raw.payload)))?;
    }
    Ok(())
}

/// The most specific keyword for what the match says of EtherType and protocol.
fn protocol(m: &Match) -> Option<&'static Protocol> {
    let (eth_type, ip_proto) = (m.get(Field::EthType)?, m.get(Field::IpProto));
    let fits = |p: &&Protocol| {
        u128::from(p.eth_type) == eth_type && p.ip_proto.is_none_or(|n| Some(u128::from(n)) == ip_proto)
    };
    PROTOCOLS.iter().find(fits)
}

fn print_entry(entry: &MatchEntry) -> String {
    let MatchEntry { field, value, mask } = *entry;
    match field {
        Field::IpDscp if entry.is_exact() => format!("nw_tos={}", value << 2),
        Field::Ipv6Flabel if entry.is_exact() => format!("ipv6_label={value:#07x}"),
        Field::Ipv6Flabel => format!("ipv6_label={value:#07x}/{mask:#07x}"),
        _ => format!("{}={}", names::in_match(field), value::print_masked(field, value, mask)),
    }
}

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

fn print_instructions(instructions: &[Instruction], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut sorted: Vec<&Instruction> = instructions.iter().collect();
    sorted.sort_by_key(|i| order(i));
    if sorted.is_empty() {
        return f.write_str("drop");
    }
    let mut list = List { f, empty: true };
    sorted.into_iter().try_for_each(|instruction| list.item(instruction))
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
            Instruction::Experimenter { experimenter, data } => {
                write!(f, "experimenter({experimenter:#x},{})", Hex(data))
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
                let value = value::print_masked(*field, *value, *mask);
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
            Action::Experimenter { experimenter, data } => {
                write!(f, "experimenter({experimenter:#x},{})", Hex(data))
            }
            Action::Unknown { action_type, data } => write!(f, "action({action_type},{})", Hex(data)),
        }
    }
}

/// Bytes in hexadecimal.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
