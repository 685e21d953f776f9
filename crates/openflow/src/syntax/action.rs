//! Parses actions.

use flowgauge_packet::Field;

use super::scan::Span;
use super::{SyntaxError, names, nicira, value};
use crate::{Action, PortNo};

/// Parses a list of actions: `mod_nw_ttl:3,output:2`, `drop`, `CONTROLLER:128`.
///
/// # Errors
/// [`SyntaxError`] with the column of the first fault.
///
/// ```
/// use flowgauge_openflow::{Action, PortNo, syntax::parse_actions};
/// assert_eq!(parse_actions("output:2").unwrap(), [Action::output(PortNo(2))]);
/// assert_eq!(parse_actions("outputt:2").unwrap_err().column, 1);
/// ```
pub fn parse_actions(text: &str) -> Result<Vec<Action>, SyntaxError> {
    list(Span::all(text))
}

/// The actions of a list.
pub(super) fn list(text: Span<'_>) -> Result<Vec<Action>, SyntaxError> {
    let mut actions = Vec::new();
    for item in text.items()? {
        actions.extend(one(item)?);
    }
    Ok(actions)
}

/// One action; `None` for `drop`, which is the absence of actions.
pub(super) fn one(item: Span<'_>) -> Result<Option<Action>, SyntaxError> {
    let (name, argument) = item.name_and_argument();
    let number = |most: u32| value::number(argument, most.into()).map(|n| n as u32);
    let short = || value::number(argument, 0xffff).map(|n| n as u16);
    let byte = || value::number(argument, 0xff).map(|n| n as u8);
    let set = |field: Field| value::value(field, argument).map(|v| Action::set(field, v));
    Ok(Some(match name.text {
        "drop" if argument.text.is_empty() => return Ok(None),
        "output" => output(item, argument)?,
        "controller" | "CONTROLLER" => controller(argument)?,
        "enqueue" => enqueue(argument)?,
        "mod_vlan_vid" | "set_vlan_vid" => Action::SetVlanVid(value::number(argument, 0xfff)? as u16),
        "mod_vlan_pcp" | "set_vlan_pcp" => Action::SetVlanPcp(value::number(argument, 7)? as u8),
        "strip_vlan" | "pop_vlan" => Action::PopVlan,
        "push_vlan" => Action::PushVlan(short()?),
        "push_mpls" => Action::PushMpls(short()?),
        "pop_mpls" => Action::PopMpls(short()?),
        "mod_dl_src" => set(Field::EthSrc)?,
        "mod_dl_dst" => set(Field::EthDst)?,
        "mod_nw_src" => set(Field::Ipv4Src)?,
        "mod_nw_dst" => set(Field::Ipv4Dst)?,
        "mod_nw_tos" => Action::set(Field::IpDscp, value::number(argument, 0xff)? >> 2),
        "mod_nw_ecn" => set(Field::IpEcn)?,
        "set_mpls_label" => set(Field::MplsLabel)?,
        "set_mpls_tc" => set(Field::MplsTc)?,
        "set_tunnel" | "set_tunnel64" => set(Field::TunnelId)?,
        "mod_nw_ttl" => Action::SetNwTtl(byte()?),
        "mod_tp_src" => Action::SetTpSrc(short()?),
        "mod_tp_dst" => Action::SetTpDst(short()?),
        "dec_ttl" => nicira::dec_ttl(argument)?,
        "set_mpls_ttl" => Action::SetMplsTtl(byte()?),
        "dec_mpls_ttl" => Action::DecMplsTtl,
        "copy_ttl_in" => Action::CopyTtlIn,
        "copy_ttl_out" => Action::CopyTtlOut,
        "push_pbb" => Action::PushPbb(short()?),
        "pop_pbb" => Action::PopPbb,
        "group" => Action::Group(number(u32::MAX)?),
        "set_queue" => Action::SetQueue(number(u32::MAX)?),
        "set_field" => set_field(argument)?,
        "experimenter" => {
            raw(argument).map(|(experimenter, data)| Action::Experimenter { experimenter, data })?
        }
        "action" => unknown(argument)?,
        _ => match nicira::parse(name, argument)? {
            Some(action) => Action::Nicira(action),
            None => return port_by_itself(item).map(Some),
        },
    }))
}

/// `LOCAL` or `3` alone mean output.
fn port_by_itself(item: Span<'_>) -> Result<Action, SyntaxError> {
    value::port(item).map(Action::output).map_err(|_| item.expected("an action that ovs-ofctl knows"))
}

/// `output:2`, `output:NXM_NX_REG0[]`, `output(port=2,max_len=100)`.
fn output(item: Span<'_>, argument: Span<'_>) -> Result<Action, SyntaxError> {
    if item.text.starts_with("output(") && argument.text.contains('=') {
        return nicira::output_trunc(argument).map(Action::Nicira);
    }
    if nicira::is_subfield(argument) {
        return nicira::output_reg(argument).map(Action::Nicira);
    }
    value::port(argument).map(Action::output)
}

/// `CONTROLLER`, `CONTROLLER:128` or `controller(max_len=128,id=3)`.
fn controller(argument: Span<'_>) -> Result<Action, SyntaxError> {
    if argument.is_empty() {
        return Ok(Action::output(PortNo::CONTROLLER));
    }
    match value::number(argument, 0xffff) {
        Ok(max_len) => Ok(Action::Output { port: PortNo::CONTROLLER, max_len: max_len as u16 }),
        Err(error) if argument.text.bytes().all(|b| b.is_ascii_digit()) => Err(error),
        Err(_) => nicira::controller(argument),
    }
}

/// `NUMBER,HEX`: what nobody here knows, as it is.
pub(super) fn raw(argument: Span<'_>) -> Result<(u32, Vec<u8>), SyntaxError> {
    let (number, bytes) = argument.split_once(",").ok_or_else(|| argument.expected("NUMBER,BYTES"))?;
    Ok((value::number(number, u32::MAX.into())? as u32, nicira::bytes(bytes, ':')?))
}

/// `action(TYPE,HEX)`.
fn unknown(argument: Span<'_>) -> Result<Action, SyntaxError> {
    let (number, data) = raw(argument)?;
    let action_type = u16::try_from(number).map_err(|_| argument.expected("a type of 16 bits"))?;
    Ok(Action::Unknown { action_type, data })
}

/// `enqueue:PORT:QUEUE` or `enqueue(PORT,QUEUE)`.
fn enqueue(argument: Span<'_>) -> Result<Action, SyntaxError> {
    let (port, queue) = argument
        .split_once(":")
        .or_else(|| argument.split_once(","))
        .ok_or_else(|| argument.expected("PORT:QUEUE"))?;
    Ok(Action::Enqueue { port: value::port(port)?, queue_id: value::number(queue, u32::MAX.into())? as u32 })
}

/// `set_field:VALUE[/MASK]->FIELD`.
fn set_field(argument: Span<'_>) -> Result<Action, SyntaxError> {
    let (text, name) = argument.split_once("->").ok_or_else(|| argument.expected("VALUE->FIELD"))?;
    let Some(field) = names::settable(name.text) else { return nicira::set_field(text, name) };
    let (value, mask) = value::masked(field, text)?;
    // A VLAN id is written with or without the bit that says that there is a tag; it is always set.
    let value = if field == Field::VlanVid { value | 0x1000 } else { value };
    Ok(Action::SetField { field, value, mask })
}
