"""Writes the golden corpus: messages' bytes made without our codec, beside their meaning.

    python crates/openflow/corpus/generate.py        # needs os-ken

Requests are serialized by os-ken, a codec of other people. What os-ken only parses (most replies) is packed here by
hand from the specification, and os-ken must be able to parse it. The `means` lines are kept as they are: they
were read and checked by people, and tests/corpus.rs compares them with what our decoder says.
Each number is used once in a message if possible, so that a mix-up of two fields shows.
"""

from __future__ import annotations

import struct
from pathlib import Path

from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from corpus_tools import FRAME, XID, A, B, ip, mac, match_in_port, osken, parsed, raw
from generate_newer import newer_1_4, newer_1_5

HERE = Path(__file__).parent
old, new = ProtocolDesc(1), ProtocolDesc(4)
p10, p13 = old.ofproto_parser, new.ofproto_parser
o10, o13 = old.ofproto, new.ofproto


def session() -> dict[str, dict[str, bytes]]:
    bitmap = struct.pack("!HHI", 1, 8, 1 << 1 | 1 << 4)
    return {
        "hello without elements": {"1.0": osken(p10.OFPHello(old)), "1.3": raw("1.3", 0)},
        "hello with the versions 1.0 and 1.3": {"1.3": parsed(raw("1.3", 0, bitmap))},
        "hello with an unknown element": {"1.3": raw("1.3", 0, bytes.fromhex("0007 0006 abcd 0000"))},
        "error: bad type": {
            "1.0": parsed(raw("1.0", 1, struct.pack("!HH", 1, 1), b"\1\x63\0\x08\0\0\0\x07")),
            "1.3": parsed(raw("1.3", 1, struct.pack("!HH", 1, 1), b"\1\x63\0\x08\0\0\0\x07")),
        },
        "error: table full": {
            "1.0": parsed(raw("1.0", 1, struct.pack("!HH", 3, 0), b"data")),
            "1.3": parsed(raw("1.3", 1, struct.pack("!HH", 5, 1), b"data")),
        },
        "error of an experimenter": {
            "1.3": osken(p13.OFPErrorExperimenterMsg(new, exp_type=0x1122, experimenter=0x33445566, data=b"data"))
        },
        "echo request": {"1.0": osken(p10.OFPEchoRequest(old, b"ping")), "1.3": osken(p13.OFPEchoRequest(new, b"ping"))},
        "echo reply": {"1.0": parsed(raw("1.0", 3, b"pong")), "1.3": parsed(raw("1.3", 3, b"pong"))},
        "vendor": {"1.0": parsed(raw("1.0", 4, struct.pack("!II", 0x00004321, 10), b"more"))},
        "experimenter": {"1.3": osken(p13.OFPExperimenter(new, 0x00002320, 10, b"more"))},
        "features request": {"1.0": osken(p10.OFPFeaturesRequest(old)), "1.3": osken(p13.OFPFeaturesRequest(new))},
        "features reply of 1.0, with a port": {
            "1.0": parsed(
                raw(
                    "1.0",
                    6,
                    struct.pack("!QIB3xII", 0x0000112233445566, 256, 254, 0b10000111, 0xFFF),
                    port10(3),
                )
            )
        },
        "features reply of 1.3": {
            "1.3": parsed(raw("1.3", 6, struct.pack("!QIBB2xII", 0x0000112233445566, 256, 254, 1, 0b101001111, 0)))
        },
        "get config request": {"1.0": osken(p10.OFPGetConfigRequest(old)), "1.3": osken(p13.OFPGetConfigRequest(new))},
        "get config reply": {
            "1.0": parsed(raw("1.0", 8, struct.pack("!HH", 1, 128))),
            "1.3": parsed(raw("1.3", 8, struct.pack("!HH", 1, 128))),
        },
        "set config": {"1.0": osken(p10.OFPSetConfig(old, 2, 0xFFFF)), "1.3": osken(p13.OFPSetConfig(new, 2, 0xFFFF))},
        "barrier request": {"1.0": osken(p10.OFPBarrierRequest(old)), "1.3": osken(p13.OFPBarrierRequest(new))},
        "barrier reply": {"1.0": parsed(raw("1.0", 19)), "1.3": parsed(raw("1.3", 21))},
        "role request": {"1.3": osken(p13.OFPRoleRequest(new, o13.OFPCR_ROLE_MASTER, 0x1122334455667788))},
        "role reply": {"1.3": parsed(raw("1.3", 25, struct.pack("!I4xQ", 3, 0x1122334455667788)))},
        "get async request": {"1.3": osken(p13.OFPGetAsyncRequest(new))},
        "get async reply": {"1.3": parsed(raw("1.3", 27, struct.pack("!6I", 1, 2, 3, 4, 5, 6)))},
        "set async": {"1.3": osken(p13.OFPSetAsync(new, [1, 2], [3, 4], [5, 6]))},
        "a type that nobody knows": {"1.0": raw("1.0", 99, b"body"), "1.3": raw("1.3", 99, b"body")},
    }


