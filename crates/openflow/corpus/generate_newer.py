"""The corpus of what 1.4 and 1.5 brought: messages and structures that 1.3 does not have, or has in another form.

generate.py runs this, and says how the corpus is made.
"""

from __future__ import annotations

import struct

from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from corpus_tools import FRAME, XID, A, B, mac, match_in_port, osken, parsed, properties, raw

d14, d15 = ProtocolDesc(5), ProtocolDesc(6)
p14, p15 = d14.ofproto_parser, d15.ofproto_parser
o14, o15 = d14.ofproto, d15.ofproto

Corpus = dict[str, dict[str, bytes]]

EXPERIMENTER = (0xFFFF, struct.pack("!II", 0x4321, 6) + b"data")
"""A property of an experimenter's."""


def both(make) -> dict[str, bytes]:
    """The same message in 1.4 and 1.5: `make` gets description, parser and constants."""
    return {"1.4": make(d14, p14, o14), "1.5": make(d15, p15, o15)}


def both_raw(kind: int, *parts: bytes) -> dict[str, bytes]:
    return {version: parsed(raw(version, kind, *parts)) for version in ("1.4", "1.5")}


def reply(version: str, kind: int, *parts: bytes) -> bytes:
    return parsed(raw(version, 19, struct.pack("!HH4x", kind, 0), *parts))


def sized(*parts: bytes) -> bytes:
    """A 16-bit length, its own two bytes included, and what it is the length of."""
    content = b"".join(parts)
    return struct.pack("!H", 2 + len(content)) + content


# --- 1.4 ---


def ethernet() -> tuple[int, bytes]:
    features = [0b1010100000000001, 0b100000000001, 0b1111010001000000, 0b1]
    return 0, struct.pack("!4x6I", *features, 10**6, 10**7)


def optical() -> tuple[int, bytes]:
    return 1, struct.pack("!4x7IHH", 0b1011, 1, 2, 3, 4, 5, 6, 7, 8)


def port14(number: int, *props: tuple[int, bytes]) -> bytes:
    tail = properties(*props)
    return struct.pack("!IH2x6s2x16sII", number, 40 + len(tail), mac(A), b"eth3", 0b1100101, 0b101) + tail


def async14(desc, parser, ofproto) -> bytes:
    masks = enumerate([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1, 2])
    return osken(parser.OFPSetAsync(desc, [parser.OFPAsyncConfigPropReasons(kind, 8, mask) for kind, mask in masks]))


def table_mod(desc, parser, ofproto) -> bytes:
    eviction = parser.OFPTableModPropEviction(ofproto.OFPTMPT_EVICTION, flags=0b011)
    vacancy = parser.OFPTableModPropVacancy(ofproto.OFPTMPT_VACANCY, vacancy_down=10, vacancy_up=20, vacancy=0)
    return osken(parser.OFPTableMod(desc, 3, ofproto.OFPTC_EVICTION | ofproto.OFPTC_VACANCY_EVENTS, [eviction, vacancy]))


def table_desc() -> bytes:
    props = properties((2, struct.pack("!I", 0b101)), (3, struct.pack("!BBBx", 10, 20, 15)), EXPERIMENTER)
    return sized(struct.pack("!BxI", 3, 0b1100), props)


def port_mod(desc, parser, ofproto) -> bytes:
    ethernet_ = parser.OFPPortModPropEthernet(ofproto.OFPPMPT_ETHERNET, advertise=0b1010)
    optical_ = parser.OFPPortModPropOptical(
        ofproto.OFPPMPT_OPTICAL, configure=0b101, freq_lmda=1, fl_offset=2, grid_span=3, tx_pwr=4
    )
    return osken(parser.OFPPortMod(desc, 3, A, 0b1100001, 0b1100101, [ethernet_, optical_]))


def flow_mod(desc, parser, ofproto) -> bytes:
    return osken(
        parser.OFPFlowMod(
            desc, cookie=7, priority=9, out_port=ofproto.OFPP_ANY, out_group=ofproto.OFPG_ANY, importance=0x1234,
            match=parser.OFPMatch(in_port=1, eth_type=0x88E7, pbb_isid=0x123456, pbb_uca=1),
            instructions=[parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, [parser.OFPActionOutput(2, 0)])],
        )
    )  # fmt: skip


def bundle(kind: int):
    def make(desc, parser, ofproto) -> bytes:
        return osken(parser.OFPBundleCtrlMsg(desc, 0x11223344, kind, ofproto.OFPBF_ATOMIC | ofproto.OFPBF_ORDERED, []))

    return make


def bundle_add(desc, parser, ofproto) -> bytes:
    barrier = parser.OFPBarrierRequest(desc)
    barrier.set_xid(XID)
    return osken(parser.OFPBundleAddMsg(desc, 0x11223344, ofproto.OFPBF_ATOMIC, barrier, []))


