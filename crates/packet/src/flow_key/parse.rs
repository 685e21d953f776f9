//! From a frame's bytes to a flow key: what the software switch does for each frame.

use super::slot::{PRESENCE, presence};
use super::{FlowKey, OUTPUT_UNSET, VLAN_PRESENT};
use crate::Field;
use crate::bytes::{be16, be32, be48, be64, be128, chunk};
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
    /// Metadata, tunnel id and the Nicira extensions' fields (registers, tunnel, mark) are 0, the physical port is `in_port`, the packet type Ethernet. `vlan_vid` of
    /// a frame without a tag is 0 and present; its `vlan_pcp` is absent. ARP shows its opcode as `ip_proto`,
    /// too, which is where OpenFlow 1.0 matches it (0 if it is above 255).
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
            self.mark(all(&[Field::VlanVid]));
        }
        if let Some(eth_type) = layout.eth_type {
            self.words[5] |= u64::from(eth_type);
            self.mark(all(&[Field::EthType]));
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
        self.words[19] = u64::from(layout.extensions) << 48;
        self.words[21] = u64::from(first & 0xf_ffff) << 44;
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
                    self.words[21] |= u64::from(be16(flags, 0) & 0x0fff);
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
        self.words[20] = u64::from(be16(header, 0)) << 48;
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
        if let Some(address) = address {
            self.set(if nd.solicits { Field::Ipv6NdSll } else { Field::Ipv6NdTll }, address);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{flow_set, naive};
    use crate::{FrameTemplate, Pattern, Payload};

    /// Frames that look like frames: a template's, with some bytes changed, cut somewhere.
    fn mangled() -> impl Strategy<Value = Vec<u8>> {
        let changes = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
        (flow_set(), changes, 0usize..200, any::<u64>()).prop_map(|(flows, changes, cut, seed)| {
            let size = FrameTemplate::smallest(&flows) + 60;
            let template = FrameTemplate::new(&flows, size, Payload::Random { seed }).unwrap();
            let mut frame = vec![0; template.len()];
            template.write(0, &mut frame);
            for (at, byte) in changes {
                let at = at.index(template.payload_offset() + 8);
                frame[at] = byte;
            }
            frame.truncate(cut);
            frame
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn agrees_with_the_views(frame in mangled(), in_port: u32) {
            prop_assert_eq!(FlowKey::parse(&frame, in_port), naive(&frame, in_port).key);
        }

        #[test]
        fn agrees_with_the_views_on_any_bytes(frame in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(FlowKey::parse(&frame, 1), naive(&frame, 1).key);
        }
    }

    fn udp_frame() -> Vec<u8> {
        let flows = crate::FlowSet::new(1, vec![]).unwrap();
        let mut frame = vec![0; 60];
        FrameTemplate::new(&flows, 64, Payload::Zero).unwrap().write(0, &mut frame);
        frame
    }

    #[test]
    fn what_ends_the_headers_at_once_is_an_extension_too() {
        let flows = crate::FlowSet::new(1, vec![(Field::EthType, Pattern::Fixed(0x86dd))]).unwrap();
        let mut frame = vec![0; 80];
        FrameTemplate::new(&flows, 84, Payload::Zero).unwrap().write(0, &mut frame);
        for (next_header, bits) in [(59, 1), (50, 2), (17, 0)] {
            frame[20] = next_header;
            assert_eq!(FlowKey::parse(&frame, 1).get(Field::Ipv6Exthdr), Some(bits), "{next_header}");
        }
    }

    #[test]
    fn a_first_fragment_has_ports_and_a_later_one_none() {
        let mut frame = udp_frame();
        frame[20] = 0x20;
        assert_eq!(FlowKey::parse(&frame, 1).get(Field::UdpDst), Some(7));
        frame[21] = 1;
        let key = FlowKey::parse(&frame, 1);
        assert_eq!((key.get(Field::UdpDst), key.get(Field::IpProto)), (None, Some(17)));
    }

    #[test]
    fn a_truncated_frame_gives_what_is_there() {
        let frame = udp_frame();
        let present = |len| FlowKey::parse(&frame[..len], 1).fields().count() - 6;
        assert_eq!([13, 14, 33, 34, 41, 42].map(present), [0, 4, 4, 11, 11, 13]);
    }

    #[test]
    fn snap_and_length_frames_have_openflows_types() {
        let mut frame = udp_frame();
        frame[12..14].copy_from_slice(&[0, 46]);
        assert_eq!(FlowKey::parse(&frame, 1).get(Field::EthType), Some(0x05ff));
        frame.splice(14..14, [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        let key = FlowKey::parse(&frame, 1);
        assert_eq!((key.get(Field::EthType), key.get(Field::UdpDst)), (Some(0x0800), Some(7)));
    }

    #[test]
    fn untagged_is_vlan_zero_and_a_cut_tag_is_absent() {
        let mut frame = udp_frame();
        assert_eq!(FlowKey::parse(&frame, 1).get(Field::VlanVid), Some(0));
        frame.splice(12..12, [0x88, 0xa8, 0xe0, 5]);
        let key = FlowKey::parse(&frame, 1);
        assert_eq!((key.get(Field::VlanVid), key.get(Field::VlanPcp)), (Some(0x1005), Some(7)));
        let cut = FlowKey::parse(&frame[..16], 1);
        assert_eq!((cut.get(Field::VlanVid), cut.get(Field::EthType)), (None, None));
    }
}
