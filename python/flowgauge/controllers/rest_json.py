"""Flows, groups and meters: from ovs-ofctl's syntax to the JSON of os-ken's `ofctl_rest`, and its flow statistics back. Pure."""

from __future__ import annotations

import re
from typing import Any

from flowgauge.controllers.rest_actions import Json, actions
from flowgauge.controllers.rest_match import context, match, port
from flowgauge.controllers.syntax import Item, flow_parts, items, number
from flowgauge.errors import UsageError

FLAGS = {
    "send_flow_rem": 1,
    "check_overlap": 2,
    "reset_counts": 4,
    "no_packet_counts": 8,
    "no_byte_counts": 16,
}
"""Bits of a FLOW_MOD's flags (OpenFlow 1.3, 7.3.4.1)."""
OPTIONS = {
    "table": "table_id",
    "priority": "priority",
    "idle_timeout": "idle_timeout",
    "hard_timeout": "hard_timeout",
    "importance": "importance",
    "out_group": "out_group",
}
DEFAULT_PRIORITY = 0x8000
ALL_TABLES = 0xFF
GROUP_TYPES = {
    "all": "ALL",
    "select": "SELECT",
    "indirect": "INDIRECT",
    "ff": "FF",
    "fast_failover": "FF",
}


def flow(text: str, version: str) -> Json:
    """The body of `/stats/flowentry/...` for a flow, but for the switch's number.

    >>> flow("priority=10,ip,nw_dst=10.0.0.1 actions=output:2", "1.3")["match"]
    {'eth_type': 2048, 'ipv4_dst': '10.0.0.1'}
    """
    head, done = flow_parts(text)
    body: Json = {"priority": DEFAULT_PRIORITY}
    flags, fields = 0, []
    for item in head:
        if item.name in FLAGS and not item.value:
            flags |= FLAGS[item.name]
        elif item.name in OPTIONS:
            body[OPTIONS[item.name]] = number(item.value, item.name)
        elif item.name == "cookie":
            body.update(_cookie(item))
        elif item.name == "out_port":
            body["out_port"] = port(item.value)
        else:
            fields.append(item)
    if flags:
        body["flags"] = flags
    body["match"] = match(fields, version)
    if done is not None:
        body["actions"] = actions(done, version, context(fields)[1])
    return body


def names_table(text: str) -> bool:
    """Whether a flow says in which table it is; deletes that don't are meant for all tables."""
    return any(item.name == "table" for item in flow_parts(text)[0])


def group(text: str, version: str) -> Json:
    """The body of `/stats/groupentry/...`.

    >>> group("group_id=1,type=indirect,bucket=output:2", "1.3")
    {'group_id': 1, 'type': 'INDIRECT', 'buckets': [{'actions': [{'type': 'OUTPUT', 'port': 2}]}]}
    """
    head, *rest = re.split(r"(?:^|[\s,])buckets?=", text)
    body: Json = {}
    for item in items(head):
        if item.name == "group_id":
            body["group_id"] = "ALL" if item.value.lower() == "all" else number(item.value, item.name)
        elif item.name == "type" and item.value.lower() in GROUP_TYPES:
            body["type"] = GROUP_TYPES[item.value.lower()]
        else:
            raise UsageError(
                f"{text!r}: {item.name}={item.value} is not understood; allowed: group_id, type, bucket"
            )
    if "group_id" not in body:
        raise UsageError(f"{text!r}: group_id is missing")
    body["buckets"] = [_bucket(part, version) for part in rest]
    return body


def _bucket(text: str, version: str) -> Json:
    made: Json = {}
    done: list[Item] = []
    for item in items(text):
        # `actions=output:1` is one item here: what follows are further actions.
        if item.name in ("actions", "action"):
            done += items(item.value)
        elif item.name in ("weight", "watch_group") or item.name == "watch_port":
            made[item.name] = number(item.value, item.name)
        elif item.name != "bucket_id":
            done.append(item)
    return {**made, "actions": actions(done, version)}


def meter(text: str) -> Json:
    """The body of `/stats/meterentry/...`.

    >>> meter("meter=1,kbps,bands=type=drop,rate=1000")
    {'meter_id': 1, 'flags': ['KBPS'], 'bands': [{'type': 'DROP', 'rate': 1000}]}
    """
    head, *rest = re.split(r"(?:^|[\s,])bands?=", text)
    body: Json = {"flags": []}
    for item in items(head):
        if item.name == "meter":
            body = {
                "meter_id": item.value.upper() if item.value.isalpha() else number(item.value, "meter"),
                **body,
            }
        elif item.name in ("kbps", "pktps", "burst", "stats"):
            body["flags"].append(item.name.upper())
        else:
            raise UsageError(
                f"{text!r}: {item.name} is not understood; allowed: meter, kbps, pktps, burst, stats, bands"
            )
    if "meter_id" not in body:
        raise UsageError(f"{text!r}: meter is missing")
    body["bands"] = _bands(",".join(rest), text)
    return body


def _bands(text: str, whole: str) -> list[Json]:
    bands: list[Json] = []
    for item in items(text):
        if item.name == "type":
            bands.append({"type": item.value.upper()})
        elif item.name in ("rate", "burst_size", "prec_level") and bands:
            bands[-1][item.name] = number(item.value, item.name)
        else:
            raise UsageError(
                f"{whole!r}: {item.name} is not understood; a band is type=drop|dscp_remark,rate=N,burst_size=N,prec_level=N"
            )
    return bands


def _cookie(item: Item) -> Json:
    cookie, slash, mask = item.value.partition("/")
    said = {"cookie": number(cookie, "cookie")}
    return said | ({"cookie_mask": number(mask, "cookie")} if slash else {})


def flow_text(entry: dict[str, Any]) -> str:
    """One flow of `/stats/flow` as ovs-ofctl's `dump-flows` has it. Actions that are not understood stand in ofctl_rest's words."""
    seconds = entry.get("duration_sec", 0) + entry.get("duration_nsec", 0) / 1e9
    counters = (
        f"cookie={entry.get('cookie', 0):#x}, duration={seconds:.3f}s, table={entry.get('table_id', 0)}, "
        f"n_packets={entry.get('packet_count', 0)}, n_bytes={entry.get('byte_count', 0)}, "
    )
    timeouts = "".join(f"{k}={entry[k]}, " for k in ("idle_timeout", "hard_timeout") if entry.get(k))
    fields = [f"priority={entry.get('priority', 0)}"]
    fields += [f"{name}={_shown(name, value)}" for name, value in entry.get("match", {}).items()]
    said = ",".join(_action_text(a) for a in entry.get("actions", [])) or "drop"
    return f"{counters}{timeouts}{','.join(fields)} actions={said}"


def _shown(name: str, value: Any) -> str:
    return f"{value:#06x}" if name == "dl_type" and isinstance(value, int) else str(value)


def _action_text(action: Any) -> str:
    if isinstance(action, dict):
        ((name, inner),) = action.items()
        return f"{name.lower()}({','.join(_action_text(a) for a in inner)})"
    name, _, value = str(action).partition(":")
    setter = re.fullmatch(r"\s*\{(\w+):(.*)\}", value)
    if name == "SET_FIELD" and setter:
        return f"set_field:{setter[2]}->{setter[1]}"
    if name == "OUTPUT" and not value.isdigit():
        return value.upper()
    return f"{name.lower()}:{value}" if value else name.lower()
