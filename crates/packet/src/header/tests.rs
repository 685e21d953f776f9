//! The contract, for each header.

use std::fmt::Debug;

use proptest::prelude::*;

use super::*;
use crate::MacAddr;
use crate::checksum::Sum;

/// `parse(emit(x)) == x` in a poisoned buffer; every byte of the header is written, none behind it; no
/// shorter buffer is taken for a header.
fn keeps_the_contract<H: Header + PartialEq + Debug>(header: H) {
    let len = header.buffer_len();
    let emitted = |poison: u8| {
        let mut buf = vec![poison; len + 7];
        header.emit(&mut buf);
        assert_eq!(buf[len..], [poison; 7], "a byte behind the header was written");
        buf
    };
    let buf = emitted(0xa5);
    assert_eq!(buf[..len], emitted(0x5a)[..len], "a byte of the header was not written");
    assert_eq!(H::parse(&buf).as_ref(), Ok(&header));
    assert_eq!(H::parse(&buf[..len]).as_ref(), Ok(&header));
    for cut in 0..len {
        assert_ne!(H::parse(&buf[..cut]).as_ref(), Ok(&header), "{cut} of {len} bytes");
    }
}

fn mac() -> impl Strategy<Value = MacAddr> {
    any::<[u8; 6]>().prop_map(MacAddr)
}

fn options() -> impl Strategy<Value = Options> {
    proptest::collection::vec(any::<[u8; 4]>(), 0..=10)
        .prop_map(|words| Options::new(&words.concat()).unwrap())
}

fn ipv4() -> impl Strategy<Value = Ipv4> {
    let tos = (0u8..64, 0u8..4);
    let fragment = (any::<u16>(), 0u8..8, 0u16..0x2000);
    let rest = (any::<(u8, u8, u16)>(), any::<(u32, u32)>(), options(), any::<u16>());
    (tos, fragment, rest).prop_map(|((dscp, ecn), (id, flags, fragment_offset), rest)| {
        let ((ttl, proto, checksum), (src, dst), options, len) = rest;
        let (src, dst) = (src.into(), dst.into());
        let total_len = len.max(20 + options.as_bytes().len() as u16);
        Ipv4 { dscp, ecn, total_len, id, flags, fragment_offset, ttl, proto, checksum, src, dst, options }
    })
}

fn ipv6() -> impl Strategy<Value = Ipv6> {
    let first = (0u8..64, 0u8..4, 0u32..1 << 20);
    (first, any::<(u16, u8, u8)>(), any::<(u128, u128)>()).prop_map(
        |((dscp, ecn, flow_label), b, (src, dst))| {
            let (payload_len, next_header, hop_limit) = b;
            let (src, dst) = (src.into(), dst.into());
            Ipv6 { dscp, ecn, flow_label, payload_len, next_header, hop_limit, src, dst }
        },
    )
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let words = any::<(u16, u16, u32, u32)>();
    (words, 0u16..0x1000, any::<(u16, u16, u16)>(), options()).prop_map(
        |((src, dst, seq, ack), flags, c, options)| {
            let (window, checksum, urgent) = c;
            Tcp { src, dst, seq, ack, flags, window, checksum, urgent, options }
        },
    )
}

proptest! {
    #[test]
    fn ethernet(dst in mac(), src in mac(), eth_type: u16) {
        keeps_the_contract(Ethernet { dst, src, eth_type });
    }

    #[test]
    fn vlan(pcp in 0u8..8, dei: bool, vid in 0u16..4096, eth_type: u16) {
        keeps_the_contract(Vlan { pcp, dei, vid, eth_type });
    }

    #[test]
    fn arp(op: u16, sha in mac(), spa: u32, tha in mac(), tpa: u32) {
        keeps_the_contract(Arp { op, sha, spa: spa.into(), tha, tpa: tpa.into() });
    }

    #[test]
    fn ipv4_with_options(header in ipv4(), payload in 0usize..1500) {
        keeps_the_contract(header);
        let filled = header.filled(payload);
        let mut buf = vec![0xa5; filled.buffer_len() + payload + 6];
        filled.emit(&mut buf);
        let view = Ipv4View::new_checked(&buf).unwrap();
        prop_assert!(view.verifies());
        prop_assert_eq!(view.payload().len(), payload);
    }

    #[test]
    fn ipv6_fixed_header(header in ipv6()) {
        keeps_the_contract(header);
    }

    #[test]
    fn tcp_with_options(header in tcp(), payload: Vec<u8>, pseudo: u32) {
        keeps_the_contract(header);
        let pseudo = Sum::default().u32(pseudo);
        let filled = header.filled(pseudo, Sum::default().bytes(&payload));
        let mut buf = vec![0xa5; filled.buffer_len()];
        filled.emit(&mut buf);
        buf.extend(payload);
        prop_assert!(TcpView::new_checked(&buf).unwrap().verifies(pseudo));
    }

    #[test]
    fn udp(src: u16, dst: u16, len: u16, checksum: u16, payload: Vec<u8>, pseudo: u32) {
        let header = Udp { src, dst, len, checksum };
        keeps_the_contract(header);
        let pseudo = Sum::default().u32(pseudo);
        let filled = header.filled(pseudo, Sum::default().bytes(&payload), payload.len());
        let mut buf = vec![0xa5; 8];
        filled.emit(&mut buf);
        buf.extend(payload);
        let view = UdpView::new_checked(&buf).unwrap();
        prop_assert!(view.checksum() != 0 && view.verifies(pseudo));
    }

    #[test]
    fn sctp(src: u16, dst: u16, tag: u32, checksum: u32) {
        keeps_the_contract(Sctp { src, dst, tag, checksum });
    }

    #[test]
    fn icmp(kind: u8, code: u8, checksum: u16, rest: [u8; 4], payload: Vec<u8>) {
        let header = Icmp { kind, code, checksum, rest };
        keeps_the_contract(header);
        let mut buf = vec![0xa5; 8];
        header.filled(Sum::default(), Sum::default().bytes(&payload)).emit(&mut buf);
        buf.extend(payload);
        prop_assert!(IcmpView::new_checked(&buf).unwrap().verifies(Sum::default()));
    }

    #[test]
    fn mpls(label in 0u32..1 << 20, tc in 0u8..8, bottom: bool, ttl: u8) {
        keeps_the_contract(Mpls { label, tc, bottom, ttl });
    }

    #[test]
    fn pbb(pcp in 0u8..8, dei: bool, uca: bool, isid in 0u32..1 << 24) {
        keeps_the_contract(Pbb { pcp, dei, uca, isid });
    }

    #[test]
    fn vxlan(flags: u8, vni in 0u32..1 << 24) {
        keeps_the_contract(Vxlan { flags, vni });
    }

    #[test]
    fn neighbor(target: u128, source in proptest::option::of(mac()), address in proptest::option::of(mac())) {
        let header = Neighbor { target: target.into(), source, target_address: address };
        // Poison behind the options could pass for one, so the buffer ends with the header.
        let mut buf = vec![0xa5; header.buffer_len()];
        header.emit(&mut buf);
        prop_assert_eq!(Neighbor::parse(&buf), Ok(header));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        read_everything(&bytes);
    }
}