def bundle_add_with_property() -> dict[str, bytes]:
    inner = struct.pack("!BBHI", 5, 2, 13, XID) + b"hello" + bytes(3)
    return {"1.4": raw("1.4", 34, struct.pack("!I2xH", 7, 2), inner, properties(EXPERIMENTER))}


def monitor(desc, parser, ofproto) -> bytes:
    return osken(
        parser.OFPFlowMonitorRequest(
            desc, 0, 77, 3, 5, ofproto.OFPFMF_INITIAL | ofproto.OFPFMF_ADD | ofproto.OFPFMF_INSTRUCTIONS, 4,
            ofproto.OFPFMC_ADD, parser.OFPMatch(in_port=4),
        )
    )  # fmt: skip


def flow_update(event: int) -> bytes:
    instruction = struct.pack("!HH4xHHIH6x", 4, 24, 0, 16, 2, 0)
    head = struct.pack("!HBBHHH4xQ", event, 2, 0, 10, 20, 1000, 0x1122)
    return sized(head, match_in_port(4), instruction)


def flow_updates() -> bytes:
    """Those that os-ken parses: of `full` updates it knows the initial one alone, of pauses not their end."""
    return flow_update(0) + struct.pack("!HHI", 8, 4, 99) + struct.pack("!HH4x", 8, 5)


def queue_desc() -> bytes:
    props = properties((1, struct.pack("!H2x", 500)), (2, struct.pack("!H2x", 900)), EXPERIMENTER)
    return struct.pack("!IIH6x", 3, 7, 16 + len(props)) + props


def port_stats() -> bytes:
    counters = struct.pack("!8Q", *range(101, 109))
    ethernet_ = (0, struct.pack("!4x4Q", *range(109, 113)))
    optical_ = (1, struct.pack("!4x7I4H", 0b1110111, *range(1, 11)))
    return sized(struct.pack("!2xIII", 3, 7, 8), counters, properties(ethernet_, optical_, EXPERIMENTER))


def table_features14() -> bytes:
    props = properties((16, b"\1\2\3"), (0xFFFF, struct.pack("!II", 0x4321, 6) + b"data"))
    return sized(struct.pack("!B5x32sQQII", 1, b"first", 0xFF, 0xFF00, 0b1100, 1000), props)


def newer_1_4() -> Corpus:
    queue_stats = sized(struct.pack("!6xIIQQQII", 3, 7, 11, 12, 13, 14, 15), properties(EXPERIMENTER))
    role_status = struct.pack("!IB3xQ", 3, 0, 0x1122334455667788)
    ports = (port14(3, ethernet(), EXPERIMENTER), port14(4, optical()))
    bad_property = struct.pack("!HH", 14, 2) + b"data"
    messages = {
        "set async": both(async14),
        "get async reply with a property of an experimenter": both_raw(27, properties((1, b"\0\0\0\5"), EXPERIMENTER)),
        "table mod": both(table_mod),
        "port mod": both(port_mod),
        "port status of an Ethernet and an optical port": both_raw(
            12, b"\2" + bytes(7), port14(3, ethernet(), optical())
        ),
        "flow mod with importance, and PBB's UCA": both(flow_mod),
        "role status": both_raw(30, role_status, properties(EXPERIMENTER)),
        "table status": both_raw(31, b"\3" + bytes(7), table_desc()),
        "request forward": {"1.4": parsed(raw("1.4", 32, group_delete(5))), "1.5": parsed(raw("1.5", 32, group_delete(6)))},
        "bundle: open": both(bundle(0)),
        "bundle: commit": both(bundle(4)),
        "bundle: add": both(bundle_add),
        "bundle: add, with a property behind padding": bundle_add_with_property(),
        "error: bad property": both_raw(1, bad_property),
        "error: bundle timeout": both_raw(1, struct.pack("!HH", 17, 14), b"data"),
        "request: table descriptions": both(lambda d, p, o: osken(p.OFPTableDescStatsRequest(d, 0))),
        "request: queue descriptions": both(lambda d, p, o: osken(p.OFPQueueDescStatsRequest(d, 0, 3, 7))),
        "request: flow monitor": both(monitor),
        "reply: table descriptions": {v: reply(v, 14, table_desc(), table_desc()) for v in ("1.4", "1.5")},
        "reply: queue descriptions": {v: reply(v, 15, queue_desc()) for v in ("1.4", "1.5")},
        "reply: flow monitor": {v: reply(v, 16, flow_updates()) for v in ("1.4", "1.5")},
        "reply: flow monitor, added and resumed": {
            "1.4": raw("1.4", 19, struct.pack("!HH4x", 16, 0), flow_update(1), struct.pack("!HH4x", 8, 6))
        },
        "reply: ports' counters": {v: reply(v, 4, port_stats()) for v in ("1.4", "1.5")},
        "reply: queues' counters": {v: reply(v, 5, queue_stats) for v in ("1.4", "1.5")},
        "reply: ports": {v: reply(v, 13, *ports) for v in ("1.4", "1.5")},
        "reply: table features": {"1.4": reply("1.4", 12, table_features14())},
        "packet in: from the action set": {
            "1.4": parsed(
                raw("1.4", 10, struct.pack("!IHBBQ", 0xFFFFFFFF, 18, 3, 5, 0x1122), match_in_port(3), b"\0\0", FRAME)
            )
        },
    }
    return {f"1.4: {name}": data for name, data in messages.items()}


