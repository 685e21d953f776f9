//! From a frame's bytes to a flow key: what the software switch does for each frame.

use super::slot::{PRESENCE, presence};
use super::{FlowKey, OUTPUT_UNSET, VLAN_PRESENT};
use crate::Field;
use crate::bytes::{be16, be32, be48, be64, be128, chunk};
use crate::header::icmp_type;
use crate::layout::{Layout, Network, Transport};

/// The presence bits of several fields.
const fn all(fields: &[Field]) -> u64 {
    let mut bits = 0;
    let mut i = 0;
    while i < fields.len() {
        bits |= presence(fields[i]);
        i += 1;
    }
    bits
}

const PIPELINE: u64 = all(&[
    Field::InPort,
    Field::InPhyPort,
    Field::Metadata,
    Field::TunnelId,
    Field::ActsetOutput,
    Field::PacketType,
]);
const IP: u64 = all(&[Field::IpDscp, Field::IpEcn, Field::IpProto, Field::IpTtl]);
const IPV4: u64 = IP | all(&[Field::Ipv4Id, Field::Ipv4Src, Field::Ipv4Dst]);
const IPV6: u64 = IP | all(&[Field::Ipv6Src, Field::Ipv6Dst, Field::Ipv6Flabel, Field::Ipv6Exthdr]);
const ARP: u64 =
    all(&[Field::ArpOp, Field::ArpSpa, Field::ArpTpa, Field::ArpSha, Field::ArpTha, Field::IpProto]);

impl FlowKey {
    /// The key of a frame that came in on `in_port`. Never panics: what is cut off or malformed is absent.
    ///
    /// Metadata and tunnel id are 0, the physical port is `in_port`, the packet type Ethernet. `vlan_vid` of a frame
    /// without a tag is 0 and present; its `vlan_pcp` is absent. ARP shows its opcode as `ip_proto`, too, which is
    /// where OpenFlow 1.0 matches it (0 if it is above 255).
    #[inline]
    pub fn parse(frame: &[u8], in_port: u32) -> FlowKey {
        FlowKey::from_layout(frame, &Layout::of(frame), in_port)
    }

    /// As [`FlowKey::parse`], of a frame whose layout is known already.
    #[inline]
    pub fn from_layout(frame: &[u8], layout: &Layout, in_port: u32) -> FlowKey {
        let mut key = FlowKey::default();
        key.words[1] = u64::from(in_port) << 32 | u64::from(in_port);
        key.words[22] = u64::from(OUTPUT_UNSET) << 32;
        key.words[PRESENCE] = PIPELINE;
        key.ethernet(frame, layout);
        match layout.network {
            Network::Ipv4 => key.ipv4(frame, layout),
            Network::Ipv6 => key.ipv6(frame, layout),
            Network::Arp => key.arp(frame, layout),
            Network::Mpls => key.mpls(frame, layout),
            Network::Pbb => key.pbb(frame, layout),
            Network::Other => {}
        }
        match layout.transport {
            Transport::Other => {}
            Transport::Udp | Transport::Tcp | Transport::Sctp => key.ports(frame, layout),
            Transport::Icmpv4 => key.icmpv4(frame, layout),
            Transport::Icmpv6 => key.icmpv6(frame, layout),
        }
        key
    }

    #[inline(always)]
    fn mark(&mut self, fields: u64) {
        self.words[PRESENCE] |= fields;
    }

    #[inline(always)]
    fn ethernet(&mut self, frame: &[u8], layout: &Layout) {
        let Some(header) = chunk::<14>(frame, 0) else { return };
        self.mark(all(&[Field::EthDst, Field::EthSrc]));
        self.words[4] = be48(header, 0) << 16;
        self.words[5] = be48(header, 6) << 16;
        if layout.tagged {
            if let Some(tci) = chunk::<2>(frame, 14) {
                let tci = be16(tci, 0);
                self.words[4] |= u64::from(tci & 0x0fff | VLAN_PRESENT) << 3 | u64::from(tci >> 13);
                self.mark(all(&[Field::VlanVid, Field::VlanPcp]));
            }
        } else if layout.eth_type.is_some() {
            self.mark(presence(Field::VlanVid));
        }
        if let Some(eth_type) = layout.eth_type {
            self.words[5] |= u64::from(eth_type);
            self.mark(presence(Field::EthType));
        }
    }

