//! Matches, actions, instructions and the messages made of them.

use flowgauge_packet::Field;

use super::*;

/// Any match that the version writes and reads back in the same order.
pub fn match_(v: Version) -> BoxedStrategy<Match> {
    match v {
        Version::V1_0 => match_of_1_0().boxed(),
        _ => (vec(entry(v), 0..6), vec(raw_oxm(), 0..2))
            .prop_map(|(entries, unknown)| Match { entries, unknown })
            .boxed(),
    }
}

/// The fields that the version has an OXM for.
pub fn field(v: Version) -> impl Strategy<Value = Field> {
    let since = |f: &Field| match f {
        Field::PbbUca => Some(Version::V1_4),
        Field::PacketType => Some(Version::V1_5),
        Field::Ipv4Id => None,
        _ => Some(Version::V1_0),
    };
    let fields: Vec<_> =
        Field::ALL.iter().copied().filter(|f| since(f).is_some_and(|since| v >= since)).collect();
    prop::sample::select(fields)
}

fn entry(v: Version) -> impl Strategy<Value = MatchEntry> {
    (field(v), any::<u128>(), any::<u128>(), any::<bool>()).prop_map(|(field, value, mask, exact)| {
        let all = field.full_mask();
        MatchEntry { field, value: value & all, mask: if exact { all } else { mask & all } }
    })
}

fn raw_oxm() -> impl Strategy<Value = RawOxm> {
    let class = prop::sample::select(vec![0x0003u32, 0x0002, 0x7fff, 0x8002, 0xfffe]);
    (class, any::<u16>(), bytes(20)).prop_map(|(class, low, payload)| RawOxm {
        header: class << 16 | u32::from(low & 0xff00) | payload.len() as u32,
        payload,
    })
}

/// In canonical order, as 1.0's decoder gives it, and only what it does not ignore.
fn match_of_1_0() -> impl Strategy<Value = Match> {
    let link = (any::<Option<u16>>(), any::<Option<u64>>(), any::<Option<u64>>());
    let vlan = (0..5u8, 0..0x1000u16, 0..8u8);
    let ports = (any::<Option<u16>>(), any::<Option<u16>>());
    let network = (0..4u8, any::<Option<u8>>(), address(), address(), any::<Option<u8>>(), ports);
    (link, vlan, network).prop_map(|((in_port, dst, src), vlan, network)| {
        let mut m = Match::any();
        let mut exact = |field: Field, value: Option<u128>| {
            m.entries.extend(value.map(|v| MatchEntry::exact(field, v & field.full_mask())));
        };
        exact(Field::InPort, in_port.map(|p| PortNo::from_u16(p).0.into()));
        exact(Field::EthDst, dst.map(u128::from));
        exact(Field::EthSrc, src.map(u128::from));
        let (kind, tos, nw_src, nw_dst, proto, ports) = network;
        exact(Field::EthType, [None, Some(0x0800), Some(0x0806), Some(0x86dd)][usize::from(kind)]);
        m.entries.extend(vlan_entries(vlan));
        match kind {
            1 => ipv4(&mut m, tos, nw_src, nw_dst, proto, ports),
            2 => {
                m.entries.extend(proto.map(|op| MatchEntry::exact(Field::ArpOp, op.into())));
                m.entries.extend(prefix(Field::ArpSpa, nw_src));
                m.entries.extend(prefix(Field::ArpTpa, nw_dst));
            }
            _ => {}
        }
        m
    })
}

type Address = (u32, u32);

fn address() -> impl Strategy<Value = Address> {
    (any::<u32>(), 0..=32u32)
}

fn prefix(field: Field, (value, ignored): Address) -> Option<MatchEntry> {
    let mask = u32::MAX.checked_shl(ignored).unwrap_or(0);
    (mask != 0).then(|| MatchEntry::masked(field, (value & mask).into(), mask.into()))
}

fn vlan_entries((kind, vid, pcp): (u8, u16, u8)) -> Vec<MatchEntry> {
    let vid = MatchEntry::exact(Field::VlanVid, u128::from(vid) | 0x1000);
    let pcp = MatchEntry::exact(Field::VlanPcp, pcp.into());
    match kind {
        0 => vec![],
        1 => vec![MatchEntry::exact(Field::VlanVid, 0)],
        2 => vec![vid],
        3 => vec![vid, pcp],
        _ => vec![MatchEntry::masked(Field::VlanVid, 0x1000, 0x1000), pcp],
    }
}

