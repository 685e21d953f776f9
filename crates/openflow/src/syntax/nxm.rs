//! Names of fields as Nicira's extensions have them, and parts of fields: `NXM_NX_REG0[0..15]`, `reg0[4]`, `in_port`.

use std::fmt;

use flowgauge_packet::Field;

use super::scan::Span;
use super::{SyntaxError, names, value};
use crate::{NxField, Subfield};

/// The name under which ovs-ofctl prints a field.
fn name(field: NxField) -> String {
    match field {
        NxField::Field(field) => match nxm_name(field) {
            Some(name) => name.into(),
            None => match register(field) {
                Some(number) => format!("NXM_NX_REG{number}"),
                None => format!("OXM_OF_{}", field.name().to_uppercase()),
            },
        },
        NxField::InPort16 => "NXM_OF_IN_PORT".into(),
        NxField::VlanTci => "NXM_OF_VLAN_TCI".into(),
        NxField::IpTos => "NXM_OF_IP_TOS".into(),
        NxField::Xreg(number) => format!("OXM_OF_PKT_REG{number}"),
        NxField::Xxreg(number) => format!("NXM_NX_XXREG{number}"),
        NxField::Unknown(header) => format!("nxm_{header:08x}"),
    }
}

/// The number of a register.
fn register(field: Field) -> Option<u8> {
    (0..16).find(|&number| Field::register(number) == Some(field))
}

/// Names that don't follow from OXM's; registers have theirs by number.
fn nxm_name(field: Field) -> Option<&'static str> {
    use Field::*;
    Some(match field {
        EthDst => "NXM_OF_ETH_DST",
        EthSrc => "NXM_OF_ETH_SRC",
        EthType => "NXM_OF_ETH_TYPE",
        IpProto => "NXM_OF_IP_PROTO",
        Ipv4Src => "NXM_OF_IP_SRC",
        Ipv4Dst => "NXM_OF_IP_DST",
        TcpSrc => "NXM_OF_TCP_SRC",
        TcpDst => "NXM_OF_TCP_DST",
        UdpSrc => "NXM_OF_UDP_SRC",
        UdpDst => "NXM_OF_UDP_DST",
        Icmpv4Type => "NXM_OF_ICMP_TYPE",
        Icmpv4Code => "NXM_OF_ICMP_CODE",
        ArpOp => "NXM_OF_ARP_OP",
        ArpSpa => "NXM_OF_ARP_SPA",
        ArpTpa => "NXM_OF_ARP_TPA",
        TunnelId => "NXM_NX_TUN_ID",
        ArpSha => "NXM_NX_ARP_SHA",
        ArpTha => "NXM_NX_ARP_THA",
        Ipv6Src => "NXM_NX_IPV6_SRC",
        Ipv6Dst => "NXM_NX_IPV6_DST",
        Icmpv6Type => "NXM_NX_ICMPV6_TYPE",
        Icmpv6Code => "NXM_NX_ICMPV6_CODE",
        Ipv6NdTarget => "NXM_NX_ND_TARGET",
        Ipv6NdSll => "NXM_NX_ND_SLL",
        Ipv6NdTll => "NXM_NX_ND_TLL",
        Ipv6Flabel => "NXM_NX_IPV6_LABEL",
        IpEcn => "NXM_NX_IP_ECN",
        IpTtl => "NXM_NX_IP_TTL",
        TunSrc => "NXM_NX_TUN_IPV4_SRC",
        TunDst => "NXM_NX_TUN_IPV4_DST",
        PktMark => "NXM_NX_PKT_MARK",
        TcpFlags => "NXM_NX_TCP_FLAGS",
        _ => return None,
    })
}

/// The field that a name stands for: NXM's, OXM's, or ovs-ofctl's.
pub fn field(name_: &str) -> Option<NxField> {
    let numbered = |prefix: &str, count: u8| {
        let number = name_.strip_prefix(prefix)?.parse().ok()?;
        (number < count).then_some(number)
    };
    match name_ {
        "NXM_OF_IN_PORT" | "in_port" => return Some(NxField::InPort16),
        "NXM_OF_VLAN_TCI" | "vlan_tci" => return Some(NxField::VlanTci),
        "NXM_OF_IP_TOS" | "nw_tos" => return Some(NxField::IpTos),
        "in_port_oxm" => return Some(NxField::Field(Field::InPort)),
        _ => {}
    }
    if let Some(number) = numbered("OXM_OF_PKT_REG", 8).or(numbered("xreg", 8)) {
        return Some(NxField::Xreg(number));
    }
    if let Some(number) = numbered("NXM_NX_XXREG", 4).or(numbered("xxreg", 4)) {
        return Some(NxField::Xxreg(number));
    }
    if let Some(digits) = name_.strip_prefix("nxm_").filter(|digits| digits.len() == 8) {
        return u32::from_str_radix(digits, 16).ok().map(NxField::Unknown);
    }
    if let Some(rest) = name_.strip_prefix("OXM_OF_") {
        return Field::from_name(&rest.to_lowercase()).map(NxField::Field);
    }
    let by_nxm = || Field::ALL.iter().copied().find(|&f| nxm_name(f) == Some(name_));
    let register = numbered("NXM_NX_REG", 16).and_then(Field::register);
    register.or_else(by_nxm).or_else(|| names::settable(name_)).map(NxField::Field)
}

