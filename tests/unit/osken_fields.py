"""A message of os-ken's as a bag of names and values; see openflow_fields."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

from openflow_fields import ASYNC, NOTHING, PORTS, SAME, Bag, number, oxm

MESSAGES = {
    "OFPVendor": "experimenter", "OFPSwitchFeatures": "features_reply", "OFPErrorMsg": "error", "OFPErrorExperimenterMsg": "error",
    "OFPBundleCtrlMsg": "bundle_control", "OFPBundleAddMsg": "bundle_add_message",
}  # fmt: skip
"""os-ken's classes whose names don't say the message."""
IGNORED = {
    "len", "length", "type", "pad", "action_array_len", "actions_len", "bucket_array_len", "subtype", "hasmask", "property",
    "version", "msg_type", "msg_len", "dst_len",
}  # fmt: skip
RENAMED = {
    "port_nos": "recirculate",
    "curr": "current", "curr_speed": "current_speed", "rx_frame_err": "rx_frame_errors", "rx_over_err": "rx_over_errors",
    "rx_crc_err": "rx_crc_errors", "max_meter": "max_meters", "packet_band_count": "packet_count",
    "byte_band_count": "byte_count", "exp_type": "experimenter_type", "vacancy_down": "down", "vacancy_up": "up",
    "vacancy": "current", "packet_in_mask": "packet_in", "port_status_mask": "port_status", "flow_removed_mask": "flow_removed",
    "monitor_flags": "flags", "feature_request_flags": "flags", "vendor": "experimenter",
}  # fmt: skip
SPECIAL = {
    ("OFPGroupMod", "type"): "group_type",
    ("OFPGroupDescStats", "type"): "group_type",
    ("OFPBundleCtrlMsg", "type"): "control_type",
    ("OFPErrorMsg", "type"): "type",
    ("OFPActionSetNwTtl", "nw_ttl"): "set_nw_ttl",
    ("OFPActionSetMplsTtl", "mpls_ttl"): "set_mpls_ttl",
    ("OFPActionPushVlan", "ethertype"): "push_vlan",
    ("OFPActionPushMpls", "ethertype"): "push_mpls",
    ("OFPActionPopMpls", "ethertype"): "pop_mpls",
    ("OFPActionPushPbb", "ethertype"): "push_pbb",
    ("OFPActionGroup", "group_id"): "group",
    ("OFPActionSetQueue", "queue_id"): "set_queue",
    ("OFPActionMeter", "meter_id"): "meter",
    ("OFPInstructionMeter", "meter_id"): "meter",
    ("OFPInstructionGotoTable", "table_id"): "goto_table",
    ("OFPInstructionWriteMetadata", "metadata_mask"): "mask",
    ("OFPSetConfig", "flags"): "fragments",
    ("OFPGetConfigReply", "flags"): "fragments",
    ("OFPTableModPropEviction", "flags"): "eviction",
    ("OFPTableFeaturesStats", "capabilities"): "config",
    ("OFPQueuePropMinRate", "rate"): "min_rate",
    ("OFPQueuePropMaxRate", "rate"): "max_rate",
    ("OFPQueueDescPropMinRate", "rate"): "min_rate",
    ("OFPQueueDescPropMaxRate", "rate"): "max_rate",
    ("OFPErrorMsg", "exp_type"): "code",
    ("OFPActionVlanVid", "vlan_vid"): "set_vlan_vid",
    ("OFPActionVlanPcp", "vlan_pcp"): "set_vlan_pcp",
    ("OFPActionSetTpSrc", "tp"): "set_tp_src",
    ("OFPActionSetTpDst", "tp"): "set_tp_dst",
}
SETTERS_10 = {
    "NXActionSetMplsLabel": ("mpls_label", 0),
    "NXActionSetMplsTc": ("mpls_tc", 0),
    "OFPActionSetDlSrc": ("eth_src", 0), "OFPActionSetDlDst": ("eth_dst", 0), "OFPActionSetNwSrc": ("ipv4_src", 0),
    "OFPActionSetNwDst": ("ipv4_dst", 0), "OFPActionSetNwTos": ("ip_dscp", 2),
}  # fmt: skip
NICIRA = {
    "NXActionDecMplsTtl": ("dec_mpls_ttl", {}),
    "NXActionDecTtl": ("dec_nw_ttl", {}),
    "NXActionPopMpls": ("pop_mpls", {"ethertype": "pop_mpls"}),
    "NXActionPushMpls": ("push_mpls", {"ethertype": "push_mpls"}),
    "NXActionSetMplsTtl": ("set_mpls_ttl", {"ttl": "set_mpls_ttl"}),
    "NXActionConjunction": ("nicira", {"n_clauses": "clauses"}),
    "NXActionController": ("nicira", {}),
    "NXActionOutputTrunc": ("nicira", {}),
    "NXActionResubmitTable": ("nicira", {"in_port": "port", "table_id": "table"}),
    "NXActionDecTtlCntIds": ("nicira", {"cnt_ids": "dec_ttl_cnt_ids"}),
    "NXActionFinTimeout": (
        "nicira",
        {"fin_idle_timeout": "idle_timeout", "fin_hard_timeout": "hard_timeout"},
    ),
    "NXActionStackPush": ("nicira", {"start": "offset", "end": "bits"}),
    "NXActionStackPop": ("nicira", {"start": "offset", "end": "bits"}),
    "NXActionRegLoad": ("nicira", {"dst": "field"}),
    "NXActionRegMove": (
        "nicira",
        {
            "src_field": "field",
            "dst_field": "field",
            "src_ofs": "offset",
            "dst_ofs": "offset",
            "n_bits": "bits",
        },
    ),
    "NXActionNote": ("nicira", {}),
}
"""os-ken's classes of Nicira's actions: what the action is called here, and its attributes."""
TABLE_PROPERTIES = [
    "instructions",
    "next_tables",
    "write_actions",
    "apply_actions",
    "match",
    "wildcards",
    "write_set_field",
    "apply_set_field",
    "table_sync_from",
    "write_copy_field",
    "apply_copy_field",
    "packet_types",
]


class OsKen:
    """The bag of one of os-ken's messages, from what its own `to_jsondict` gives."""

    def __init__(self, message: dict[str, Any], version: str) -> None:
        self.bag: Bag = Counter()
        self.old = version == "1.0"
        ((name, content),) = message.items()
        self.message(name, dict(content))

    def put(self, name: str, value: int | str) -> None:
        name = SAME.get(name, name)
        if self.old and name in PORTS and isinstance(value, int) and value >= 0xFF00:
            value |= 0xFFFF0000  # the reserved ports of 1.0
        if value not in NOTHING:
            self.bag[name, value] += 1

    def message(self, name: str, content: dict[str, Any]) -> None:
        known = MESSAGES.get(name)
        if known is None:
            known = snake(name.removeprefix("OFP"))
            if name.endswith("StatsRequest") or name in ("OFPFlowMonitorRequest",):
                known = "multipart_request"
            elif name.endswith("StatsReply") or name in ("OFPFlowMonitorReply", "OFPExperimenterMultipart"):
                known = "multipart_reply"
        self.bag["message", known] += 1
        if known.startswith("multipart"):
            self.put("more", content.pop("flags", 0))
            self.bag["about", content.pop("type", 65535)] += 1
        self.content(name, content)

    def content(self, name: str, content: dict[str, Any]) -> None:
        """One of os-ken's objects: its class and its attributes."""
        if name == "OXMTlv":
            value, mask = content["value"], content["mask"]
            field = {"tun_ipv4_src": "tun_src", "tun_ipv4_dst": "tun_dst"}.get(
                content["field"], content["field"]
            )
            self.bag[oxm(field, plain(value), None if mask is None else plain(mask))] += 1
            return
        if name == "OFPMatch" and "wildcards" in content:
            self.bag.update(match10(content))
            return
        if name == "OXSTlv":
            self.statistic(content["field"], content["value"])
            return
        if name in NICIRA:
            self.nicira(name, content)
            return
        if name in SETTERS_10:
            self.setter(*SETTERS_10[name], next(v for k, v in content.items() if k not in IGNORED))
            return
        self.kind(name, content)
        if name.startswith("OFPAsyncConfigProp"):
            self.asynchronous(content)
            return
        if name == "OFPPacketOut" and "match" in content:
            fields = {
                f["OXMTlv"]["field"]: f["OXMTlv"]["value"] for f in content["match"]["OFPMatch"]["oxm_fields"]
            }
            content = {k: v for k, v in content.items() if k != "match"} | fields
        if name.endswith("PropExperimenter") and "exp_type" in content:
            words = b"".join(word.to_bytes(4) for word in content["data"])
            content = content | {"data": list(words)}
        if name == "OFPPacketIn" and "in_port" in content:
            content = content | {
                "match": {"OXMTlv": {"field": "in_port", "value": content.pop("in_port"), "mask": None}}
            }
        for attribute, value in content.items():
            special = SPECIAL.get((name, attribute))
            if special is None and (
                attribute in IGNORED
                or (name.startswith("OFPTableFeatureProp") and not name.endswith("Experimenter"))
            ):
                continue
            self.attribute(special or RENAMED.get(attribute, attribute), value)

    def kind(self, name: str, content: dict[str, Any]) -> None:
        """What an action, instruction or property is called here."""
        if name == "OFPPortDescPropOxm":
            for one in content["oxm_ids"]:
                self.put(
                    {2: "pipeline_input", 3: "pipeline_output"}[content["type"]], one["OFPOxmId"]["type"]
                )
        elif name.startswith("OFPTableFeatureProp"):
            kind = TABLE_PROPERTIES[content["type"] // 2] if content["type"] < 24 else "experimenter"
            miss = "_miss" if content["type"] % 2 else ""
            ids = next((v for k, v in content.items() if k.endswith("_ids")), [])
            for one in ids:
                inner = next(iter(one.values())) if isinstance(one, dict) else one
                known = inner["type"] if isinstance(inner, dict) else inner
                masked = "/mask" if isinstance(inner, dict) and inner.get("hasmask") else ""
                self.put(f"{kind}{miss}", f"{known}{masked}" if masked else known)
            for value in content.get("oxm_values", []):
                self.content("OXMTlv", value["OXMTlv"])
        elif name == "OFPInstructionActions":
            self.bag[
                "does", {3: "write_actions", 4: "apply_actions", 5: "clear_actions"}[content["type"]]
            ] += 1
        elif name.startswith(("OFPAction", "OFPInstruction")) and not name.endswith("Id"):
            known = snake(name.removeprefix("OFPAction").removeprefix("OFPInstruction")).removesuffix(
                "_unknown"
            )
            known = {"vlan_vid": "set_vlan_vid", "vlan_pcp": "set_vlan_pcp", "strip_vlan": "pop_vlan"}.get(
                known, known
            )
            self.bag["does", known] += 1

    def setter(self, field: str, shift: int, value: Any) -> None:
        """An action of 1.0 that sets a field."""
        known = plain(value)
        assert isinstance(known, int)
        self.bag["does", "set_field"] += 1
        self.bag[oxm(field, known >> shift, None)] += 1

    def nicira(self, name: str, content: dict[str, Any]) -> None:
        """One of Nicira's actions."""
        known, names = NICIRA[name]
        self.bag["does", known] += 1
        if name == "NXActionNote":
            self.put("note", bytes(content["note"]).ljust(6, b"\0").hex())
            return
        for attribute, value in content.items():
            if attribute == "ofs_nbits":
                self.put("offset", value >> 6)
                self.put("bits", (value & 63) + 1)
            elif attribute not in IGNORED | {"vendor", "experimenter"}:
                for _ in range(2 if attribute == "n_bits" else 1):  # the same for both fields
                    self.attribute(names.get(attribute, attribute), value)

    def asynchronous(self, content: dict[str, Any]) -> None:
        """A property of 1.4: an experimenter's for secondary controllers is kept as it is."""
        if content["type"] < 16:
            self.put(ASYNC[content["type"] // 2], content["mask"])
            return
        words = [content["experimenter"], content["exp_type"], *content["data"]]
        if content["type"] == 0xFFFE:
            self.put("property_type", 0xFFFE)
        else:
            self.put("experimenter", words.pop(0))
            self.put("experimenter_type", words.pop(0))
        self.put("data", b"".join(word.to_bytes(4) for word in words).hex())

    def attribute(self, name: str, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, dict):
            for inner, content in value.items():
                if isinstance(content, dict) and inner[0].isupper():
                    self.content(inner, content)
                else:
                    self.attribute(name, content)
        elif isinstance(value, list):
            if name == "data":
                self.put(name, bytes(value).hex())
                return
            for item in value:
                self.attribute(name, item)
        elif name in ("data", "experimenter_data") and isinstance(value, str):
            self.put("data", base64.b64decode(value).hex())
        else:
            self.put(name, plain(value))

    def statistic(self, name: str, value: Any) -> None:
        if isinstance(value, list | tuple):
            for unit, part in zip(("sec", "nsec"), value, strict=True):
                self.put(unit, part)
        else:
            self.put(name, value)


def plain(value: Any) -> int | str:
    return number(value) if isinstance(value, str) else int(value)


def snake(name: str) -> str:
    """`SetNwTtl` as `set_nw_ttl`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def match10(match: dict[str, Any]) -> Bag:
    """The fields of a match of 1.0 that are no wildcards, under the names that they have since 1.2."""
    wild = match["wildcards"]
    bag: Bag = Counter()
    eth_type = 0 if wild & 0x10 else match["dl_type"]
    proto = 0 if wild & 0x20 else match["nw_proto"]
    ports = {6: "tcp_{}", 17: "udp_{}", 132: "sctp_{}"}.get(proto)
    ports = ports or ("icmpv4_{}" if proto == 1 else None)
    source, target = ("type", "code") if proto == 1 else ("src", "dst")
    names = {
        "in_port": (1, "in_port"),
        "dl_vlan": (2, "vlan_vid"),
        "dl_src": (4, "eth_src"),
        "dl_dst": (8, "eth_dst"),
        "dl_type": (0x10, "eth_type"),
        "nw_proto": (0x20, "arp_op" if eth_type == 0x0806 else "ip_proto"),
        "tp_src": (0x40, ports and ports.format(source)),
        "tp_dst": (0x80, ports and ports.format(target)),
        "dl_vlan_pcp": (1 << 20, "vlan_pcp"),
        "nw_tos": (1 << 21, "ip_dscp"),
    }
    for attribute, (bit, name) in names.items():
        value = plain(match[attribute])
        if wild & bit or name is None:
            continue
        assert isinstance(value, int)
        if attribute == "dl_vlan":
            value = 0 if value == 0xFFFF else value | 0x1000
        elif attribute == "nw_tos":
            value >>= 2
        elif attribute == "in_port" and value >= 0xFF00:
            value |= 0xFFFF0000
        bag[oxm(name, value, None)] += 1
    for attribute, shift, name in (("nw_src", 8, "src"), ("nw_dst", 14, "dst")):
        ignored = min(wild >> shift & 0x3F, 32)
        address = "arp_spa" if name == "src" else "arp_tpa"
        field = address if eth_type == 0x0806 else f"ipv4_{name}"
        if ignored < 32:
            mask = 0xFFFFFFFF >> ignored << ignored
            value = plain(match[attribute])
            assert isinstance(value, int)
            bag[oxm(field, value & mask, None if ignored == 0 else mask)] += 1
    return bag