def port10(number: int) -> bytes:
    features = [0b101010000001, 0b10000001, 0b111101000000, 0b1]
    return struct.pack("!H6s16s6I", number, mac(A), b"eth3", 0b1110010, 0x201, *features)


def port13(number: int) -> bytes:
    features = [0b1010100000000001, 0b100000000001, 0b1111010001000000, 0b1]
    return struct.pack("!I4x6s2x16s8I", number, mac(A), b"eth3", 0b1100101, 0b101, *features, 10**6, 10**7)


def flow() -> dict[str, dict[str, bytes]]:
    add10 = p10.OFPFlowMod(
        old,
        p10.OFPMatch(in_port=1, dl_type=0x0800, nw_proto=17, nw_dst=int.from_bytes(ip("10.0.0.1")), tp_dst=80),
        cookie=0x1122334455667788,
        command=o10.OFPFC_ADD,
        idle_timeout=5,
        hard_timeout=60,
        priority=1000,
        out_port=o10.OFPP_NONE,
        flags=o10.OFPFF_SEND_FLOW_REM | o10.OFPFF_CHECK_OVERLAP,
        actions=[p10.OFPActionOutput(2, 0)],
    )
    add13 = p13.OFPFlowMod(
        new,
        cookie=0x1122334455667788,
        command=o13.OFPFC_ADD,
        idle_timeout=5,
        hard_timeout=60,
        priority=1000,
        out_port=o13.OFPP_ANY,
        out_group=o13.OFPG_ANY,
        flags=o13.OFPFF_SEND_FLOW_REM | o13.OFPFF_CHECK_OVERLAP,
        match=p13.OFPMatch(in_port=1, eth_type=0x0800, ip_proto=17, ipv4_dst="10.0.0.1", udp_dst=80),
        instructions=[p13.OFPInstructionActions(o13.OFPIT_APPLY_ACTIONS, [p13.OFPActionOutput(2, 0)])],
    )
    delete10 = p10.OFPFlowMod(old, p10.OFPMatch(), 0, o10.OFPFC_DELETE, priority=0x8000, out_port=7)
    delete13 = p13.OFPFlowMod(
        new, command=o13.OFPFC_DELETE, out_port=7, out_group=o13.OFPG_ANY, buffer_id=o13.OFP_NO_BUFFER
    )
    return {
        "flow mod: add": {"1.0": osken(add10), "1.3": osken(add13)},
        "flow mod: delete what goes to port 7": {"1.0": osken(delete10), "1.3": osken(delete13)},
        "flow mod of 1.0: all of an ARP match": {"1.0": flow10(arp10(), [])},
        "flow mod of 1.0: all of a TCP match": {"1.0": flow10(tcp10(), [])},
        "flow mod of 1.0: ICMP, without VLAN, prefixes": {"1.0": flow10(icmp10(), [])},
        "flow mod of 1.0: all actions": {"1.0": flow10(p10.OFPMatch(), actions10())},
        "flow mod of 1.3: modify strictly, with a cookie mask": {"1.3": osken(modify13())},
        "flow mod of 1.3: fields of TCP and VLAN": {"1.3": flow13(tcp13())},
        "flow mod of 1.3: fields of SCTP and masks": {"1.3": flow13(sctp13())},
        "flow mod of 1.3: fields of IPv6 neighbours": {"1.3": flow13(nd13())},
        "flow mod of 1.3: fields of ICMPv6 and extension headers": {"1.3": flow13(icmp6_13())},
        "flow mod of 1.3: fields of ARP": {"1.3": flow13(arp13())},
        "flow mod of 1.3: fields of MPLS": {"1.3": flow13(dict(eth_type=0x8847, mpls_label=0x12345, mpls_tc=5, mpls_bos=1))},
        "flow mod of 1.3: fields of PBB": {"1.3": flow13(dict(eth_type=0x88E7, pbb_isid=0x123456))},
        "flow mod of 1.3: fields of ICMP and UDP source": {
            "1.3": flow13(dict(eth_type=0x0800, ip_proto=1, icmpv4_type=8, icmpv4_code=3))
        },
        "flow mod of 1.3: TCP flags": {"1.3": flow13(dict(eth_type=0x0800, ip_proto=6, tcp_flags=(0x12, 0x3F)))},
        "flow mod of 1.3: all instructions": {"1.3": flow13({}, instructions13())},
        "flow mod of 1.3: all actions": {
            "1.3": flow13({}, [p13.OFPInstructionActions(o13.OFPIT_APPLY_ACTIONS, actions13())])
        },
        "flow removed of 1.0": {"1.0": parsed(flow_removed10())},
        "flow removed of 1.3": {"1.3": parsed(flow_removed13())},
    }


