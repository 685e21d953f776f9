//! Which headers a flow set's frames have, derived from the fields that it names.

use crate::header::{ether_type, ip_proto};

/// The headers of a flow set's frames, from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// A VLAN tag behind the Ethernet addresses.
    pub vlan: bool,
    /// What lies between Ethernet and the network header.
    pub shim: Shim,
    /// The network header.
    pub network: NetworkHeader,
}

/// What lies between Ethernet and the network header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shim {
    /// Nothing.
    None,
    /// MPLS label entries.
    Mpls {
        /// The EtherType: unicast or multicast.
        eth_type: u16,
        /// 1, or 2 when the outer entry isn't the bottom of the stack.
        entries: u8,
    },
    /// A provider backbone bridge's tag and the customer's Ethernet header.
    Pbb,
}

/// The network header and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkHeader {
    /// The payload follows Ethernet at once.
    None {
        /// The EtherType.
        eth_type: u16,
    },
    /// ARP.
    Arp,
    /// IPv4 and a transport header.
    Ipv4(TransportHeader),
    /// IPv6 and a transport header.
    Ipv6(TransportHeader),
}

/// The transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportHeader {
    /// The payload follows IP at once.
    None {
        /// The protocol.
        proto: u8,
    },
    /// TCP without options.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP's common header.
    Sctp,
    /// ICMPv4, as an echo message.
    Icmpv4,
    /// ICMPv6, as an echo message.
    Icmpv6,
    /// A neighbour solicitation or advertisement.
    Neighbor {
        /// Its ICMPv6 type: 135 (solicitation) or 136 (advertisement).
        kind: u8,
        /// Whether it carries a link-layer address.
        link_layer: bool,
    },
}

impl TransportHeader {
    /// The IP protocol that announces it.
    pub fn proto(self) -> u8 {
        match self {
            TransportHeader::None { proto } => proto,
            TransportHeader::Tcp => ip_proto::TCP,
            TransportHeader::Udp => ip_proto::UDP,
            TransportHeader::Sctp => ip_proto::SCTP,
            TransportHeader::Icmpv4 => ip_proto::ICMPV4,
            TransportHeader::Icmpv6 | TransportHeader::Neighbor { .. } => ip_proto::ICMPV6,
        }
    }

    /// Bytes up to where the payload begins.
    ///
    /// Neighbour discovery allows nothing but options behind its fields, so the payload is an option of an
    /// experimental type (RFC 4727), whose two-byte head counts as header.
    pub fn header_len(self) -> usize {
        match self {
            TransportHeader::None { .. } => 0,
            TransportHeader::Tcp => 20,
            TransportHeader::Udp | TransportHeader::Icmpv4 | TransportHeader::Icmpv6 => 8,
            TransportHeader::Sctp => 12,
            TransportHeader::Neighbor { link_layer, .. } => 24 + if link_layer { 8 } else { 0 } + 2,
        }
    }
}

impl Stack {
    /// Bytes from the frame's first to where the payload begins.
    pub fn header_len(&self) -> usize {
        self.network_at()
            + match self.network {
                NetworkHeader::None { .. } => 0,
                NetworkHeader::Arp => 28,
                NetworkHeader::Ipv4(transport) => 20 + transport.header_len(),
                NetworkHeader::Ipv6(transport) => 40 + transport.header_len(),
            }
    }

    /// Bytes from the frame's first to the network header.
    pub(crate) fn network_at(&self) -> usize {
        let shim = match self.shim {
            Shim::None => 0,
            Shim::Mpls { entries, .. } => 4 * usize::from(entries),
            Shim::Pbb => 4 + 14,
        };
        14 + if self.vlan { 4 } else { 0 } + shim
    }

    /// The EtherType behind the VLAN tag.
    pub(crate) fn outer_type(&self) -> u16 {
        match self.shim {
            Shim::None => self.network_type(),
            Shim::Mpls { eth_type, .. } => eth_type,
            Shim::Pbb => ether_type::PBB,
        }
    }

    /// The EtherType of the network header.
    pub(crate) fn network_type(&self) -> u16 {
        match self.network {
            NetworkHeader::None { eth_type } => eth_type,
            NetworkHeader::Arp => ether_type::ARP,
            NetworkHeader::Ipv4(_) => ether_type::IPV4,
            NetworkHeader::Ipv6(_) => ether_type::IPV6,
        }
    }

    /// Whether flows' keys show ARP.
    pub(crate) fn is_arp(&self) -> bool {
        self.network == NetworkHeader::Arp && self.shim == Shim::None
    }
}
