//! Parses a whole flow: options, match, actions.

use flowgauge_packet::Field;

use super::names::{self, Context, PROTOCOLS};
use super::scan::Span;
use super::vlan::{self, VLAN_PRESENT};
use super::{SyntaxError, extra, instruction, nxm, value};
use crate::{FlowMod, FlowModCommand, FlowModFlags, Match, MatchEntry, NxField, TABLE_ALL};

/// Parses a flow as `ovs-ofctl add-flow` takes it, into a FLOW_MOD that adds it. A word before it, as in bundles, says
/// what else to do: `modify`, `modify_strict`, `delete`, `delete_strict` (or `add`). Deletions are from all tables unless
/// one is named. What `ovs-ofctl dump-flows` prints is a flow too: its counters are passed over.
///
/// A field needs those that make sense of it: `udp_dst=80` needs `udp`, which stands for EtherType and protocol. Without `actions=` the flow has no instructions, as in deletions.
///
/// # Errors
/// [`SyntaxError`] with the column of the first fault.
///
/// ```
/// let flow = flowgauge_openflow::syntax::parse_flow("priority=10,udp,nw_dst=10.0.0.0/8 actions=output:2").unwrap();
/// assert_eq!(flow.to_string(), "priority=10,udp,nw_dst=10.0.0.0/8 actions=output:2");
/// ```
pub fn parse_flow(text: &str) -> Result<FlowMod, SyntaxError> {
    let (command, whole) = command(Span::all(text).trim());
    let (head, actions) = split_actions(whole);
    let mut flow = FlowMod { command, ..FlowMod::default() };
    if matches!(command, FlowModCommand::Delete | FlowModCommand::DeleteStrict) {
        flow.table_id = TABLE_ALL;
    }
    let items = head.items()?;
    let context = context(&items)?;
    let mut places = Vec::new();
    for item in items {
        if !option(&mut flow, item)? {
            match_item(&mut flow.match_, item, context)?;
            places.resize(flow.match_.entries.len(), item);
        }
    }
    sound(&flow.match_, &places)?;
    if let Some(actions) = actions {
        flow.instructions = instruction::list(actions)?;
    }
    Ok(flow)
}

/// The word before a flow that says what to do with it; without one it is added.
fn command(whole: Span<'_>) -> (FlowModCommand, Span<'_>) {
    let words = [
        ("add", FlowModCommand::Add),
        ("modify", FlowModCommand::Modify),
        ("modify_strict", FlowModCommand::ModifyStrict),
        ("delete", FlowModCommand::Delete),
        ("delete_strict", FlowModCommand::DeleteStrict),
    ];
    let end = whole.text.find([' ', '\t', '\n', ',']).unwrap_or(whole.text.len());
    let found = words.iter().find(|(word, _)| *word == &whole.text[..end]);
    match found.and_then(|(word, command)| Some((*command, whole.strip_prefix(word)?))) {
        Some((command, rest)) => (command, rest.trim()),
        None => (FlowModCommand::Add, whole),
    }
}

