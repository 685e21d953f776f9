"""Actions and instructions: from ovs-ofctl's syntax to the JSON of os-ken's `ofctl_rest`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from flowgauge.controllers.rest_match import NAMES, PRESENT, cannot, port
from flowgauge.controllers.syntax import Item, items, number

Json = dict[str, Any]

PLAIN = {
    "pop_vlan": "POP_VLAN",
    "strip_vlan": "POP_VLAN",
    "dec_ttl": "DEC_NW_TTL",
    "dec_mpls_ttl": "DEC_MPLS_TTL",
    "copy_ttl_in": "COPY_TTL_IN",
    "copy_ttl_out": "COPY_TTL_OUT",
    "pop_pbb": "POP_PBB",
    "clear_actions": "CLEAR_ACTIONS",
}
"""Actions without an argument."""
WITH_NUMBER = {
    "push_vlan": ("PUSH_VLAN", "ethertype"),
    "push_mpls": ("PUSH_MPLS", "ethertype"),
    "pop_mpls": ("POP_MPLS", "ethertype"),
    "push_pbb": ("PUSH_PBB", "ethertype"),
    "mod_nw_ttl": ("SET_NW_TTL", "nw_ttl"),
    "set_mpls_ttl": ("SET_MPLS_TTL", "mpls_ttl"),
    "set_queue": ("SET_QUEUE", "queue_id"),
    "group": ("GROUP", "group_id"),
    "meter": ("METER", "meter_id"),
    "goto_table": ("GOTO_TABLE", "table_id"),
}
"""Action -> type, and the key of its number."""
SETTERS = {
    "mod_dl_src": "eth_src",
    "mod_dl_dst": "eth_dst",
    "mod_nw_src": "ipv4_src",
    "mod_nw_dst": "ipv4_dst",
    "mod_nw_ecn": "ip_ecn",
    "mod_vlan_pcp": "vlan_pcp",
    "set_vlan_pcp": "vlan_pcp",
    "set_mpls_label": "mpls_label",
    "set_mpls_tc": "mpls_tc",
    "set_tunnel": "tunnel_id",
}
"""Action -> field that it sets."""
ADDRESSES = re.compile(r"eth_|ipv4_|arp_.p?a$|arp_.ha$|ipv6_(src|dst|nd)")
SETTERS_1_0 = {
    "eth_src": ("SET_DL_SRC", "dl_src"),
    "eth_dst": ("SET_DL_DST", "dl_dst"),
    "vlan_vid": ("SET_VLAN_VID", "vlan_vid"),
    "vlan_pcp": ("SET_VLAN_PCP", "vlan_pcp"),
    "ipv4_src": ("SET_NW_SRC", "nw_src"),
    "ipv4_dst": ("SET_NW_DST", "nw_dst"),
    "ip_dscp": ("SET_NW_TOS", "nw_tos"),
    "tp_src": ("SET_TP_SRC", "tp_src"),
    "tp_dst": ("SET_TP_DST", "tp_dst"),
}
"""Field that OXM's set-field sets -> OpenFlow 1.0's own action and its key."""


def actions(found: Sequence[Item], version: str, ip_proto: int | None = None) -> list[Json]:
    """The `actions` of ofctl_rest, instructions among them. `ip_proto`: what the match says, for `mod_tp_dst`.

    Raises NotOfferedError for what ofctl_rest does not have, UsageError for a wrong value.
    """
    made: list[Json] = []
    for item in found:
        made += _one(item, version, ip_proto)
    return made


def _one(item: Item, version: str, ip_proto: int | None) -> list[Json]:
    name, value = item.name, item.value
    if name == "drop":
        return []
    if version == "1.0":
        return _one_1_0(item)
    if name in PLAIN and not value:
        return [{"type": PLAIN[name]}]
    if name in WITH_NUMBER:
        kind, key = WITH_NUMBER[name]
        return [{"type": kind, key: number(value, name)}]
    if name == "write_actions":
        return [{"type": "WRITE_ACTIONS", "actions": actions(items(value), version, ip_proto)}]
    if name == "write_metadata":
        metadata, slash, mask = value.partition("/")
        written = {"type": "WRITE_METADATA", "metadata": number(metadata, name)}
        return [written | ({"metadata_mask": number(mask, name)} if slash else {})]
    if name in ("mod_vlan_vid", "set_vlan_vid"):
        # As in OpenFlow 1.0, whose action it is: a frame without a tag would need one to be pushed first.
        raise cannot(f"{name} (push_vlan and set_field do the same)")
    setter = _set_field(item, ip_proto)
    if setter is not None:
        field, shown = setter
        return [{"type": "SET_FIELD", "field": field, "value": shown}]
    return [_output(item)]


def _one_1_0(item: Item) -> list[Json]:
    name, value = item.name, item.value
    if name in ("pop_vlan", "strip_vlan"):
        return [{"type": "STRIP_VLAN"}]
    if name in ("mod_vlan_vid", "set_vlan_vid"):
        return [{"type": "SET_VLAN_VID", "vlan_vid": number(value, name)}]
    if name in ("mod_tp_src", "mod_tp_dst"):
        key = name.removeprefix("mod_")
        return [{"type": f"SET_{key.upper()}", key: number(value, name)}]
    if name == "enqueue":
        to, _, queue = value.replace(",", ":").partition(":")
        return [{"type": "ENQUEUE", "port": port(to), "queue_id": number(queue, name)}]
    setter = _set_field(item, None)
    if setter is None:
        return [_output(item)]
    field, shown = setter
    if field not in SETTERS_1_0:
        raise cannot(f"setting {field} in OpenFlow 1.0")
    kind, key = SETTERS_1_0[field]
    if field == "vlan_vid":
        shown &= 0xFFF
    return [{"type": kind, key: shown << 2 if field == "ip_dscp" else shown}]


def _set_field(item: Item, ip_proto: int | None) -> tuple[str, Any] | None:
    """Field and value that an action sets; None when it sets none."""
    name, value = item.name, item.value
    if name == "set_field":
        value, arrow, field = value.rpartition("->")
        if not arrow or "/" in value:
            raise cannot(f"set_field:{item.value}")
        return _settable(field, value)
    if name == "mod_nw_tos":
        return "ip_dscp", number(value, name) >> 2
    if name in ("mod_tp_src", "mod_tp_dst"):
        proto = {6: "tcp", 17: "udp", 132: "sctp"}.get(ip_proto or 0)
        if proto is None:
            raise cannot(f"{name} without a match on tcp, udp or sctp")
        return f"{proto}_{name[-3:]}", number(value, name)
    return _settable(SETTERS[name], value) if name in SETTERS else None


def _settable(field: str, text: str) -> tuple[str, Any]:
    name = {"icmp_type": "icmpv4_type", "icmp_code": "icmpv4_code"}.get(field) or NAMES.get(field, field)
    if ADDRESSES.match(name) and name != "eth_type":
        return name, text
    value = number(text, field)
    if field == "nw_tos":
        return name, value >> 2
    return name, value | PRESENT if name == "vlan_vid" else value


def _output(item: Item) -> Json:
    """`output:2`, `LOCAL`, `3`, `CONTROLLER:128`, `controller(max_len=128)`."""
    name, value = item.name, item.value
    if name.lower() == "controller":
        wanted = value.removeprefix("max_len=")
        limit = {"max_len": number(wanted, name)} if wanted else {}
        return {"type": "OUTPUT", "port": "CONTROLLER", **limit}
    if name == "output":
        if not value or not re.fullmatch(r"\w+", value):
            raise cannot(f"output:{value}")
        return {"type": "OUTPUT", "port": port(value)}
    reserved = ("in_port", "table", "normal", "flood", "all", "local")
    if value or (name.lower() not in reserved and not name.isdigit()):
        raise cannot(f"the action {name}")
    return {"type": "OUTPUT", "port": port(name)}
