"""A message as a bag of (name, number or text), from our JSON and from os-ken's objects, so that both can be compared.

Zeros, absent values and "any" are left out: versions and peers differ in how they say nothing. Lengths, types and paddings are the
codecs' own affair. Codes and flags are numbers by os-ken's constants, so that our names for them are tested too.
"""

from __future__ import annotations

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
        [
            "desc",
            "flow",
            "aggregate",
            "table",
            "port_stats",
            "queue",
            "group",
            "group_desc",
            "group_features",
            "meter",
            "meter_config",
            "meter_features",
            "table_features",
            "port_desc",
            "table_desc",
            "queue_desc",
            "flow_monitor",
            "flow_stats",
            "controller_status",
            "bundle_features",
        ]
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