def group_delete(version: int) -> bytes:
    """A GROUP_MOD that deletes all groups."""
    tail = struct.pack("!H2xI", 0, 0xFFFFFFFF) if version == 6 else b""
    return struct.pack("!BBHI", version, 15, 16 + len(tail), 77) + struct.pack("!HBxI", 2, 0, 0xFFFFFFFC) + tail


# --- 1.5 ---


def oxs(*fields: tuple[int, bytes]) -> bytes:
    """Statistics, padded."""
    content = b"".join(struct.pack("!HBB", 0x8002, kind << 1, len(value)) + value for kind, value in fields)
    length = 4 + len(content)
    return struct.pack("!HH", 0, length) + content + bytes(-length % 8)


COUNTERS = [
    (0, struct.pack("!II", 11, 12)),
    (1, struct.pack("!II", 13, 14)),
    (4, struct.pack("!Q", 15)),
    (5, struct.pack("!Q", 16)),
]


def flow15(match: dict, instructions=()) -> bytes:
    return osken(p15.OFPFlowMod(d15, match=p15.OFPMatch(**match), priority=3, instructions=list(instructions)))


def actions15():
    ids = [p15.OFPOxmId("eth_src"), p15.OFPOxmId("metadata")]
    return [
        p15.OFPActionMeter(5),
        p15.OFPActionCopyField(16, 8, 24, ids),
        p15.OFPActionSetField(ipv4_dst=("10.0.0.0", "255.255.0.0")),
        p15.OFPActionSetField(eth_dst=B),
    ]


def stat_trigger():
    stats = p15.OFPStats(flow_count=3, packet_count=1000, byte_count=10**6)
    return p15.OFPInstructionStatTrigger(o15.OFPSTF_PERIODIC, stats)


def group_mod() -> bytes:
    output = p15.OFPActionOutput(2, 0)
    weight = p15.OFPGroupBucketPropWeight(type_=o15.OFPGBPT_WEIGHT, weight=50)
    watch_port = p15.OFPGroupBucketPropWatch(type_=o15.OFPGBPT_WATCH_PORT, watch=4)
    watch_group = p15.OFPGroupBucketPropWatch(type_=o15.OFPGBPT_WATCH_GROUP, watch=6)
    buckets = [
        p15.OFPBucket(bucket_id=7, actions=[output], properties=[weight]),
        p15.OFPBucket(bucket_id=8, actions=[output], properties=[weight, watch_port, watch_group]),
    ]
    return osken(p15.OFPGroupMod(d15, o15.OFPGC_INSERT_BUCKET, o15.OFPGT_SELECT, 9, o15.OFPG_BUCKET_LAST, buckets))


def group_desc() -> bytes:
    action = struct.pack("!HHIH6x", 0, 16, 2, 0)
    props = properties((1, struct.pack("!I", 4)), EXPERIMENTER)
    bucket = struct.pack("!HHI", 8 + len(action) + len(props), len(action), 7) + action + props
    return sized(struct.pack("!BxIH6x", 3, 9, len(bucket)), bucket, properties(EXPERIMENTER))


def table_features15() -> bytes:
    props = properties(
        (18, struct.pack("!I", 0x80000408)),
        (21, struct.pack("!I", 0x80000606)),
        (22, struct.pack("!II", 0x80005804, 0)),
    )
    return sized(struct.pack("!BBI32sQQII", 1, 2, 0b10010, b"egress", 0xFF, 0xFF00, 0b100, 1000), props)


def port15() -> bytes:
    fields = struct.pack("!II", 0x80000004, 0x80000408)
    props = (ethernet(), (2, fields), (3, struct.pack("!I", 0x80005804)), (4, struct.pack("!II", 5, 6)))
    return port14(3, *props)


def controller_status() -> bytes:
    return sized(struct.pack("!HIBB6x", 5, 2, 1, 0), properties((0, b"tcp:198.51.100.1:6653"), EXPERIMENTER))


def time(seconds: int) -> bytes:
    return struct.pack("!QI4x", seconds, seconds + 1)


