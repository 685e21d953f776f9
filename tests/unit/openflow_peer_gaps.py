"""What peers can't do with sound messages, and where os-ken's samples are not sound: bytes or name, and the reason."""

# ruff: noqa: E501

OSKEN_NO_PARSER = {
    (1, 5),
    (1, 7),
    (1, 9),
    (1, 13),
    (1, 15),
    (1, 16),
    (1, 18),
    (1, 20),
    (1, 99),
    (4, 5),
    (4, 7),
    (4, 9),
    (4, 13),
    (4, 15),
    (4, 16),
    (4, 17),
    (4, 18),
    (4, 20),
    (4, 22),
    (4, 24),
    (4, 26),
    (4, 28),
    (4, 29),
    (4, 99),
    (5, 16),
    (5, 17),
    (5, 18),
    (5, 28),
    (5, 34),
    (6, 13),
    (6, 16),
    (6, 17),
    (6, 18),
    (6, 24),
    (6, 28),
    (6, 34),
}
"""Version and type of messages that os-ken only writes, because only controllers send them, and of types that nobody knows. The corpus has most of
them as os-ken writes them (crates/openflow/corpus/generate.py), and we write the same bytes."""

OSKEN = {
    "05130058010203040010000000000000004000010200000a001403e80000000000000000000011220001000c8000000400000004000000000004001800000000000000100000000200000000000000000008000600000000": (
        "os-ken asserts that FLOW_UPDATE_RESUMED is another event"
    ),
    "060e008001020304000000000000000000000000000000000000000000000003ffffffff00000000000000000000000000010004000000000004004800000000001d000800000005001c0018001000080018000080000806800004080000000000190010800019080a000000ffff0000001900108000060602000000000b0000": (
        "os-ken takes the padding behind COPY_FIELD for field numbers"
    ),
    "060f006801020304000301000000000900500000fffffffe0020001000000007000000100000000200000000000000000000000800320000003000100000000800000010000000020000000000000000000000080032000000010008000000040002000800000006": (
        "os-ken reads the second bucket's bytes as the first one's properties"
    ),
    "040000100102030400070006abcd0000": "os-ken does not skip the padding behind a HELLO element",
    "0613005001020304001100010000000000400000010103e80001000c8000000400000004000000000000002380020808000000000000000f80020a08000000000000001080023c030102030000000000": (
        "os-ken has another notation for a statistic that it does not know"
    ),
}
"""Our messages that os-ken does not read as they are."""

OSKEN_SAMPLES = {
    "of10/1-6-ofp_switch_features.packet": "the sample has a port state of 1.1 in a message of 1.0, which is left out here",
    "of10/libofproto-OFP10-ofp_packet_out_packet_library.packet": "os-ken tells the frame as objects of its packet library",
    "of10/ovs-ofctl-of10-action_set_mpls_tc.packet": "the sample's traffic class has 4 bits; 3 are read here",
    "of13/4-12-ofp_flow_stats_reply.packet": (
        "ONF's extension EXT-256 for pbb_uca is kept as bytes here; os-ken splits an unknown action's data"
    ),
    "of13/4-2-ofp_flow_mod.packet": "ONF's extension EXT-256 for pbb_uca is kept as bytes here",
    "of13/4-33-ofp_group_desc_request.packet": "1.3's request has no group; it is 'all' here",
    "of13/4-59-ofp_packet_in.packet": "ONF's extension EXT-256 for pbb_uca is kept as bytes here",
    "of13/4-60-ofp_flow_mod.packet": "ONF's extension EXT-256 for pbb_uca is kept as bytes here",
    "of13/4-63-onf_flow_monitor_request.packet": "ONF's flow monitors of 1.3 are kept as bytes here",
    "of13/libofproto-OFP13-flow_mod.packet": "`learn` is told in another form; crates/openflow's corpus of Nicira's actions has it",
    "of13/libofproto-OFP13-flow_mod_match_conj.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/libofproto-OFP13-ofp_packet_out_packet_library.packet": "os-ken tells the frame as objects of its packet library",
    "of13/ovs-ofctl-of13-action_controller2.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-action_ct.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-action_ct_clear.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-action_ct_exec.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-action_ct_nat.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-action_ct_nat_v6.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-action_learn.packet": "`learn` is told in another form; crates/openflow's corpus of Nicira's actions has it",
    "of13/ovs-ofctl-of13-action_sample.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-action_sample2.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of13/ovs-ofctl-of13-match_conj.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of14/5-12-ofp_flow_stats_reply.packet": "os-ken splits an unknown action's data",
    "of14/5-33-ofp_group_desc_request.packet": "1.4's request has no group; it is 'all' here",
    "of14/libofproto-OFP14-ofp_packet_out_packet_library.packet": "os-ken tells the frame as objects of its packet library",
    "of15/libofproto-OFP15-bundle_add.packet": "`learn` is told in another form; crates/openflow's corpus of Nicira's actions has it",
    "of15/libofproto-OFP15-flow_desc_reply.packet": "the sample's GOTO_TABLE says that it is 2056 bytes long",
    "of15/libofproto-OFP15-flow_mod.packet": "`learn` is told in another form; crates/openflow's corpus of Nicira's actions has it",
    "of15/libofproto-OFP15-flow_mod_match_conj.packet": "an extension of Open vSwitch that is kept as bytes here",
    "of15/libofproto-OFP15-flow_removed.packet": "a number of entries in FLOW_REMOVED says nothing, and is left out here",
    "of15/libofproto-OFP15-meter_features_reply.packet": "the sample is longer than its header says",
}
"""os-ken's samples of which our reading is another."""

