use proptest::prelude::*;

use super::*;
use crate::testing::{PIPELINE, flow_set, is_sound};
use crate::{Field, FlowKey, Pattern};

fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        Just(Payload::Zero),
        any::<u8>().prop_map(Payload::Fill),
        Just(Payload::Increment),
        any::<u64>().prop_map(|seed| Payload::Random { seed }),
    ]
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![64usize..200, Just(1518), Just(LARGEST_FRAME)]
}

fn frame(template: &FrameTemplate, flow: u32) -> Vec<u8> {
    let mut buf = vec![0xa5; template.len() + 3];
    template.write(flow, &mut buf);
    assert_eq!(buf.split_off(template.len()), [0xa5; 3], "wrote behind the frame");
    for room in [0, 3, 64] {
        let mut other = vec![0xa5; template.len() + room];
        let mut repeated = other.clone();
        template.write_run(flow, [&mut other[..]].into_iter());
        template.write_repeated(flow, [&mut repeated[..]].into_iter());
        assert_eq!(other[..template.len()], buf);
        assert_eq!(other, repeated);
        let untouched = template.len().next_multiple_of(64).min(other.len());
        assert!(other[untouched..].iter().all(|&byte| byte == 0xa5), "wrote farther than the next block");
    }
    buf
}

/// 18 bytes that sum to 0 as a probe's do: the first two balance the rest.
fn balanced(rest: [u8; 16]) -> Vec<u8> {
    [&checksum_of(&rest)[..], &rest].concat()
}

fn checksum_of(bytes: &[u8]) -> [u8; 2] {
    crate::checksum::checksum(bytes).to_be_bytes()
}

proptest! {
    #[test]
    fn frames_show_their_flows(flows in flow_set(), size in size(), payload in payload(), probe: [u8; 16]) {
        let size = size.max(FrameTemplate::smallest(&flows));
        let template = FrameTemplate::new(&flows, size, payload).unwrap();
        prop_assert_eq!((template.len(), template.flows()), (size - 4, flows.count()));
        for i in 0..flows.count() {
            let mut frame = frame(&template, i);
            let (key, flow) = (FlowKey::parse(&frame, 1), flows.flow(i));
            for field in Field::ALL.iter().copied().filter(|field| !PIPELINE.contains(field)) {
                // An echo-like message of a neighbour type has no target in its flow.
                if flow.has(field) || !field.name().starts_with("ipv6_nd") {
                    prop_assert_eq!(key.get(field), flow.get(field), "{}", field);
                }
            }
            prop_assert!(is_sound(&frame));
            let at = template.payload_offset();
            prop_assert_eq!(&frame[at..at + PROBE_LEN], [0; PROBE_LEN]);
            frame[at..at + PROBE_LEN].copy_from_slice(&balanced(probe));
            prop_assert!(is_sound(&frame) || flow.has(Field::SctpSrc), "a probe breaks the checksum");
        }
    }

    #[test]
    fn the_smallest_size_is_exactly_that(flows in flow_set()) {
        let smallest = FrameTemplate::smallest(&flows);
        let refused = FrameTemplate::new(&flows, smallest - 1, Payload::Zero).unwrap_err();
        prop_assert_eq!(refused.smallest(), Some(smallest));
        let template = FrameTemplate::new(&flows, smallest, Payload::Zero).unwrap();
        prop_assert!(template.payload_offset() + PROBE_LEN <= template.len());
    }
}

fn of(fields: &[(Field, u128)]) -> FlowSet {
    FlowSet::new(1, fields.iter().map(|&(field, value)| (field, Pattern::Fixed(value))).collect()).unwrap()
}

