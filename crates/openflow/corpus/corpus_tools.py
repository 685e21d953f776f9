"""What makes the corpus: messages by os-ken, or packed by hand and parsed by os-ken."""

from __future__ import annotations

import ipaddress
import struct

from os_ken.ofproto import ofproto_parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

XID = 0x01020304
VERSIONS = {"1.0": 1, "1.3": 4, "1.4": 5, "1.5": 6}
A, B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
FRAME = bytes(range(0x60, 0x60 + 18))


def osken(msg) -> bytes:
    """The message as os-ken writes it."""
    msg.set_xid(XID)
    msg.serialize()
    return bytes(msg.buf)


def raw(version: str, kind: int, *parts: bytes) -> bytes:
    """A message packed by hand; os-ken must know how to parse it."""
    body = b"".join(parts)
    return struct.pack("!BBHI", VERSIONS[version], kind, 8 + len(body), XID) + body


def parsed(data: bytes) -> bytes:
    """`data`, which os-ken could parse."""
    desc = ProtocolDesc(data[0])
    msg = ofproto_parser.msg(desc, data[0], data[1], len(data), XID, data)
    assert msg is not None, data.hex()
    return data


def properties(*items: tuple[int, bytes]) -> bytes:
    """Properties, each with its type: length, content, padding to a multiple of eight bytes."""
    return b"".join(
        struct.pack("!HH", kind, 4 + len(content)) + content + bytes(-(4 + len(content)) % 8)
        for kind, content in items
    )


def match_in_port(port: int) -> bytes:
    """A match since 1.2 of the ingress port alone."""
    return struct.pack("!HHII4x", 1, 12, 0x80000004, port)


def mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def ip(text: str) -> bytes:
    return ipaddress.ip_address(text).packed
