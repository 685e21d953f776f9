"""A message as a bag of (name, number or text), from our JSON and from os-ken's objects, so that both can be compared.

Zeros, absent values and "any" are left out: versions and peers differ in how they say nothing. Lengths, types and paddings are the
codecs' own affair. Codes and flags are numbers by os-ken's constants, so that our names for them are tested too.
"""

from __future__ import annotations

import base64
import ipaddress
from collections import Counter
from typing import Any

Bag = Counter[tuple[str, int | str]]

ANY = 0xFFFFFFFF
"""Any port, group, queue or buffer."""
NOTHING = (0, "", ANY, 0xFFFFFFFFFFFFFFFF)
PORTS = ("port", "in_port", "out_port")
SAME = {
    "duration_sec": "sec",
    "duration_nsec": "nsec",
    "port_no": "port",
    "watch_port": "watch",
    "watch_group": "watch",
}
"""Names that versions or peers have two of."""
RESERVED = {
    "IN_PORT": 0xFFFFFFF8, "TABLE": 0xFFFFFFF9, "NORMAL": 0xFFFFFFFA, "FLOOD": 0xFFFFFFFB, "ALL": 0xFFFFFFFC,
    "CONTROLLER": 0xFFFFFFFD, "LOCAL": 0xFFFFFFFE, "ANY": ANY,
}  # fmt: skip

CODES = {
    ("flow_mod", "command"): "OFPFC_",
    ("group_mod", "command"): "OFPGC_",
    ("meter_mod", "command"): "OFPMC_",
    ("flow_monitor", "command"): "OFPFMC_",
    ("table_features", "command"): "OFPTFC_",
    ("", "group_type"): "OFPGT_",
    ("packet_in", "reason"): "OFPR_",
    ("flow_removed", "reason"): "OFPRR_",
    ("port_status", "reason"): "OFPPR_",
    ("role_status", "reason"): "OFPCRR_",
    ("table_status", "reason"): "OFPTR_",
    ("controller_status", "reason"): "OFPCSR_",
    ("flow_monitor", "reason"): "OFPRR_",
    ("flow_stats", "reason"): "OFPFSR_",
    ("", "event"): "OFPFME_",
    ("", "role"): "OFPCR_ROLE_",
    ("", "fragments"): "OFPC_FRAG_",
    ("", "control_type"): "OFPBCT_",
    ("", "channel_status"): "OFPCT_STATUS_",
}
FLAGS = {
    ("stat_trigger", "flags"): "OFPSTF_",
    ("optical", "flags"): "OFPOSF_",
    ("optical", "supported"): "OFPOPF_",
    ("optical", "configure"): "OFPOPF_",
    ("flow_monitor", "flags"): "OFPFMF_",
    ("flow_mod", "flags"): "OFPFF_",
    ("flow", "flags"): "OFPFF_",
    ("meter", "flags"): "OFPMF_",
    ("bundle_features", "flags"): "OFPBF_",
    ("bundle", "flags"): "OFPBF_",
    ("bundle_features", "capabilities"): "OFPBF_",
    ("group_features", "capabilities"): "OFPGFC_",
    ("meter_features", "capabilities"): "OFPMF_",
    ("meter_features", "features"): "OFPMFF_",
    ("features_reply", "capabilities"): "OFPC_",
    ("table", "config"): "OFPTC_",
    ("", "eviction"): "OFPTMPEF_",
    ("table_features", "features"): "OFPTFF_",
    ("port", "config"): "OFPPC_",
    ("port", "mask"): "OFPPC_",
    ("port", "state"): "OFPPS_",
    ("port", "current"): "OFPPF_",
    ("port", "advertised"): "OFPPF_",
    ("port", "supported"): "OFPPF_",
    ("port", "peer"): "OFPPF_",
    ("port", "advertise"): "OFPPF_",
}
"""Kind of message (its beginning, or part of it) and key -> prefix of os-ken's constants."""
OTHER_NAMES = {
    "fast_failover": "FF", "primary": "MASTER", "secondary": "SLAVE", "no_change": "NOCHANGE", "reassemble": "REASM",
    "no_packet_counts": "NO_PKT_COUNTS", "no_byte_counts": "NO_BYT_COUNTS", "emergency": "EMERG",
    "primary_request": "MASTER_REQUEST", "abbreviated": "ABBREV",
}  # fmt: skip
"""Where our names are not the specification's."""
LISTS_OF_KINDS = {"apply_actions", "write_actions", "actions", "instructions"}