TSHARK = {
    "010e004801020304003fffff00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000003000000008000ffffffff00070000": (
        "tshark wants an action in each FLOW_MOD of 1.0; without one it reads past the end"
    ),
    "010e004801020304003000cf0000000000000000000000000000000000000806000200000a0000010a0000020000000000000000000000090001000000000003ffffffffffff0000": (
        "tshark wants an action in each FLOW_MOD of 1.0; without one it reads past the end"
    ),
    "010e00480102030400000000fffe02000000000a02000000000b000503000800280600000a0102030a04050603e807d000000000000000090001000000000003ffffffffffff0000": (
        "tshark wants an action in each FLOW_MOD of 1.0; without one it reads past the end"
    ),
    "010e0048010203040036100d0000000000000000000000000000ffff00000800000100000a0100000a0000000008000100000000000000090001000000000003ffffffffffff0000": (
        "tshark wants an action in each FLOW_MOD of 1.0; without one it reads past the end"
    ),
    "041d004001020304000000050000000500010010000003e8000000640000000000020010000007d0000000c803000000ffff001000000bb80000012c00004321": (
        "tshark reads on behind an experimenter's meter band"
    ),
    "0413001c01020304ffff000000000000000043210000000664617461": "tshark reads on behind an experimenter's reply",
    "052200300102030400000007000000020502000d0102030468656c6c6f000000ffff0010000043210000000664617461": (
        "tshark wants the message in a bundle to be a multiple of 8 bytes long; the standard pads behind it"
    ),
    "0513004001020304000f000000000000000000030000000700300000000000000001000801f400000002000803840000ffff0010000043210000000664617461": (
        "tshark skips 2 of the 6 bytes of padding in ofp_queue_desc"
    ),
    "051300c801020304000400000000000000b8000000000003000000070000000800000000000000650000000000000066000000000000006700000000000000680000000000000069000000000000006a000000000000006b000000000000006c0000002800000000000000000000006d000000000000006e000000000000006f00000000000000700001002c0000000000000077000000010000000200000003000000040000000500000006000700080009000a00000000ffff0010000043210000000664617461": (
        "tshark does not skip the padding behind a property of 44 bytes"
    ),
    "0513005001020304000500000000000000400000000000000000000300000007000000000000000b000000000000000c000000000000000d0000000e0000000fffff0010000043210000000664617461": (
        "tshark does not skip the padding in ofp_queue_stats"
    ),
    "051300b801020304000d000000000000000000030058000002000000000a000065746833000000000000000000000000000000650000000500000020000000000000a801000008010000f44000000001000f424000989680ffff0010000043210000000664617461000000040050000002000000000a000065746833000000000000000000000000000000650000000500010028000000000000000b00000001000000020000000300000004000000050000000600070008": (
        "tshark reads on behind an experimenter's port property"
    ),
    "04010010010203040005000164617461": "tshark wants the whole request in an ERROR; the data here are 4 bytes",
}
"""Our messages that tshark 4.0 marks as malformed."""

