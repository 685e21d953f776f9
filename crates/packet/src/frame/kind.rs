//! The kinds of layers, and the values that each has.

use crate::header::{ether_type, ip_proto};

/// A value of a layer: its name, its width in bits, and what it is where nobody says.
pub(super) struct Value {
    pub name: &'static str,
    pub bits: u32,
    pub default: u128,
}

const fn value(name: &'static str, bits: u32, default: u128) -> Value {
    Value { name, bits, default }
}

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal [$($value:literal $bits:literal $default:expr),* $(,)?],)*) => {
        /// What a layer is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum LayerKind {
            $(#[doc = $doc] $variant,)*
        }

        impl LayerKind {
            /// Every kind.
            pub const ALL: &[LayerKind] = &[$(LayerKind::$variant),*];

            /// Its name: `ipv4`.
            pub const fn name(self) -> &'static str {
                match self { $(LayerKind::$variant => $name,)* }
            }

            /// The values that it has.
            pub(super) const fn values(self) -> &'static [Value] {
                match self {
                    $(LayerKind::$variant => {
                        const VALUES: &[Value] = &[$(value($value, $bits, $default)),*];
                        VALUES
                    })*
                }
            }
        }
    };
}

const SRC_MAC: u128 = 0x02_00_00_00_00_01;
const DST_MAC: u128 = 0x02_00_00_00_00_02;
const SRC_V4: u128 = 0xc612_0002;
const DST_V4: u128 = 0xc613_0002;
const SRC_V6: u128 = 0x2001_0002_0000_0000_0000_0000_0000_0002;
const DST_V6: u128 = 0x2001_0002_0000_8000_0000_0000_0000_0002;
const SRC_PORT: u128 = 0xc020;
const DST_PORT: u128 = 7;

kinds! {
    Ethernet "eth" "Ethernet addresses and, behind all tags, the EtherType (where no layer of ours follows)."
        ["eth_dst" 48 DST_MAC, "eth_src" 48 SRC_MAC, "eth_type" 16 0x88b5],
    Vlan "vlan" "A VLAN tag with its tag protocol identifier. The id is the 12 bits of the header."
        ["vlan_tpid" 16 0x8100, "vlan_vid" 12 1, "vlan_pcp" 3 0, "vlan_dei" 1 0],
    Mpls "mpls" "An MPLS entry. The bottom of the stack is where no further entry follows."
        ["mpls_label" 20 16, "mpls_tc" 3 0, "mpls_ttl" 8 64],
    Pbb "pbb" "A provider backbone bridge's service tag; the customer's Ethernet follows."
        ["pbb_isid" 24 1, "pbb_uca" 1 0, "pbb_pcp" 3 0, "pbb_dei" 1 0],
    Arp "arp" "ARP for Ethernet and IPv4."
        ["arp_op" 16 1, "arp_spa" 32 SRC_V4, "arp_tpa" 32 DST_V4, "arp_sha" 48 SRC_MAC, "arp_tha" 48 0],
    Ipv4 "ipv4" "IPv4 without options."
        ["ipv4_src" 32 SRC_V4, "ipv4_dst" 32 DST_V4, "ip_dscp" 6 0, "ip_ecn" 2 0, "nw_ttl" 8 64, "ip_proto" 8 253,
         "ipv4_id" 16 0],
    Ipv6 "ipv6" "IPv6."
        ["ipv6_src" 128 SRC_V6, "ipv6_dst" 128 DST_V6, "ipv6_flabel" 20 0, "ip_dscp" 6 0, "ip_ecn" 2 0, "nw_ttl" 8 64,
         "ip_proto" 8 253],
    HopByHop "hop" "IPv6 hop-by-hop options, padding alone." [],
    Destination "dest" "IPv6 destination options, padding alone." [],
    Tcp "tcp" "TCP without options." ["tcp_src" 16 SRC_PORT, "tcp_dst" 16 DST_PORT, "tcp_flags" 12 0x10],
    Udp "udp" "UDP." ["udp_src" 16 SRC_PORT, "udp_dst" 16 DST_PORT],
    Sctp "sctp" "SCTP's common header." ["sctp_src" 16 SRC_PORT, "sctp_dst" 16 DST_PORT],
    Icmpv4 "icmpv4" "ICMP for IPv4, its last four bytes zero." ["icmpv4_type" 8 8, "icmpv4_code" 8 0],
    Icmpv6 "icmpv6" "ICMP for IPv6, its last four bytes zero." ["icmpv6_type" 8 128, "icmpv6_code" 8 0],
    Solicitation "ns" "A neighbour solicitation with its source's address; the payload is an experimental option."
        ["icmpv6_type" 8 135, "icmpv6_code" 8 0, "ipv6_nd_target" 128 DST_V6, "ipv6_nd_sll" 48 SRC_MAC],
    Advertisement "na" "A neighbour advertisement with its target's address; the payload is an experimental option."
        ["icmpv6_type" 8 136, "icmpv6_code" 8 0, "ipv6_nd_target" 128 DST_V6, "ipv6_nd_tll" 48 SRC_MAC],
}

impl LayerKind {
    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<LayerKind> {
        LayerKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The IP protocol (or next header) that announces it; `None` for what does not follow IP.
    pub(super) fn proto(self) -> Option<u8> {
        match self {
            LayerKind::HopByHop => Some(ip_proto::HOP_BY_HOP),
            LayerKind::Destination => Some(ip_proto::DESTINATION),
            LayerKind::Tcp => Some(ip_proto::TCP),
            LayerKind::Udp => Some(ip_proto::UDP),
            LayerKind::Sctp => Some(ip_proto::SCTP),
            LayerKind::Icmpv4 => Some(ip_proto::ICMPV4),
            LayerKind::Icmpv6 | LayerKind::Solicitation | LayerKind::Advertisement => Some(ip_proto::ICMPV6),
            LayerKind::Ethernet
            | LayerKind::Vlan
            | LayerKind::Mpls
            | LayerKind::Pbb
            | LayerKind::Arp
            | LayerKind::Ipv4
            | LayerKind::Ipv6 => None,
        }
    }

    /// The EtherType that announces it, except a tag's, which says its own; `None` for what does not follow one.
    pub(super) fn eth_type(self) -> Option<u16> {
        match self {
            LayerKind::Mpls => Some(ether_type::MPLS),
            LayerKind::Pbb => Some(ether_type::PBB),
            LayerKind::Arp => Some(ether_type::ARP),
            LayerKind::Ipv4 => Some(ether_type::IPV4),
            LayerKind::Ipv6 => Some(ether_type::IPV6),
            LayerKind::Ethernet
            | LayerKind::Vlan
            | LayerKind::HopByHop
            | LayerKind::Destination
            | LayerKind::Tcp
            | LayerKind::Udp
            | LayerKind::Sctp
            | LayerKind::Icmpv4
            | LayerKind::Icmpv6
            | LayerKind::Solicitation
            | LayerKind::Advertisement => None,
        }
    }
}