    #[inline(always)]
    fn ipv4(&mut self, frame: &[u8], layout: &Layout) {
        let Some(header) = chunk::<20>(frame, layout.l3) else { return };
        self.mark(IPV4);
        self.words[6] = u64::from(header[1]) << 56
            | u64::from(header[9]) << 48
            | u64::from(header[8]) << 40
            | u64::from(be16(header, 4)) << 24;
        self.words[7] = be64(header, 12);
    }

    #[inline]
    fn ipv6(&mut self, frame: &[u8], layout: &Layout) {
        let Some(header) = chunk::<40>(frame, layout.l3) else { return };
        self.mark(IPV6);
        let first = be32(header, 0);
        self.words[6] = u64::from(first >> 20 & 0xff) << 56
            | u64::from(layout.ip_proto) << 48
            | u64::from(header[7]) << 40;
        self.words[13] = be64(header, 8);
        self.words[14] = be64(header, 16);
        self.words[15] = be64(header, 24);
        self.words[16] = be64(header, 32);
        self.words[21] = u64::from(first & 0xf_ffff) << 44 | u64::from(layout.extensions);
    }

    fn arp(&mut self, frame: &[u8], layout: &Layout) {
        let Some(header) = chunk::<28>(frame, layout.l3) else { return };
        self.mark(ARP);
        let op = be16(header, 6);
        self.words[6] = u64::from(u8::try_from(op).unwrap_or(0)) << 48;
        self.words[10] = u64::from(op) << 48 | be48(header, 8);
        self.words[11] = be48(header, 18) << 16;
        self.words[12] = u64::from(be32(header, 14)) << 32 | u64::from(be32(header, 24));
    }

    fn mpls(&mut self, frame: &[u8], layout: &Layout) {
        let Some(entry) = chunk::<4>(frame, layout.l3) else { return };
        self.mark(all(&[Field::MplsLabel, Field::MplsTc, Field::MplsBos]));
        // Label, traffic class and bottom-of-stack bit lie side by side, above the TTL.
        self.words[6] = u64::from(be32(entry, 0) >> 8);
    }

    fn pbb(&mut self, frame: &[u8], layout: &Layout) {
        let Some(tag) = chunk::<4>(frame, layout.l3) else { return };
        let tag = be32(tag, 0);
        self.set(Field::PbbIsid, u128::from(tag & 0xff_ffff));
        self.set(Field::PbbUca, u128::from(tag >> 27 & 1));
    }

    #[inline(always)]
    fn ports(&mut self, frame: &[u8], layout: &Layout) {
        let Some(ports) = chunk::<4>(frame, layout.l4) else { return };
        let ports = u64::from(be32(ports, 0));
        match layout.transport {
            Transport::Udp => {
                self.mark(all(&[Field::UdpSrc, Field::UdpDst]));
                self.words[8] = ports;
            }
            Transport::Tcp => {
                self.mark(all(&[Field::TcpSrc, Field::TcpDst, Field::TcpFlags]));
                self.words[8] = ports << 32;
                if let Some(flags) = chunk::<2>(frame, layout.l4 + 12) {
                    self.words[9] = u64::from(be16(flags, 0) & 0x0fff) << 16;
                }
            }
            Transport::Sctp => {
                self.mark(all(&[Field::SctpSrc, Field::SctpDst]));
                self.words[9] = ports << 32;
            }
            Transport::Other | Transport::Icmpv4 | Transport::Icmpv6 => {}
        }
    }

    fn icmpv4(&mut self, frame: &[u8], layout: &Layout) {
        let Some(header) = chunk::<2>(frame, layout.l4) else { return };
        self.mark(all(&[Field::Icmpv4Type, Field::Icmpv4Code]));
        self.words[9] = u64::from(be16(header, 0));
    }

    fn icmpv6(&mut self, frame: &[u8], layout: &Layout) {
        let Some(header) = chunk::<2>(frame, layout.l4) else { return };
        self.mark(all(&[Field::Icmpv6Type, Field::Icmpv6Code]));
        self.words[11] |= u64::from(be16(header, 0));
        let nd = layout.neighbor(frame);
        if let Some(target) = nd.target.and_then(|at| chunk::<16>(frame, at)) {
            self.set(Field::Ipv6NdTarget, be128(target, 0));
        }
        let address = nd.link_layer.and_then(|at| chunk::<6>(frame, at)).map(|a| u128::from(be48(a, 0)));
        match (header[0], address) {
            (icmp_type::NEIGHBOR_SOLICITATION, Some(address)) => self.set(Field::Ipv6NdSll, address),
            (icmp_type::NEIGHBOR_ADVERTISEMENT, Some(address)) => self.set(Field::Ipv6NdTll, address),
            _ => {}
        }
    }
}
