//! Values and masks of fields, as text.

use std::net::{Ipv4Addr, Ipv6Addr};

use flowgauge_packet::{Field, MacAddr, nicira_fields};

use super::scan::Span;
use super::{SyntaxError, tcp_flags};
use crate::PortNo;

/// How a field's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number in decimal.
    Decimal,
    /// A number in hexadecimal.
    Hexadecimal,
    /// A port number or name.
    Port,
    /// An Ethernet address.
    Mac,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
}

/// How values of `field` are written.
pub fn kind(field: Field) -> Kind {
    use Field::*;
    match field {
        InPort | InPhyPort | ActsetOutput => Kind::Port,
        EthDst | EthSrc | ArpSha | ArpTha | Ipv6NdSll | Ipv6NdTll => Kind::Mac,
        Ipv4Src | Ipv4Dst | ArpSpa | ArpTpa => Kind::Ipv4,
        Ipv6Src | Ipv6Dst | Ipv6NdTarget => Kind::Ipv6,
        Metadata | TunnelId | EthType | Ipv6Flabel | PbbIsid | TcpFlags | Ipv6Exthdr | PacketType
        | Ipv4Id => Kind::Hexadecimal,
        TunSrc | TunDst => Kind::Ipv4,
        nicira_fields!() => Kind::Hexadecimal,
        VlanVid | VlanPcp | IpDscp | IpEcn | IpProto | IpTtl | TcpSrc | TcpDst | UdpSrc | UdpDst
        | SctpSrc | SctpDst | Icmpv4Type | Icmpv4Code | ArpOp | Icmpv6Type | Icmpv6Code | MplsLabel
        | MplsTc | MplsBos | PbbUca => Kind::Decimal,
    }
}

/// A number up to `most`, decimal or `0x` hexadecimal.
pub fn number(text: Span<'_>, most: u128) -> Result<u128, SyntaxError> {
    let parsed = match text.text.strip_prefix("0x").or(text.text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u128::from_str_radix(digits, 16),
        _ if text.text.starts_with('+') => "".parse(),
        _ => text.text.parse(),
    };
    parsed.ok().filter(|n| *n <= most).ok_or_else(|| text.expected(format!("a number from 0 to {most}")))
}

/// A port: a number or a reserved name.
pub fn port(text: Span<'_>) -> Result<PortNo, SyntaxError> {
    match PortNo::from_name(text.text) {
        Some(port) => Ok(port),
        // Numbers of 16 bits from 0xff00 on are those of OpenFlow 1.0, as ovs-ofctl takes them.
        None => number(text, u32::MAX.into())
            .map(|n| u16::try_from(n).map_or(PortNo(n as u32), PortNo::from_u16))
            .map_err(|_| text.expected("a port number or a name such as LOCAL")),
    }
}

/// A value of `field`.
pub fn value(field: Field, text: Span<'_>) -> Result<u128, SyntaxError> {
    match kind(field) {
        Kind::Decimal | Kind::Hexadecimal => number(text, field.full_mask()),
        Kind::Port => port(text).map(|p| p.0.into()),
        Kind::Mac => match text.text.parse::<MacAddr>() {
            Ok(mac) => Ok(mac.to_u64().into()),
            Err(_) => Err(text.expected("a MAC address such as 02:00:00:00:00:01")),
        },
        Kind::Ipv4 => match text.text.parse::<Ipv4Addr>() {
            Ok(address) => Ok(u32::from(address).into()),
            Err(_) => Err(text.expected("an IPv4 address such as 10.0.0.1")),
        },
        Kind::Ipv6 => match text.text.parse::<Ipv6Addr>() {
            Ok(address) => Ok(address.into()),
            Err(_) => Err(text.expected("an IPv6 address such as 2001:db8::1")),
        },
    }
}

/// `value`, `value/mask` or, for addresses, `value/prefix`. Value bits outside the mask become 0, as ovs-ofctl does.
pub fn masked(field: Field, text: Span<'_>) -> Result<(u128, u128), SyntaxError> {
    if let Some(flags) = tcp_flags::parse(text).filter(|_| field == Field::TcpFlags) {
        return flags;
    }
    let Some((left, right)) = text.split_once("/") else {
        return Ok((value(field, text)?, field.full_mask()));
    };
    let address = matches!(kind(field), Kind::Ipv4 | Kind::Ipv6);
    let mask = if address && right.text.bytes().all(|b| b.is_ascii_digit()) {
        let length = number(right, field.bits().into())? as u32;
        field.full_mask() & !(field.full_mask().checked_shr(length).unwrap_or(0))
    } else {
        value(field, right)?
    };
    Ok((value(field, left)? & mask, mask))
}

/// A value of `field` as ovs-ofctl prints it.
pub fn print(field: Field, value: u128) -> String {
    match kind(field) {
        Kind::Decimal => value.to_string(),
        Kind::Hexadecimal if field == Field::EthType => format!("{value:#06x}"),
        Kind::Hexadecimal if value == 0 => "0".into(),
        Kind::Hexadecimal => format!("{value:#x}"),
        Kind::Port => PortNo(value as u32).to_string(),
        Kind::Mac => MacAddr::from_u64(value as u64).to_string(),
        Kind::Ipv4 => Ipv4Addr::from(value as u32).to_string(),
        Kind::Ipv6 => Ipv6Addr::from(value).to_string(),
    }
}

/// A value with its mask as a set-field action has it: numbers keep their notation before the mask.
pub fn print_set(field: Field, value: u128, mask: u128) -> String {
    let hex = |n: u128| if n == 0 { "0".into() } else { format!("{n:#x}") };
    match kind(field) {
        Kind::Decimal if mask != field.full_mask() => format!("{value}/{mask:#x}"),
        Kind::Hexadecimal if mask != field.full_mask() => format!("{}/{mask:#x}", hex(value)),
        Kind::Hexadecimal if field != Field::TcpFlags => hex(value),
        _ => print_masked(field, value, mask),
    }
}

/// A value with its mask: nothing behind it if all bits count, a prefix length where the mask is one.
pub fn print_masked(field: Field, value: u128, mask: u128) -> String {
    if let Some(flags) = tcp_flags::print(value, mask).filter(|_| field == Field::TcpFlags) {
        return flags;
    }
    let text = print(field, value);
    if mask == field.full_mask() {
        return text;
    }
    let host_bits = field.full_mask() & !mask;
    match kind(field) {
        Kind::Ipv4 | Kind::Ipv6 if host_bits & (host_bits.wrapping_add(1)) == 0 => {
            format!("{text}/{}", mask.count_ones())
        }
        Kind::Decimal | Kind::Hexadecimal => format!("{}/{mask:#x}", print_hexadecimal(field, value)),
        Kind::Port | Kind::Mac | Kind::Ipv4 | Kind::Ipv6 => format!("{text}/{}", print(field, mask)),
    }
}

fn print_hexadecimal(field: Field, value: u128) -> String {
    match field {
        Field::EthType | Field::VlanVid => format!("{value:#06x}"),
        _ if value == 0 => "0".into(),
        _ => format!("{value:#x}"),
    }
}
