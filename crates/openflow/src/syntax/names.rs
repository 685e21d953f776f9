//! The names that ovs-ofctl has for fields and protocols.

use flowgauge_packet::{Field, nicira_fields};

/// A protocol keyword and what it matches: EtherType and, if any, IP protocol.
pub struct Protocol {
    /// The keyword.
    pub name: &'static str,
    /// The EtherType.
    pub eth_type: u16,
    /// The IP protocol.
    pub ip_proto: Option<u8>,
}

const fn protocol(name: &'static str, eth_type: u16, ip_proto: Option<u8>) -> Protocol {
    Protocol { name, eth_type, ip_proto }
}

/// The more specific first, so that printing finds it first.
pub const PROTOCOLS: &[Protocol] = &[
    protocol("tcp", 0x0800, Some(6)),
    protocol("udp", 0x0800, Some(17)),
    protocol("sctp", 0x0800, Some(132)),
    protocol("icmp", 0x0800, Some(1)),
    protocol("tcp6", 0x86dd, Some(6)),
    protocol("udp6", 0x86dd, Some(17)),
    protocol("sctp6", 0x86dd, Some(132)),
    protocol("icmp6", 0x86dd, Some(58)),
    protocol("ip", 0x0800, None),
    protocol("ip4", 0x0800, None),
    protocol("ipv4", 0x0800, None),
    protocol("ipv6", 0x86dd, None),
    protocol("ip6", 0x86dd, None),
    protocol("arp", 0x0806, None),
    protocol("rarp", 0x8035, None),
    protocol("mpls", 0x8847, None),
    protocol("mplsm", 0x8848, None),
];

/// What the other items of a flow say about the packets, by which a name such as `nw_src` is understood.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// EtherType, if it is settled.
    pub eth_type: Option<u16>,
    /// IP protocol, if it is settled.
    pub ip_proto: Option<u8>,
}

/// The field that `name` stands for, if it is one.
pub fn field(name: &str, context: Context) -> Option<Field> {
    use Field::*;
    let arp = matches!(context.eth_type, Some(0x0806 | 0x8035));
    let ipv6 = context.eth_type == Some(0x86dd);
    Some(match name {
        "dl_src" => EthSrc,
        "dl_dst" => EthDst,
        "dl_type" => EthType,
        "dl_vlan_pcp" => VlanPcp,
        "tun_id" => TunnelId,
        "nw_proto" if arp => ArpOp,
        "nw_proto" => IpProto,
        "nw_ecn" => IpEcn,
        "nw_src" | "ip_src" if arp => ArpSpa,
        "nw_dst" | "ip_dst" if arp => ArpTpa,
        "nw_src" | "ip_src" if ipv6 => return None,
        "nw_dst" | "ip_dst" if ipv6 => return None,
        "nw_src" | "ip_src" => Ipv4Src,
        "nw_dst" | "ip_dst" => Ipv4Dst,
        "ipv6_label" => Ipv6Flabel,
        "nd_target" => Ipv6NdTarget,
        "nd_sll" => Ipv6NdSll,
        "nd_tll" => Ipv6NdTll,
        "tp_src" | "tp_dst" | "icmp_type" | "icmp_code" => return transport(name, context),
        _ => return Field::from_name(name),
    })
}

/// Ports and ICMP types depend on the protocol; ovs-ofctl knows `tp_src` as ICMP type, too.
fn transport(name: &str, context: Context) -> Option<Field> {
    use Field::*;
    let first = name == "tp_src" || name == "icmp_type";
    let ports = name.starts_with("tp_");
    Some(match (context.ip_proto?, first) {
        (6, true) if ports => TcpSrc,
        (6, false) if ports => TcpDst,
        (17, true) if ports => UdpSrc,
        (17, false) if ports => UdpDst,
        (132, true) if ports => SctpSrc,
        (132, false) if ports => SctpDst,
        (1, true) => Icmpv4Type,
        (1, false) => Icmpv4Code,
        (58, true) => Icmpv6Type,
        (58, false) => Icmpv6Code,
        _ => return None,
    })
}

/// The name under which ovs-ofctl prints a field of a match.
pub fn in_match(field: Field) -> &'static str {
    use Field::*;
    match field {
        EthSrc => "dl_src",
        EthDst => "dl_dst",
        EthType => "dl_type",
        VlanPcp => "dl_vlan_pcp",
        TunnelId => "tun_id",
        IpProto => "nw_proto",
        IpEcn => "nw_ecn",
        Ipv4Src => "nw_src",
        Ipv4Dst => "nw_dst",
        Ipv6Flabel => "ipv6_label",
        Ipv6NdTarget => "nd_target",
        Ipv6NdSll => "nd_sll",
        Ipv6NdTll => "nd_tll",
        TcpSrc | UdpSrc | SctpSrc => "tp_src",
        TcpDst | UdpDst | SctpDst => "tp_dst",
        Icmpv4Type | Icmpv6Type => "icmp_type",
        Icmpv4Code | Icmpv6Code => "icmp_code",
        InPort | InPhyPort | Metadata | VlanVid | IpDscp | IpTtl | Ipv4Id | TcpFlags | ArpOp | ArpSpa
        | ArpTpa | ArpSha | ArpTha | Ipv6Src | Ipv6Dst | MplsLabel | MplsTc | MplsBos | PbbIsid | PbbUca
        | Ipv6Exthdr | ActsetOutput | PacketType => field.name(),
        nicira_fields!() => field.name(),
    }
}

/// The field that `name` stands for in `set_field`, where nothing else tells the protocol: ICMP's are those of IPv4.
pub fn settable(name: &str) -> Option<Field> {
    match name {
        "icmp_type" => Some(Field::Icmpv4Type),
        "icmp_code" => Some(Field::Icmpv4Code),
        // As ovs-ofctl: `in_port` is the port of 16 bits, which only the extensions have.
        "in_port" => None,
        "in_port_oxm" => Some(Field::InPort),
        name => field(name, Context::default()),
    }
}

/// The name under which ovs-ofctl prints a field in `set_field`.
pub fn in_set_field(field: Field) -> &'static str {
    match field {
        Field::InPort => "in_port_oxm",
        Field::Ipv4Src => "ip_src",
        Field::Ipv4Dst => "ip_dst",
        Field::TunnelId => "tun_id",
        Field::IpProto => "nw_proto",
        Field::IpEcn => "nw_ecn",
        Field::Icmpv4Type => "icmp_type",
        Field::Icmpv4Code => "icmp_code",
        Field::Ipv6Flabel => "ipv6_label",
        Field::Ipv6NdTarget => "nd_target",
        Field::Ipv6NdSll => "nd_sll",
        Field::Ipv6NdTll => "nd_tll",
        _ => field.name(),
    }
}