def flow10(match, actions) -> bytes:
    return osken(p10.OFPFlowMod(old, match, 9, o10.OFPFC_MODIFY, buffer_id=0xFFFFFFFF, priority=3, actions=actions))


def flow13(fields: dict, instructions=()) -> bytes:
    return osken(p13.OFPFlowMod(new, match=p13.OFPMatch(**fields), priority=3, instructions=list(instructions)))


def tcp10():
    return p10.OFPMatch(
        in_port=o10.OFPP_LOCAL, dl_src=mac(A), dl_dst=mac(B), dl_vlan=5, dl_vlan_pcp=3, dl_type=0x0800, nw_tos=0x28,
        nw_proto=6, nw_src=int.from_bytes(ip("10.1.2.3")), nw_dst=int.from_bytes(ip("10.4.5.6")), tp_src=1000, tp_dst=2000,
    )  # fmt: skip


def arp10():
    spa, tpa = (int.from_bytes(ip(a)) for a in ("10.0.0.1", "10.0.0.2"))
    return p10.OFPMatch(dl_type=0x0806, nw_proto=2, nw_src=spa, nw_dst=tpa)


def icmp10():
    src, dst = (int.from_bytes(ip(a)) for a in ("10.1.0.0", "10.0.0.0"))
    return p10.OFPMatch(
        dl_vlan=0xFFFF, dl_type=0x0800, nw_proto=1, tp_src=8, tp_dst=1, nw_src=src, nw_src_mask=16, nw_dst=dst, nw_dst_mask=8
    )


def actions10():
    return [
        p10.OFPActionOutput(o10.OFPP_CONTROLLER, 128),
        p10.OFPActionVlanVid(5),
        p10.OFPActionVlanPcp(3),
        p10.OFPActionStripVlan(),
        p10.OFPActionSetDlSrc(mac(A)),
        p10.OFPActionSetDlDst(mac(B)),
        p10.OFPActionSetNwSrc("10.0.0.1"),
        p10.OFPActionSetNwDst("10.0.0.2"),
        p10.OFPActionSetNwTos(0x28),
        p10.OFPActionSetTpSrc(1000),
        p10.OFPActionSetTpDst(2000),
        p10.OFPActionEnqueue(4, 77),
    ]


def modify13():
    return p13.OFPFlowMod(
        new, cookie=3, cookie_mask=0xFF00, table_id=4, command=o13.OFPFC_MODIFY_STRICT, priority=7, buffer_id=99,
        out_port=8, out_group=9, flags=0b11100,
        match=p13.OFPMatch(in_port=o13.OFPP_LOCAL, in_phy_port=6, metadata=(0x12, 0xFF), tunnel_id=0x1122334455667788),
    )  # fmt: skip


def tcp13() -> dict:
    return dict(
        in_port=1, eth_dst=B, eth_src=(A, "ff:ff:ff:00:00:00"), eth_type=0x0800, vlan_vid=0x1005, vlan_pcp=3, ip_dscp=10,
        ip_ecn=1, ip_proto=6, ipv4_src=("10.1.0.0", "255.255.0.0"), ipv4_dst="10.4.5.6", tcp_src=1000, tcp_dst=2000,
    )  # fmt: skip


def sctp13() -> dict:
    return dict(vlan_vid=(0x1000, 0x1000), eth_type=0x0800, ip_proto=132, sctp_src=1000, sctp_dst=2000)


