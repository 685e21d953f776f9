//! Where the headers of a frame lie: one walk over the bytes, shared by flow keys and edits.
//!
//! It follows OpenFlow (1.3.5, 7.2.3; 1.5.1, figure "matching and instruction execution"): the EtherType is
//! the one behind all VLAN tags; nothing behind MPLS or PBB is looked at; a later fragment has no L4 header.
//! It believes no length: a header that is cut off or malformed is absent, and so is all that follows it.

use crate::bytes::{be16, chunk};
use crate::header::{Extensions, ether_type, icmp_type, ip_proto};

/// Which header follows Ethernet and its tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// None that we know, or a malformed one.
    Other,
    /// ARP for Ethernet and IPv4.
    Arp,
    /// IPv4 with a sound header (its checksum is not looked at).
    Ipv4,
    /// IPv6.
    Ipv6,
    /// MPLS, at least one whole label entry.
    Mpls,
    /// A provider backbone bridge's I-TAG.
    Pbb,
}

/// Which header follows IP, when it is whole and this is not a later fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// None that we know, one that is cut off, or a later fragment.
    Other,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
    /// ICMP over IPv4.
    Icmpv4,
    /// ICMP over IPv6.
    Icmpv6,
}

/// Offsets of a frame's headers, in bytes from its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Whether there is a whole Ethernet header.
    pub ethernet: bool,
    /// Whether the first tag (at offset 12) is whole; false also when there is none.
    pub tagged: bool,
    /// EtherType behind all tags; 0x05ff for an 802.3 frame without SNAP; `None` when it is cut off.
    pub eth_type: Option<u16>,
    /// Offset of that EtherType.
    pub eth_type_at: usize,
    /// The header behind Ethernet and tags, at `l3`.
    pub network: Network,
    /// Offset of the network header.
    pub l3: usize,
    /// IPv4 protocol or IPv6 upper-layer protocol; meaningful for IPv4 and IPv6.
    pub ip_proto: u8,
    /// Offset of the byte that holds it.
    pub proto_at: usize,
    /// IPv6 extension headers seen, as OFPIEH_* bits.
    pub extensions: u16,
    /// Whether an IPv6 routing header with segments left is there: the destination is then not the one
    /// summed.
    pub routed: bool,
    /// The header behind IP, at `l4`.
    pub transport: Transport,
    /// Offset of the transport header.
    pub l4: usize,
    /// Where IP's payload ends: by IP's own length, or at the end of the bytes if that is earlier.
    pub end: usize,
}

impl Layout {
    const EMPTY: Layout = Layout {
        ethernet: false,
        tagged: false,
        eth_type: None,
        eth_type_at: 12,
        network: Network::Other,
        l3: 14,
        ip_proto: 0,
        proto_at: 0,
        extensions: 0,
        routed: false,
        transport: Transport::Other,
        l4: 0,
        end: 0,
    };

    /// Walks the headers of `frame`. Never panics.
    #[inline]
    pub fn of(frame: &[u8]) -> Layout {
        let mut layout = Layout { end: frame.len(), ..Layout::EMPTY };
        let Some(ethernet) = chunk::<14>(frame, 0) else { return layout };
        layout.ethernet = true;
        let mut found = be16(ethernet, 12);
        while matches!(found, ether_type::VLAN | ether_type::SERVICE_VLAN) {
            let Some(tag) = chunk::<4>(frame, layout.l3) else { return layout };
            layout.tagged = true;
            layout.eth_type_at = layout.l3 + 2;
            layout.l3 += 4;
            found = be16(tag, 2);
        }
        if found < ether_type::SMALLEST {
            found = layout.snap(frame);
        }
        layout.eth_type = Some(found);
        match found {
            ether_type::IPV4 => layout.ipv4(frame),
            ether_type::IPV6 => layout.ipv6(frame),
            ether_type::ARP => layout.arp(frame),
            ether_type::MPLS | ether_type::MPLS_MULTICAST if chunk::<4>(frame, layout.l3).is_some() => {
                layout.network = Network::Mpls;
            }
            ether_type::PBB if chunk::<4>(frame, layout.l3).is_some() => layout.network = Network::Pbb,
            _ => {}
        }
        layout
    }

    /// The type of an 802.3 frame with LLC and SNAP of OUI 0, or OpenFlow's "not an EtherType".
    #[cold]
    fn snap(&mut self, frame: &[u8]) -> u16 {
        match chunk::<8>(frame, self.l3) {
            Some(llc @ [0xaa, 0xaa, 0x03, 0, 0, 0, ..]) if be16(llc, 6) >= ether_type::SMALLEST => {
                self.eth_type_at = self.l3 + 6;
                self.l3 += 8;
                be16(llc, 6)
            }
            Some(_) | None => ether_type::NOT_A_TYPE,
        }
    }