#[test]
fn of_each_flow_only_what_differs_is_kept() {
    let changing = |field| (field, Pattern::Increment { start: 1, step: 1, mask: u128::MAX });
    let kept = |patterns| {
        let template =
            FrameTemplate::new(&FlowSet::new(300, patterns).unwrap(), 64, Payload::Increment).unwrap();
        (template.part.start, template.part.len(), template.parts.len())
    };
    // The IPv4 checksum, both addresses, both ports, the UDP checksum: 24 to 41.
    assert_eq!(kept(vec![changing(Field::Ipv4Dst)]), (24, 24, 300 * 24));
    assert_eq!(kept(vec![changing(Field::UdpSrc)]), (34, 16, 300 * 16));
    assert_eq!(kept(vec![changing(Field::EthSrc)]), (10, 16, 300 * 16));
    assert_eq!(kept(vec![changing(Field::EthSrc), changing(Field::UdpDst)]), (10, 32, 300 * 32));
    assert_eq!(kept(vec![]).1, 16);
    let all = [Field::EthDst, Field::EthSrc, Field::Ipv6Src, Field::Ipv6Dst, Field::UdpDst].map(changing);
    let many = FrameTemplate::new(&FlowSet::new(3, all.to_vec()).unwrap(), 84, Payload::Zero).unwrap();
    assert!(many.part.len() > 48 && frame(&many, 1) != frame(&many, 2));
}

#[test]
fn smallest_sizes_are_those_of_the_methods() {
    let sizes = [
        (64, of(&[])),
        (84, of(&[(Field::Ipv6Dst, 1)])),
        (76, of(&[(Field::TcpDst, 1)])),
        (68, of(&[(Field::VlanVid, 1)])),
        (64, of(&[(Field::ArpOp, 1)])),
        (64, of(&[(Field::EthType, 0x88b5)])),
    ];
    for (size, flows) in sizes {
        assert_eq!(FrameTemplate::smallest(&flows), size, "{flows:?}");
    }
}

#[test]
fn a_refused_size_says_what_is_allowed() {
    let error = FrameTemplate::new(&of(&[(Field::Ipv6Dst, 1)]), 64, Payload::Zero).unwrap_err();
    let text = "frames of 64 bytes (FCS included) are not possible with these headers; allowed: 84 to 9018";
    assert_eq!(error.to_string(), text);
    assert!(FrameTemplate::new(&of(&[]), LARGEST_FRAME + 1, Payload::Zero).is_err());
}

#[test]
fn a_frame_is_what_rfc_2544_asks_for() {
    let template = FrameTemplate::new(&of(&[]), 68, Payload::Increment).unwrap();
    let expected = "020000000002 020000000001 0800 \
        4500 0032 0000 0000 4011 ee91 c6120002 c6130002 \
        c020 0007 001e b15c \
        0000 0000 0000 0000 0000 0000 0000 0000 0000 00010203";
    let hex: String = frame(&template, 0).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, expected.replace(' ', ""));
}

#[test]
fn a_udp_checksum_of_zero_is_sent_as_ones() {
    let zero = (0..0x1_0000).find(|&port| {
        let frame = frame(&FrameTemplate::new(&of(&[(Field::UdpSrc, port)]), 64, Payload::Zero).unwrap(), 0);
        frame[40..42] == [0xff, 0xff]
    });
    assert!(zero.is_some(), "some source port gives a sum of 0xffff");
}

#[test]
fn tags_can_be_stacked() {
    let inner = [Vlan { vid: 7, pcp: 3, ..Vlan::default() }, Vlan { vid: 8, ..Vlan::default() }];
    let flows = of(&[(Field::VlanVid, 5)]);
    let template = FrameTemplate::with_inner_tags(&flows, 76, Payload::Zero, &inner).unwrap();
    let frame = frame(&template, 0);
    assert_eq!(frame[12..26], [0x88, 0xa8, 0, 5, 0x81, 0, 0x60, 7, 0x81, 0, 0, 8, 8, 0]);
    assert!(is_sound(&frame));
    let key = FlowKey::parse(&frame, 0);
    assert_eq!((key.get(Field::VlanVid), key.get(Field::UdpDst)), (Some(0x1005), Some(7)));
    let refused = FrameTemplate::with_inner_tags(&of(&[]), 80, Payload::Zero, &inner);
    assert_eq!(refused.err(), Some(TemplateError::NoOuterTag));
}

#[test]
fn a_jumbo_neighbour_message_is_all_options() {
    let flows = of(&[(Field::Ipv6NdSll, 7)]);
    let frame = frame(&FrameTemplate::new(&flows, LARGEST_FRAME, Payload::Fill(0)).unwrap(), 0);
    let options: usize = crate::header::NeighborView::new_checked(&frame[62..])
        .unwrap()
        .options()
        .map(|(_, bytes)| bytes.len())
        .sum();
    assert!(frame.len() - 78 - options < 8, "{options}");
}
