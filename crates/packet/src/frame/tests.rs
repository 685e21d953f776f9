use super::*;
use crate::flow_key::VLAN_PRESENT;
use crate::{Field, FlowKey, FlowSet, FrameTemplate, Pattern, Payload};

const PAYLOAD: &[u8] = b"flowgauge feature test payload of 48 bytes......";

fn layers(text: &str) -> Vec<Layer> {
    text.split(' ').map(|name| Layer::named(name, []).unwrap()).collect()
}

/// Every stack that the tests use.
const STACKS: &[&str] = &[
    "eth", "eth arp", "eth ipv4", "eth ipv4 udp", "eth ipv4 tcp", "eth ipv4 sctp", "eth ipv4 icmpv4", "eth ipv6",
    "eth ipv6 udp", "eth ipv6 tcp", "eth ipv6 sctp", "eth ipv6 icmpv6", "eth ipv6 ns", "eth ipv6 na",
    "eth ipv6 hop udp", "eth ipv6 hop dest tcp", "eth vlan ipv4 udp", "eth vlan vlan ipv4 tcp", "eth mpls ipv4 udp",
    "eth mpls mpls ipv6 udp", "eth vlan mpls ipv4 udp", "eth pbb eth ipv4 udp", "eth vlan pbb eth vlan ipv6 tcp",
];

#[test]
fn what_was_built_is_dissected_into_the_same_layers() {
    for stack in STACKS {
        let built = layers(stack);
        let frame = build(&built, PAYLOAD);
        let (found, rest) = dissect(&frame);
        let kinds = |layers: &[Layer]| layers.iter().map(Layer::kind).collect::<Vec<_>>();
        assert_eq!(kinds(&found), kinds(&built), "{stack}");
        assert!(rest >= PAYLOAD.len(), "{stack}");
        assert!(frame.ends_with(PAYLOAD), "{stack}");
        let payload = &frame[frame.len() - PAYLOAD.len()..];
        assert_eq!(build(&found, payload), frame, "{stack}");
    }
}

#[test]
fn values_arrive_in_the_frame() {
    for kind in LayerKind::ALL {
        for value in kind.values() {
            let base = STACKS.iter().map(|s| layers(s)).find(|l| l.iter().any(|l| l.kind() == *kind)).unwrap();
            let at = base.iter().rposition(|l| l.kind() == *kind).unwrap();
            // What announces the next header can only be said where none follows.
            if matches!(value.name, "eth_type" | "ip_proto" | "icmpv6_type") && *kind != LayerKind::Icmpv6 {
                continue;
            }
            let mut changed = base[..=at].to_vec();
            let wanted = if value.name == "vlan_tpid" { 0x88a8 } else { value.default ^ 1 };
            changed[at] = changed[at].clone().with(value.name, wanted).unwrap();
            let (found, _) = dissect(&build(&changed, PAYLOAD));
            assert_eq!(found[at].get(value.name), wanted, "{} of {kind:?}", value.name);
        }
    }
}

#[test]
fn agrees_with_the_frame_template() {
    let fixed = |fields: &[(Field, u128)]| {
        FlowSet::new(1, fields.iter().map(|&(f, v)| (f, Pattern::Fixed(v))).collect()).unwrap()
    };
    let cases: &[(&str, &[(Field, u128)])] = &[
        ("eth ipv4 udp", &[(Field::UdpDst, 7)]),
        ("eth ipv4 tcp", &[(Field::TcpDst, 7)]),
        ("eth ipv4 sctp", &[(Field::SctpDst, 7)]),
        ("eth ipv4 icmpv4", &[(Field::Icmpv4Type, 8)]),
        ("eth ipv6 udp", &[(Field::EthType, 0x86dd), (Field::UdpDst, 7)]),
        ("eth ipv6 icmpv6", &[(Field::Icmpv6Type, 128)]),
        ("eth arp", &[(Field::ArpOp, 1)]),
        ("eth vlan ipv4 udp", &[(Field::VlanVid, 1), (Field::UdpDst, 7)]),
        ("eth mpls ipv4 udp", &[(Field::MplsLabel, 16)]),
    ];
    for (stack, fields) in cases {
        let template = FrameTemplate::new(&fixed(fields), 128, Payload::Zero).unwrap();
        let mut expected = vec![0; template.len()];
        template.write(0, &mut expected);
        let payload = vec![0; expected.len() - template.payload_offset()];
        assert_eq!(build(&layers(stack), &payload), expected, "{stack}");
    }
}

#[test]
fn keys_show_what_was_asked_for() {
    let vlan = Layer::named("vlan", [("vlan_vid", 5), ("vlan_pcp", 3)]).unwrap();
    let ip = Layer::named("ipv4", [("ipv4_dst", 0x0a00_0001), ("ip_dscp", 10)]).unwrap();
    let stack = [Layer::new(LayerKind::Ethernet), vlan, ip, Layer::new(LayerKind::Tcp)];
    let key = FlowKey::parse(&build(&stack, PAYLOAD), 1);
    assert_eq!(key.get(Field::VlanVid), Some(u128::from(VLAN_PRESENT) | 5));
    assert_eq!(key.get(Field::VlanPcp), Some(3));
    assert_eq!(key.get(Field::Ipv4Dst), Some(0x0a00_0001));
    assert_eq!(key.get(Field::IpDscp), Some(10));
    assert_eq!(key.get(Field::TcpDst), Some(7));
}

#[test]
fn what_no_layer_has_is_refused() {
    assert!(matches!(Layer::named("ipv7", []), Err(LayerError::Unknown { .. })));
    assert!(matches!(Layer::named("udp", [("tcp_src", 1)]), Err(LayerError::NoSuchValue { .. })));
    assert!(matches!(Layer::named("vlan", [("vlan_vid", 4096)]), Err(LayerError::TooLarge { .. })));
    assert!(Layer::named("ipv6", [("ipv6_src", u128::MAX)]).is_ok());
}

#[test]
fn cut_off_frames_give_the_layers_that_are_whole() {
    for stack in STACKS {
        let frame = build(&layers(stack), PAYLOAD);
        for len in 0..frame.len() {
            let (found, rest) = dissect(&frame[..len]);
            assert!(found.len() <= layers(stack).len() && rest <= len);
        }
    }
}
