//! TCP segments in packets of the usual link layers.

use std::net::{IpAddr, SocketAddr};

use flowgauge_packet::header::{EthernetView, Ipv4View, Ipv6View, TcpView, VlanView, ether_type, ip_proto};

use crate::reassembly::Arrival;

/// Link layers (https://www.tcpdump.org/linktypes.html).
mod link {
    pub const NULL: i32 = 0;
    pub const ETHERNET: i32 = 1;
    pub const RAW_BSD: i32 = 12;
    pub const RAW_OPENBSD: i32 = 14;
    pub const RAW: i32 = 101;
    pub const LOOP: i32 = 108;
    pub const LINUX_SLL: i32 = 113;
    pub const IPV4: i32 = 228;
    pub const IPV6: i32 = 229;
    pub const LINUX_SLL2: i32 = 276;
}

/// A TCP segment and who sent it to whom.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
    /// Whether it aborts the connection.
    pub reset: bool,
    /// What it says.
    pub arrival: Arrival<'a>,
}

/// Whether packets of that link layer can be read.
pub fn is_known(link_type: i32) -> bool {
    matches!(
        link_type,
        link::NULL
            | link::ETHERNET
            | link::RAW_BSD
            | link::RAW_OPENBSD
            | link::RAW
            | link::LOOP
            | link::LINUX_SLL
            | link::IPV4
            | link::IPV6
            | link::LINUX_SLL2
    )
}

impl<'a> Segment<'a> {
    /// The segment in a packet; `None` if it holds none, or the middle of one (an IP fragment).
    pub fn parse(time_ns: u64, link_type: i32, packet: &'a [u8]) -> Option<Segment<'a>> {
        match link_type {
            link::ETHERNET => {
                let ethernet = EthernetView::new_checked(packet).ok()?;
                Segment::of_type(time_ns, ethernet.eth_type(), ethernet.payload())
            }
            link::LINUX_SLL => Segment::of_type(time_ns, be16(packet, 14)?, packet.get(16..)?),
            link::LINUX_SLL2 => Segment::of_type(time_ns, be16(packet, 0)?, packet.get(20..)?),
            link::NULL | link::LOOP => Segment::of_ip(time_ns, packet.get(4..)?),
            _ if is_known(link_type) => Segment::of_ip(time_ns, packet),
            _ => None,
        }
    }

    fn of_type(time_ns: u64, mut eth_type: u16, mut payload: &'a [u8]) -> Option<Segment<'a>> {
        while matches!(eth_type, ether_type::VLAN | ether_type::SERVICE_VLAN) {
            let tag = VlanView::new_checked(payload).ok()?;
            (eth_type, payload) = (tag.eth_type(), tag.payload());
        }
        match eth_type {
            ether_type::IPV4 | ether_type::IPV6 => Segment::of_ip(time_ns, payload),
            _ => None,
        }
    }

    fn of_ip(time_ns: u64, packet: &'a [u8]) -> Option<Segment<'a>> {
        match packet.first()? >> 4 {
            4 => {
                let ip = Ipv4View::new_checked(packet).ok()?;
                let whole = usize::from(ip.total_len()).checked_sub(20 + ip.options().len())?;
                let first = ip.fragment_offset() == 0 && ip.proto() == ip_proto::TCP;
                first.then(|| {
                    Segment::of_tcp(time_ns, ip.src().into(), ip.dst().into(), ip.payload(), whole)
                })?
            }
            6 => {
                let ip = Ipv6View::new_checked(packet).ok()?;
                let mut extensions = ip.extensions();
                extensions.by_ref().for_each(drop);
                let is_tcp = extensions.reached_upper_layer() && extensions.next_header() == ip_proto::TCP;
                let whole = usize::from(ip.payload_len()).checked_sub(extensions.offset())?;
                let payload = ip.payload().get(extensions.offset()..)?;
                is_tcp.then(|| Segment::of_tcp(time_ns, ip.src().into(), ip.dst().into(), payload, whole))?
            }
            _ => None,
        }
    }

    /// `whole` is the length of header and payload together, also if the packet is cut.
    fn of_tcp(time_ns: u64, src: IpAddr, dst: IpAddr, bytes: &'a [u8], whole: usize) -> Option<Segment<'a>> {
        let tcp = TcpView::new_checked(bytes).ok()?;
        let arrival = Arrival {
            time_ns,
            seq: tcp.seq(),
            syn: tcp.flags() & 2 != 0,
            fin: tcp.flags() & 1 != 0,
            payload: tcp.payload(),
            cut: whole.saturating_sub(bytes.len()) as u32,
        };
        let (from, to) = (SocketAddr::new(src, tcp.src()), SocketAddr::new(dst, tcp.dst()));
        Some(Segment { from, to, reset: tcp.flags() & 4 != 0, arrival })
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}
