use proptest::prelude::*;

use super::*;
use crate::header::{Header, Ipv4, Mpls, Options, ip_proto};
use crate::layout::{Layout, Network};
use crate::testing::{PIPELINE, flow_set, is_sound};
use crate::{FlowKey, FlowSet, FrameTemplate, Pattern, Payload};

/// A template's frame, with some of what templates don't make: IPv4 options, an IPv6 extension header.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    (flow_set(), any::<u64>(), 0usize..40, any::<bool>()).prop_map(|(flows, seed, more, extended)| {
        let size = FrameTemplate::smallest(&flows) + more;
        let template = FrameTemplate::new(&flows, size, Payload::Random { seed }).unwrap();
        let mut frame = vec![0; template.len()];
        template.write(0, &mut frame);
        if extended {
            extend(&mut frame);
        }
        assert!(is_sound(&frame));
        frame
    })
}

fn extend(frame: &mut Vec<u8>) {
    let layout = Layout::of(frame);
    match layout.network {
        Network::Ipv4 => {
            let header = Ipv4::parse(&frame[layout.l3..]).unwrap();
            let options = Options::new(&[1, 1, 1, 0]).unwrap();
            let header = Ipv4 { options, ..header }.filled(frame.len() - layout.l4);
            let mut bytes = vec![0; header.buffer_len()];
            header.emit(&mut bytes);
            frame.splice(layout.l3..layout.l4, bytes);
        }
        Network::Ipv6 => {
            frame.splice(layout.l4..layout.l4, [layout.ip_proto, 0, 1, 4, 0, 0, 0, 0]);
            frame[layout.l3 + 6] = ip_proto::DESTINATION;
            let len = (frame.len() - layout.l3 - 40) as u16;
            frame[layout.l3 + 4..layout.l3 + 6].copy_from_slice(&len.to_be_bytes());
        }
        Network::Other | Network::Arp | Network::Mpls | Network::Pbb => {}
    }
}

/// The key that a frame should have after a field was set: everything else as it was.
fn expected(before: &FlowKey, field: Field, value: u128) -> FlowKey {
    let mut key = *before;
    let value = value & field.full_mask();
    key.set(field, if field == Field::VlanVid { value | 0x1000 } else { value });
    if field == Field::ArpOp {
        key.set(Field::IpProto, if value < 256 { value } else { 0 });
    }
    key
}

