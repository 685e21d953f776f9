//! Assigned numbers: EtherTypes, IP protocols, ICMP types.

/// EtherTypes (IEEE, RFC 9542).
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// A customer VLAN tag (802.1Q).
    pub const VLAN: u16 = 0x8100;
    /// A service VLAN tag (802.1ad).
    pub const SERVICE_VLAN: u16 = 0x88a8;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// MPLS with a downstream-assigned label (unicast).
    pub const MPLS: u16 = 0x8847;
    /// MPLS with an upstream-assigned label (multicast).
    pub const MPLS_MULTICAST: u16 = 0x8848;
    /// A provider backbone bridge's service instance tag (802.1ah).
    pub const PBB: u16 = 0x88e7;
    /// Smaller values are lengths (802.3).
    pub const SMALLEST: u16 = 0x0600;
    /// What OpenFlow shows for a frame without an EtherType (OFP_DL_TYPE_NOT_ETH_TYPE).
    pub const NOT_A_TYPE: u16 = 0x05ff;
}

/// IP protocol numbers (IANA).
pub mod ip_proto {
    /// IPv6 hop-by-hop options.
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP for IPv4.
    pub const ICMPV4: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 routing header.
    pub const ROUTING: u8 = 43;
    /// IPv6 fragment header.
    pub const FRAGMENT: u8 = 44;
    /// Encapsulating security payload.
    pub const ESP: u8 = 50;
    /// Authentication header.
    pub const AUTHENTICATION: u8 = 51;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// IPv6: nothing follows.
    pub const NO_NEXT_HEADER: u8 = 59;
    /// IPv6 destination options.
    pub const DESTINATION: u8 = 60;
    /// SCTP.
    pub const SCTP: u8 = 132;
    /// Mobility header.
    pub const MOBILITY: u8 = 135;

    /// Whether an IPv6 header of that number is an extension header that is skipped to reach the upper layer.
    /// ESP isn't: what follows it is encrypted.
    #[inline]
    pub const fn is_extension(number: u8) -> bool {
        matches!(number, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION | MOBILITY)
    }
}

/// ICMP types that mean something to us.
pub mod icmp_type {
    /// ICMPv4 echo request.
    pub const ECHO_REQUEST: u8 = 8;
    /// ICMPv6 echo request.
    pub const ECHO_REQUEST_V6: u8 = 128;
    /// Neighbour solicitation.
    pub const NEIGHBOR_SOLICITATION: u8 = 135;
    /// Neighbour advertisement.
    pub const NEIGHBOR_ADVERTISEMENT: u8 = 136;
}
