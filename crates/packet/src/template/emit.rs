//! From a flow's key to the headers of its frame.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::checksum::{self, Sum, pseudo_v4, pseudo_v6};
use crate::flow_set::defaults;
use crate::flow_set::stack::{NetworkHeader, Shim, Stack, TransportHeader};
use crate::header::*;
use crate::{Field, FlowKey, MacAddr};

/// TTL of MPLS entries.
const MPLS_TTL: u8 = 64;
/// The label below an outer entry that isn't the bottom of the stack.
const INNER_LABEL: u32 = 17;
/// An option type for experiments (RFC 4727).
const EXPERIMENTAL: u8 = 253;
/// The longest option, in bytes.
const LONGEST_OPTION: usize = 255 * 8;

/// What the frames of a template have in common.
pub(super) struct Emitter<'a> {
    pub stack: Stack,
    pub inner_tags: &'a [Vlan],
    /// Length of a frame in bytes, without FCS.
    pub len: usize,
    /// Sum of all that lies behind the headers.
    pub payload: Sum,
}

/// A buffer that headers are appended to.
struct Writer<'a> {
    buf: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, header: impl Header) {
        header.emit(&mut self.buf[self.at..]);
        self.at += header.buffer_len();
    }
}

impl Emitter<'_> {
    /// Writes the headers of the flow with that key to `buf`. `payload` is what lies behind them.
    pub(super) fn emit(&self, key: &FlowKey, payload: &[u8], buf: &mut [u8]) {
        let mut out = Writer { buf, at: 0 };
        self.tags(key, &mut out);
        match self.stack.shim {
            Shim::None => return self.network(key, payload, &mut out),
            Shim::Mpls { entries, .. } => {
                let number = |field| number(key, field);
                let (label, tc) = (number(Field::MplsLabel) as u32, number(Field::MplsTc) as u8);
                out.put(Mpls { label, tc, bottom: entries == 1, ttl: MPLS_TTL });
                if entries > 1 {
                    out.put(Mpls { label: INNER_LABEL, tc: 0, bottom: true, ttl: MPLS_TTL });
                }
            }
            Shim::Pbb => {
                let isid = number(key, Field::PbbIsid) as u32;
                out.put(Pbb { pcp: 0, dei: false, uca: number(key, Field::PbbUca) != 0, isid });
                out.put(ethernet(&defaults::behind_shim(&self.stack), self.stack.network_type()));
            }
        }
        self.network(&defaults::behind_shim(&self.stack), payload, &mut out);
    }

    fn tags(&self, key: &FlowKey, out: &mut Writer<'_>) {
        let outer_type = self.stack.outer_type();
        if !self.stack.vlan {
            return out.put(ethernet(key, outer_type));
        }
        let stacked = !self.inner_tags.is_empty();
        out.put(ethernet(key, if stacked { ether_type::SERVICE_VLAN } else { ether_type::VLAN }));
        let (pcp, vid) = (number(key, Field::VlanPcp) as u8, number(key, Field::VlanVid) as u16);
        out.put(Vlan { pcp, dei: false, vid, eth_type: if stacked { ether_type::VLAN } else { outer_type } });
        for (i, tag) in self.inner_tags.iter().enumerate() {
            let last = i + 1 == self.inner_tags.len();
            out.put(Vlan { eth_type: if last { outer_type } else { ether_type::VLAN }, ..*tag });
        }
    }

    fn network(&self, key: &FlowKey, payload: &[u8], out: &mut Writer<'_>) {
        let number = |field| number(key, field);
        match self.stack.network {
            NetworkHeader::None { .. } => {}
            NetworkHeader::Arp => out.put(Arp {
                op: number(Field::ArpOp) as u16,
                sha: MacAddr::from_u64(number(Field::ArpSha) as u64),
                spa: Ipv4Addr::from_bits(number(Field::ArpSpa) as u32),
                tha: MacAddr::from_u64(number(Field::ArpTha) as u64),
                tpa: Ipv4Addr::from_bits(number(Field::ArpTpa) as u32),
            }),
            NetworkHeader::Ipv4(transport) => {
                let len = self.len - out.at - 20;
                let header = ipv4(key).filled(len);
                out.put(header);
                let (src, dst) = (header.src.to_bits(), header.dst.to_bits());
                self.transport(transport, key, pseudo_v4(src, dst, header.proto, len as u16), payload, out);
            }
            NetworkHeader::Ipv6(transport) => {
                let len = self.len - out.at - 40;
                let header = ipv6(key).filled(len);
                out.put(header);
                let (src, dst) = (header.src.to_bits(), header.dst.to_bits());
                let pseudo = pseudo_v6(src, dst, header.next_header, len as u32);
                self.transport(transport, key, pseudo, payload, out);
            }
        }
    }

    fn transport(
        &self,
        header: TransportHeader,
        key: &FlowKey,
        pseudo: Sum,
        payload: &[u8],
        out: &mut Writer<'_>,
    ) {
        let number = |field| number(key, field);
        match header {
            TransportHeader::None { .. } => {}
            TransportHeader::Tcp => {
                let flags = number(Field::TcpFlags) as u16;
                let (src, dst) = (number(Field::TcpSrc) as u16, number(Field::TcpDst) as u16);
                out.put(
                    Tcp { src, dst, flags, window: 0xffff, ..Tcp::default() }.filled(pseudo, self.payload),
                );
            }
            TransportHeader::Udp => {
                let (src, dst) = (number(Field::UdpSrc) as u16, number(Field::UdpDst) as u16);
                let len = self.len - out.at - 8;
                out.put(Udp { src, dst, ..Udp::default() }.filled(pseudo, self.payload, len));
            }
            TransportHeader::Sctp => {
                let (src, dst) = (number(Field::SctpSrc) as u16, number(Field::SctpDst) as u16);
                let mut header = Sctp { src, dst, ..Sctp::default() };
                let mut packet = vec![0; 12];
                header.emit(&mut packet);
                packet.extend(payload);
                header.checksum = checksum::sctp(&packet);
                out.put(header);
            }
            TransportHeader::Icmpv4 => {
                let (kind, code) = (number(Field::Icmpv4Type) as u8, number(Field::Icmpv4Code) as u8);
                out.put(Icmp { kind, code, ..Icmp::default() }.filled(Sum::default(), self.payload));
            }
            TransportHeader::Icmpv6 => {
                let (kind, code) = (number(Field::Icmpv6Type) as u8, number(Field::Icmpv6Code) as u8);
                out.put(Icmp { kind, code, ..Icmp::default() }.filled(pseudo, self.payload));
            }
            TransportHeader::Neighbor { kind, .. } => {
                let address = |field| key.get(field).map(|address| MacAddr::from_u64(address as u64));
                let neighbor = Neighbor {
                    target: Ipv6Addr::from_bits(number(Field::Ipv6NdTarget)),
                    source: address(Field::Ipv6NdSll),
                    target_address: address(Field::Ipv6NdTll),
                };
                let at = out.at;
                out.at += 8;
                out.put(neighbor);
                // The two bytes of the option that holds the payload are written already.
                let behind = Sum::default().bytes(&out.buf[at + 8..out.at + 2]).sum(self.payload);
                let icmp = Icmp { kind, ..Icmp::default() }.filled(pseudo, behind);
                icmp.emit(&mut out.buf[at..]);
            }
        }
    }
}