fn ipv4(
    m: &mut Match,
    tos: Option<u8>,
    src: Address,
    dst: Address,
    proto: Option<u8>,
    ports: (Option<u16>, Option<u16>),
) {
    m.entries.extend(tos.map(|tos| MatchEntry::exact(Field::IpDscp, (tos >> 2).into())));
    let known = [1, 6, 17, 132];
    let proto = proto.map(|p| if p < 200 { known[usize::from(p % 4)] } else { p });
    m.entries.extend(proto.map(|p| MatchEntry::exact(Field::IpProto, p.into())));
    m.entries.extend(prefix(Field::Ipv4Src, src));
    m.entries.extend(prefix(Field::Ipv4Dst, dst));
    let (src, dst) = match proto {
        Some(1) => (Field::Icmpv4Type, Field::Icmpv4Code),
        Some(6) => (Field::TcpSrc, Field::TcpDst),
        Some(17) => (Field::UdpSrc, Field::UdpDst),
        Some(132) => (Field::SctpSrc, Field::SctpDst),
        _ => return,
    };
    m.entries.extend(ports.0.map(|p| MatchEntry::exact(src, u128::from(p) & src.full_mask())));
    m.entries.extend(ports.1.map(|p| MatchEntry::exact(dst, u128::from(p) & dst.full_mask())));
}

pub fn action(v: Version) -> BoxedStrategy<Action> {
    let common = prop_oneof![
        (port_no(v), any::<u16>()).prop_map(|(port, max_len)| Action::Output { port, max_len }),
        Just(Action::PopVlan),
        (any::<u32>(), padded(0))
            .prop_map(|(experimenter, data)| Action::Experimenter { experimenter, data }),
        (100u16..0xffff, padded(4)).prop_map(|(action_type, data)| Action::Unknown { action_type, data }),
    ];
    let own = if v == Version::V1_0 { action_of_1_0().boxed() } else { action_since_1_3(v).boxed() };
    prop_oneof![2 => common, 2 => own, 1 => nicira::action(v).prop_map(Action::Nicira)].boxed()
}

fn action_of_1_0() -> impl Strategy<Value = Action> {
    let fields = [Field::EthSrc, Field::EthDst, Field::Ipv4Src, Field::Ipv4Dst, Field::IpDscp];
    let set = (prop::sample::select(fields.to_vec()), any::<u128>());
    prop_oneof![
        any::<u16>().prop_map(Action::SetVlanVid),
        any::<u8>().prop_map(Action::SetVlanPcp),
        any::<u16>().prop_map(Action::SetTpSrc),
        any::<u16>().prop_map(Action::SetTpDst),
        (port_no(Version::V1_0), any::<u32>())
            .prop_map(|(port, queue_id)| Action::Enqueue { port, queue_id }),
        set.prop_map(|(field, value)| Action::set(field, value & field.full_mask())),
    ]
}

fn action_since_1_3(v: Version) -> impl Strategy<Value = Action> {
    // The TTL of IP is set by an action of its own.
    let settable = field(v).prop_filter("own action", |f| *f != Field::IpTtl);
    let set = (settable, any::<u128>(), any::<u128>()).prop_map(move |(field, value, mask)| {
        let all = field.full_mask();
        let mask = if v == Version::V1_5 && mask & 1 == 1 { mask & all } else { all };
        Action::SetField { field, value: value & all, mask }
    });
    let new = match v {
        Version::V1_5 => prop_oneof![any::<u32>().prop_map(Action::Meter), copy_field(v)].boxed(),
        _ => Just(Action::PopVlan).boxed(),
    };
    prop_oneof![
        2 => set,
        2 => new,
        1 => any::<u16>().prop_map(Action::PushVlan),
        1 => any::<u16>().prop_map(Action::PushMpls),
        1 => any::<u16>().prop_map(Action::PopMpls),
        1 => any::<u16>().prop_map(Action::PushPbb),
        1 => any::<u8>().prop_map(Action::SetMplsTtl),
        1 => any::<u8>().prop_map(Action::SetNwTtl),
        1 => any::<u32>().prop_map(Action::SetQueue),
        1 => any::<u32>().prop_map(Action::Group),
        1 => prop::sample::select(vec![
            Action::CopyTtlOut,
            Action::CopyTtlIn,
            Action::DecMplsTtl,
            Action::DecNwTtl,
            Action::PopPbb,
        ]),
    ]
}

fn copy_field(v: Version) -> impl Strategy<Value = Action> {
    let ids = (multipart::oxm_id(v), multipart::oxm_id(v));
    (any::<(u16, u16, u16)>(), ids).prop_map(|((n_bits, src_offset, dst_offset), (src, dst))| {
        Action::CopyField { n_bits, src_offset, dst_offset, src, dst }
    })
}

pub fn instructions(v: Version) -> BoxedStrategy<Vec<Instruction>> {
    let actions = vec(action(v), 0..5);
    if v == Version::V1_0 {
        return actions
            .prop_map(|a| if a.is_empty() { vec![] } else { vec![Instruction::ApplyActions(a)] })
            .boxed();
    }
    let metering = match v {
        Version::V1_5 => stat_trigger().boxed(),
        _ => any::<u32>().prop_map(Instruction::Meter).boxed(),
    };
    let one = prop_oneof![
        any::<u8>().prop_map(Instruction::GotoTable),
        (any::<u64>(), any::<u64>())
            .prop_map(|(metadata, mask)| Instruction::WriteMetadata { metadata, mask }),
        actions.clone().prop_map(Instruction::WriteActions),
        actions.prop_map(Instruction::ApplyActions),
        Just(Instruction::ClearActions),
        metering,
        (any::<u32>(), padded(0))
            .prop_map(|(experimenter, data)| Instruction::Experimenter { experimenter, data }),
        (100u16..0xffff, padded(4))
            .prop_map(|(instruction_type, data)| Instruction::Unknown { instruction_type, data }),
    ];
    vec(one, 0..4).boxed()
}

