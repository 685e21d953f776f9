//! Parses Nicira's actions.

use super::scan::Span;
use super::{SyntaxError, learn, nxm, reasons, value};
use crate::{
    Action, Bundle, BundleChoice, HashFields, LinkChoice, Multipath, Nicira, NxField, PortNo,
    SendToController,
};

/// The action of that name, if it is one of Nicira's.
pub(super) fn parse(name: Span<'_>, argument: Span<'_>) -> Result<Option<Nicira>, SyntaxError> {
    Ok(Some(match name.text {
        "resubmit" => resubmit(argument)?,
        "load" => load(argument)?,
        "move" => {
            let (from, to) = arrow(argument, "SOURCE->TARGET")?;
            let (from, to) = (nxm::subfield(from)?, (nxm::subfield(to)?, to));
            if from.bits != to.0.bits {
                return Err(to.1.expected(format!("as many bits as before the arrow: {}", from.bits)));
            }
            Nicira::Move { from, to: to.0 }
        }
        "push" => Nicira::Push(nxm::subfield(argument)?),
        "pop" => Nicira::Pop(nxm::subfield(argument)?),
        "pop_queue" => Nicira::PopQueue,
        "output_reg" => output_reg(argument)?,
        "learn" => Nicira::Learn(Box::new(learn::parse(argument)?)),
        "multipath" => multipath(argument)?,
        "bundle" => bundle(argument, false)?,
        "bundle_load" => bundle(argument, true)?,
        "conjunction" => conjunction(argument)?,
        "exit" => Nicira::Exit,
        "fin_timeout" => fin_timeout(argument)?,
        "note" => Nicira::Note(bytes(argument, '.')?),
        _ => return Ok(None),
    }))
}

fn arrow<'a>(argument: Span<'a>, expected: &str) -> Result<(Span<'a>, Span<'a>), SyntaxError> {
    argument.split_once("->").ok_or_else(|| argument.expected(expected))
}

/// `resubmit:1`, `resubmit(1,2)`, `resubmit(,2)`.
fn resubmit(argument: Span<'_>) -> Result<Nicira, SyntaxError> {
    let (port, table) = match argument.split_once(",") {
        Some((port, table)) => (port, Some(table).filter(|table| !table.is_empty())),
        None => (argument, None),
    };
    let port = Some(port).filter(|port| !port.is_empty()).map(value::port).transpose()?;
    let table = table.map(|table| value::number(table, 0xfe)).transpose()?.map(|table| table as u8);
    Ok(Nicira::Resubmit { port: port.filter(|&port| port != PortNo::IN_PORT), table })
}

/// `load:VALUE->FIELD[..]`.
fn load(argument: Span<'_>) -> Result<Nicira, SyntaxError> {
    let (text, place) = arrow(argument, "VALUE->FIELD[]")?;
    let to = nxm::subfield(place)?;
    if to.bits > 64 {
        return Err(place.expected("at most 64 bits"));
    }
    let most = u64::MAX >> (64 - to.bits);
    let value = match value::number(text, most.into()) {
        Ok(value) => value,
        Err(error) if !to.is_all() => return Err(error),
        // All of a field takes a value in the field's own notation, too.
        Err(error) => nxm::value_of(to.field, text).ok().filter(|v| *v <= most.into()).ok_or(error)?,
    };
    Ok(Nicira::Load { to, value: value as u64 })
}

/// The field that names the port in `output:NXM_NX_REG0[]`.
pub(super) fn output_reg(argument: Span<'_>) -> Result<Nicira, SyntaxError> {
    Ok(Nicira::OutputReg { from: nxm::subfield(argument)?, max_len: Action::NO_BUFFER })
}

/// `output(port=1,max_len=100)`.
pub(super) fn output_trunc(argument: Span<'_>) -> Result<Nicira, SyntaxError> {
    let (mut port, mut max_len) = (None, None);
    for item in argument.items()? {
        match item.split_once("=") {
            Some((name, text)) if name.text == "port" => port = Some(value::port(text)?),
            Some((name, text)) if name.text == "max_len" => {
                max_len = Some(value::number(text, u32::MAX.into())? as u32);
            }
            Some((name, _)) => return Err(name.expected("port or max_len")),
            None => return Err(item.expected("port=PORT,max_len=BYTES")),
        }
    }
    match (port, max_len) {
        (Some(port), Some(max_len)) => Ok(Nicira::OutputTrunc { port, max_len }),
        _ => Err(argument.expected("port=PORT,max_len=BYTES")),
    }
}

