"""Match fields: from ovs-ofctl's names and values to those of os-ken's `ofctl_rest`. Pure."""

from __future__ import annotations

import ipaddress
from typing import Any

from flowgauge.controllers.syntax import PROTOCOLS, Item, number
from flowgauge.errors import NotOfferedError

ARP = (0x0806, 0x8035)
IPV6 = 0x86DD
NAMES = {
    "dl_src": "eth_src",
    "dl_dst": "eth_dst",
    "dl_type": "eth_type",
    "dl_vlan": "vlan_vid",
    "dl_vlan_pcp": "vlan_pcp",
    "nw_proto": "ip_proto",
    "nw_src": "ipv4_src",
    "nw_dst": "ipv4_dst",
    "ip_src": "ipv4_src",
    "ip_dst": "ipv4_dst",
    "nw_tos": "ip_dscp",
    "nw_ecn": "ip_ecn",
    "tun_id": "tunnel_id",
    "ipv6_label": "ipv6_flabel",
    "nd_target": "ipv6_nd_target",
    "nd_sll": "ipv6_nd_sll",
    "nd_tll": "ipv6_nd_tll",
}
"""ovs-ofctl's names -> OXM's."""
OF10 = {
    "eth_src": "dl_src",
    "eth_dst": "dl_dst",
    "eth_type": "dl_type",
    "vlan_vid": "dl_vlan",
    "vlan_pcp": "dl_vlan_pcp",
    "ip_proto": "nw_proto",
    "ipv4_src": "nw_src",
    "ipv4_dst": "nw_dst",
    "arp_spa": "nw_src",
    "arp_tpa": "nw_dst",
    "arp_op": "nw_proto",
    "ip_dscp": "nw_tos",
    **{f"{p}_{end}": f"tp_{end}" for p in ("tcp", "udp") for end in ("src", "dst")},
    "icmpv4_type": "tp_src",
    "icmpv4_code": "tp_dst",
    "in_port": "in_port",
}
"""OXM's names -> those of OpenFlow 1.0; what is not here can't be said in 1.0."""
TRANSPORT = {6: "tcp", 17: "udp", 132: "sctp"}
ICMP = {1: "icmpv4", 58: "icmpv6"}
TEXTS = (
    *("eth_src", "eth_dst", "arp_sha", "arp_tha", "ipv6_nd_sll", "ipv6_nd_tll"),
    *("ipv4_src", "ipv4_dst", "arp_spa", "arp_tpa", "ipv6_src", "ipv6_dst", "ipv6_nd_target"),
)
"""Fields whose values are addresses, with or without a mask."""
MASKED = ("metadata", "tunnel_id", "pbb_isid", "ipv6_exthdr")
"""Number fields of which ofctl_rest takes masks."""
NUMBERS = (
    *("in_phy_port", "eth_type", "vlan_pcp", "ip_dscp", "ip_ecn", "ip_proto", "arp_op"),
    *("tcp_src", "tcp_dst", "udp_src", "udp_dst", "sctp_src", "sctp_dst", "ipv6_flabel"),
    *("icmpv4_type", "icmpv4_code", "icmpv6_type", "icmpv6_code", "mpls_label", "mpls_tc", "mpls_bos"),
)
PRESENT = 0x1000
"""Bit of a VLAN id that says that there is a tag (OpenFlow 1.2 and later)."""


def match(found: list[Item], version: str) -> dict[str, Any]:
    """The `match` of ofctl_rest. Raises NotOfferedError for a field that it does not have, UsageError for a wrong value."""
    values: dict[str, Any] = {}
    eth_type, ip_proto = context(found)
    for item in found:
        if item.name in PROTOCOLS:
            values["eth_type"] = PROTOCOLS[item.name][0]
            if PROTOCOLS[item.name][1] is not None:
                values["ip_proto"] = PROTOCOLS[item.name][1]
        elif item.name == "vlan_tci":
            values.update(_tci(item.value))
        else:
            name = oxm_name(item.name, eth_type, ip_proto)
            values[name] = _value(item, name)
    return _in_1_0(values) if version == "1.0" else values


def context(found: list[Item]) -> tuple[int | None, int | None]:
    """EtherType and IP protocol that the items settle, by which names such as `tp_dst` are understood."""
    eth_type = ip_proto = None
    for item in found:
        if item.name in PROTOCOLS:
            eth_type, proto = PROTOCOLS[item.name]
            ip_proto = proto if proto is not None else ip_proto
        elif item.name in ("dl_type", "eth_type"):
            eth_type = number(item.value, item.name)
        elif item.name in ("nw_proto", "ip_proto"):
            ip_proto = number(item.value, item.name)
    return eth_type, ip_proto


