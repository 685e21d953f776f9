//! From bytes to layers, for people: what a frame is, as far as the kinds of layers go.

use super::{Layer, LayerKind};
use crate::MacAddr;
use crate::header::{
    ArpView, EthernetView, IcmpView, Ipv4View, Ipv6View, MplsView, NeighborView, PbbView, SctpView, TcpView,
    UdpView, VlanView, ether_type, icmp_type, ip_proto,
};

/// The layers of a frame from the outside in, and how many bytes lie behind them. It stops where it knows no further, or
/// where a header is cut off; checksums and lengths are not looked at.
pub fn dissect(frame: &[u8]) -> (Vec<Layer>, usize) {
    let mut walk = Walk { layers: Vec::new(), rest: frame.len() };
    walk.ethernet(frame);
    (walk.layers, walk.rest)
}

struct Walk {
    layers: Vec<Layer>,
    /// Bytes behind the layers found so far.
    rest: usize,
}

impl Walk {
    fn found(&mut self, kind: LayerKind, values: &[(&'static str, u128)], rest: &[u8]) {
        self.layers.push(Layer { kind, values: values.to_vec() });
        self.rest = rest.len();
    }

    fn ethernet(&mut self, bytes: &[u8]) {
        let Ok(view) = EthernetView::new_checked(bytes) else { return };
        let values = [("eth_dst", mac(view.dst())), ("eth_src", mac(view.src())), ("eth_type", view.eth_type().into())];
        self.found(LayerKind::Ethernet, &values, view.payload());
        self.behind(view.eth_type(), view.payload());
    }

    fn behind(&mut self, eth_type: u16, bytes: &[u8]) {
        match eth_type {
            ether_type::VLAN | ether_type::SERVICE_VLAN => self.vlan(eth_type, bytes),
            ether_type::MPLS | ether_type::MPLS_MULTICAST => self.mpls(bytes),
            ether_type::PBB => self.pbb(bytes),
            ether_type::ARP => self.arp(bytes),
            ether_type::IPV4 => self.ipv4(bytes),
            ether_type::IPV6 => self.ipv6(bytes),
            _ => {}
        }
    }

    fn vlan(&mut self, tpid: u16, bytes: &[u8]) {
        let Ok(view) = VlanView::new_checked(bytes) else { return };
        let values = [
            ("vlan_tpid", tpid.into()),
            ("vlan_vid", view.vid().into()),
            ("vlan_pcp", view.pcp().into()),
            ("vlan_dei", view.dei().into()),
        ];
        self.found(LayerKind::Vlan, &values, view.payload());
        if let Some(ethernet) = self.layers.iter_mut().rev().find(|l| l.kind == LayerKind::Ethernet) {
            ethernet.values.retain(|(name, _)| *name != "eth_type");
            ethernet.values.push(("eth_type", view.eth_type().into()));
        }
        self.behind(view.eth_type(), view.payload());
    }

    fn mpls(&mut self, bytes: &[u8]) {
        let Ok(view) = MplsView::new_checked(bytes) else { return };
        let values =
            [("mpls_label", view.label().into()), ("mpls_tc", view.tc().into()), ("mpls_ttl", view.ttl().into())];
        self.found(LayerKind::Mpls, &values, view.payload());
        if !view.bottom() {
            return self.mpls(view.payload());
        }
        // Nothing announces what follows: the first four bits tell IP.
        match view.payload().first().map(|first| first >> 4) {
            Some(4) => self.ipv4(view.payload()),
            Some(6) => self.ipv6(view.payload()),
            _ => {}
        }
    }

    fn pbb(&mut self, bytes: &[u8]) {
        let Ok(view) = PbbView::new_checked(bytes) else { return };
        let values = [
            ("pbb_isid", view.isid().into()),
            ("pbb_uca", view.uca().into()),
            ("pbb_pcp", view.pcp().into()),
            ("pbb_dei", view.dei().into()),
        ];
        self.found(LayerKind::Pbb, &values, view.payload());
        self.ethernet(view.payload());
    }

    fn arp(&mut self, bytes: &[u8]) {
        let Ok(view) = ArpView::new_checked(bytes) else { return };
        let values = [
            ("arp_op", view.op().into()),
            ("arp_spa", view.spa().to_bits().into()),
            ("arp_tpa", view.tpa().to_bits().into()),
            ("arp_sha", mac(view.sha())),
            ("arp_tha", mac(view.tha())),
        ];
        self.found(LayerKind::Arp, &values, view.payload());
    }

    fn ipv4(&mut self, bytes: &[u8]) {
        let Ok(view) = Ipv4View::new_checked(bytes) else { return };
        let values = [
            ("ipv4_src", view.src().to_bits().into()),
            ("ipv4_dst", view.dst().to_bits().into()),
            ("ip_dscp", view.dscp().into()),
            ("ip_ecn", view.ecn().into()),
            ("nw_ttl", view.ttl().into()),
            ("ip_proto", view.proto().into()),
            ("ipv4_id", view.id().into()),
        ];
        self.found(LayerKind::Ipv4, &values, view.payload());
        if view.fragment_offset() == 0 {
            self.transport(view.proto(), view.payload(), false);
        }
    }

    fn ipv6(&mut self, bytes: &[u8]) {
        let Ok(view) = Ipv6View::new_checked(bytes) else { return };
        let values = [
            ("ipv6_src", view.src().to_bits()),
            ("ipv6_dst", view.dst().to_bits()),
            ("ipv6_flabel", view.flow_label().into()),
            ("ip_dscp", view.dscp().into()),
            ("ip_ecn", view.ecn().into()),
            ("nw_ttl", view.hop_limit().into()),
            ("ip_proto", view.next_header().into()),
        ];
        self.found(LayerKind::Ipv6, &values, view.payload());
        self.transport(view.next_header(), view.payload(), true);
    }

    fn transport(&mut self, proto: u8, bytes: &[u8], v6: bool) {
        match proto {
            ip_proto::HOP_BY_HOP | ip_proto::DESTINATION if v6 => {
                let [next, words, ..] = *bytes else { return };
                let Some(rest) = bytes.get(8 + 8 * usize::from(words)..) else { return };
                let hop = proto == ip_proto::HOP_BY_HOP;
                self.found(if hop { LayerKind::HopByHop } else { LayerKind::Destination }, &[], rest);
                self.transport(next, rest, v6);
            }
            ip_proto::TCP => {
                if let Ok(view) = TcpView::new_checked(bytes) {
                    let (src, dst, flags) = (view.src().into(), view.dst().into(), view.flags().into());
                    let values = [("tcp_src", src), ("tcp_dst", dst), ("tcp_flags", flags)];
                    self.found(LayerKind::Tcp, &values, view.payload());
                }
            }
            ip_proto::UDP => {
                if let Ok(view) = UdpView::new_checked(bytes) {
                    let values = [("udp_src", view.src().into()), ("udp_dst", view.dst().into())];
                    self.found(LayerKind::Udp, &values, view.payload());
                }
            }
            ip_proto::SCTP => {
                if let Ok(view) = SctpView::new_checked(bytes) {
                    let values = [("sctp_src", view.src().into()), ("sctp_dst", view.dst().into())];
                    self.found(LayerKind::Sctp, &values, view.payload());
                }
            }
            ip_proto::ICMPV4 if !v6 => {
                if let Ok(view) = IcmpView::new_checked(bytes) {
                    let values = [("icmpv4_type", view.kind().into()), ("icmpv4_code", view.code().into())];
                    self.found(LayerKind::Icmpv4, &values, view.payload());
                }
            }
            ip_proto::ICMPV6 if v6 => self.icmpv6(bytes),
            _ => {}
        }
    }

    fn icmpv6(&mut self, bytes: &[u8]) {
        let Ok(view) = IcmpView::new_checked(bytes) else { return };
        let mut values = vec![("icmpv6_type", view.kind().into()), ("icmpv6_code", view.code().into())];
        let solicits = view.kind() == icmp_type::NEIGHBOR_SOLICITATION;
        if let (true, Ok(neighbor)) = (
            solicits || view.kind() == icmp_type::NEIGHBOR_ADVERTISEMENT,
            NeighborView::new_checked(view.payload()),
        ) {
            let address = if solicits { neighbor.source() } else { neighbor.target_address() };
            let (kind, name) = if solicits {
                (LayerKind::Solicitation, "ipv6_nd_sll")
            } else {
                (LayerKind::Advertisement, "ipv6_nd_tll")
            };
            values.push(("ipv6_nd_target", neighbor.target().to_bits()));
            values.push((name, address.map_or(0, mac)));
            return self.found(kind, &values, view.payload().get(24 + 8..).unwrap_or_default());
        }
        self.found(LayerKind::Icmpv6, &values, view.payload());
    }
}

fn mac(address: MacAddr) -> u128 {
    address.to_u64().into()
}