/// Fields whose new value makes a frame of another kind.
const STRUCTURAL: [Field; 4] = [Field::EthType, Field::IpProto, Field::Icmpv6Type, Field::Icmpv6Code];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn a_set_field_shows_and_nothing_else_changes(
        mut frame in frame(), field in proptest::sample::select(Field::ALL), value: u128, again: u128
    ) {
        for value in [value, again] {
            let (before, old) = (FlowKey::parse(&frame, 1), frame.clone());
            match set_field(&mut frame, field, value) {
                Ok(()) if STRUCTURAL.contains(&field) => {
                    // What follows may no longer be what it was.
                    prop_assert!(field == Field::EthType || field == Field::IpProto || is_sound(&frame));
                    return Ok(());
                }
                Ok(()) => {
                    prop_assert!(before.has(field));
                    prop_assert_eq!(FlowKey::parse(&frame, 1), expected(&before, field, value));
                    prop_assert!(is_sound(&frame));
                }
                Err(EditError::Absent(missing)) => {
                    let untagged = field == Field::VlanVid && before.get(field) == Some(0);
                    let arp = field == Field::IpProto && before.has(Field::ArpOp);
                    prop_assert!(missing == field && (!before.has(field) || untagged || arp));
                    prop_assert_eq!(&frame, &old);
                }
                Err(error) => {
                    prop_assert_eq!(error, EditError::NotInFrames(field));
                    prop_assert!(PIPELINE.contains(&field) || field.is_nicira() || field == Field::Ipv6Exthdr);
                }
            }
        }
    }

    #[test]
    fn ttl_falls_by_one_until_it_expires(mut frame in frame(), ttl: u8) {
        if set_ttl(&mut frame, ttl).is_ok() {
            prop_assert_eq!(FlowKey::parse(&frame, 1).get(Field::IpTtl), Some(ttl.into()));
            let result = dec_ttl(&mut frame);
            prop_assert_eq!(result, if ttl > 1 { Ok(()) } else { Err(EditError::TtlExpired) });
            let left = if ttl > 1 { ttl - 1 } else { ttl };
            prop_assert_eq!(FlowKey::parse(&frame, 1).get(Field::IpTtl), Some(left.into()));
            prop_assert!(is_sound(&frame));
        } else {
            prop_assert_eq!(dec_ttl(&mut frame), Err(EditError::Absent(Field::IpTtl)));
        }
    }

    #[test]
    fn pop_undoes_push(frame in frame(), service: bool) {
        let mut slot = [vec![0xa5; 64], frame.clone()].concat();
        let mut buf = FrameBuf::new(&mut slot, 64..64 + frame.len());
        let key = FlowKey::parse(&frame, 1);
        let eth_type = key.get(Field::EthType).unwrap() as u16;

        push_vlan(&mut buf, if service { 0x88a8 } else { 0x8100 }).unwrap();
        let tagged = FlowKey::parse(buf.bytes(), 1);
        prop_assert_eq!(tagged.get(Field::VlanVid), key.get(Field::VlanVid).map(|vid| vid | 0x1000));
        prop_assert_eq!(tagged.get(Field::VlanPcp), key.get(Field::VlanPcp).or(Some(0)));
        prop_assert_eq!(tagged.get(Field::UdpDst), key.get(Field::UdpDst));

        push_mpls(&mut buf, 0x8847).unwrap();
        let labelled = FlowKey::parse(buf.bytes(), 1);
        prop_assert_eq!(labelled.get(Field::MplsLabel), key.get(Field::MplsLabel).or(Some(0)));
        prop_assert_eq!(labelled.get(Field::MplsBos), Some(u128::from(!key.has(Field::MplsLabel))));
        prop_assert_eq!(labelled.get(Field::VlanVid), tagged.get(Field::VlanVid));

        push_pbb(&mut buf).unwrap();
        prop_assert_eq!(FlowKey::parse(buf.bytes(), 1).get(Field::PbbIsid), Some(0));

        pop_pbb(&mut buf).unwrap();
        pop_mpls(&mut buf, eth_type).unwrap();
        pop_vlan(&mut buf).unwrap();
        prop_assert_eq!(buf.bytes(), frame);
    }

    #[test]
    fn no_bytes_panic(frame in proptest::collection::vec(any::<u8>(), 0..100), value: u128) {
        every_edit(&frame, value);
    }

    #[test]
    fn no_cut_panics(frame in frame(), cut in 0usize..100, value: u128) {
        every_edit(&frame[..cut.min(frame.len())], value);
    }
}

fn every_edit(frame: &[u8], value: u128) {
    for &field in Field::ALL {
        let _ = set_field(&mut frame.to_vec(), field, value);
    }
    for edit in [dec_ttl, dec_mpls_ttl, copy_ttl_in, copy_ttl_out] {
        let _ = edit(&mut frame.to_vec());
    }
    for edit in [pop_vlan, pop_pbb, push_pbb, |f: &mut FrameBuf<'_>| push_mpls(f, 0x8847)] {
        let mut slot = [&[0; 18], frame].concat();
        let _ = edit(&mut FrameBuf::new(&mut slot, 18..18 + frame.len()));
    }
    let mut slot = frame.to_vec();
    let _ = pop_mpls(&mut FrameBuf::new(&mut slot, 0..frame.len()), 0x0800);
    assert!(
        push_vlan(&mut FrameBuf::new(&mut slot, 0..frame.len()), 0x8100).is_err(),
        "there is no headroom"
    );
}

fn template_frame(fields: &[(Field, u128)]) -> Vec<u8> {
    let patterns = fields.iter().map(|&(field, value)| (field, Pattern::Fixed(value))).collect();
    let flows = FlowSet::new(1, patterns).unwrap();
    let template = FrameTemplate::new(&flows, FrameTemplate::smallest(&flows), Payload::Zero).unwrap();
    let mut frame = vec![0; template.len()];
    template.write(0, &mut frame);
    frame
}