/// Makes all behind a neighbour message's fields one experimental option after the other, each as long as can
/// be, so that switches that check options accept the message. Fewer than 8 bytes at the end belong to none.
pub(super) fn neighbor_options(mut bytes: &mut [u8]) {
    while bytes.len() >= 8 {
        let len = bytes.len().min(LONGEST_OPTION) / 8 * 8;
        let (option, rest) = bytes.split_at_mut(len);
        option[..2].copy_from_slice(&[EXPERIMENTAL, (len / 8) as u8]);
        bytes = rest;
    }
}

/// A field's value; flows' keys hold every field of their headers.
fn number(key: &FlowKey, field: Field) -> u128 {
    key.get(field).unwrap_or(0)
}

fn ethernet(key: &FlowKey, eth_type: u16) -> Ethernet {
    let mac = |field| MacAddr::from_u64(number(key, field) as u64);
    Ethernet { dst: mac(Field::EthDst), src: mac(Field::EthSrc), eth_type }
}

fn ipv4(key: &FlowKey) -> Ipv4 {
    let number = |field| number(key, field);
    Ipv4 {
        dscp: number(Field::IpDscp) as u8,
        ecn: number(Field::IpEcn) as u8,
        total_len: 0,
        id: number(Field::Ipv4Id) as u16,
        flags: 0,
        fragment_offset: 0,
        ttl: number(Field::IpTtl) as u8,
        proto: number(Field::IpProto) as u8,
        checksum: 0,
        src: Ipv4Addr::from_bits(number(Field::Ipv4Src) as u32),
        dst: Ipv4Addr::from_bits(number(Field::Ipv4Dst) as u32),
        options: Options::NONE,
    }
}

fn ipv6(key: &FlowKey) -> Ipv6 {
    let number = |field| number(key, field);
    Ipv6 {
        dscp: number(Field::IpDscp) as u8,
        ecn: number(Field::IpEcn) as u8,
        flow_label: number(Field::Ipv6Flabel) as u32,
        payload_len: 0,
        next_header: number(Field::IpProto) as u8,
        hop_limit: number(Field::IpTtl) as u8,
        src: Ipv6Addr::from_bits(number(Field::Ipv6Src)),
        dst: Ipv6Addr::from_bits(number(Field::Ipv6Dst)),
    }
}
