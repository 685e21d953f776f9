//! Nicira's actions and messages that a version can express.

use super::{bytes, code, flow, port_no};
use flowgauge_openflow::*;
use flowgauge_packet::Field;
use proptest::collection::vec;
use proptest::prelude::*;

fn nx_field() -> impl Strategy<Value = NxField> {
    let fields = [Field::Reg0, Field::Reg7, Field::Reg15, Field::EthSrc, Field::Ipv6Dst, Field::TunnelId];
    let more =
        [Field::TcpDst, Field::IpEcn, Field::Metadata, Field::MplsLabel, Field::PktMark, Field::VlanVid];
    let known: Vec<NxField> = fields.into_iter().chain(more).map(NxField::Field).collect();
    prop_oneof![
        3 => prop::sample::select(known),
        1 => only_nx(),
    ]
}

/// Fields that OpenFlow does not have.
fn only_nx() -> impl Strategy<Value = NxField> {
    prop_oneof![
        Just(NxField::InPort16),
        Just(NxField::VlanTci),
        Just(NxField::IpTos),
        (0..8u8).prop_map(NxField::Xreg),
        (0..4u8).prop_map(NxField::Xxreg),
    ]
}

/// Some bits of a field, at most `most`.
fn subfield(most: u16) -> impl Strategy<Value = Subfield> {
    (nx_field(), any::<(u16, u16)>()).prop_map(move |(field, (offset, bits))| {
        let width = field.bits() as u16;
        let bits = bits % width.min(most) + 1;
        Subfield { field, offset: offset % (width - bits + 1), bits }
    })
}

/// Two places of as many bits.
fn pair() -> impl Strategy<Value = (Subfield, Subfield)> {
    (subfield(64), subfield(64)).prop_map(|(a, b)| {
        let bits = a.bits.min(b.bits);
        (Subfield { bits, ..a }, Subfield { bits, ..b })
    })
}

fn low(value: u128, bits: u16) -> u128 {
    value & u128::MAX >> (128 - u32::from(bits))
}

fn spec() -> impl Strategy<Value = LearnSpec> {
    let source = |from: Subfield| LearnSource::Field { field: from.field, offset: from.offset };
    prop_oneof![
        pair().prop_map(move |(from, field)| LearnSpec::Match { field, from: source(from) }),
        pair().prop_map(move |(from, to)| LearnSpec::Load { to, from: source(from) }),
        (subfield(128), any::<u128>()).prop_map(|(field, value)| LearnSpec::Match {
            field,
            from: LearnSource::Value(low(value, field.bits))
        }),
        (subfield(128), any::<u128>())
            .prop_map(|(to, value)| LearnSpec::Load { to, from: LearnSource::Value(low(value, to.bits)) }),
        subfield(64).prop_map(LearnSpec::Output),
    ]
}

fn learn() -> impl Strategy<Value = Learn> {
    let times = any::<(u16, u16, u16, u16)>();
    let rest = (any::<(u16, u64, u32)>(), 0..0xffu8, 0..4u32, prop::option::of(subfield(1)));
    (times, rest, vec(spec(), 0..4)).prop_map(|(times, (numbers, table_id, flags, result), specs)| {
        let (idle_timeout, hard_timeout, fin_idle_timeout, fin_hard_timeout) = times;
        let (priority, cookie, limit) = numbers;
        let written = if result.is_some() { LearnFlags::WRITE_RESULT } else { LearnFlags::NONE };
        Learn {
            idle_timeout,
            hard_timeout,
            priority,
            cookie,
            flags: LearnFlags(flags) | written,
            table_id,
            fin_idle_timeout,
            fin_hard_timeout,
            limit,
            result,
            specs,
        }
    })
}

fn controller() -> impl Strategy<Value = SendToController> {
    let extra = (bytes(20), any::<bool>(), any::<Option<u32>>());
    (any::<(u16, u16)>(), 0..6u8, prop::option::of(extra)).prop_map(
        |((max_len, controller_id), reason, extra)| {
            let (userdata, pause, meter_id) = extra.unwrap_or_default();
            SendToController { max_len, controller_id, reason, userdata, pause, meter_id }
        },
    )
}

