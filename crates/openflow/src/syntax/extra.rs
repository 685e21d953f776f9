//! Match fields that Open vSwitch has and this crate does not: they are read and printed by name, and kept as they are
//! on the wire.

use std::net::Ipv6Addr;

use super::scan::Span;
use super::{SyntaxError, nicira, value};
use crate::RawOxm;

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Decimal,
    Hexadecimal,
    State,
    Fragment,
    Ipv6,
}

struct Extra {
    name: &'static str,
    /// The number in NXM's class 1.
    number: u32,
    bytes: u32,
    kind: Kind,
}

const fn extra(name: &'static str, number: u32, bytes: u32, kind: Kind) -> Extra {
    Extra { name, number, bytes, kind }
}

const EXTRAS: &[Extra] = &[
    extra("recirc_id", 36, 4, Kind::Hexadecimal),
    extra("dp_hash", 35, 4, Kind::Hexadecimal),
    extra("conj_id", 37, 4, Kind::Decimal),
    extra("ct_state", 105, 4, Kind::State),
    extra("ct_zone", 106, 2, Kind::Decimal),
    extra("ct_mark", 107, 4, Kind::Hexadecimal),
    extra("ct_label", 108, 16, Kind::Hexadecimal),
    extra("tun_gbp_id", 38, 2, Kind::Decimal),
    extra("tun_gbp_flags", 39, 1, Kind::Hexadecimal),
    extra("tun_ipv6_src", 109, 16, Kind::Ipv6),
    extra("tun_ipv6_dst", 110, 16, Kind::Ipv6),
    extra("ip_frag", 26, 1, Kind::Fragment),
];

const STATES: [&str; 8] = ["new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"];
/// The words for fragments, with value and mask: bit 0 says that it is one, bit 1 that it is not the first.
const FRAGMENTS: [(&str, u128, u128); 5] =
    [("no", 0, 3), ("yes", 1, 1), ("first", 1, 3), ("later", 3, 3), ("not_later", 0, 2)];

/// Parses a field of that name; `None` if there is none.
pub(super) fn parse(name: Span<'_>, text: Span<'_>) -> Result<Option<RawOxm>, SyntaxError> {
    if let Some(digits) = name.text.strip_prefix("oxm_").filter(|digits| digits.len() == 8) {
        let header = u32::from_str_radix(digits, 16).map_err(|_| name.expected("oxm_ and 8 digits"))?;
        let payload = nicira::bytes(text, ':')?;
        if payload.len() != (header & 0xff) as usize {
            return Err(text.expected(format!("{} bytes in hexadecimal", header & 0xff)));
        }
        return Ok(Some(RawOxm { header, payload }));
    }
    let wanted = if name.text == "nw_frag" { "ip_frag" } else { name.text };
    let Some(field) = EXTRAS.iter().find(|e| e.name == wanted) else { return Ok(None) };
    let most = u128::MAX >> (128 - 8 * field.bytes);
    let number = |text| match field.kind {
        Kind::Ipv6 => {
            let address = |t: Span<'_>| t.text.parse::<Ipv6Addr>().map(u128::from);
            address(text).map_err(|_| text.expected("an IPv6 address such as 2001:db8::1"))
        }
        _ => value::number(text, most),
    };
    let (value, mask) = match (field.kind, text.split_once("/")) {
        (Kind::State, None) => states(text)?,
        (Kind::Fragment, None) => {
            let found = FRAGMENTS.iter().find(|(word, ..)| *word == text.text);
            found
                .map(|(_, value, mask)| (*value, *mask))
                .ok_or_else(|| text.expected("no, yes, first, later or not_later"))?
        }
        (_, None) => (number(text)?, most),
        (_, Some((value, mask))) => {
            let mask = number(mask)?;
            (number(value)? & mask, mask)
        }
    };
    Ok(Some(raw(field, value, mask)))
}

