//! Prints flows, matches and actions as ovs-ofctl does.

use std::fmt;

use flowgauge_packet::Field;

use super::names::{self, PROTOCOLS, Protocol};
use super::print_action::Instructions;
use super::{extra, value, vlan};
use crate::{FlowMod, FlowModCommand, FlowModFlags, GROUP_ANY, Match, MatchEntry, PortNo, TABLE_ALL};

/// Writes items with commas between them.
pub(super) struct List<'a, 'b> {
    pub f: &'a mut fmt::Formatter<'b>,
    pub empty: bool,
}

impl List<'_, '_> {
    pub fn item(&mut self, text: impl fmt::Display) -> fmt::Result {
        if !std::mem::take(&mut self.empty) {
            self.f.write_str(",")?;
        }
        write!(self.f, "{text}")
    }

    pub fn number(&mut self, name: &str, value: u64, default: u64) -> fmt::Result {
        if value == default { Ok(()) } else { self.item(format_args!("{name}={value}")) }
    }
}

impl fmt::Display for FlowMod {
    /// As a line of `ovs-ofctl bundle` or `add-flows`: `add` is left out, other commands stand before the flow.
    /// Deletions have no actions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deletes = matches!(self.command, FlowModCommand::Delete | FlowModCommand::DeleteStrict);
        let word = command(self.command);
        if !word.is_empty() {
            write!(f, "{word} ")?;
        }
        let mut list = List { f, empty: true };
        list.number("table", self.table_id.into(), if deletes { TABLE_ALL.into() } else { 0 })?;
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
        list.number("out_group", self.out_group.into(), GROUP_ANY.into())?;
        for name in flag_names(self.flags) {
            list.item(name)?;
        }
        list.number("priority", self.priority.into(), 0x8000)?;
        print_match(&self.match_, &mut list)?;
        if deletes && self.instructions.is_empty() {
            return Ok(());
        }
        let separator = if list.empty { "" } else { " " };
        write!(f, "{separator}actions={}", Instructions(&self.instructions))
    }
}

/// A command's word in ovs-ofctl's bundles; nothing for `add`, which needs none.
fn command(command: FlowModCommand) -> &'static str {
    match command {
        FlowModCommand::Add => "",
        FlowModCommand::Modify => "modify",
        FlowModCommand::ModifyStrict => "modify_strict",
        FlowModCommand::Delete => "delete",
        FlowModCommand::DeleteStrict => "delete_strict",
        FlowModCommand::Unknown(_) => "unknown_command",
    }
}

const FLAGS: &[(FlowModFlags, &str)] = &[
    (FlowModFlags::SEND_FLOW_REM, "send_flow_rem"),
    (FlowModFlags::CHECK_OVERLAP, "check_overlap"),
    (FlowModFlags::RESET_COUNTS, "reset_counts"),
    (FlowModFlags::NO_PACKET_COUNTS, "no_packet_counts"),
    (FlowModFlags::NO_BYTE_COUNTS, "no_byte_counts"),
];

/// The words for the flags that are set.
pub(super) fn flag_names(flags: FlowModFlags) -> impl Iterator<Item = &'static str> {
    FLAGS.iter().filter(move |(flag, _)| flags.contains(*flag)).map(|(_, name)| *name)
}

impl fmt::Display for Match {
    /// `udp,nw_dst=10.0.0.1`; nothing for the match of every packet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_match(self, &mut List { f, empty: true })
    }
}

/// A match behind its priority, unless that is ovs-ofctl's default: `priority=10,ip`.
pub(super) struct MatchAndPriority<'a> {
    pub match_: &'a Match,
    pub priority: u16,
}

impl fmt::Display for MatchAndPriority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = List { f, empty: true };
        list.number("priority", self.priority.into(), 0x8000)?;
        print_match(self.match_, &mut list)
    }
}

/// ovs-ofctl's order behind the protocol: registers, tunnel, metadata, port, Ethernet, network, transport.
const PRINTED: &[Field] = &[
    Field::PacketType,
    Field::Reg0,
    Field::Reg1,
    Field::Reg2,
    Field::Reg3,
    Field::Reg4,
    Field::Reg5,
    Field::Reg6,
    Field::Reg7,
    Field::Reg8,
    Field::Reg9,
    Field::Reg10,
    Field::Reg11,
    Field::Reg12,
    Field::Reg13,
    Field::Reg14,
    Field::Reg15,
    Field::TunnelId,
    Field::TunSrc,
    Field::TunDst,
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

pub(super) fn print_match(m: &Match, list: &mut List<'_, '_>) -> fmt::Result {
    let protocol = protocol(m);
    for entry in [Field::PktMark, Field::ActsetOutput].into_iter().filter_map(|f| m.entry(f)) {
        if entry.mask != 0 {
            list.item(print_entry(entry))?;
        }
    }
    for raw in m.unknown.iter().filter(|raw| extra::is_first(raw)) {
        list.item(extra::print(raw))?;
    }
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
    for raw in m.unknown.iter().filter(|raw| !extra::is_first(raw)) {
        list.item(extra::print(raw))?;
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

/// Bytes in hexadecimal.
pub(super) struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