/// Ports that 16 bits have a number for.
fn port() -> BoxedStrategy<PortNo> {
    port_no(Version::V1_0)
}

fn bundle() -> impl Strategy<Value = Bundle> {
    let v = Version::V1_0;
    let choice = (code!(HashFields, v), any::<u16>(), code!(BundleChoice, v));
    (choice, vec(port(), 0..5), prop::option::of(subfield(16)))
        .prop_map(|((fields, basis, choice), members, to)| Bundle { fields, basis, choice, members, to })
}

fn multipath() -> impl Strategy<Value = Multipath> {
    let v = Version::V1_0;
    let choice = (code!(HashFields, v), any::<u16>(), code!(LinkChoice, v));
    (choice, 1..=0x10000u32, any::<u32>(), subfield(16)).prop_map(
        |((fields, basis, choice), links, argument, to)| Multipath {
            fields,
            basis,
            choice,
            links,
            argument,
            to,
        },
    )
}

/// Actions that read as they were written; since 1.5 some become OpenFlow's own.
pub fn action(v: Version) -> BoxedStrategy<Nicira> {
    let resubmit = (prop::option::of(port()), prop::option::of(0..0xffu8));
    let common = prop_oneof![
        resubmit.prop_map(|(port, table)| Nicira::Resubmit {
            port: port.filter(|&port| port != PortNo::IN_PORT),
            table
        }),
        subfield(64).prop_map(Nicira::Push),
        subfield(64).prop_map(Nicira::Pop),
        (subfield(64), any::<u16>()).prop_map(|(from, max_len)| Nicira::OutputReg { from, max_len }),
        (port(), any::<u32>()).prop_map(|(port, max_len)| Nicira::OutputTrunc { port, max_len }),
        controller().prop_map(Nicira::Controller),
        vec(any::<u16>(), 1..5).prop_map(Nicira::DecTtlCntIds),
        learn().prop_map(|learn| Nicira::Learn(Box::new(learn))),
        multipath().prop_map(Nicira::Multipath),
        bundle().prop_map(Nicira::Bundle),
        any::<(u32, u8, u8)>().prop_map(|(id, clause, clauses)| Nicira::Conjunction { id, clause, clauses }),
        any::<(u16, u16)>()
            .prop_map(|(idle_timeout, hard_timeout)| Nicira::FinTimeout { idle_timeout, hard_timeout }),
        (0..4usize).prop_flat_map(|n| vec(any::<u8>(), 8 * n + 6)).prop_map(Nicira::Note),
        prop::sample::select(vec![Nicira::PopQueue, Nicira::Exit]),
        (only_nx(), any::<(u128, u128)>()).prop_map(|(field, (value, mask))| {
            let bits = field.bits() as u16;
            Nicira::SetField { field, value: low(value, bits), mask: low(mask, bits) }
        }),
    ];
    if v >= Version::V1_5 {
        return common.boxed();
    }
    prop_oneof![
        4 => common,
        1 => (subfield(64), any::<u64>())
            .prop_map(|(to, value)| Nicira::Load { to, value: low(value.into(), to.bits) as u64 }),
        1 => pair().prop_map(|(from, to)| Nicira::Move { from, to }),
    ]
    .boxed()
}

/// Fields that 1.0's own match has no room for, in Nicira's.
fn nxm_match() -> impl Strategy<Value = Match> {
    let fields =
        [Field::Reg3, Field::TunnelId, Field::Ipv6Src, Field::Metadata, Field::EthDst, Field::PktMark];
    let masked = prop::sample::subsequence(fields.to_vec(), 0..6);
    (masked, any::<[(u128, u128); 6]>(), prop::option::of(any::<u16>())).prop_map(|(fields, values, port)| {
        let mut m = Match::any();
        m.entries.extend(port.map(|p| MatchEntry::exact(Field::InPort, PortNo::from_u16(p).0.into())));
        for (field, (value, mask)) in fields.into_iter().zip(values) {
            let mask = mask & field.full_mask();
            m.entries.push(MatchEntry { field, value: value & mask, mask });
        }
        m
    })
}