def number(text: str) -> int | str:
    """A number, an address as a number, or the text."""
    if text in RESERVED:
        return RESERVED[text]
    if text.startswith("0x"):
        return int(text, 16)
    if text.count(":") == 5 and all(len(part) == 2 for part in text.split(":")):
        return int(text.replace(":", ""), 16)
    try:
        return int(ipaddress.ip_address(text))
    except ValueError:
        return text


def oxm(name: str, value: int | str, mask: int | str | None) -> tuple[str, str]:
    """A match field; a mask of all bits is none."""
    bits = {"eth_dst": 48, "eth_src": 48}.get(name)
    full = mask is None or (bits is not None and mask == (1 << bits) - 1)
    return f"oxm {name}", f"{value}" if full else f"{value}/{mask}"


MULTIPART = {
    name: number
    for number, name in enumerate(
        ["desc", "flow", "aggregate", "table", "port_stats", "queue", "group", "group_desc", "group_features", "meter", "meter_config", "meter_features", "table_features", "port_desc", "table_desc", "queue_desc", "flow_monitor", "flow_stats", "controller_status", "bundle_features"]
    )
}
ASKED = {
    "group": "group_id",
    "group_desc": "group_id",
    "port_desc": "port",
    "port_stats": "port",
    "meter": "meter_id",
    "meter_config": "meter_id",
}
"""What a request for one thing is called in os-ken."""
ASYNC = [
    "packet_in",
    "port_status",
    "flow_removed",
    "role_status",
    "table_status",
    "request_forward",
    "flow_stats",
    "controller_status",
]


class Ours:
    """The bag of one of our messages, read as JSON."""

    def __init__(self, message: dict[str, Any], version: str, constants: Any) -> None:
        self.bag: Bag = Counter()
        self.old = version == "1.0"
        self.constants = constants
        for key, value in message.items():
            if key not in ("xid", "version"):
                self.bag["message", key] += 1
                self.walk((key,), value)

    def put(self, name: str, value: int | str) -> None:
        name = SAME.get(name, name)
        if value not in NOTHING:
            self.bag[name, value] += 1

    def walk(self, path: tuple[str, ...], value: Any) -> None:
        key = path[-1]
        if value is None or value == [] or (key == "xid" and "abbreviated" not in path):
            return
        if self.old and key == "port" and "queues" in path:
            return  # told once for all queues
        if key == "body" and path[0].startswith("multipart"):
            about = value if isinstance(value, str) else next(iter(value))
            self.bag["about", MULTIPART.get(about, 65535)] += 1
            if isinstance(value, str):
                return
        if path[0] == "multipart_request" and isinstance(value, int | str):
            path = (*path, key := ASKED.get(key, key))
        if key == "version_bitmap":
            for bit in range(32):
                self.put("versions", bit if value[0] >> bit & 1 else 0)
        elif key in ("echo_request", "echo_reply"):
            self.put("data", value)
        elif key == "code" and path[0] == "error":
            self.error(value)
        elif isinstance(value, dict):
            self.mapping(path, value)
        elif isinstance(value, list):
            if (prefix := self.prefix(FLAGS, path)) is not None:
                self.put(key, sum(self.flag(prefix, name) for name in value))
                return
            for item in value:
                self.item(path, item)
        elif isinstance(value, str) and (prefix := self.prefix(CODES, path)) is not None:
            self.put(key, self.constant(prefix, value))
        else:
            self.put(key, number(value) if isinstance(value, str) else int(value))

    def mapping(self, path: tuple[str, ...], value: dict[str, Any]) -> None:
        if path[-1] in ("match", "set_field", "packet_types") and path[-2:] != ("properties", "match"):
            for name, field in value.items():
                text, _, mask = str(field).partition("/")
                known = int(text) if text.isdigit() else number(text)
                self.bag[oxm(name, known, number(mask) if mask else None)] += 1
            return
        if path[-1] == "output" and "port" in value and "max_len" not in value:
            value = value | {"max_len": 0xFFFF if value["port"] == "CONTROLLER" else 0}
        if path[-2:-1] == ("properties",) and "miss" in value:
            kind = f"{path[-1]}{'_miss' if value['miss'] else ''}"
            value = {kind: value.get("types") or value.get("tables") or value.get("fields")} | value
            value = {k: v for k, v in value.items() if k not in ("miss", "types", "tables", "fields")}
        for key, inner in value.items():
            self.walk((*path, key), inner)

    def item(self, path: tuple[str, ...], item: Any) -> None:
        if path[-1] == "flow_monitor" and (isinstance(item, str) or "abbreviated" in item):
            self.put("event", {"paused": 5, "resumed": 6}.get(item, 4) if isinstance(item, str) else 4)
            if isinstance(item, dict):
                self.walk((*path, "abbreviated"), item["abbreviated"])
        elif path[-1] not in LISTS_OF_KINDS or isinstance(item, int):
            self.walk(path, item)
        elif isinstance(item, str):
            self.bag["does", item] += 1
        else:
            for name, content in item.items():
                if not (self.old and name == "apply_actions"):
                    self.bag["does", name] += 1
                self.walk((*path, name), content)

    @staticmethod
    def prefix(table: dict[tuple[str, str], str], path: tuple[str, ...]) -> str | None:
        for (kind, key), prefix in table.items():
            if path[-1] == key and any(part.startswith(kind) for part in path[:-1]):
                return prefix
        return None

    def constant(self, prefix: str, name: str) -> int:
        spelled = OTHER_NAMES.get(name, name).upper()
        found = getattr(self.constants, prefix + spelled, None)
        if found is None and prefix == "OFPR_":
            found = getattr(
                self.constants, prefix + {"NO_MATCH": "TABLE_MISS", "ACTION": "APPLY_ACTION"}[spelled]
            )
        return found if isinstance(found, int) else OUR_CODES[prefix, name]

    def flag(self, prefix: str, name: str) -> int:
        if name.startswith("0x"):
            return int(name, 16)
        if prefix == "OFPPF_":
            speed, _, duplex = name.partition("_")
            unit, digits = speed.rstrip("0123456789"), speed.lstrip("gmbt")
            if digits.isdigit():
                name = f"{digits}{unit}_{'hd' if duplex == 'half' else 'fd'}"
        return self.constant(prefix, name)

    def error(self, code: Any) -> None:
        if isinstance(code, dict):
            self.put("type", code["type"])
            self.put("code", code["code"])
            return
        if self.old:
            code = {"OFPFMFC_TABLE_FULL": "OFPFMFC_ALL_TABLES_FULL"}.get(code, code)
        kind = getattr(self.constants, ERROR_TYPES[code.split("_")[0]])
        self.put("type", kind)
        self.put("code", getattr(self.constants, code))