/// Calls each parser, and what walks on from it.
fn read_everything(bytes: &[u8]) {
    let _ = (Ethernet::parse(bytes), Vlan::parse(bytes), Arp::parse(bytes), Ipv4::parse(bytes));
    let _ =
        (Ipv6::parse(bytes), Tcp::parse(bytes), Udp::parse(bytes), Sctp::parse(bytes), Icmp::parse(bytes));
    let _ = (Neighbor::parse(bytes), Mpls::parse(bytes), Pbb::parse(bytes), Vxlan::parse(bytes));
    for next in [0, 43, 44, 51, 60, 135] {
        assert!(Extensions::new(next, bytes).map(|e| e.bytes.len()).sum::<usize>() <= bytes.len());
    }
}

#[test]
fn errors_say_where_what_was_expected_and_found() {
    let cases: [(HeaderError, &str); 4] = [
        (Udp::parse(&[0; 7]).unwrap_err(), "udp: cut off: 8 bytes needed, 7 there"),
        (Ipv4::parse(&[0x65; 20]).unwrap_err(), "ipv4: byte 0: expected version 4, found 0x65"),
        (
            Tcp::parse(&[0x40; 24]).unwrap_err(),
            "tcp: byte 12: expected a header of at least 5 words, found 0x40",
        ),
        (Arp::parse(&[0; 28]).unwrap_err(), "arp: byte 0: expected Ethernet and IPv4, 0x00010800, found 0x0"),
    ];
    for (error, text) in cases {
        assert_eq!(error.to_string(), text);
    }
}

/// Hop-by-hop, routing with a segment left, first fragment, authentication, then UDP.
#[test]
fn extension_headers_are_skipped_to_the_upper_layer() {
    let bytes = [
        &[43, 0, 1, 4, 0, 0, 0, 0][..],
        &[44, 2, 0, 1, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9],
        &[51, 0, 0, 1, 0, 0, 0, 7],
        &[17, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2],
        &[0, 1, 0, 2, 0, 8, 0, 0],
    ]
    .concat();
    let mut walk = Extensions::new(ip_proto::HOP_BY_HOP, &bytes);
    let seen: Vec<_> = (&mut walk).map(|e| (e.kind, e.bytes.len(), e.segments_left())).collect();
    assert_eq!(seen, [(0, 8, None), (43, 24, Some(1)), (44, 8, None), (51, 12, None)]);
    assert_eq!((walk.next_header(), walk.offset(), walk.reached_upper_layer()), (17, bytes.len() - 8, true));
    assert_eq!(walk.openflow_bits(), 64 | 32 | 16 | 4);
}

#[test]
fn a_later_fragment_or_a_cut_ends_the_walk() {
    let later = [17, 0, 0, 8, 0, 0, 0, 7, 1, 2, 3, 4];
    let mut walk = Extensions::new(ip_proto::FRAGMENT, &later);
    assert_eq!((&mut walk).count(), 1);
    assert_eq!((walk.next_header(), walk.reached_upper_layer()), (17, false));
    let mut cut = Extensions::new(ip_proto::DESTINATION, &[17, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!((&mut cut).count(), 0);
    assert!(!cut.reached_upper_layer());
}

#[test]
fn repeated_and_misplaced_extensions_show() {
    let bits = |kinds: &[u8]| {
        let bytes: Vec<u8> =
            kinds[1..].iter().chain([&59]).flat_map(|&next| [next, 0, 0, 0, 0, 0, 0, 0]).collect();
        let mut walk = Extensions::new(kinds[0], &bytes);
        (&mut walk).for_each(drop);
        walk.openflow_bits()
    };
    assert_eq!(bits(&[0, 60, 43, 60]), 1 | 64 | 8 | 32);
    assert_eq!(bits(&[43, 0]), 1 | 32 | 64 | 256);
    assert_eq!(bits(&[43, 43]), 1 | 32 | 128);
}