/// Flow statistics that 1.0 writes in Nicira's format.
pub fn request() -> impl Strategy<Value = RequestBody> {
    (nxm_match(), port(), any::<(u8, u64, u64)>(), any::<bool>()).prop_map(
        |(match_, out_port, (table_id, cookie, cookie_mask), sum)| {
            let cookie = if cookie_mask == 0 { 0 } else { cookie };
            let request = FlowStatsRequest {
                table_id,
                out_port,
                cookie,
                cookie_mask,
                match_,
                ..FlowStatsRequest::default()
            };
            if sum { RequestBody::NiciraAggregate(request) } else { RequestBody::NiciraFlow(request) }
        },
    )
}

pub fn reply() -> impl Strategy<Value = ReplyBody> {
    let v = Version::V1_0;
    let flow = (nxm_match(), flow::instructions(v), any::<(u64, u64, u64)>(), any::<(u16, u8)>()).prop_map(
        |(match_, instructions, (cookie, packet_count, byte_count), (priority, table_id))| FlowStats {
            match_,
            instructions,
            cookie,
            packet_count,
            byte_count,
            priority,
            table_id,
            ..FlowStats::default()
        },
    );
    let sum = any::<(u64, u64, u32)>().prop_map(|(packet_count, byte_count, flow_count)| {
        ReplyBody::NiciraAggregate(AggregateStats {
            packet_count,
            byte_count,
            flow_count,
            ..AggregateStats::default()
        })
    });
    prop_oneof![vec(flow, 0..3).prop_map(ReplyBody::NiciraFlow), sum]
}

fn packet_in() -> impl Strategy<Value = PacketIn> {
    let numbers = (any::<Option<u32>>(), any::<u16>(), any::<u8>(), any::<u64>());
    (numbers, code!(PacketInReason, Version::V1_5), nxm_match(), bytes(60)).prop_map(
        |((buffer_id, total_len, table_id, cookie), reason, match_, data)| PacketIn {
            buffer_id: buffer_id.filter(|&id| id != u32::MAX),
            total_len,
            reason,
            table_id,
            cookie,
            match_,
            data,
        },
    )
}

pub fn message(v: Version) -> BoxedStrategy<Body> {
    let common = prop_oneof![
        code!(PacketInFormat, v).prop_map(NiciraMessage::SetPacketInFormat),
        packet_in().prop_map(NiciraMessage::PacketIn),
        (packet_in(), bytes(20), bytes(20)).prop_map(|(packet, userdata, continuation)| {
            NiciraMessage::PacketIn2(Box::new(PacketIn2 { packet, userdata, continuation }))
        }),
        any::<u16>().prop_map(NiciraMessage::SetControllerId),
    ];
    if v != Version::V1_0 {
        return common.prop_map(Body::Nicira).boxed();
    }
    let old = prop_oneof![
        code!(FlowFormat, v).prop_map(NiciraMessage::SetFlowFormat),
        any::<bool>().prop_map(NiciraMessage::FlowModTableId),
        Just(NiciraMessage::FlowAge),
        (nxm_match(), flow::flow_mod(v), any::<(u8, u64)>()).prop_map(
            |(match_, flow, (table_id, cookie_mask))| {
                let flags = FlowModFlags(flow.flags.0 & 3);
                NiciraMessage::FlowMod(FlowMod { match_, table_id, cookie_mask, flags, ..flow })
            }
        ),
        (nxm_match(), flow::flow_removed(v), 0..0xffu8).prop_map(|(match_, removed, table_id)| {
            NiciraMessage::FlowRemoved(FlowRemoved { match_, table_id, ..removed })
        }),
    ];
    let roles =
        prop::sample::select(vec![ControllerRole::Equal, ControllerRole::Primary, ControllerRole::Secondary]);
    let role = (roles, any::<bool>()).prop_map(|(role, reply)| {
        let role = Role { role, generation_id: 0, short_id: 0 };
        if reply { Body::RoleReply(role) } else { Body::RoleRequest(role) }
    });
    prop_oneof![common.prop_map(Body::Nicira), old.prop_map(Body::Nicira), role].boxed()
}
