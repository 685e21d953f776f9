//! Parses actions.

use flowgauge_packet::Field;

use super::names;
use super::scan::Span;
use super::{SyntaxError, value};
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
        "output" => Action::output(value::port(argument)?),
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
        "set_tunnel" => set(Field::TunnelId)?,
        "mod_nw_ttl" => Action::SetNwTtl(byte()?),
        "mod_tp_src" => Action::SetTpSrc(short()?),
        "mod_tp_dst" => Action::SetTpDst(short()?),
        "dec_ttl" => Action::DecNwTtl,
        "set_mpls_ttl" => Action::SetMplsTtl(byte()?),
        "dec_mpls_ttl" => Action::DecMplsTtl,
        "copy_ttl_in" => Action::CopyTtlIn,
        "copy_ttl_out" => Action::CopyTtlOut,
        "push_pbb" => Action::PushPbb(short()?),
        "pop_pbb" => Action::PopPbb,
        "group" => Action::Group(number(u32::MAX)?),
        "set_queue" => Action::SetQueue(number(u32::MAX)?),
        "set_field" => set_field(argument)?,
        _ => return port_by_itself(item).map(Some),
    }))
}

/// `LOCAL` or `3` alone mean output.
fn port_by_itself(item: Span<'_>) -> Result<Action, SyntaxError> {
    value::port(item).map(Action::output).map_err(|_| item.expected("an action that ovs-ofctl knows"))
}

/// `CONTROLLER`, `CONTROLLER:128` or `controller(max_len=128)`.
fn controller(argument: Span<'_>) -> Result<Action, SyntaxError> {
    let max_len = match argument.split_once("=") {
        _ if argument.text.is_empty() => return Ok(Action::output(PortNo::CONTROLLER)),
        None => argument,
        Some((name, max_len)) if name.text == "max_len" => max_len,
        Some((name, _)) => return Err(name.expected("max_len")),
    };
    Ok(Action::Output { port: PortNo::CONTROLLER, max_len: value::number(max_len, 0xffff)? as u16 })
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
    let field = names::settable(name.text).ok_or_else(|| name.expected("a field that can be set"))?;
    let (value, mask) = value::masked(field, text)?;
    // A VLAN id is written with or without the bit that says that there is a tag; it is always set.
    let value = if field == Field::VlanVid { value | 0x1000 } else { value };
    Ok(Action::SetField { field, value, mask })
}