impl fmt::Display for NxField {
    /// As ovs-ofctl prints it: `NXM_NX_REG0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(*self))
    }
}

impl fmt::Display for Subfield {
    /// As ovs-ofctl prints it: `NXM_NX_REG0[0..15]`, `NXM_NX_REG0[]` for all of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subfield { field, offset, bits } = *self;
        match bits {
            _ if self.is_all() => write!(f, "{field}[]"),
            1 => write!(f, "{field}[{offset}]"),
            _ => write!(f, "{field}[{offset}..{}]", u32::from(offset) + u32::from(bits).max(1) - 1),
        }
    }
}

/// Parses some bits of a field: `reg0[0..3]`, `reg0[7]`, `reg0[]`, `reg0`.
pub fn subfield(text: Span<'_>) -> Result<Subfield, SyntaxError> {
    let (name, range) = match text.split_once("[") {
        Some((name, range)) => {
            (name, Some(range.strip_suffix("]").ok_or_else(|| range.end().expected("a closing bracket"))?))
        }
        None => (text, None),
    };
    let field =
        field(name.text).ok_or_else(|| name.expected("a field such as NXM_NX_REG0[] or reg0[0..3]"))?;
    let Some(range) = range.filter(|range| !range.is_empty()) else {
        return Ok(Subfield::all(field));
    };
    let last = u128::from(field.bits()).saturating_sub(1);
    let bit = |text: Span<'_>| value::number(text, last).map(|n| n as u16);
    let (first, last) = match range.split_once("..") {
        Some((first, last)) => (bit(first)?, bit(last)?),
        None => (bit(range)?, bit(range)?),
    };
    if first > last {
        return Err(range.expected("a first bit that is not above the last"));
    }
    Ok(Subfield { field, offset: first, bits: last - first + 1 })
}

/// Parses a value of one of the extensions' fields, which are numbers but for those that OpenFlow has, too.
pub fn value_of(field: NxField, text: Span<'_>) -> Result<u128, SyntaxError> {
    match field {
        NxField::Field(field) => value::value(field, text),
        NxField::InPort16 => {
            let port = value::port(text)?;
            port.to_u16().map(u128::from).ok_or_else(|| text.expected("a port number of 16 bits"))
        }
        _ => value::number(text, field.full_mask()),
    }
}

/// Parses `value` or `value/mask` of one of the extensions' fields. Value bits outside the mask become 0.
pub fn masked(field: NxField, text: Span<'_>) -> Result<(u128, u128), SyntaxError> {
    match (field, text.split_once("/")) {
        (NxField::Field(field), _) => value::masked(field, text),
        (field, None) => Ok((value_of(field, text)?, field.full_mask())),
        (field, Some((value, mask))) => {
            let mask = value::number(mask, field.full_mask())?;
            Ok((value_of(field, value)? & mask, mask))
        }
    }
}

/// Prints a value as ovs-ofctl does.
pub fn print_value(field: NxField, value: u128) -> String {
    match field {
        NxField::Field(field) => value::print_set(field, value, field.full_mask()),
        NxField::InPort16 => crate::PortNo::from_u16(value as u16).to_string(),
        NxField::IpTos => value.to_string(),
        NxField::VlanTci => format!("{value:#06x}"),
        _ if value == 0 => "0".into(),
        _ => format!("{value:#x}"),
    }
}

/// The name under which ovs-ofctl knows a field where it wants no part of it: `reg0`, `vlan_tci`.
pub fn plain_name(field: NxField) -> String {
    match field {
        NxField::Field(field) => names::in_set_field(field).into(),
        NxField::InPort16 => "in_port".into(),
        NxField::VlanTci => "vlan_tci".into(),
        NxField::IpTos => "nw_tos".into(),
        NxField::Xreg(number) => format!("xreg{number}"),
        NxField::Xxreg(number) => format!("xxreg{number}"),
        NxField::Unknown(_) => name(field),
    }
}
