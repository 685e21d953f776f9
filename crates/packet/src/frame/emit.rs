//! From layers to bytes, from the inside out: each header sums and counts what is already behind it.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Layer, LayerKind};
use crate::MacAddr;
use crate::checksum::{self, Sum, pseudo_v4, pseudo_v6};
use crate::header::{Arp, Ethernet, Header, Icmp, Ipv4, Ipv6, Mpls, Neighbor, Options, Pbb, Sctp, Tcp, Udp, Vlan};

/// An option type for experiments (RFC 4727).
const EXPERIMENTAL: u8 = 253;
/// Padding of four bytes, of an IPv6 options header without options (RFC 8200, 4.2).
const PADDING: [u8; 6] = [1, 4, 0, 0, 0, 0];

/// The frame, without FCS and without padding: `layers` from the outside in, and `payload` behind them.
///
/// Where a layer announces the next, that is what the next one is; the last one's `eth_type` or `ip_proto` counts where
/// no layer follows, and is overruled elsewhere. Behind neighbour discovery the payload, padded to 8 bytes, is an option.
pub fn build(layers: &[Layer], payload: &[u8]) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    for (at, layer) in layers.iter().enumerate().rev() {
        let head = head(layer, &layers[..at], layers.get(at + 1), &mut bytes);
        bytes.splice(0..0, head);
    }
    bytes
}

/// The header's bytes. `behind` is all that follows it.
fn head(layer: &Layer, before: &[Layer], next: Option<&Layer>, behind: &mut Vec<u8>) -> Vec<u8> {
    let get = |name| layer.get(name);
    let (byte, short) = (|name| get(name) as u8, |name| get(name) as u16);
    let (mac, v4) = (|name| MacAddr::from_u64(get(name) as u64), |name| Ipv4Addr::from_bits(get(name) as u32));
    let pseudo = |len: usize| pseudo_header(before, layer.kind(), len);
    let payload = Sum::default().bytes(behind);
    let len = behind.len();
    match layer.kind() {
        LayerKind::Ethernet => {
            let eth_type = announced(layer, next);
            bytes(Ethernet { dst: mac("eth_dst"), src: mac("eth_src"), eth_type })
        }
        LayerKind::Vlan => {
            let eth_type = announced(outer_ethernet(before).unwrap_or(layer), next);
            let (pcp, dei, vid) = (byte("vlan_pcp"), get("vlan_dei") != 0, short("vlan_vid"));
            bytes(Vlan { pcp, dei, vid, eth_type })
        }
        LayerKind::Mpls => {
            let bottom = next.is_none_or(|next| next.kind() != LayerKind::Mpls);
            bytes(Mpls { label: get("mpls_label") as u32, tc: byte("mpls_tc"), bottom, ttl: byte("mpls_ttl") })
        }
        LayerKind::Pbb => {
            let (pcp, dei, uca) = (byte("pbb_pcp"), get("pbb_dei") != 0, get("pbb_uca") != 0);
            bytes(Pbb { pcp, dei, uca, isid: get("pbb_isid") as u32 })
        }
        LayerKind::Arp => bytes(Arp {
            op: short("arp_op"),
            sha: mac("arp_sha"),
            spa: v4("arp_spa"),
            tha: mac("arp_tha"),
            tpa: v4("arp_tpa"),
        }),
        LayerKind::Ipv4 => bytes(
            Ipv4 {
                dscp: byte("ip_dscp"),
                ecn: byte("ip_ecn"),
                total_len: 0,
                id: short("ipv4_id"),
                flags: 0,
                fragment_offset: 0,
                ttl: byte("nw_ttl"),
                proto: protocol(layer, next),
                checksum: 0,
                src: v4("ipv4_src"),
                dst: v4("ipv4_dst"),
                options: Options::NONE,
            }
            .filled(len),
        ),
        LayerKind::Ipv6 => bytes(
            Ipv6 {
                dscp: byte("ip_dscp"),
                ecn: byte("ip_ecn"),
                flow_label: get("ipv6_flabel") as u32,
                payload_len: 0,
                next_header: protocol(layer, next),
                hop_limit: byte("nw_ttl"),
                src: Ipv6Addr::from_bits(get("ipv6_src")),
                dst: Ipv6Addr::from_bits(get("ipv6_dst")),
            }
            .filled(len),
        ),
        LayerKind::HopByHop | LayerKind::Destination => {
            let proto = protocol(network(before).unwrap_or(layer), next);
            [&[proto, 0][..], &PADDING].concat()
        }
        LayerKind::Tcp => {
            let (src, dst, flags) = (short("tcp_src"), short("tcp_dst"), short("tcp_flags"));
            bytes(Tcp { src, dst, flags, window: 0xffff, ..Tcp::default() }.filled(pseudo(20 + len), payload))
        }
        LayerKind::Udp => {
            let udp = Udp { src: short("udp_src"), dst: short("udp_dst"), ..Udp::default() };
            bytes(udp.filled(pseudo(8 + len), payload, len))
        }
        LayerKind::Sctp => {
            let mut sctp = Sctp { src: short("sctp_src"), dst: short("sctp_dst"), ..Sctp::default() };
            sctp.checksum = checksum::sctp(&[&bytes(sctp)[..], behind].concat());
            bytes(sctp)
        }
        LayerKind::Icmpv4 => {
            let icmp = Icmp { kind: byte("icmpv4_type"), code: byte("icmpv4_code"), ..Icmp::default() };
            bytes(icmp.filled(Sum::default(), payload))
        }
        LayerKind::Icmpv6 => {
            let icmp = Icmp { kind: byte("icmpv6_type"), code: byte("icmpv6_code"), ..Icmp::default() };
            bytes(icmp.filled(pseudo(8 + len), payload))
        }
        LayerKind::Solicitation | LayerKind::Advertisement => neighbor(layer, before, behind),
    }
}