#[test]
fn no_udp_checksum_stays_none() {
    let mut frame = template_frame(&[]);
    frame[40..42].fill(0);
    set_field(&mut frame, Field::Ipv4Dst, 0x0a00_0001).unwrap();
    set_field(&mut frame, Field::UdpDst, 99).unwrap();
    assert_eq!(frame[40..42], [0, 0]);
}

#[test]
fn a_udp_checksum_never_becomes_none() {
    for port in 0..=0xffff {
        let mut frame = template_frame(&[]);
        set_field(&mut frame, Field::UdpSrc, port).unwrap();
        assert_ne!(frame[40..42], [0, 0], "source port {port}");
    }
}

#[test]
fn a_wrong_checksum_stays_wrong() {
    let mut frame = template_frame(&[(Field::TcpDst, 80)]);
    frame[50] ^= 1;
    set_field(&mut frame, Field::Ipv4Src, 0x0a00_0001).unwrap();
    assert!(!is_sound(&frame));
    frame[50] ^= 1;
    assert!(is_sound(&frame));
}

#[test]
fn a_later_fragment_keeps_its_data() {
    let mut frame = template_frame(&[]);
    frame[21] = 1;
    let data = frame[34..].to_vec();
    set_field(&mut frame, Field::Ipv4Dst, 0x0a00_0001).unwrap();
    assert_eq!(set_field(&mut frame, Field::UdpDst, 1), Err(EditError::Absent(Field::UdpDst)));
    assert_eq!(frame[34..], data);
}

#[test]
fn a_routing_header_takes_the_destination_out_of_the_sum() {
    let mut frame = template_frame(&[(Field::Ipv6Dst, 7)]);
    frame[20] = ip_proto::ROUTING;
    frame.splice(54..54, [17, 0, 4, 1, 0, 0, 0, 0]);
    let checksum = frame[68..70].to_vec();
    set_field(&mut frame, Field::Ipv6Dst, 8).unwrap();
    assert_eq!(frame[68..70], checksum);
    set_field(&mut frame, Field::Ipv6Src, 8).unwrap();
    assert_ne!(frame[68..70], checksum);
}

#[test]
fn ttl_is_copied_in_and_out_of_mpls() {
    let mut frame = template_frame(&[(Field::MplsBos, 0)]);
    let entry = |frame: &[u8], at: usize| Mpls::parse(&frame[at..]).unwrap();
    set_mpls_ttl(&mut frame, 9).unwrap();
    copy_ttl_in(&mut frame).unwrap();
    assert_eq!((entry(&frame, 14).ttl, entry(&frame, 18).ttl), (9, 9));
    dec_mpls_ttl(&mut frame).unwrap();
    assert_eq!((entry(&frame, 14).ttl, entry(&frame, 18).ttl), (8, 9));
    copy_ttl_out(&mut frame).unwrap();
    assert_eq!(entry(&frame, 14).ttl, 9);

    let mut frame = template_frame(&[(Field::MplsLabel, 99)]);
    copy_ttl_out(&mut frame).unwrap();
    assert_eq!(entry(&frame, 14), Mpls { label: 99, tc: 0, bottom: true, ttl: 64 });
    set_mpls_ttl(&mut frame, 5).unwrap();
    copy_ttl_in(&mut frame).unwrap();
    let len = frame.len();
    let mut buf = FrameBuf::new(&mut frame, 0..len);
    pop_mpls(&mut buf, 0x0800).unwrap();
    assert_eq!(FlowKey::parse(buf.bytes(), 1).get(Field::IpTtl), Some(5));
    assert!(is_sound(buf.bytes()));
}

#[test]
fn mpls_takes_its_ttl_from_ip() {
    let mut slot = [vec![0; 8], template_frame(&[(Field::IpTtl, 33), (Field::VlanVid, 5)])].concat();
    let len = slot.len();
    let mut buf = FrameBuf::new(&mut slot, 8..len);
    push_mpls(&mut buf, 0x8847).unwrap();
    assert_eq!(buf.bytes()[12..22], [0x81, 0, 0, 5, 0x88, 0x47, 0, 0, 1, 33]);
    push_mpls(&mut buf, 0x8847).unwrap();
    assert_eq!(buf.bytes()[18..26], [0, 0, 0, 33, 0, 0, 1, 33]);
    assert_eq!(push_mpls(&mut buf, 0x8847), Err(EditError::NoRoom));
}