def nd13() -> dict:
    return dict(
        eth_type=0x86DD, ip_proto=58, ipv6_src="2001:db8::1", ipv6_dst=("2001:db8::", "ffff:ffff::"), ipv6_flabel=0x12345,
        icmpv6_type=135, icmpv6_code=0, ipv6_nd_target="fe80::1", ipv6_nd_sll=A,
    )  # fmt: skip


def icmp6_13() -> dict:
    return dict(eth_type=0x86DD, ip_proto=58, icmpv6_type=136, ipv6_nd_tll=B, ipv6_exthdr=(0x12, 0x1FF ^ 1))


def arp13() -> dict:
    return dict(eth_type=0x0806, arp_op=2, arp_spa="10.0.0.1", arp_tpa="10.0.0.2", arp_sha=A, arp_tha=B)


def actions13():
    return [
        p13.OFPActionOutput(o13.OFPP_CONTROLLER, 128),
        p13.OFPActionCopyTtlOut(),
        p13.OFPActionCopyTtlIn(),
        p13.OFPActionSetMplsTtl(9),
        p13.OFPActionDecMplsTtl(),
        p13.OFPActionPushVlan(0x88A8),
        p13.OFPActionPopVlan(),
        p13.OFPActionPushMpls(0x8848),
        p13.OFPActionPopMpls(0x0800),
        p13.OFPActionSetQueue(77),
        p13.OFPActionGroup(88),
        p13.OFPActionSetNwTtl(64),
        p13.OFPActionDecNwTtl(),
        p13.OFPActionSetField(eth_dst=B),
        p13.OFPActionSetField(ipv6_dst="2001:db8::1"),
        p13.OFPActionSetField(mpls_label=0x12345),
        p13.OFPActionPushPbb(0x88E7),
        p13.OFPActionPopPbb(),
        p13.OFPActionExperimenterUnknown(0x4321, b"\1\2\3\4\5\6\7\x08"),
    ]


def instructions13():
    out = [p13.OFPActionOutput(2, 0)]
    return [
        p13.OFPInstructionMeter(5),
        p13.OFPInstructionActions(o13.OFPIT_APPLY_ACTIONS, out),
        p13.OFPInstructionActions(o13.OFPIT_CLEAR_ACTIONS, []),
        p13.OFPInstructionActions(o13.OFPIT_WRITE_ACTIONS, [p13.OFPActionPopVlan(), *out]),
        p13.OFPInstructionWriteMetadata(0x1122, 0xFFFF),
        p13.OFPInstructionGotoTable(6),
    ]


def match10_in_port(port: int) -> bytes:
    return struct.pack("!IH34x", 0x3FFFFE, port)


def flow_removed10() -> bytes:
    return raw("1.0", 11, match10_in_port(4), struct.pack("!QHBxIIH2xQQ", 7, 1000, 1, 11, 12, 13, 14, 15))


def flow_removed13() -> bytes:
    return raw("1.3", 11, struct.pack("!QHBBIIHHQQ", 7, 1000, 3, 2, 11, 12, 13, 16, 14, 15), match_in_port(4))


def packet() -> dict[str, dict[str, bytes]]:
    to10 = p10.OFPPacketOut(old, 0xFFFFFFFF, o10.OFPP_NONE, [p10.OFPActionOutput(2, 0)], FRAME)
    to13 = p13.OFPPacketOut(new, 0xFFFFFFFF, o13.OFPP_CONTROLLER, [p13.OFPActionOutput(2, 0)], FRAME)
    return {
        "packet in of 1.0": {"1.0": parsed(raw("1.0", 10, struct.pack("!IHHBx", 256, 60, 3, 1), FRAME))},
        "packet in of 1.3": {
            "1.3": parsed(
                raw("1.3", 10, struct.pack("!IHBBQ", 0xFFFFFFFF, 18, 2, 5, 0x1122), match_in_port(3), b"\0\0", FRAME)
            )
        },
        "packet out of 1.0, from no port": {"1.0": osken(to10)},
        "packet out of 1.3, from the controller": {"1.3": osken(to13)},
        "packet out of a buffer": {
            "1.0": osken(p10.OFPPacketOut(old, 7, 1, [p10.OFPActionOutput(o10.OFPP_FLOOD, 0)])),
            "1.3": osken(p13.OFPPacketOut(new, 7, 1, [p13.OFPActionOutput(o13.OFPP_FLOOD, 0)])),
        },
    }