OUR_CODES: dict[tuple[str, str], int] = {
    ("OFPTFC_", "replace"): 0,
    ("OFPFSR_", "request"): 0,
    ("OFPFSR_", "trigger"): 1,
}
"""Codes and flags for which os-ken has no constant: by the specification."""

ERROR_TYPES = {
    "OFPHFC": "OFPET_HELLO_FAILED", "OFPBRC": "OFPET_BAD_REQUEST", "OFPBAC": "OFPET_BAD_ACTION",
    "OFPBIC": "OFPET_BAD_INSTRUCTION", "OFPBMC": "OFPET_BAD_MATCH", "OFPFMFC": "OFPET_FLOW_MOD_FAILED",
    "OFPGMFC": "OFPET_GROUP_MOD_FAILED", "OFPPMFC": "OFPET_PORT_MOD_FAILED", "OFPTMFC": "OFPET_TABLE_MOD_FAILED",
    "OFPQOFC": "OFPET_QUEUE_OP_FAILED", "OFPSCFC": "OFPET_SWITCH_CONFIG_FAILED", "OFPRRFC": "OFPET_ROLE_REQUEST_FAILED",
    "OFPMMFC": "OFPET_METER_MOD_FAILED", "OFPTFFC": "OFPET_TABLE_FEATURES_FAILED", "OFPBPC": "OFPET_BAD_PROPERTY",
    "OFPACFC": "OFPET_ASYNC_CONFIG_FAILED", "OFPBFC": "OFPET_BUNDLE_FAILED", "OFPMOFC": "OFPET_FLOW_MONITOR_FAILED",
}  # fmt: skip

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
                or (name.startswith("OFPTableFeatureProp")
                and not name.endswith("Experimenter"))
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