def bundle_features_request() -> bytes:
    times = [p15.OFPTime(seconds, seconds + 1) for seconds in (10, 20, 30, 40)]
    schedule = p15.OFPBundleFeaturesPropTime(o15.OFPTMPBF_TIME_CAPABILITY, None, *times)
    return osken(p15.OFPBundleFeaturesStatsRequest(d15, 0, o15.OFPBF_TIMESTAMP | o15.OFPBF_TIME_SET_SCHED, [schedule]))


def scheduled_commit() -> bytes:
    when = p15.OFPBundlePropTime(o15.OFPBPT_TIME, scheduled_time=p15.OFPTime(1000, 2000))
    return osken(p15.OFPBundleCtrlMsg(d15, 0x11223344, o15.OFPBCT_COMMIT_REQUEST, o15.OFPBF_TIME, [when]))


def flow_removed15() -> bytes:
    return raw("1.5", 11, struct.pack("!BBHHHQ", 2, 5, 1000, 13, 16, 7), match_in_port(4), oxs(*COUNTERS))


def flow_desc15() -> bytes:
    instruction = struct.pack("!HH4xHHIH6x", 4, 24, 0, 16, 2, 0)
    head = struct.pack("!2xBxHHHHHQ", 1, 1000, 13, 14, 0b101, 0x1234, 0x1122)
    return sized(head, match_in_port(4), oxs(*COUNTERS), instruction)


def flow_stats15() -> bytes:
    unknown = (30, b"\1\2\3")
    return sized(struct.pack("!2xBBH", 1, 1, 1000), match_in_port(4), oxs(*COUNTERS[2:], unknown))


def newer_1_5() -> Corpus:
    to_port = p15.OFPPacketOut(
        d15, 0xFFFFFFFF, p15.OFPMatch(in_port=3, metadata=0x1122), [p15.OFPActionOutput(2, 0)], FRAME
    )
    aggregate = oxs((3, struct.pack("!I", 3)), (4, struct.pack("!Q", 1)), (5, struct.pack("!Q", 2)))
    times = struct.pack("!4x") + b"".join(time(seconds) for seconds in (10, 20, 30, 40))
    match = p15.OFPMatch(in_port=4)
    apply = o15.OFPIT_APPLY_ACTIONS
    tcp_flags = dict(eth_type=0x0800, ip_proto=6, tcp_flags=(0x12, 0x3F))
    messages = {
        "packet out with metadata": osken(to_port),
        "flow mod: new actions": flow15({}, [p15.OFPInstructionActions(apply, actions15())]),
        "flow mod: statistics trigger": flow15({}, [stat_trigger()]),
        "flow mod: packet type and output port of the action set": flow15(dict(packet_type=0x10800, actset_output=7)),
        "flow mod: TCP flags": flow15(tcp_flags),
        "flow removed": parsed(flow_removed15()),
        "group mod: insert buckets": group_mod(),
        "role request with a short number": osken(p15.OFPRoleRequest(d15, o15.OFPCR_ROLE_MASTER, 9, 0x1122334455667788)),
        "bundle: commit at a given time": scheduled_commit(),
        "controller status": parsed(raw("1.5", 35, controller_status())),
        "error: bad meter in an action": parsed(raw("1.5", 1, struct.pack("!HH", 2, 17), b"data")),
        "request: flow descriptions": osken(p15.OFPFlowDescStatsRequest(d15, 0, 1, 2, 3, 4, 5, match)),
        "request: flow counters": osken(p15.OFPFlowStatsRequest(d15, 0, 1, 2, 3, 4, 5, match)),
        "request: one group's description": osken(p15.OFPGroupDescStatsRequest(d15, 0, 9)),
        "request: one port's description": osken(p15.OFPPortDescStatsRequest(d15, 0, 3)),
        "request: controllers": osken(p15.OFPControllerStatusStatsRequest(d15, 0)),
        "request: bundle features": bundle_features_request(),
        "reply: flow descriptions": reply("1.5", 1, flow_desc15(), flow_desc15()),
        "reply: aggregate": reply("1.5", 2, aggregate),
        "reply: flow counters": raw("1.5", 19, struct.pack("!HH4x", 17, 1), flow_stats15()),
        "reply: group descriptions": reply("1.5", 7, group_desc()),
        "reply: meter features": reply("1.5", 11, struct.pack("!IIIBB2xI4x", 100, 0b110, 0b1111, 8, 3, 0b101)),
        "reply: table features": reply("1.5", 12, table_features15()),
        "reply: ports with pipeline fields": reply("1.5", 13, port15()),
        "reply: controllers": reply("1.5", 18, controller_status()),
        "reply: bundle features": reply("1.5", 19, struct.pack("!H6x", 0b111), properties((1, times))),
    }
    return {f"1.5: {name}": {"1.5": data} for name, data in messages.items()}