def port() -> dict[str, dict[str, bytes]]:
    mod10 = p10.OFPPortMod(old, 3, A, 0b1100001, 0b1110101, 0b1010)
    mod13 = p13.OFPPortMod(new, 3, A, 0b1100001, 0b1100101, 0b1010)
    return {
        "port status of 1.0": {"1.0": parsed(raw("1.0", 12, b"\2" + bytes(7), port10(0xFFFE)))},
        "port status of 1.3": {"1.3": parsed(raw("1.3", 12, b"\2" + bytes(7), port13(0xFFFFFFFE)))},
        "port mod of 1.0": {"1.0": osken(mod10)},
        "port mod of 1.3": {"1.3": osken(mod13)},
        "queue get config request": {
            "1.0": osken(p10.OFPQueueGetConfigRequest(old, 3)),
            "1.3": osken(p13.OFPQueueGetConfigRequest(new, 3)),
        },
        "queue get config reply of 1.0": {
            "1.0": parsed(
                raw("1.0", 21, struct.pack("!H6x", 3), struct.pack("!IH2x", 7, 24), struct.pack("!HH4xH6x", 1, 16, 500))
            )
        },
        "queue get config reply of 1.3": {
            "1.3": parsed(
                raw(
                    "1.3",
                    23,
                    struct.pack("!I4x", 3),
                    struct.pack("!IIH6x", 7, 3, 48),
                    struct.pack("!HH4xH6x", 1, 16, 500),
                    struct.pack("!HH4xH6x", 2, 16, 900),
                )
            )
        },
    }


def group() -> dict[str, dict[str, bytes]]:
    buckets = [
        p13.OFPBucket(50, o13.OFPP_ANY, o13.OFPG_ANY, [p13.OFPActionOutput(2, 0)]),
        p13.OFPBucket(60, 3, 4, [p13.OFPActionSetField(ipv4_dst="10.0.0.2"), p13.OFPActionOutput(5, 0)]),
    ]
    bands = [
        p13.OFPMeterBandDrop(1000, 100),
        p13.OFPMeterBandDscpRemark(2000, 200, 3),
        p13.OFPMeterBandExperimenter(3000, 300, 0x4321),
    ]
    return {
        "group mod: add": {"1.3": osken(p13.OFPGroupMod(new, o13.OFPGC_ADD, o13.OFPGT_SELECT, 9, buckets))},
        "group mod: delete all": {"1.3": osken(p13.OFPGroupMod(new, o13.OFPGC_DELETE, o13.OFPGT_ALL, o13.OFPG_ALL, []))},
        "meter mod: add": {"1.3": osken(p13.OFPMeterMod(new, o13.OFPMC_ADD, o13.OFPMF_KBPS | o13.OFPMF_BURST, 5, bands))},
        "table mod": {"1.3": osken(p13.OFPTableMod(new, 3, 0))},
    }


def stats_request(old_msg=None, new_msg=None) -> dict[str, bytes]:
    messages = {"1.0": old_msg, "1.3": new_msg}
    return {version: osken(msg) for version, msg in messages.items() if msg is not None}