/// The arguments of `controller(...)`; plain output to the controller if they say no more than `max_len`.
pub(super) fn controller(argument: Span<'_>) -> Result<Action, SyntaxError> {
    let mut to = SendToController::default();
    for item in argument.items()? {
        let (name, text) = item.split_once("=").unwrap_or((item, item.end()));
        match name.text {
            "max_len" => to.max_len = value::number(text, 0xffff)? as u16,
            "id" => to.controller_id = value::number(text, 0xffff)? as u16,
            "reason" => to.reason = reasons::parse(text)?,
            "userdata" => to.userdata = bytes(text, '.')?,
            "pause" => to.pause = true,
            "meter_id" => to.meter_id = Some(value::number(text, u32::MAX.into())? as u32),
            _ => return Err(name.expected("max_len, id, reason, userdata, pause or meter_id")),
        }
    }
    let plain = SendToController { max_len: to.max_len, ..SendToController::default() };
    Ok(if to == plain {
        Action::Output { port: PortNo::CONTROLLER, max_len: to.max_len }
    } else {
        Action::Nicira(Nicira::Controller(to))
    })
}

/// The numbers in `dec_ttl(1,2)`.
pub(super) fn dec_ttl(argument: Span<'_>) -> Result<Action, SyntaxError> {
    let ids = argument.items()?.into_iter().map(|item| value::number(item, 0xffff).map(|n| n as u16));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    Ok(if ids.is_empty() { Action::DecNwTtl } else { Action::Nicira(Nicira::DecTtlCntIds(ids)) })
}

/// `multipath(eth_src,50,modulo_n,1,0,NXM_NX_REG0[])`.
fn multipath(argument: Span<'_>) -> Result<Nicira, SyntaxError> {
    let items = argument.items()?;
    let [fields, basis, choice, links, arg, to] = items[..] else {
        return Err(argument.expected("fields,basis,algorithm,links,argument,FIELD[]"));
    };
    let choices = [
        ("modulo_n", LinkChoice::ModuloN),
        ("hash_threshold", LinkChoice::HashThreshold),
        ("hrw", LinkChoice::Hrw),
        ("iter_hash", LinkChoice::IterHash),
    ];
    let links_number = value::number(links, 0x10000)? as u32;
    if links_number == 0 {
        return Err(links.expected("at least one link"));
    }
    Ok(Nicira::Multipath(Multipath {
        fields: hash_fields(fields)?,
        basis: value::number(basis, 0xffff)? as u16,
        choice: word(choice, &choices)?,
        links: links_number,
        argument: value::number(arg, u32::MAX.into())? as u32,
        to: nxm::subfield(to)?,
    }))
}

/// `bundle(eth_src,0,hrw,ofport,members:4,8)`; `bundle_load` has a field before the members.
fn bundle(argument: Span<'_>, loads: bool) -> Result<Nicira, SyntaxError> {
    let expected = if loads {
        "fields,basis,algorithm,ofport,FIELD[],members:PORTS"
    } else {
        "fields,basis,algorithm,ofport,members:PORTS"
    };
    let wrong = || argument.expected(expected);
    let items = argument.items()?;
    let head = if loads { 5 } else { 4 };
    if items.len() <= head || items[3].text != "ofport" {
        return Err(wrong());
    }
    let choices = [("active_backup", BundleChoice::ActiveBackup), ("hrw", BundleChoice::Hrw)];
    let first = items[head];
    let first = first.strip_prefix("members:").or_else(|| first.strip_prefix("slaves:")).ok_or_else(wrong)?;
    let members = std::iter::once(first).chain(items[head + 1..].iter().copied());
    Ok(Nicira::Bundle(Bundle {
        fields: hash_fields(items[0])?,
        basis: value::number(items[1], 0xffff)? as u16,
        choice: word(items[2], &choices)?,
        members: members.filter(|m| !m.is_empty()).map(value::port).collect::<Result<_, _>>()?,
        to: if loads { Some(nxm::subfield(items[4])?) } else { None },
    }))
}