/// Refuses what any switch would refuse: a field without those that it needs. `places` are the items of the entries.
fn sound(match_: &Match, places: &[Span<'_>]) -> Result<(), SyntaxError> {
    let Err(error) = match_.check() else { return Ok(()) };
    let at = match_.entries.iter().position(|e| e.field == error.field).unwrap_or(0);
    Err(places[at].expected(format!("a match that makes sense: {error}")))
}

/// Splits at `actions=` or `action=`, which takes the rest of the text.
fn split_actions(whole: Span<'_>) -> (Span<'_>, Option<Span<'_>>) {
    let is_word = |(head, _): &(Span<'_>, Span<'_>)| !head.end().follows_word();
    let found = ["actions=", "action="].into_iter().find_map(|name| whole.split_once(name).filter(is_word));
    found.map_or((whole, None), |(head, actions)| (head, Some(actions.trim())))
}

/// What the items say about EtherType and IP protocol, in any order.
fn context(items: &[Span<'_>]) -> Result<Context, SyntaxError> {
    let mut context = Context::default();
    for item in items {
        if let Some(protocol) = PROTOCOLS.iter().find(|p| p.name == item.text) {
            context.eth_type = Some(protocol.eth_type);
            context.ip_proto = protocol.ip_proto.or(context.ip_proto);
        }
        match item.split_once("=") {
            Some((name, v)) if matches!(name.text, "dl_type" | "eth_type") => {
                context.eth_type = Some(value::number(v, 0xffff)? as u16);
            }
            Some((name, v)) if matches!(name.text, "nw_proto" | "ip_proto") => {
                context.ip_proto = Some(value::number(v, 0xff)? as u8);
            }
            Some(_) | None => {}
        }
    }
    Ok(context)
}

/// Takes the item if it is an option of the flow rather than part of its match.
fn option(flow: &mut FlowMod, item: Span<'_>) -> Result<bool, SyntaxError> {
    let flags = match item.text {
        "send_flow_rem" => Some(FlowModFlags::SEND_FLOW_REM),
        "check_overlap" => Some(FlowModFlags::CHECK_OVERLAP),
        "reset_counts" => Some(FlowModFlags::RESET_COUNTS),
        "no_packet_counts" => Some(FlowModFlags::NO_PACKET_COUNTS),
        "no_byte_counts" => Some(FlowModFlags::NO_BYTE_COUNTS),
        _ => None,
    };
    if let Some(flags) = flags {
        flow.flags |= flags;
        return Ok(true);
    }
    let Some((name, text)) = item.split_once("=") else { return Ok(false) };
    match name.text {
        "priority" => flow.priority = value::number(text, 0xffff)? as u16,
        "table" => flow.table_id = value::number(text, 0xff)? as u8,
        "idle_timeout" => flow.idle_timeout = value::number(text, 0xffff)? as u16,
        "hard_timeout" => flow.hard_timeout = value::number(text, 0xffff)? as u16,
        "importance" => flow.importance = value::number(text, 0xffff)? as u16,
        "out_port" => flow.out_port = value::port(text)?,
        "out_group" => flow.out_group = value::number(text, u32::MAX.into())? as u32,
        "cookie" => (flow.cookie, flow.cookie_mask) = cookie(text)?,
        // What dump-flows tells of a flow that is there.
        "duration" | "n_packets" | "n_bytes" | "idle_age" | "hard_age" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

fn cookie(text: Span<'_>) -> Result<(u64, u64), SyntaxError> {
    let number = |t| value::number(t, u64::MAX.into()).map(|n| n as u64);
    match text.split_once("/") {
        Some((cookie, mask)) if mask.text == "-1" => Ok((number(cookie)?, u64::MAX)),
        Some((cookie, mask)) => Ok((number(cookie)?, number(mask)?)),
        None => Ok((number(text)?, 0)),
    }
}

/// Adds what the item matches.
fn match_item(into: &mut Match, item: Span<'_>, context: Context) -> Result<(), SyntaxError> {
    if let Some(protocol) = PROTOCOLS.iter().find(|p| p.name == item.text) {
        add(into, MatchEntry::exact(Field::EthType, protocol.eth_type.into()), item)?;
        if let Some(proto) = protocol.ip_proto {
            add(into, MatchEntry::exact(Field::IpProto, proto.into()), item)?;
        }
        return Ok(());
    }
    let (name, text) =
        item.split_once("=").ok_or_else(|| item.expected("a protocol, an option or field=value"))?;
    let entry = match name.text {
        "dl_vlan" => vlan::dl_vlan(text)?,
        "vlan_vid" => vlan_vid(text)?,
        "vlan_tci" => return vlan::vlan_tci(text)?.into_iter().try_for_each(|entry| add(into, entry, item)),
        "nw_tos" => MatchEntry::exact(Field::IpDscp, value::number(text, 0xff)? >> 2),
        _ => {
            if let Some(raw) = extra::parse(name, text)? {
                into.unknown.push(raw);
                return Ok(());
            }
            if let Some((upper, lower)) = pair(name.text) {
                return add_pair(into, upper, lower, text, item);
            }
            let field = names::field(name.text, context).ok_or_else(|| unknown(name, context))?;
            let (value, mask) = value::masked(field, text)?;
            MatchEntry { field, value, mask }
        }
    };
    if entry.field == Field::VlanPcp && into.entry(Field::VlanVid).is_none() {
        into.entries.push(MatchEntry::masked(Field::VlanVid, VLAN_PRESENT, VLAN_PRESENT));
    }
    add(into, entry, item)
}

/// The two registers of `xreg0` to `xreg7`.
fn pair(name: &str) -> Option<(Field, Field)> {
    let number: u8 = name.strip_prefix("xreg")?.parse().ok().filter(|number| *number < 8)?;
    Some((Field::register(2 * number)?, Field::register(2 * number + 1)?))
}

/// Adds what a pair of registers matches, upper half first.
fn add_pair(
    into: &mut Match,
    upper: Field,
    lower: Field,
    text: Span<'_>,
    item: Span<'_>,
) -> Result<(), SyntaxError> {
    let (value, mask) = nxm::masked(NxField::Xreg(0), text)?;
    for (field, shift) in [(upper, 32), (lower, 0)] {
        let mask = mask >> shift & field.full_mask();
        if mask != 0 {
            add(into, MatchEntry { field, value: value >> shift & mask, mask }, item)?;
        }
    }
    Ok(())
}

/// `vlan_vid=0x1005` and `vlan_vid=0x1000/0x1000`: with the bit that says that there is a tag.
fn vlan_vid(text: Span<'_>) -> Result<MatchEntry, SyntaxError> {
    let (value, mask) = value::masked(Field::VlanVid, text)?;
    Ok(MatchEntry { field: Field::VlanVid, value, mask })
}

fn unknown(name: Span<'_>, context: Context) -> SyntaxError {
    let needs_protocol = matches!(name.text, "tp_src" | "tp_dst" | "icmp_type" | "icmp_code");
    if needs_protocol && context.ip_proto.is_none() {
        return name.expected("a protocol such as tcp or udp beside this field");
    }
    name.expected("a field, option or protocol that ovs-ofctl knows")
}

/// Adds an entry; what the same text says twice alike is said once, a tag's presence gives way to its id.
fn add(into: &mut Match, entry: MatchEntry, item: Span<'_>) -> Result<(), SyntaxError> {
    match into.entries.iter_mut().find(|e| e.field == entry.field) {
        Some(present) if *present == entry => Ok(()),
        Some(present) if entry.field == Field::VlanVid && present.mask == VLAN_PRESENT => {
            *present = entry;
            Ok(())
        }
        Some(_) => Err(item.expected(format!("{} only once", entry.field))),
        None => {
            into.entries.push(entry);
            Ok(())
        }
    }
}