def requests() -> dict[str, dict[str, bytes]]:
    any10, any13 = p10.OFPMatch(), p13.OFPMatch()
    flow10_ = p10.OFPFlowStatsRequest(old, 0, p10.OFPMatch(in_port=4), 0xFF, 7)
    flow13_ = p13.OFPFlowStatsRequest(new, 0, 0xFF, 7, o13.OFPG_ANY, 0, 0, p13.OFPMatch(in_port=4))
    aggregate13 = p13.OFPAggregateStatsRequest(new, 0, 3, o13.OFPP_ANY, 8, 0x12, 0xFF, any13)
    return {
        "request: description": stats_request(p10.OFPDescStatsRequest(old, 0), p13.OFPDescStatsRequest(new, 0)),
        "request: flows": stats_request(flow10_, flow13_),
        "request of 1.0: aggregate": stats_request(p10.OFPAggregateStatsRequest(old, 0, any10, 3, o10.OFPP_NONE)),
        "request of 1.3: aggregate": stats_request(None, aggregate13),
        "request: tables": stats_request(p10.OFPTableStatsRequest(old, 0), p13.OFPTableStatsRequest(new, 0)),
        "request: port": stats_request(p10.OFPPortStatsRequest(old, 0, 3), p13.OFPPortStatsRequest(new, 0, 3)),
        "request: queue": stats_request(p10.OFPQueueStatsRequest(old, 0, 3, 7), p13.OFPQueueStatsRequest(new, 0, 3, 7)),
        "request: group": stats_request(None, p13.OFPGroupStatsRequest(new, 0, 9)),
        "request: group descriptions": stats_request(None, p13.OFPGroupDescStatsRequest(new, 0)),
        "request: group features": stats_request(None, p13.OFPGroupFeaturesStatsRequest(new, 0)),
        "request: meter": stats_request(None, p13.OFPMeterStatsRequest(new, 0, 5)),
        "request: meter configuration": stats_request(None, p13.OFPMeterConfigStatsRequest(new, 0, 5)),
        "request: meter features": stats_request(None, p13.OFPMeterFeaturesStatsRequest(new, 0)),
        "request: table features": stats_request(None, p13.OFPTableFeaturesStatsRequest(new, 0, [])),
        "request: ports": stats_request(None, p13.OFPPortDescStatsRequest(new, 0)),
        "request: experimenter": stats_request(None, p13.OFPExperimenterStatsRequest(new, 0, 0x4321, 6, b"data")),
        "request: vendor": {"1.0": raw("1.0", 16, struct.pack("!HHI", 0xFFFF, 0, 0x4321), b"data")},
        "request that nobody knows": {"1.3": raw("1.3", 18, struct.pack("!HH4x", 0x1234, 0), b"data")},
    }


def reply(version: str, kind: int, *parts: bytes, more: bool = False) -> bytes:
    """A reply to a multipart request."""
    head = struct.pack("!HH" + ("" if version == "1.0" else "4x"), kind, more)
    return parsed(raw(version, 17 if version == "1.0" else 19, head, *parts))


def replies() -> dict[str, dict[str, bytes]]:
    desc = struct.pack("!256s256s256s32s256s", b"Maker", b"Hardware", b"Software", b"Serial", b"Datapath")
    aggregate = struct.pack("!QQI4x", 1, 2, 3)
    counters = struct.pack("!12Q", *range(101, 113))
    return {
        "reply: description": {"1.0": reply("1.0", 0, desc), "1.3": reply("1.3", 0, desc)},
        "reply of 1.0: flows": {"1.0": reply("1.0", 1, flow_stats10(), more=True)},
        "reply of 1.3: flows": {"1.3": reply("1.3", 1, flow_stats13(), flow_stats13(), more=True)},
        "reply: aggregate": {"1.0": reply("1.0", 2, aggregate), "1.3": reply("1.3", 2, aggregate)},
        "reply of 1.0: tables": {
            "1.0": reply("1.0", 3, struct.pack("!B3x32sIIIQQ", 1, b"classifier", 0x3FFFFF, 1000, 10, 20, 30))
        },
        "reply of 1.3: tables": {"1.3": reply("1.3", 3, struct.pack("!B3xIQQ", 1, 10, 20, 30))},
        "reply of 1.0: ports' counters": {"1.0": reply("1.0", 4, struct.pack("!H6x", 3), counters)},
        "reply of 1.3: ports' counters": {"1.3": reply("1.3", 4, struct.pack("!I4x", 3), counters, struct.pack("!II", 7, 8))},
        "reply of 1.0: queues": {"1.0": reply("1.0", 5, struct.pack("!H2xIQQQ", 3, 7, 11, 12, 13))},
        "reply of 1.3: queues": {"1.3": reply("1.3", 5, struct.pack("!IIQQQII", 3, 7, 11, 12, 13, 14, 15))},
        "reply: groups": {
            "1.3": reply(
                "1.3", 6, struct.pack("!H2xII4xQQII", 72, 9, 2, 11, 12, 13, 14), struct.pack("!4Q", 21, 22, 23, 24)
            )
        },
        "reply: group descriptions": {"1.3": reply("1.3", 7, group_desc())},
        "reply: group features": {
            "1.3": reply("1.3", 8, struct.pack("!II", 0b1111, 0b0101), struct.pack("!8I", *range(31, 39)))
        },
        "reply: meters": {
            "1.3": reply("1.3", 9, struct.pack("!IH6xIQQII", 5, 56, 2, 11, 12, 13, 14), struct.pack("!QQ", 21, 22))
        },
        "reply: meter configurations": {
            "1.3": reply("1.3", 10, struct.pack("!HHI", 24, 0b1010, 5), struct.pack("!HHII4x", 1, 16, 1000, 100))
        },
        "reply: meter features": {"1.3": reply("1.3", 11, struct.pack("!IIIBB2x", 100, 0b110, 0b1111, 8, 3))},
        "reply: table features": {"1.3": reply("1.3", 12, table_features())},
        "reply: ports": {"1.3": reply("1.3", 13, port13(3), port13(0xFFFFFFFE))},
        "reply: experimenter": {"1.3": reply("1.3", 0xFFFF, struct.pack("!II", 0x4321, 6), b"data")},
    }