/// ICMPv6 header, target and address; what is behind becomes an option.
fn neighbor(layer: &Layer, before: &[Layer], behind: &mut Vec<u8>) -> Vec<u8> {
    behind.resize(behind.len().next_multiple_of(8), 0);
    let words = (1 + behind.len() / 8) as u8;
    behind.splice(0..0, [EXPERIMENTAL, words, 0, 0, 0, 0, 0, 0]);
    let solicits = layer.kind() == LayerKind::Solicitation;
    let address = MacAddr::from_u64(layer.get(if solicits { "ipv6_nd_sll" } else { "ipv6_nd_tll" }) as u64);
    let message = bytes(Neighbor {
        target: Ipv6Addr::from_bits(layer.get("ipv6_nd_target")),
        source: solicits.then_some(address),
        target_address: (!solicits).then_some(address),
    });
    let (kind, code) = (layer.get("icmpv6_type") as u8, layer.get("icmpv6_code") as u8);
    let pseudo = pseudo_header(before, layer.kind(), 8 + message.len() + behind.len());
    let sum = Sum::default().bytes(&message).bytes(behind);
    let icmp = Icmp { kind, code, ..Icmp::default() }.filled(pseudo, sum);
    [bytes(icmp), message].concat()
}

fn bytes(header: impl Header) -> Vec<u8> {
    let mut buf = vec![0; header.buffer_len()];
    header.emit(&mut buf);
    buf
}

/// The EtherType of what follows; `ethernet` says it where that is no layer of ours.
fn announced(ethernet: &Layer, next: Option<&Layer>) -> u16 {
    let own = ethernet.given("eth_type").map(|t| t as u16);
    match next {
        Some(next) if next.kind() == LayerKind::Vlan => next.get("vlan_tpid") as u16,
        // Multicast MPLS is announced by a type of its own.
        Some(next) if next.kind() == LayerKind::Mpls && own == Some(crate::header::ether_type::MPLS_MULTICAST) => {
            crate::header::ether_type::MPLS_MULTICAST
        }
        Some(next) => next.kind().eth_type().unwrap_or(ethernet.get("eth_type") as u16),
        None => ethernet.get("eth_type") as u16,
    }
}

/// The protocol of what follows; `network` says it where that is no layer of ours.
fn protocol(network: &Layer, next: Option<&Layer>) -> u8 {
    next.and_then(|next| next.kind().proto()).unwrap_or(network.get("ip_proto") as u8)
}

fn outer_ethernet(before: &[Layer]) -> Option<&Layer> {
    before.iter().rev().find(|layer| layer.kind() == LayerKind::Ethernet)
}

fn network(before: &[Layer]) -> Option<&Layer> {
    before.iter().rev().find(|layer| matches!(layer.kind(), LayerKind::Ipv4 | LayerKind::Ipv6))
}

/// The pseudo header that a transport header of `len` bytes, payload included, sums.
fn pseudo_header(before: &[Layer], kind: LayerKind, len: usize) -> Sum {
    let proto = kind.proto().unwrap_or(0);
    match network(before) {
        Some(ip) if ip.kind() == LayerKind::Ipv4 => {
            pseudo_v4(ip.get("ipv4_src") as u32, ip.get("ipv4_dst") as u32, proto, len as u16)
        }
        Some(ip) => pseudo_v6(ip.get("ipv6_src"), ip.get("ipv6_dst"), proto, len as u32),
        None => Sum::default(),
    }
}
