"""Takes ovs-ofctl texts apart, as far as it takes to say the same in another notation. Values stay text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flowgauge.errors import UsageError

PROTOCOLS: dict[str, tuple[int, int | None]] = {
    "ip": (0x0800, None),
    "icmp": (0x0800, 1),
    "tcp": (0x0800, 6),
    "udp": (0x0800, 17),
    "sctp": (0x0800, 132),
    "ipv6": (0x86DD, None),
    "tcp6": (0x86DD, 6),
    "udp6": (0x86DD, 17),
    "sctp6": (0x86DD, 132),
    "icmp6": (0x86DD, 58),
    "arp": (0x0806, None),
    "rarp": (0x8035, None),
    "mpls": (0x8847, None),
    "mplsm": (0x8848, None),
}
"""Keyword -> EtherType and IP protocol."""


@dataclass(frozen=True)
class Item:
    """`name=value`, `name:value`, `name(value)` or `name` alone (then `value` is empty)."""

    name: str
    value: str = ""


def items(text: str) -> list[Item]:
    """The items of a list, which stand between commas or blanks outside of parentheses.

    >>> items("ip,nw_dst=10.0.0.1 write_actions(output:1,drop)")
    [Item(name='ip', value=''), Item(name='nw_dst', value='10.0.0.1'), Item(name='write_actions', value='output:1,drop')]
    """
    return [_item(part) for part in split(text)]


def split(text: str) -> list[str]:
    """The text between commas or blanks outside of parentheses. Raises UsageError when these don't match."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        elif depth == 0 and letter in ", \t\n":
            parts.append(text[start:at])
            start = at + 1
        if depth < 0:
            break
    if depth != 0:
        raise UsageError(f"{text!r}: parentheses don't match")
    return [part for part in (*parts, text[start:]) if part]


def flow_parts(text: str) -> tuple[list[Item], list[Item] | None]:
    """Options and match of a flow, and its actions; None when it has none (as in deletes)."""
    found = re.search(r"(?:^|[\s,])actions?=", text)
    if found is None:
        return items(text), None
    return items(text[: found.start()]), items(text[found.end() :])


def number(text: str, what: str) -> int:
    """A number in decimal or hexadecimal. Raises UsageError that names `what`."""
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"{what} is {text!r}; a number is needed") from None


def _item(part: str) -> Item:
    match = re.fullmatch(r"([^=:(]+)(?:[=:](.*)|\((.*)\))?", part, re.DOTALL)
    if match is None:
        raise UsageError(f"{part!r} is no item of ovs-ofctl's syntax")
    return Item(match[1], match[2] if match[2] is not None else match[3] or "")