pub(super) const HASH_FIELDS: [(&str, HashFields); 7] = [
    ("eth_src", HashFields::EthSrc),
    ("symmetric_l4", HashFields::SymmetricL4),
    ("symmetric_l3l4", HashFields::SymmetricL3L4),
    ("symmetric_l3l4+udp", HashFields::SymmetricL3L4Udp),
    ("nw_src", HashFields::NwSrc),
    ("nw_dst", HashFields::NwDst),
    ("symmetric_l3", HashFields::SymmetricL3),
];

fn hash_fields(text: Span<'_>) -> Result<HashFields, SyntaxError> {
    word(text, &HASH_FIELDS)
}

/// One of some words.
pub(super) fn word<T: Copy>(text: Span<'_>, words: &[(&str, T)]) -> Result<T, SyntaxError> {
    let found = words.iter().find(|(word, _)| *word == text.text);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        text.expected(words.join(", "))
    })
}

/// `conjunction(ID,2/3)`: the second of three clauses.
fn conjunction(argument: Span<'_>) -> Result<Nicira, SyntaxError> {
    let wrong = || argument.expected("ID,CLAUSE/CLAUSES");
    let (id, clauses) = argument.split_once(",").ok_or_else(wrong)?;
    let (clause, clauses) = clauses.trim().split_once("/").ok_or_else(wrong)?;
    let id = value::number(id, u32::MAX.into())? as u32;
    let (number, count) = (value::number(clause, 64)? as u8, value::number(clauses, 64)? as u8);
    if number == 0 || number > count || count < 2 {
        return Err(clause.expected("a clause of at least two, counted from 1"));
    }
    Ok(Nicira::Conjunction { id, clause: number - 1, clauses: count })
}

/// `fin_timeout(idle_timeout=10,hard_timeout=20)`.
fn fin_timeout(argument: Span<'_>) -> Result<Nicira, SyntaxError> {
    let (mut idle_timeout, mut hard_timeout) = (0, 0);
    for item in argument.items()? {
        match item.split_once("=") {
            Some((name, text)) if name.text == "idle_timeout" => {
                idle_timeout = value::number(text, 0xffff)? as u16;
            }
            Some((name, text)) if name.text == "hard_timeout" => {
                hard_timeout = value::number(text, 0xffff)? as u16;
            }
            _ => return Err(item.expected("idle_timeout=SECONDS or hard_timeout=SECONDS")),
        }
    }
    Ok(Nicira::FinTimeout { idle_timeout, hard_timeout })
}

/// Bytes in hexadecimal, each two digits, with or without a separator between them.
pub(super) fn bytes(text: Span<'_>, separator: char) -> Result<Vec<u8>, SyntaxError> {
    let digits: String = text.text.chars().filter(|&c| c != separator).collect();
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [a, b] => Some(((*a as char).to_digit(16)? << 4 | (*b as char).to_digit(16)?) as u8),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
    bytes.ok_or_else(|| text.expected("bytes in hexadecimal"))
}

/// `set_field:VALUE->FIELD` of a field that only the extensions have.
pub(super) fn set_field(text: Span<'_>, name: Span<'_>) -> Result<Action, SyntaxError> {
    let field = nxm::field(name.text).ok_or_else(|| name.expected("a field that can be set"))?;
    let (value, mask) = nxm::masked(field, text)?;
    Ok(match field {
        NxField::Field(field) => Action::SetField { field, value, mask },
        field => Action::Nicira(Nicira::SetField { field, value, mask }),
    })
}

/// Whether the text names some bits of a field.
pub(super) fn is_subfield(text: Span<'_>) -> bool {
    let name = text.text.split('[').next().unwrap_or_default();
    nxm::field(name).is_some() && PortNo::from_name(name).is_none()
}