def oxm_name(name: str, eth_type: int | None, ip_proto: int | None) -> str:
    """OXM's name of a field that ovs-ofctl calls `name`."""
    if eth_type in ARP:
        arp = {"nw_proto": "arp_op", "nw_src": "arp_spa", "nw_dst": "arp_tpa"}
        arp |= {"ip_src": "arp_spa", "ip_dst": "arp_tpa"}
        if name in arp:
            return arp[name]
    kind, _, end = name.rpartition("_")
    if kind == "tp" and ip_proto in TRANSPORT:
        return f"{TRANSPORT[ip_proto]}_{end}"
    if name in ("tp_src", "tp_dst") and ip_proto in ICMP:
        return f"{ICMP[ip_proto]}_{'type' if end == 'src' else 'code'}"
    if kind == "icmp" and ip_proto in ICMP:
        return f"{ICMP[ip_proto]}_{end}"
    return NAMES.get(name, name)


def _value(item: Item, name: str) -> Any:
    text = item.value
    if name == "in_port":
        return port(text)
    if name in TEXTS:
        return text
    if name == "vlan_vid":
        return _dl_vlan(text) if item.name == "dl_vlan" else _vlan_vid(text)
    if name in MASKED:
        return text if "/" in text else number(text, name)
    if name in NUMBERS and "/" not in text:
        value = number(text, name)
        return value >> 2 if item.name == "nw_tos" else value
    what = f"a mask on {name}" if name in NUMBERS else f"the match field {item.name}"
    raise cannot(what)


def cannot(what: str) -> NotOfferedError:
    """The error for what ofctl_rest has no words for."""
    return NotOfferedError(
        f"ofctl_rest can't say {what}", advice="--controller builtin or ovs-ofctl can, if the switch can."
    )


def port(text: str) -> int | str:
    """A port's number, or its name as ofctl_rest has it.

    >>> port("3"), port("local")
    (3, 'LOCAL')
    """
    return int(text, 0) if text[:1].isdigit() else text.upper()


def _dl_vlan(text: str) -> int | str:
    vid = number(text, "dl_vlan")
    return "0x0000" if vid == 0xFFFF else vid


def _vlan_vid(text: str) -> str:
    value, slash, mask = text.partition("/")
    shown = f"{number(value, 'vlan_vid'):#06x}"
    return f"{shown}/{number(mask, 'vlan_vid'):#06x}" if slash else shown


def _tci(text: str) -> dict[str, Any]:
    value, slash, mask_text = text.partition("/")
    tci, mask = number(value, "vlan_tci"), number(mask_text, "vlan_tci") if slash else 0xFFFF
    found: dict[str, Any] = {}
    if mask & 0x1FFF:
        exact = mask & 0x1FFF == 0x1FFF or (tci == 0 and mask & PRESENT)
        vid = f"{tci & 0x1FFF:#06x}"
        found["vlan_vid"] = vid if exact else f"{vid}/{mask & 0x1FFF:#06x}"
    if mask & 0xE000 and tci & PRESENT:
        found["vlan_pcp"] = tci >> 13
    return found


def _in_1_0(values: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, value in values.items():
        if name not in OF10:
            raise cannot(f"the match field {name} in OpenFlow 1.0")
        said[OF10[name]] = _value_1_0(name, value)
    return said


def _value_1_0(name: str, value: Any) -> Any:
    if name == "vlan_vid":
        if isinstance(value, int):
            return value
        if "/" in value:
            raise cannot("a mask on a VLAN id in OpenFlow 1.0")
        vid = int(value, 0)
        return vid & 0xFFF if vid & PRESENT else 0xFFFF
    if name == "ip_dscp":
        return value << 2
    if name in ("eth_src", "eth_dst") and "/" in value:
        raise cannot(f"a mask on {name} in OpenFlow 1.0")
    if name in ("ipv4_src", "ipv4_dst", "arp_spa", "arp_tpa") and "/" in value:
        address, _, mask = value.partition("/")
        try:
            return f"{address}/{ipaddress.ip_network(f'0.0.0.0/{mask}').prefixlen}"
        except ValueError:
            raise cannot(f"the mask {mask} in OpenFlow 1.0") from None
    return value