/// `+trk-new`: set and unset.
fn states(text: Span<'_>) -> Result<(u128, u128), SyntaxError> {
    let wrong = || text.expected("states such as +trk-new");
    let (mut rest, mut value, mut mask) = (text.text, 0, 0);
    while !rest.is_empty() {
        let is_set = rest.starts_with('+');
        let name = rest.strip_prefix(['+', '-']).ok_or_else(wrong)?;
        let end = name.find(['+', '-']).unwrap_or(name.len());
        let bit = STATES.iter().position(|s| *s == &name[..end]).map(|at| 1 << at).ok_or_else(wrong)?;
        if mask & bit != 0 {
            return Err(wrong());
        }
        mask |= bit;
        value |= if is_set { bit } else { 0 };
        rest = &name[end..];
    }
    if mask == 0 { Err(wrong()) } else { Ok((value, mask)) }
}

fn raw(field: &Extra, value: u128, mask: u128) -> RawOxm {
    let most = u128::MAX >> (128 - 8 * field.bytes);
    let bytes = |n: u128| n.to_be_bytes()[16 - field.bytes as usize..].to_vec();
    let (masked, length) = if mask == most { (0, field.bytes) } else { (1 << 8, 2 * field.bytes) };
    let mut payload = bytes(value);
    if mask != most {
        payload.extend(bytes(mask));
    }
    RawOxm { header: 1 << 16 | field.number << 9 | masked | length, payload }
}

/// As ovs-ofctl prints it, if it is one of these; otherwise its header and bytes.
pub(super) fn print(raw: &RawOxm) -> String {
    known(raw).unwrap_or_else(|| format!("oxm_{:08x}={}", raw.header, super::print::Hex(&raw.payload)))
}

fn known(raw: &RawOxm) -> Option<String> {
    let field = EXTRAS.iter().find(|e| raw.header >> 9 == 1 << 7 | e.number)?;
    let most = u128::MAX >> (128 - 8 * field.bytes);
    let number = |bytes: &[u8]| bytes.iter().fold(0u128, |n, &b| n << 8 | u128::from(b));
    let bytes = field.bytes as usize;
    let (value, mask) = match (raw.header >> 8 & 1, raw.payload.len()) {
        (0, length) if length == bytes => (number(&raw.payload), most),
        (1, length) if length == 2 * bytes => (number(&raw.payload[..bytes]), number(&raw.payload[bytes..])),
        _ => return None,
    };
    // What the text would lose is printed as it is on the wire.
    if value & !mask != 0 || raw.header >> 8 & 1 == 1 && mask == most {
        return None;
    }
    let text = text(field, value, mask)?;
    let name = if field.kind == Kind::Fragment { "nw_frag" } else { field.name };
    Some(format!("{name}={text}"))
}

fn text(field: &Extra, value: u128, mask: u128) -> Option<String> {
    let most = u128::MAX >> (128 - 8 * field.bytes);
    let hex = |n: u128| if n == 0 { "0".into() } else { format!("{n:#x}") };
    Some(match field.kind {
        Kind::Fragment => {
            let found = FRAGMENTS.iter().find(|(_, v, m)| (*v, *m) == (value, mask));
            found.map(|(word, ..)| (*word).to_string())?
        }
        Kind::State => {
            if mask == 0 || mask >> STATES.len() != 0 {
                return None;
            }
            let named = STATES.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
            let sign = |at: usize| if value >> at & 1 == 1 { '+' } else { '-' };
            named.map(|(at, name)| format!("{}{name}", sign(at))).collect()
        }
        Kind::Decimal if mask == most => value.to_string(),
        Kind::Ipv6 if mask == most => Ipv6Addr::from(value).to_string(),
        Kind::Ipv6 => format!("{}/{}", Ipv6Addr::from(value), Ipv6Addr::from(mask)),
        Kind::Hexadecimal if mask == most => hex(value),
        Kind::Decimal | Kind::Hexadecimal => format!("{}/{mask:#x}", hex(value)),
    })
}

/// Whether it is printed before the protocol.
pub(super) fn is_first(raw: &RawOxm) -> bool {
    EXTRAS
        .iter()
        .any(|e| raw.header >> 9 == 1 << 7 | e.number && e.kind != Kind::Fragment && e.kind != Kind::Ipv6)
}
