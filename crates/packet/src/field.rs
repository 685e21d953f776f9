//! The header and pipeline fields that flow entries match and actions set, each with its name and width.
//!
//! One list serves flow keys, flow sets, OpenFlow matches and ovs-ofctl syntax. Names are those of the OXM
//! fields in lower case, which Open vSwitch accepts too.

use std::fmt;

macro_rules! fields {
    ($($variant:ident $name:literal $bits:literal $doc:literal,)*) => {
        /// A field of a frame's headers or of the pipeline.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Field {
            $(#[doc = $doc] $variant,)*
        }

        impl Field {
            /// Every field, in the order in which flow entries print them.
            pub const ALL: &[Field] = &[$(Field::$variant),*];

            /// Its name, as in flow syntax: `ipv4_dst`.
            pub const fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)* }
            }

            /// Its width in bits, at most 128.
            pub const fn bits(self) -> u32 {
                match self { $(Field::$variant => $bits,)* }
            }
        }
    };
}

fields! {
    InPort "in_port" 32 "Ingress port (OpenFlow 1.3 numbering).",
    InPhyPort "in_phy_port" 32 "Physical ingress port.",
    Metadata "metadata" 64 "Metadata passed between tables.",
    TunnelId "tunnel_id" 64 "Tunnel identifier, such as a VXLAN VNI.",
    EthDst "eth_dst" 48 "Ethernet destination.",
    EthSrc "eth_src" 48 "Ethernet source.",
    EthType "eth_type" 16 "EtherType behind all VLAN tags.",
    VlanVid "vlan_vid" 13 "VLAN id of the outer tag; bit 12 says that a tag is there (OFPVID_PRESENT), 0 that none is.",
    VlanPcp "vlan_pcp" 3 "VLAN priority of the outer tag.",
    IpDscp "ip_dscp" 6 "Differentiated services code point.",
    IpEcn "ip_ecn" 2 "Explicit congestion notification.",
    IpProto "ip_proto" 8 "IPv4 protocol or IPv6 upper-layer protocol; for ARP in OpenFlow 1.0 the opcode.",
    IpTtl "nw_ttl" 8 "IPv4 time to live or IPv6 hop limit (no OXM field; Nicira extension).",
    Ipv4Id "ipv4_id" 16 "IPv4 identification (flow sets only; nothing matches it).",
    Ipv4Src "ipv4_src" 32 "IPv4 source.",
    Ipv4Dst "ipv4_dst" 32 "IPv4 destination.",
    TcpSrc "tcp_src" 16 "TCP source port.",
    TcpDst "tcp_dst" 16 "TCP destination port.",
    TcpFlags "tcp_flags" 12 "TCP flags.",
    UdpSrc "udp_src" 16 "UDP source port.",
    UdpDst "udp_dst" 16 "UDP destination port.",
    SctpSrc "sctp_src" 16 "SCTP source port.",
    SctpDst "sctp_dst" 16 "SCTP destination port.",
    Icmpv4Type "icmpv4_type" 8 "ICMP type.",
    Icmpv4Code "icmpv4_code" 8 "ICMP code.",
    ArpOp "arp_op" 16 "ARP opcode.",
    ArpSpa "arp_spa" 32 "ARP sender IPv4 address.",
    ArpTpa "arp_tpa" 32 "ARP target IPv4 address.",
    ArpSha "arp_sha" 48 "ARP sender hardware address.",
    ArpTha "arp_tha" 48 "ARP target hardware address.",
    Ipv6Src "ipv6_src" 128 "IPv6 source.",
    Ipv6Dst "ipv6_dst" 128 "IPv6 destination.",
    Ipv6Flabel "ipv6_flabel" 20 "IPv6 flow label.",
    Icmpv6Type "icmpv6_type" 8 "ICMPv6 type.",
    Icmpv6Code "icmpv6_code" 8 "ICMPv6 code.",
    Ipv6NdTarget "ipv6_nd_target" 128 "Neighbour discovery target.",
    Ipv6NdSll "ipv6_nd_sll" 48 "Neighbour discovery source link-layer address.",
    Ipv6NdTll "ipv6_nd_tll" 48 "Neighbour discovery target link-layer address.",
    MplsLabel "mpls_label" 20 "Label of the outer MPLS entry.",
    MplsTc "mpls_tc" 3 "Traffic class of the outer MPLS entry.",
    MplsBos "mpls_bos" 1 "Bottom-of-stack bit of the outer MPLS entry.",
    PbbIsid "pbb_isid" 24 "PBB service instance.",
    PbbUca "pbb_uca" 1 "PBB use-customer-address bit.",
    Ipv6Exthdr "ipv6_exthdr" 9 "IPv6 extension header pseudo-field.",
    ActsetOutput "actset_output" 32 "Output port in the action set (1.5).",
    PacketType "packet_type" 32 "Packet type: namespace and type (1.5).",
    Reg0 "reg0" 32 "Register 0 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg1 "reg1" 32 "Register 1 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg2 "reg2" 32 "Register 2 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg3 "reg3" 32 "Register 3 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg4 "reg4" 32 "Register 4 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg5 "reg5" 32 "Register 5 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg6 "reg6" 32 "Register 6 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg7 "reg7" 32 "Register 7 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg8 "reg8" 32 "Register 8 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg9 "reg9" 32 "Register 9 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg10 "reg10" 32 "Register 10 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg11 "reg11" 32 "Register 11 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg12 "reg12" 32 "Register 12 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg13 "reg13" 32 "Register 13 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg14 "reg14" 32 "Register 14 (Nicira extension): scratch space of the pipeline, 0 at first.",
    Reg15 "reg15" 32 "Register 15 (Nicira extension): scratch space of the pipeline, 0 at first.",
    TunSrc "tun_src" 32 "Outer IPv4 source of the tunnel that the packet came through (Nicira extension).",
    TunDst "tun_dst" 32 "Outer IPv4 destination of the tunnel that the packet came through (Nicira extension).",
    PktMark "pkt_mark" 32 "Mark that the packet carries inside the host (Nicira extension).",
}