    fn arp(&mut self, frame: &[u8]) {
        if let Some([0, 1, 0x08, 0x00, 6, 4, ..]) = chunk::<28>(frame, self.l3) {
            self.network = Network::Arp;
        }
    }

    #[inline]
    fn ipv4(&mut self, frame: &[u8]) {
        let Some(header) = chunk::<20>(frame, self.l3) else { return };
        let header_len = usize::from(header[0] & 0x0f) * 4;
        let total_len = usize::from(be16(header, 2));
        let sound = header[0] >> 4 == 4 && header_len >= 20 && total_len >= header_len;
        if !sound || frame.len() < self.l3 + header_len {
            return;
        }
        self.network = Network::Ipv4;
        self.ip_proto = header[9];
        self.proto_at = self.l3 + 9;
        self.end = frame.len().min(self.l3 + total_len);
        self.l4 = self.l3 + header_len;
        if be16(header, 6) & 0x1fff == 0 {
            self.transport(false);
        }
    }

    #[inline]
    fn ipv6(&mut self, frame: &[u8]) {
        let Some(header) = chunk::<40>(frame, self.l3) else { return };
        if header[0] >> 4 != 6 {
            return;
        }
        self.network = Network::Ipv6;
        self.l4 = self.l3 + 40;
        self.end = frame.len().min(self.l4 + usize::from(be16(header, 4)));
        self.ip_proto = header[6];
        self.proto_at = self.l3 + 6;
        // These two end the chain of headers, and count as extensions nevertheless.
        let ends = matches!(header[6], ip_proto::NO_NEXT_HEADER | ip_proto::ESP);
        if !(ends || ip_proto::is_extension(header[6])) || self.extensions(frame) {
            self.transport(true);
        }
    }

    /// Skips extension headers; false when the upper-layer header isn't in this frame.
    #[cold]
    fn extensions(&mut self, frame: &[u8]) -> bool {
        let payload = &frame[self.l4..self.end];
        let mut walk = Extensions::new(self.ip_proto, payload);
        let mut at = self.l4;
        for extension in &mut walk {
            self.proto_at = at;
            at += extension.bytes.len();
            self.routed |= extension.segments_left().is_some_and(|left| left > 0);
        }
        self.ip_proto = walk.next_header();
        self.extensions = walk.openflow_bits();
        self.l4 += walk.offset();
        walk.reached_upper_layer()
    }

    #[inline]
    fn transport(&mut self, v6: bool) {
        let (transport, len) = match self.ip_proto {
            ip_proto::TCP => (Transport::Tcp, 20),
            ip_proto::UDP => (Transport::Udp, 8),
            ip_proto::SCTP => (Transport::Sctp, 12),
            ip_proto::ICMPV4 if !v6 => (Transport::Icmpv4, 8),
            ip_proto::ICMPV6 if v6 => (Transport::Icmpv6, 8),
            _ => return,
        };
        if self.l4 + len <= self.end {
            self.transport = transport;
        }
    }

    /// Where the neighbour discovery fields lie, of an ICMPv6 message (RFC 4861, 4.3 and 4.4).
    ///
    /// Options that don't fill the message exactly are ignored from the first bad one on; of several
    /// addresses the first counts.
    pub(crate) fn neighbor(&self, frame: &[u8]) -> Neighbor {
        let message = frame.get(self.l4..self.end).unwrap_or_default();
        let (solicits, wanted) = match message {
            [icmp_type::NEIGHBOR_SOLICITATION, 0, ..] => (true, SOURCE_LINK_LAYER),
            [icmp_type::NEIGHBOR_ADVERTISEMENT, 0, ..] => (false, TARGET_LINK_LAYER),
            _ => return Neighbor::default(),
        };
        if message.len() < 24 {
            return Neighbor::default();
        }
        let mut at = 24;
        let mut link_layer = None;
        while let Some(&[kind, len]) = chunk::<2>(message, at) {
            let end = at + usize::from(len) * 8;
            if len == 0 || end > message.len() {
                break;
            }
            if kind == wanted && len == 1 && link_layer.is_none() {
                link_layer = Some(self.l4 + at + 2);
            }
            at = end;
        }
        Neighbor { solicits, target: Some(self.l4 + 8), link_layer }
    }
}

/// Offsets of a neighbour solicitation's or advertisement's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbor {
    /// Whether it is a solicitation.
    pub solicits: bool,
    /// Of the target address.
    pub target: Option<usize>,
    /// Of the link-layer address: the source's in a solicitation, the target's in an advertisement.
    pub link_layer: Option<usize>,
}

const SOURCE_LINK_LAYER: u8 = 1;
const TARGET_LINK_LAYER: u8 = 2;