fn stat_trigger() -> impl Strategy<Value = Instruction> {
    let flags = flags!(StatTriggerFlags, Version::V1_5);
    (flags, since_1_4::counters())
        .prop_map(|(flags, counters)| Instruction::StatTrigger { flags, thresholds: Box::new(counters) })
}

pub fn flow_flags(v: Version) -> impl Strategy<Value = FlowModFlags> {
    (flags!(FlowModFlags, v), any::<bool>()).prop_map(move |(flags, emergency)| {
        let extra =
            if emergency && v == Version::V1_0 { FlowModFlags::EMERGENCY } else { FlowModFlags::NONE };
        flags | extra
    })
}

pub fn flow_mod(v: Version) -> impl Strategy<Value = FlowMod> {
    let marks = (any::<u64>(), any::<u64>(), any::<u8>(), code!(FlowModCommand, v));
    let times = (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>());
    let filters = (buffer_id(), port_no(v), any::<u32>(), flow_flags(v));
    (marks, times, filters, match_(v), instructions(v)).prop_map(
        move |(marks, times, filters, match_, instructions)| {
            let (cookie, cookie_mask, table_id, command) = marks;
            let (idle_timeout, hard_timeout, priority, importance) = times;
            let (buffer_id, out_port, out_group, flags) = filters;
            let whole = FlowMod {
                command,
                table_id,
                cookie,
                cookie_mask,
                idle_timeout,
                hard_timeout,
                priority,
                buffer_id,
                out_port,
                out_group,
                flags,
                importance: if v < Version::V1_4 { 0 } else { importance },
                match_,
                instructions,
            };
            match v {
                Version::V1_0 => FlowMod { cookie_mask: 0, table_id: 0, out_group: GROUP_ANY, ..whole },
                _ => whole,
            }
        },
    )
}

pub fn flow_removed(v: Version) -> impl Strategy<Value = FlowRemoved> {
    let numbers = (any::<u64>(), any::<u16>(), code!(FlowRemovedReason, v), any::<u8>());
    let times = (any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>());
    let more = (since_1_4::since(v, Version::V1_5, since_1_4::age()), since_1_4::unknown_stats(v));
    (numbers, times, any::<(u64, u64)>(), match_(v), more).prop_map(
        move |(numbers, times, counts, match_, more)| {
            let (idle_time, unknown_stats) = more;
            let (cookie, priority, reason, table_id) = numbers;
            let (duration_sec, duration_nsec, idle_timeout, hard_timeout) = times;
            let (packet_count, byte_count) = counts;
            let has = u8::from(v > Version::V1_0);
            FlowRemoved {
                cookie,
                priority,
                reason,
                table_id: table_id * has,
                duration_sec,
                duration_nsec,
                idle_timeout,
                hard_timeout: hard_timeout * u16::from(has),
                packet_count,
                byte_count,
                idle_time,
                match_,
                unknown_stats,
            }
        },
    )
}

pub fn flow_stats(v: Version) -> impl Strategy<Value = FlowStats> {
    let numbers = (any::<u8>(), any::<u16>(), flow_flags(v), any::<u64>(), any::<u16>());
    let times = (any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>());
    let more = (since_1_4::since(v, Version::V1_5, since_1_4::age()), since_1_4::unknown_stats(v));
    (numbers, times, any::<(u64, u64)>(), match_(v), instructions(v), more).prop_map(
        move |(numbers, times, counts, match_, instructions, (idle_time, unknown_stats))| {
            let (table_id, priority, flags, cookie, importance) = numbers;
            let (duration_sec, duration_nsec, idle_timeout, hard_timeout) = times;
            let (packet_count, byte_count) = counts;
            FlowStats {
                table_id,
                duration_sec,
                duration_nsec,
                priority,
                idle_timeout,
                hard_timeout,
                flags: if v == Version::V1_0 { FlowModFlags::NONE } else { flags },
                importance: if v < Version::V1_4 { 0 } else { importance },
                cookie,
                packet_count,
                byte_count,
                idle_time,
                match_,
                instructions,
                unknown_stats,
            }
        },
    )
}

pub fn flow_request(v: Version) -> impl Strategy<Value = FlowStatsRequest> {
    (any::<u8>(), port_no(v), any::<(u32, u64, u64)>(), match_(v)).prop_map(
        move |(table_id, out_port, (out_group, cookie, cookie_mask), match_)| match v {
            Version::V1_0 => FlowStatsRequest { table_id, out_port, match_, ..FlowStatsRequest::default() },
            _ => FlowStatsRequest { table_id, out_port, out_group, cookie, cookie_mask, match_ },
        },
    )
}