OVS = {
    "061c0068010203040000000800000001000100080000000200020008000000040003000800000008000400080000001000050008000000200006000800000040000700080000008000080008000001000009000800000200000a000800000001000b000800000002": (
        "Open vSwitch refuses reasons that it does not send"
    ),
    "0611002001020304030000000000000c0002000800000003000300080a140000": (
        "Open vSwitch prints eviction of a TABLE_MOD without the table's flag as an error"
    ),
    "060e006801020304000000000000000700000000000000000000000000000009ffffffffffffffffffffffff000012340001001e800000040000000180000a0288e780004a0312345680005201010000000400180000000000000010000000020000000000000000": (
        "Open vSwitch has no PBB fields"
    ),
    "062200180102030411223344000000010614000801020304": "Open vSwitch takes no BARRIER_REQUEST into a bundle",
    "060e008001020304000000000000000000000000000000000000000000000003ffffffff00000000000000000000000000010004000000000004004800000000001d000800000005001c0018001000080018000080000806800004080000000000190010800019080a000000ffff0000001900108000060602000000000b0000": (
        "Open vSwitch wants the match to have the prerequisites of fields that are set"
    ),
    "060e006801020304000000000000000000000000000000000000000000000003ffffffff000000000000000000000000000100040000000000070030000000010000002480020604000000038002080800000000000003e880020a0800000000000f424000000000": (
        "Open vSwitch does not know STAT_TRIGGER"
    ),
    "062300480102030400400005000000020100000000000000000000197463703a3139382e35312e3130302e313a3636353300000000000000ffff0010000043210000000664617461": (
        "Open vSwitch does not know CONTROLLER_STATUS"
    ),
    "0612004001020304001100000000000001000000000000020000000300000000000000000000000400000000000000050001000c800000040000000400000000": (
        "Open vSwitch does not know FLOW_STATS of 1.5"
    ),
    "06120010010203040012000000000000": "Open vSwitch does not know CONTROLLER_STATUS",
    "0612006001020304001300000000000000000003000000000001004800000000000000000000000a0000000b0000000000000000000000140000001500000000000000000000001e0000001f0000000000000000000000280000002900000000": (
        "Open vSwitch does not know BUNDLE_FEATURES"
    ),
    "0613005001020304001100010000000000400000010103e80001000c8000000400000004000000000000002380020808000000000000000f80020a08000000000000001080023c030102030000000000": (
        "Open vSwitch does not know FLOW_STATS of 1.5"
    ),
    "06130060010203040007000000000000005003000000000900300000000000000030001000000007000000100000000200000000000000000001000800000004ffff0010000043210000000664617461ffff0010000043210000000664617461": (
        "Open vSwitch refuses properties of other experimenters"
    ),
    "0613002801020304000b00000000000000000064000000060000000f080300000000000500000000": (
        "Open vSwitch has no room for the flags that 1.5 adds to meter features"
    ),
    "0613007001020304000c0000000000000060010200000012656772657373000000000000000000000000000000000000000000000000000000000000000000ff000000000000ff0000000004000003e8001200088000040800150008800006060016000c800058040000000000000000": (
        "Open vSwitch does not know egress tables"
    ),
    "0613005001020304001200000000000000400005000000020100000000000000000000197463703a3139382e35312e3130302e313a3636353300000000000000ffff0010000043210000000664617461": (
        "Open vSwitch does not know CONTROLLER_STATUS"
    ),
    "0613006001020304001300000000000000070000000000000001004800000000000000000000000a0000000b0000000000000000000000140000001500000000000000000000001e0000001f0000000000000000000000280000002900000000": (
        "Open vSwitch does not know BUNDLE_FEATURES"
    ),
}
"""Our messages of 1.5 that ovs-ofctl 3.1 refuses."""