/// The fields of the Nicira extensions, as a pattern for `match`: where they are all alike, one line names them.
#[macro_export]
macro_rules! nicira_fields {
    () => {
        $crate::Field::Reg0
            | $crate::Field::Reg1
            | $crate::Field::Reg2
            | $crate::Field::Reg3
            | $crate::Field::Reg4
            | $crate::Field::Reg5
            | $crate::Field::Reg6
            | $crate::Field::Reg7
            | $crate::Field::Reg8
            | $crate::Field::Reg9
            | $crate::Field::Reg10
            | $crate::Field::Reg11
            | $crate::Field::Reg12
            | $crate::Field::Reg13
            | $crate::Field::Reg14
            | $crate::Field::Reg15
            | $crate::Field::TunSrc
            | $crate::Field::TunDst
            | $crate::Field::PktMark
    };
}

impl Field {
    /// All bits of the field set.
    pub const fn full_mask(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }

    /// Register `number` of the Nicira extensions; `None` from 16 on.
    pub const fn register(number: u8) -> Option<Field> {
        if number < 16 { Some(Field::ALL[Field::Reg0 as usize + number as usize]) } else { None }
    }

    /// Whether it is one that every packet has in the pipeline, 0 unless an action set it: the Nicira extensions.
    pub const fn is_nicira(self) -> bool {
        self as u8 >= Field::Reg0 as u8
    }

    /// The field of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Field> {
        Field::ALL.iter().copied().find(|f| f.name() == name)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for &field in Field::ALL {
            assert_eq!(Field::from_name(field.name()), Some(field));
        }
        assert_eq!(Field::from_name("nonsense"), None);
    }

    #[test]
    fn masks_are_as_wide_as_the_field() {
        for &field in Field::ALL {
            assert_eq!(field.full_mask().count_ones(), field.bits(), "{field}");
        }
    }
}
