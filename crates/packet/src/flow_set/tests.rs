use super::*;

type Fixed<'a> = &'a [(Field, u128)];

fn set(patterns: Fixed<'_>) -> Result<FlowSet, FlowSetError> {
    FlowSet::new(4, patterns.iter().map(|&(field, value)| (field, Pattern::Fixed(value))).collect())
}

#[test]
fn headers_follow_from_the_fields() {
    let cases: [(Fixed<'_>, u128, Option<u128>); 9] = [
        (&[], 0x0800, Some(17)),
        (&[(Field::TcpDst, 80)], 0x0800, Some(6)),
        (&[(Field::Ipv6Dst, 1)], 0x86dd, Some(17)),
        (&[(Field::UdpDst, 7), (Field::Ipv6Flabel, 1)], 0x86dd, Some(17)),
        (&[(Field::IpProto, 58)], 0x86dd, Some(58)),
        (&[(Field::IpProto, 89), (Field::EthType, 0x86dd)], 0x86dd, Some(89)),
        (&[(Field::ArpTpa, 1)], 0x0806, Some(1)),
        (&[(Field::MplsLabel, 20)], 0x8847, None),
        (&[(Field::EthType, 0x88b5)], 0x88b5, None),
    ];
    for (fields, eth_type, proto) in cases {
        let flow = set(fields).unwrap().flow(0);
        assert_eq!(
            (flow.get(Field::EthType), flow.get(Field::IpProto)),
            (Some(eth_type), proto),
            "{fields:?}"
        );
    }
}

#[test]
fn refusals_name_the_field_and_what_is_allowed() {
    let cases: [(Fixed<'_>, &str); 8] = [
        (&[(Field::UdpDst, 7), (Field::UdpDst, 8)], "udp_dst: given twice; a field has one pattern"),
        (
            &[(Field::TcpDst, 7), (Field::UdpDst, 7)],
            "udp_dst: needs UDP, but tcp_dst is there; leave one of them out",
        ),
        (
            &[(Field::Ipv4Dst, 7), (Field::Ipv6Dst, 7)],
            "ipv6_dst: needs IPv6, but ipv4_dst is there; leave one of them out",
        ),
        (
            &[(Field::EthType, 0x8100)],
            "eth_type: 0x8100 is not possible; allowed: the type behind VLAN tags; name vlan_vid for a tag",
        ),
        (&[(Field::EthType, 0x05ff)], "eth_type: 0x5ff is not possible; allowed: 0x0600 to 0xffff"),
        (
            &[(Field::EthType, 0x86dd), (Field::Ipv4Dst, 7)],
            "ipv4_dst: needs IPv4, but eth_type is there; leave one of them out",
        ),
        (
            &[(Field::VlanVid, 0), (Field::VlanPcp, 7)],
            "vlan_pcp: needs a VLAN tag, but vlan_vid is there; leave one of them out",
        ),
        (
            &[(Field::Ipv6Exthdr, 64)],
            "ipv6_exthdr: 0x40 is not possible; allowed: IPv6, with the value 0 (no extension headers)",
        ),
    ];
    for (fields, message) in cases {
        assert_eq!(set(fields).unwrap_err().to_string(), message);
    }
    assert_eq!(FlowSet::new(0, vec![]), Err(FlowSetError::NoFlows));
    let vary = |field| FlowSet::new(4, vec![(field, Pattern::List(vec![1, 2]))]).unwrap_err();
    assert_eq!(vary(Field::EthType), FlowSetError::MustBeFixed { field: Field::EthType });
    let empty = FlowSet::new(4, vec![(Field::UdpDst, Pattern::List(vec![]))]);
    assert_eq!(empty, Err(FlowSetError::EmptyList { field: Field::UdpDst }));
}

#[test]
fn tags_show_in_the_vlan_id() {
    let vid = |value| set(&[(Field::VlanVid, value)]).unwrap().flow(0).get(Field::VlanVid);
    assert_eq!((vid(0), vid(5), vid(0x1005)), (Some(0), Some(0x1005), Some(0x1005)));
    assert_eq!(set(&[(Field::VlanPcp, 3)]).unwrap().flow(0).get(Field::VlanVid), Some(0x1000));
}

#[test]
fn slices_keep_the_original_index() {
    let dst = Pattern::Increment { start: 0x0a00_0000, step: 1, mask: 0xffff };
    let set = FlowSet::new(100, vec![(Field::Ipv4Dst, dst)]).unwrap();
    let last = set.slice(90, 10).slice(9, 1);
    assert_eq!((last.first(), last.count()), (99, 1));
    assert_eq!(last.flow(0), set.flow(99));
    assert_eq!(last.value(Field::Ipv4Dst, 0), Some(0x0a00_0063));
}

#[test]
fn pipeline_fields_are_there_only_if_named() {
    assert_eq!(set(&[]).unwrap().flow(0).get(Field::InPort), None);
    assert_eq!(set(&[(Field::InPort, 3)]).unwrap().flow(0).get(Field::InPort), Some(3));
}