OUTPUT13 = struct.pack("!HHIH6x", 0, 16, 2, 0)


def flow_stats10() -> bytes:
    action = struct.pack("!HHHH", 0, 8, 2, 0)
    head = struct.pack("!Bx", 1) + match10_in_port(4)
    tail = struct.pack("!IIHHH6xQQQ", 11, 12, 1000, 13, 14, 0x1122, 15, 16)
    return struct.pack("!H", 2 + len(head + tail + action)) + head + tail + action


def flow_stats13() -> bytes:
    instruction = struct.pack("!HH4x", 4, 24) + OUTPUT13
    head = struct.pack("!BxIIHHHH4xQQQ", 1, 11, 12, 1000, 13, 14, 0b101, 0x1122, 15, 16)
    body = head + match_in_port(4) + instruction
    return struct.pack("!H", 2 + len(body)) + body


def group_desc() -> bytes:
    bucket = struct.pack("!HHII4x", 32, 50, 0xFFFFFFFF, 0xFFFFFFFF) + OUTPUT13
    return struct.pack("!HBxI", 8 + len(bucket), 3, 9) + bucket


def table_property(kind: int, content: bytes) -> bytes:
    length = 4 + len(content)
    return struct.pack("!HH", kind, length) + content + bytes(-length % 8)


def table_features() -> bytes:
    ids = struct.pack("!HHHH", 1, 4, 4, 4)
    in_port_vlan = struct.pack("!II", 0x80000004, 0x80000D04)
    properties = [
        table_property(0, ids),
        table_property(1, ids),
        table_property(2, b"\1\2\3"),
        table_property(4, struct.pack("!HH", 0, 4)),
        table_property(6, struct.pack("!HH", 22, 4)),
        table_property(8, in_port_vlan),
        table_property(10, struct.pack("!I", 0x80000C02)),
        table_property(12, struct.pack("!I", 0x80000606)),
        table_property(15, struct.pack("!I", 0x80001804)),
    ]
    head = struct.pack("!B5x32sQQII", 1, b"first", 0xFF, 0xFF00, 0, 1000)
    body = head + b"".join(properties)
    return struct.pack("!H", 2 + len(body)) + body


FAMILIES = {
    "session": session, "flow": flow, "packet": packet, "port": port, "group": group,
    "multipart_request": requests, "multipart_reply": replies, "newer_1_4": newer_1_4, "newer_1_5": newer_1_5,
}  # fmt: skip

HEADER = """\
# Messages ({family}): their bytes in each version that has them, and what they mean. All have xid 0x{xid:08x}.
# Written by generate.py, which says how. Format: a name; lines `version | bytes` (continued by `| bytes`); a line
# `means` with the body as our decoder must see it, in whichever version it came.
"""


def hex_lines(version: str, data: bytes) -> list[str]:
    rows = [data[i : i + 32].hex(" ", 1) for i in range(0, len(data), 32)]
    return [f"{version if i == 0 else '   '} | {row}" for i, row in enumerate(rows)]


def meanings(path: Path) -> dict[str, str]:
    """The `means` lines of a file, by name."""
    if not path.exists():
        return {}
    result, name = {}, ""
    for line in path.read_text().splitlines():
        if line.startswith("means "):
            result[name] = line
        elif line and "|" not in line and not line.startswith("#"):
            name = line
    return result


def main() -> None:
    for family, messages in FAMILIES.items():
        path = HERE / f"{family}.txt"
        known = meanings(path)
        text = HEADER.format(family=family.replace("_", " "), xid=XID)
        for name, versions in messages().items():
            lines = [line for version, data in versions.items() for line in hex_lines(version, data)]
            text += "\n" + "\n".join([name, *lines, known.get(name, "means ?")]) + "\n"
        path.write_text(text)


if __name__ == "__main__":
    main()
